//! Bands: which cells of the `n × m` grid a warping path may use.
//!
//! Rows `i` in `0..n` and columns `j` in `0..m` are 0-based here; write `N = n−1` and `M = m−1`. A band is asked
//! cell by cell, in exact integer arithmetic, and its answer collected into one range of columns per row.
//! `n` and `m` are the lengths that are swept: the derivative measures ask for a band of `n−2 × m−2`.
//!
//! | band | cell `(i, j)` is allowed when |
//! | --- | --- |
//! | full | always |
//! | Sakoe–Chiba, radius `r` | `−r − max(0, n−m) ≤ j − i ≤ r + max(0, m−n)` |
//! | slanted, radius `r` | `2·abs(j·N − i·M) ≤ max(2·r·min(N, M), max(N, M))` |
//! | Itakura, slope `s = S/D` | `j·N·S ≥ i·M·D`, `j·N·D ≤ i·M·S`, `(M−j)·N·S ≥ (N−i)·M·D` and `(M−j)·N·D ≤ (N−i)·M·S` |
//! | ranges | it lies in the range given for row `i` |
//!
//! *Sakoe–Chiba* widens only the longer side's limit, by `|n−m|`, so that the far corner stays reachable.
//!
//! *Slanted* measures the distance to the line from corner to corner in points along the longer axis, and allows
//! `max(r, half the line's slope along that axis)`. The half slope is the least widening with which neighbouring
//! rows always touch, so radius 0 always has a path. For `n = m` the rule reads `|i − j| ≤ r`. Transposing the
//! grid transposes the band.
//!
//! *Itakura* lies between the lines of slope `1/s` and `s` (in units of `M/N`) drawn from both corners. The slope
//! is used to six decimals, `D = 10⁶` and `S = round(10⁶·s)`, so that the lower end is an exact ceiling and the
//! upper end an exact floor, with no tolerance. With one row or one column every cell is allowed.
//!
//! The ranges are then *normalised*: lower ends become their running maximum from the top and upper ends their
//! running minimum from the bottom, which removes cells that no monotone path can use (only explicit ranges have
//! any). What is left either connects the corners or is [`BandError::NoPath`].
//!
//! Sources: Sakoe & Chiba 1978 (doi:10.1109/TASSP.1978.1163055); Itakura 1975 (doi:10.1109/TASSP.1975.1162641).

use std::ops::Range;

use dtw_core::{Band, Radius};

/// Denominator of the Itakura slope and of a radius fraction: both are used to six decimals.
const DECIMALS: u128 = 1_000_000;

/// The radius in points for an `n × m` grid. A fraction, in `0..=1`, is one of `max(n, m)`, rounded down; it is used to
/// six decimals, so that 0.29 of 100 is 29.
pub fn points(radius: Radius, n: usize, m: usize) -> usize {
    match radius {
        Radius::Points(points) => points,
        Radius::Fraction(fraction) => {
            let millionths = (fraction * DECIMALS as f64).round() as u128;
            (millionths * n.max(m) as u128 / DECIMALS) as usize
        }
    }
}

/// Why a band cannot be used on a grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BandError {
    /// The band itself is malformed.
    #[error("invalid band: {0}")]
    Invalid(String),
    /// The band is well formed, but no warping path stays inside it.
    #[error("the band leaves no path: {0}")]
    NoPath(String),
}

/// Which corners a path must touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// From the first cell to the last.
    Global,
    /// From any cell of the first row to any cell of the last.
    Free,
}

/// The cells of a band.
pub trait Cells {
    /// The columns allowed in each row of an `n × m` grid, normalised.
    ///
    /// # Errors
    /// [`BandError::Invalid`] for a malformed band, [`BandError::NoPath`] where no path remains.
    fn rows(&self, n: usize, m: usize, ends: Ends) -> Result<Vec<Range<usize>>, BandError>;

    /// Whether explicit ranges lose no cell by being normalised: neither end ever decreases from row to row. Measures
    /// whose paths may run along the border, or whose band restricts matches only, need this.
    ///
    /// # Errors
    /// [`BandError::Invalid`] naming the row.
    fn check_order(&self) -> Result<(), BandError>;
}

impl Cells for Band {
    fn rows(&self, n: usize, m: usize, ends: Ends) -> Result<Vec<Range<usize>>, BandError> {
        let raw = match self {
            Band::Full => collect(n, m, |_, _| true),
            Band::SakoeChiba { radius } => {
                let radius = checked(*radius, n, m)?;
                collect(n, m, |i, j| sakoe_chiba(i, j, n, m, radius))
            }
            Band::Slanted { radius } => {
                let radius = checked(*radius, n, m)?;
                collect(n, m, |i, j| slanted(i, j, n, m, radius))
            }
            Band::Itakura { max_slope } => {
                if !(max_slope.is_finite() && *max_slope >= 1.0) {
                    return Err(BandError::Invalid(format!(
                        "max_slope must be finite and ≥ 1, got {max_slope}"
                    )));
                }
                collect(n, m, |i, j| itakura(i, j, n, m, *max_slope))
            }
            Band::Ranges(ranges) => input(ranges, n, m)?,
        };
        normalized(&raw, m, ends)
    }

