//! Numbers that shaders and the host share: declared once, here or in dtw-core, and written into every shader.

use dtw_core::recurrence::RESCALE_EVERY;
use dtw_core::vector::Vector;

/// Which pairs tasks are: every row with every column, those on and above the diagonal, the k-th with the k-th.
pub(crate) const CROSS: u32 = 0;
pub(crate) const TRIANGLE: u32 = 1;
pub(crate) const ZIPPED: u32 = 2;

/// What a band is: all cells, a radius in points, a radius in millionths of the longer series, ranges of rows.
pub(crate) const BAND_FULL: u32 = 0;
pub(crate) const BAND_POINTS: u32 = 1;
pub(crate) const BAND_MILLIONTHS: u32 = 2;
pub(crate) const BAND_RANGES: u32 = 3;

/// States are rescaled in rows that are multiples of this: pieces of pairs begin there, so that the same rows are
/// rescaled wherever a pair is cut.
pub(crate) const RESCALE_ROWS: u32 = 8;
/// Columns of a lane whose states are rescaled, at most.
pub(crate) const RESCALE_COLUMNS: u32 = 8;
const _: () = assert!(((RESCALE_ROWS + RESCALE_COLUMNS) as usize) < RESCALE_EVERY);

/// The declarations for shaders.
pub(crate) fn declarations() -> String {
    let whole = [
        ("CROSS", CROSS),
        ("TRIANGLE", TRIANGLE),
        ("ZIPPED", ZIPPED),
        ("BAND_MILLIONTHS", BAND_MILLIONTHS),
        ("BAND_RANGES", BAND_RANGES),
        ("RESCALE_ROWS", RESCALE_ROWS),
    ];
    let real = [
        ("LARGEST", f32::MAX),
        ("LEAST_EXPONENT", <f32 as Vector>::POW2_MIN as f32),
        ("ZERO_EXPONENT", <f32 as Vector>::ZERO_EXPONENT as f32),
        ("LEAST_LOG2", <f32 as Vector>::LEAST_LOG2 as f32),
    ];
    let whole = whole.iter().map(|(name, value)| format!("const {name}: u32 = {value}u;\n"));
    // In all the digits that single precision has: browsers refuse the shortest ones of the largest number, which lie
    // above it.
    let real = real.iter().map(|&(name, value)| format!("const {name}: f32 = {:?}f;\n", f64::from(value)));
    whole.chain(real).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_constants_are_written_exactly() {
        let declarations = declarations();
        let real: Vec<f64> = (declarations.lines().filter(|line| line.contains(": f32 = ")))
            .map(|line| line.split(" = ").nth(1).unwrap().trim_end_matches("f;").parse().unwrap())
            .collect();
        assert_eq!(real.len(), 4);
        assert!(real.iter().all(|&value| f64::from(value as f32) == value), "{real:?}");
    }
}
