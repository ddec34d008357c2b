//! Explicit ranges where sweeps go wrong: rows one cell wide, rows that meet in a corner only, long jumps of either
//! end.

use std::ops::Range;

use super::series::SplitMix;

/// Ranges of which neither end ever decreases and through which a path leads, for `n` rows and `m` columns.
///
/// Row by row, either end stays, keeps to the line from corner to corner, or jumps: the start as far as the corner that
/// touches the row above, the end up to a quarter of the columns on.
pub fn staircase(n: usize, m: usize, random: &mut SplitMix) -> Vec<Range<usize>> {
    let mut rows: Vec<Range<usize>> = Vec::with_capacity(n);
    // About one row in so many jumps.
    let rarely = random.between(2, 6);
    for i in 0..n {
        let (above_start, above_end) = rows.last().map_or((0, 0), |row| (row.start, row.end));
        let on_line = i * m / n;
        let start = match random.between(0, rarely) {
            _ if i == 0 || above_start > on_line + 3 => above_start,
            0 => above_end,
            1 => above_end.saturating_sub(1),
            _ => on_line.saturating_sub(random.between(0, 3)),
        };
        let start = start.clamp(above_start, above_end).min(m - 1);
        let least = above_end.max(start + 1);
        let end = match random.between(0, rarely) {
            _ if i + 1 == n => m,
            0 => least,
            1 => least + random.between(0, m / 4 + 1),
            _ => on_line + random.between(0, 3),
        };
        rows.push(start..end.clamp(least, m));
    }
    rows
}

/// Staircases of all shapes: small ones by the dozen, some as wide or as long as the strips of a device.
pub fn staircases(random: &mut SplitMix) -> Vec<(usize, usize, Vec<Range<usize>>)> {
    let mut all = Vec::new();
    for (count, (n, m)) in
        [(12, (6, 6)), (12, (5, 9)), (12, (9, 5)), (6, (17, 17)), (6, (33, 31)), (4, (20, 70)), (4, (70, 20))]
    {
        all.extend((0..count).map(|_| (n, m, staircase(n, m, random))));
    }
    for (n, m) in [(140, 150), (30, 600), (600, 30), (530, 530)] {
        all.extend((0..2).map(|_| (n, m, staircase(n, m, random))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Cells, Ends};
    use dtw_core::Band;

    #[test]
    fn every_staircase_has_a_path_and_all_kinds_of_steps_occur() {
        let mut random = SplitMix::new(3);
        let (mut narrow, mut corners, mut jumps) = (0, 0, 0);
        for (n, m, rows) in staircases(&mut random) {
            assert_eq!(Band::Ranges(rows.clone()).rows(n, m, Ends::Global).unwrap(), rows);
            narrow += rows.iter().filter(|row| row.len() == 1).count();
            for pair in rows.windows(2) {
                corners += usize::from(pair[1].start == pair[0].end);
                jumps += usize::from(pair[1].end > pair[0].end + 5);
            }
        }
        assert!(narrow > 50 && corners > 50 && jumps > 50, "{narrow} {corners} {jumps}");
    }
}
