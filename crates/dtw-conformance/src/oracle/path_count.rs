//! `N(i,j) = N(i−1,j−1) + N(i−1,j) + N(i,j−1)`, `N(0,0) = 1`, the other borders 0: how many warping paths lead to a
//! cell. In the full grid these are the Delannoy numbers.
//!
//! A soft minimum over `N` paths lies at most `γ·log N` below their minimum.

use super::Rows;

/// Counts above this are scaled down, and the power that was taken out is remembered.
const LARGE: f64 = 1e200;

/// `log N(n,m)` in a grid of `rows.len() × m` cells; −∞ where no path arrives.
pub fn log_paths(rows: &Rows, m: usize) -> f64 {
    let mut above = vec![0.0; m + 1];
    above[0] = 1.0;
    let mut log_scale = 0.0;
    for row in rows {
        let mut counts = vec![0.0; m + 1];
        for j in row.clone() {
            counts[j + 1] = above[j] + above[j + 1] + counts[j];
        }
        let largest = counts.iter().copied().fold(0.0, f64::max);
        if largest > LARGE {
            counts.iter_mut().for_each(|count| *count /= largest);
            log_scale += largest.ln();
        }
        above = counts;
    }
    log_scale + above[m].ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_grids_have_delannoy_numbers_of_paths() {
        let full = |n: usize, m: usize| log_paths(&vec![0..m; n], m).exp().round();
        // Cells are one fewer than the steps of a Delannoy path on each side.
        assert_eq!(
            [(1, 1), (1, 9), (2, 2), (3, 3), (4, 4), (3, 5)].map(|(n, m)| full(n, m)),
            [1.0, 1.0, 3.0, 13.0, 63.0, 41.0]
        );
        assert_eq!(log_paths(&[0..1, 1..2, 2..3], 3), 0.0);
    }

    #[test]
    fn long_grids_do_not_overflow() {
        let central = log_paths(&vec![0..1000; 1000], 1000);
        // Central Delannoy numbers grow by a factor that tends to 3 + √8.
        assert!((central / 999.0 - (3.0 + 8f64.sqrt()).ln()).abs() < 0.005, "{central}");
    }
}
