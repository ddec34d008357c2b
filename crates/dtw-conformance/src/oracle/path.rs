//! Warping paths: the steps of a [`Grid`] walked back from its last cell.
//!
//! A path lists the cells `(i, j)` of the grid, 0-based, first to last. The border row and column are not cells:
//! a walk that reaches them stops, so the path of an edit measure starts where its first match, or its first
//! edit beside both series, lies.

use dtw_core::Measure;

use super::{
    Grid, Pair, Real, Step,
    derivative::derivative,
    local::{between, squared_euclidean},
    wdtw,
};

/// The path that ends in cell `(i, j)`, 1-based; empty where no path arrives there.
pub fn ending_at<F: Real>(grid: &Grid<F>, i: usize, j: usize) -> Vec<(usize, usize)> {
    let (mut i, mut j) = (i, j);
    let mut path = Vec::new();
    while let Some(step) = grid.steps[i][j] {
        path.push((i - 1, j - 1));
        match step {
            Step::Diagonal => (i, j) = (i - 1, j - 1),
            Step::Up => i -= 1,
            Step::Left => j -= 1,
        }
    }
    path.reverse();
    path
}

/// The path from corner to corner.
pub fn path<F: Real>(grid: &Grid<F>) -> Vec<(usize, usize)> {
    ending_at(grid, grid.n(), grid.m())
}

/// Why `points` is not a path through an `n × m` grid whose ends are corners (or, for edit measures, lie beside the
/// border at the start).
///
/// # Errors
/// A message naming the first offending cell.
pub fn check(points: &[(usize, usize)], n: usize, m: usize, from_border: bool) -> Result<(), String> {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else {
        return Err("the path is empty".to_owned());
    };
    let starts_well = first == (0, 0) || (from_border && (first.0 == 0 || first.1 == 0));
    if !starts_well {
        return Err(format!("the path starts in {first:?}"));
    }
    if last != (n - 1, m - 1) {
        return Err(format!("the path ends in {last:?}, not in {:?}", (n - 1, m - 1)));
    }
    for step in points.windows(2) {
        let (i, j) = step[0];
        if ![(i + 1, j + 1), (i + 1, j), (i, j + 1)].contains(&step[1]) {
            return Err(format!("the path jumps from {:?} to {:?}", step[0], step[1]));
        }
    }
    Ok(())
}

/// What `points` costs under a measure whose price is a sum over the cells of a path; `None` for the others.
pub fn price(measure: &Measure, pair: &Pair<f64>, points: &[(usize, usize)]) -> Option<f64> {
    let differentiated = || (derivative(&pair.x), derivative(&pair.y));
    let plain = || (pair.x.clone(), pair.y.clone());
    let (x, y) = match measure {
        Measure::Dtw { .. } | Measure::Wdtw { .. } | Measure::Adtw { .. } => plain(),
        Measure::Ddtw { .. } | Measure::Wddtw { .. } => differentiated(),
        _ => return None,
    };
    let cell = |i: usize, j: usize| match *measure {
        Measure::Dtw { cost } | Measure::Ddtw { cost } => between(cost, &x[i], &y[j]),
        Measure::Wdtw { g } | Measure::Wddtw { g } => {
            wdtw::weight(i, j, x.len(), y.len(), g) * squared_euclidean(&x[i], &y[j])
        }
        _ => squared_euclidean(&x[i], &y[j]),
    };
    let straight = points.windows(2).filter(|step| step[0].0 == step[1].0 || step[0].1 == step[1].1).count();
    let penalty = if let Measure::Adtw { penalty } = measure { *penalty } else { 0.0 };
    Some(points.iter().map(|&(i, j)| cell(i, j)).sum::<f64>() + penalty * straight as f64)
}