    fn check_order(&self) -> Result<(), BandError> {
        let Band::Ranges(ranges) = self else { return Ok(()) };
        match ranges.windows(2).position(|pair| pair[1].start < pair[0].start || pair[1].end < pair[0].end) {
            Some(i) => {
                Err(BandError::Invalid(format!("an end of row {} lies before that of row {i}", i + 1)))
            }
            None => Ok(()),
        }
    }
}

fn checked(radius: Radius, n: usize, m: usize) -> Result<usize, BandError> {
    match radius {
        Radius::Fraction(fraction) if !(0.0..=1.0).contains(&fraction) => {
            Err(BandError::Invalid(format!("the radius as a fraction must lie in 0..=1, got {fraction}")))
        }
        _ => Ok(points(radius, n, m)),
    }
}

fn sakoe_chiba(i: usize, j: usize, n: usize, m: usize, radius: usize) -> bool {
    let offset = j as i128 - i as i128;
    let lower = -(radius as i128) - (n.saturating_sub(m)) as i128;
    let upper = radius as i128 + (m.saturating_sub(n)) as i128;
    lower <= offset && offset <= upper
}

fn slanted(i: usize, j: usize, n: usize, m: usize, radius: usize) -> bool {
    let (last_row, last_column) = (n as u128 - 1, m as u128 - 1);
    let distance = (j as u128 * last_row).abs_diff(i as u128 * last_column);
    let width = (2 * radius as u128 * last_row.min(last_column)).max(last_row.max(last_column));
    2 * distance <= width
}

fn itakura(i: usize, j: usize, n: usize, m: usize, max_slope: f64) -> bool {
    let (last_row, last_column) = (n as u128 - 1, m as u128 - 1);
    // Steeper than the longer side changes nothing, and the cap keeps the products within 128 bits.
    let steepest = DECIMALS * last_row.max(last_column).max(1);
    let slope = ((max_slope * DECIMALS as f64).round() as u128).min(steepest);
    let (down, right) = (i as u128 * last_column, j as u128 * last_row);
    let (down_left, right_left) = (last_row * last_column - down, last_row * last_column - right);
    right * slope >= down * DECIMALS
        && right * DECIMALS <= down * slope
        && right_left * slope >= down_left * DECIMALS
        && right_left * DECIMALS <= down_left * slope
}

/// Asks `allowed` for every cell; a row's answer is the span of its allowed columns (empty as `0..0`).
fn collect(n: usize, m: usize, allowed: impl Fn(usize, usize) -> bool) -> Vec<Range<usize>> {
    (0..n)
        .map(|i| {
            let first = (0..m).find(|&j| allowed(i, j));
            let last = (0..m).rev().find(|&j| allowed(i, j));
            match (first, last) {
                (Some(first), Some(last)) => first..last + 1,
                _ => 0..0,
            }
        })
        .collect()
}

fn input(ranges: &[Range<usize>], n: usize, m: usize) -> Result<Vec<Range<usize>>, BandError> {
    if ranges.len() != n {
        return Err(BandError::Invalid(format!("expected {n} row ranges, got {}", ranges.len())));
    }
    for (i, range) in ranges.iter().enumerate() {
        if range.end > m {
            return Err(BandError::Invalid(format!("row {i}: range {range:?} ends beyond column {m}")));
        }
    }
    Ok(ranges.to_vec())
}

fn normalized(raw: &[Range<usize>], m: usize, ends: Ends) -> Result<Vec<Range<usize>>, BandError> {
    if let Some(i) = raw.iter().position(|range| range.start >= range.end) {
        return Err(BandError::NoPath(format!("row {i} is empty")));
    }
    // A row begins where no row before it begins later, and ends where no row after it ends earlier.
    let mut rows = raw.to_vec();
    for i in 1..rows.len() {
        rows[i].start = rows[i].start.max(rows[i - 1].start);
    }
    for i in (1..rows.len()).rev() {
        rows[i - 1].end = rows[i - 1].end.min(rows[i].end);
    }
    if let Some(i) = rows.iter().position(|range| range.start >= range.end) {
        return Err(BandError::NoPath(format!("no monotone path crosses row {i}")));
    }
    if let Some(i) = rows.windows(2).position(|pair| pair[1].start > pair[0].end) {
        return Err(BandError::NoPath(format!("rows {i} and {} do not touch", i + 1)));
    }
    if ends == Ends::Global {
        if rows.first().is_some_and(|range| range.start != 0) {
            return Err(BandError::NoPath("row 0 does not contain column 0".to_owned()));
        }
        if rows.last().is_some_and(|range| range.end != m) {
            return Err(BandError::NoPath(format!("the last row does not contain column {}", m - 1)));
        }
    }
    Ok(rows)
}
