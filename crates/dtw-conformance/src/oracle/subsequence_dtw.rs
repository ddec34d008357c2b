//! DTW of a whole query `x` against any stretch of a reference `y`: the recurrence of [`dtw`] with
//! `D(0,j) = 0` for every `j` (free start), `D(i,0) = +∞` for `i > 0`, and the minimum over the last row (free end).
//!
//! The best end is the first least one; its start is the column in which the path, walked back with ties going
//! diagonal, up, left, reaches the query's first point. Further hits: the least remaining end, again and again,
//! removing after each all ends within the exclusion zone round it. Starts and ends are 0-based and inclusive.
//!
//! Source: Müller 2007, section 4.4 (doi:10.1007/978-3-540-74048-3).

use dtw_core::{Band, LocalCost};

use super::band::{BandError, Cells, Ends};
use super::{Grid, Real, Rows, Series, dtw, local::between, path, znormalize::znormalize};

/// One occurrence of the query in the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match<F> {
    /// Accumulated cost.
    pub cost: F,
    /// First column of the reference, inclusive.
    pub start: usize,
    /// Last column of the reference, inclusive.
    pub end: usize,
}

/// The accumulated-cost matrix with a free start.
pub fn grid<F: Real>(query: &Series<F>, reference: &Series<F>, cost: LocalCost, rows: &Rows) -> Grid<F> {
    let mut grid = Grid::new(query, reference);
    grid.values[0].fill(F::zero());
    grid.fill(rows, |i, j, before| {
        let c = between(cost, &query[i - 1], &reference[j - 1]);
        before.map(|d| c + d)
    });
    grid
}

/// Up to `k` occurrences, best first; ends within `exclusion` points of an earlier one are not considered.
pub fn matches<F: Real>(grid: &Grid<F>, k: usize, exclusion: usize) -> Vec<Match<F>> {
    let costs = &grid.values[grid.n()][1..];
    let start = |end: usize| path::ending_at(grid, grid.n(), end + 1)[0].1;
    let ends = best_ends(costs, k, exclusion).into_iter();
    ends.map(|end| Match { cost: costs[end], start: start(end), end }).collect()
}

/// The cost of the window of `length` points that ends in each column: by DTW from corner to corner, window and
/// query both z-normalised; +∞ where no window ends.
///
/// # Errors
/// When the band leaves no path between the query and a window.
pub fn window_costs<F: Real>(
    query: &Series<F>,
    reference: &Series<F>,
    cost: LocalCost,
    band: &Band,
    length: usize,
) -> Result<Vec<F>, BandError> {
    let rows = band.rows(query.len(), length, Ends::Global)?;
    let query = znormalize(query);
    let mut costs = vec![F::infinity(); reference.len()];
    for start in 0..(reference.len() + 1).saturating_sub(length) {
        let end = start + length - 1;
        costs[end] = dtw::grid(&query, &znormalize(&reference[start..=end]), cost, &rows).last();
    }
    Ok(costs)
}

/// Up to `k` windows of `length` points, chosen by their ends as [`matches()`] are.
pub fn window_matches<F: Real>(costs: &[F], length: usize, k: usize, exclusion: usize) -> Vec<Match<F>> {
    let ends = best_ends(costs, k, exclusion).into_iter();
    ends.map(|end| Match { cost: costs[end], start: end + 1 - length, end }).collect()
}

/// Repeated argmin of the finite costs, smaller ends first, each hit closing the ends within `exclusion` of it.
fn best_ends<F: Real>(costs: &[F], k: usize, exclusion: usize) -> Vec<usize> {
    let mut open: Vec<bool> = costs.iter().map(|cost| cost.is_finite()).collect();
    let mut found = Vec::new();
    while found.len() < k {
        let mut best: Option<usize> = None;
        for end in 0..costs.len() {
            if open[end] && best.is_none_or(|best| costs[end] < costs[best]) {
                best = Some(end);
            }
        }
        let Some(end) = best else { break };
        found.push(end);
        for (other, is_open) in open.iter_mut().enumerate() {
            if other.abs_diff(end) <= exclusion {
                *is_open = false;
            }
        }
    }
    found
}
