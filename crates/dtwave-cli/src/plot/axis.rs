//! Axes that any finite values can be drawn on.
//!
//! Numbers reach from 5e-324 to 1.8e308; the plotting library subtracts, divides and steps through whatever range it is
//! given, and does not come back from ranges near those ends or narrower than their digits. So a chart never sees the
//! data: an axis shows
//!
//! ```text
//! (value − offset) / 10^exponent
//! ```
//!
//! which lies between thousandths and a million, and its label says so. For everyday values both are 0.

use std::ops::Range;

/// Where an axis begins to count, and in which power of ten.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    offset: f64,
    exponent: i32,
}

/// One axis of a chart: what it shows of its values, and which stretch. Values that are not finite have no place on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// In shown units; never empty.
    range: Range<f64>,
    label: String,
    has_ticks: bool,
}

impl Axis {
    /// An axis over `values`, with a margin of `share` of their range on both sides.
    pub(super) fn of(values: impl IntoIterator<Item = f64>, share: f64, label: &str) -> Self {
        let limits = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), limits);
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let scale = Scale::of(low, high);
        let range = padded(scale.shown(low)..scale.shown(high), share);
        Axis { scale, range, label: label.to_owned(), has_ticks: true }
    }

    /// An axis over the indices of `count` points, each `1 / points_per_unit` long.
    pub(super) fn of_points(count: usize, points_per_unit: f64, label: &str) -> Self {
        Axis::of([0.0, (count.max(2) - 1) as f64 / points_per_unit], 0.0, label)
    }

    /// This axis without numbers, over another stretch in shown units.
    pub(super) fn unnumbered(mut self, range: Range<f64>, share: f64) -> Self {
        self.range = padded(range, share);
        self.has_ticks = false;
        self
    }

    /// What the axis shows of a value.
    pub(super) fn shown(&self, value: f64) -> f64 {
        self.scale.shown(value)
    }

    /// The place, moved to the nearer end if it lies beyond the axis.
    pub(super) fn clamped(&self, value: f64) -> f64 {
        self.shown(value).clamp(self.range.start, self.range.end)
    }

    pub(super) fn start(&self) -> f64 {
        self.range.start
    }

    pub(super) fn end(&self) -> f64 {
        self.range.end
    }

    pub(super) fn range(&self) -> Range<f64> {
        self.range.clone()
    }

    pub(super) fn has_ticks(&self) -> bool {
        self.has_ticks
    }

    /// The label, with what to do to the numbers to get values.
    pub(super) fn label(&self) -> String {
        let note = if self.has_ticks { self.scale.note() } else { String::new() };
        [self.label.as_str(), &note]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A range with a margin of `share` on both sides, never empty.
fn padded(range: Range<f64>, share: f64) -> Range<f64> {
    let Range { start, end } = range;
    let margin = if end > start { (end - start) * share } else { start.abs().max(1.0) * 0.5 };
    start - margin..end + margin
}

impl Scale {
    /// Values this much closer to each other than to 0 are shown from an offset.
    const NARROW: f64 = 2e4;

    fn of(low: f64, high: f64) -> Self {
        // Halves: their difference and sum do not overflow.
        let (middle, radius) = (low / 2.0 + high / 2.0, high / 2.0 - low / 2.0);
        let largest = low.abs().max(high.abs());
        let mut offset = 0.0;
        if radius > 0.0 && largest / Self::NARROW > radius {
            // As few digits as leave it among the values.
            let digits = (magnitude(largest) - magnitude(radius)).clamp(1, 17) as usize;
            offset = format!("{middle:.digits$e}").parse().unwrap_or(middle);
            if !f64::is_finite(offset) {
                offset = middle;
            }
        }
        let reach = (low - offset).abs().max((high - offset).abs());
        let exponent = if reach == 0.0 { 0 } else { magnitude(reach) };
        Scale { offset, exponent: if (-3..6).contains(&exponent) { 0 } else { exponent } }
    }

    fn shown(self, value: f64) -> f64 {
        // In two steps: 10^324 is no f64.
        let half = self.exponent / 2;
        (value - self.offset) / 10_f64.powi(half) / 10_f64.powi(self.exponent - half)
    }

    fn note(self) -> String {
        let power = match self.exponent {
            0 => String::new(),
            exponent => format!("×10{}", superscript(exponent)),
        };
        let offset = match self.offset {
            0.0 => String::new(),
            offset if offset < 0.0 => format!("− {}", plain(-offset)),
            offset => format!("+ {}", plain(offset)),
        };
        [power, offset].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// All digits of a positive number, as short as they can be written.
fn plain(value: f64) -> String {
    let (decimal, scientific) = (value.to_string(), format!("{value:e}"));
    if decimal.len() <= scientific.len() + 4 { decimal } else { scientific }
}

/// The exponent of a positive number's first digit.
fn magnitude(value: f64) -> i32 {
    value.log10().floor() as i32
}

fn superscript(number: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        // The others lie in one row.
        digit => char::from_u32('⁰' as u32 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    number.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_values_are_shown_as_they_are() {
        for (low, high) in [(0.0, 0.0), (-3.0, 8.0), (0.001, 0.002), (0.0, 999_999.0), (100.0, 100.1)] {
            let axis = Axis::of([low, high], 0.0, "mV");
            assert_eq!((axis.shown(low), axis.shown(high)), (low, high));
            assert_eq!(axis.label(), "mV");
        }
    }

    #[test]
    fn margins_never_leave_an_empty_range() {
        assert_eq!(Axis::of([2.0, 4.0], 0.5, "").range(), 1.0..5.0);
        assert_eq!(Axis::of([0.0], 0.1, "").range(), -0.5..0.5);
        assert_eq!(Axis::of([], 0.0, "").range(), 0.0..1.0);
        assert_eq!(Axis::of([f64::NAN, f64::INFINITY], 0.0, "").range(), 0.0..1.0);
        assert_eq!(Axis::of_points(1, 1.0, "").range(), 0.0..1.0);
    }

    #[test]
    fn axes_say_how_they_show_their_values() {
        let label = |values: &[f64]| Axis::of(values.iter().copied(), 0.0, "").label();
        assert_eq!(label(&[0.0, 1e308]), "×10³⁰⁸");
        assert_eq!(label(&[5e-324]), "×10⁻³²⁴");
        assert_eq!(label(&[1.7e9, 1.7e9 + 2.0]), "+ 1700000001");
        assert_eq!(label(&[-1.7e9, -1.7e9 - 2.0]), "− 1700000001");
        assert_eq!(label(&[3.0 - 1e-9, 3.0 + 1e-9]), "×10⁻⁹ + 3");
        assert_eq!(label(&[1e100 * (1.0 - 1e-9), 1e100 * (1.0 + 1e-9)]), "×10⁹¹ + 1e100");
        assert_eq!(Axis::of([0.0, 2e7], 0.0, "time (points)").label(), "time (points), ×10⁷");
    }

    /// Whatever the values: shown numbers in order, in a range that is neither empty, huge nor tiny.
    #[test]
    fn shown_ranges_are_moderate() {
        let edges = [
            0.0,
            5e-324,
            1e-320,
            2.2e-308,
            1e-300,
            1e-9,
            1.0,
            1.0 + f64::EPSILON,
            1e15,
            1e15 + 0.125,
            9e15,
            1e300,
            1e308,
            1.7e308,
            f64::MAX,
        ];
        let edges: Vec<f64> = edges.into_iter().flat_map(|v| [v, -v]).collect();
        for low in &edges {
            for high in edges.iter().filter(|high| *high >= low) {
                let axis = Axis::of([*low, *high], 0.05, "");
                let Range { start, end } = axis.range();
                let (a, b) = (axis.shown(*low), axis.shown(*high));
                assert!(start <= a && a <= b && b <= end, "{low} {high}: {axis:?}");
                assert!(a < b || low == high, "{low} and {high} are drawn as one");
                let span = end - start;
                assert!((1e-8..1e7).contains(&span), "{low} {high}: {axis:?}");
                assert!(start.abs().max(end.abs()) < 1e7 && start + span * 1e-3 > start, "{axis:?}");
            }
        }
    }
}
