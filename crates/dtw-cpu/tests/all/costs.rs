//! Soft-DTW of matrices of costs beside the sum over all paths, written out, and beside the oracle of Soft-DTW.

use std::sync::atomic::{AtomicUsize, Ordering};

use dtw_conformance::oracle::{local, soft_dtw};
use dtw_core::{Anchor, Band, Error, LocalCost, Observer, Radius, Result, Scalar, Unobserved};
use dtw_cpu::{CostMatrices, CpuBackend};

/// Numbers between −1 and 1 that look random.
fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    // The first ones are alike for like seeds.
    std::iter::repeat_with(next).skip(20).take(count).collect()
}

/// All paths from the first cell to the last, inside of the band.
fn paths(n: usize, m: usize, allowed: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<(usize, usize)>> {
    let mut open = vec![vec![(0, 0)]];
    let mut done = Vec::new();
    while let Some(path) = open.pop() {
        let (i, j) = path[path.len() - 1];
        if !allowed(i, j) {
            continue;
        }
        if (i, j) == (n - 1, m - 1) {
            done.push(path);
            continue;
        }
        for (i, j) in [(i + 1, j + 1), (i + 1, j), (i, j + 1)] {
            if i < n && j < m {
                open.push([&path[..], &[(i, j)]].concat());
            }
        }
    }
    done
}

/// Value and derivatives, by the definition: −γ ln Σ e^(−cost of a path/γ), and the weight of the paths through a cell.
fn by_paths(
    costs: &[f64],
    (n, m): (usize, usize),
    gamma: f64,
    allowed: &dyn Fn(usize, usize) -> bool,
) -> (f64, Vec<f64>) {
    let paths = paths(n, m, allowed);
    let cost = |path: &Vec<(usize, usize)>| path.iter().map(|(i, j)| costs[i * m + j]).sum::<f64>();
    let least = paths.iter().map(cost).fold(f64::INFINITY, f64::min);
    let weights: Vec<f64> = paths.iter().map(|path| ((least - cost(path)) / gamma).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let mut expected = vec![0.0; n * m];
    for (path, weight) in paths.iter().zip(&weights) {
        path.iter().for_each(|(i, j)| expected[i * m + j] += weight / sum);
    }
    (least - gamma * sum.ln(), expected)
}

fn compute<T: Scalar>(
    costs: &CostMatrices<'_, T>,
    (pairs, cells): (usize, usize),
    gamma: f64,
    band: &Band,
) -> Result<(Vec<T>, Vec<T>)> {
    let (mut values, mut expected) = (vec![T::INFINITY; pairs], vec![T::INFINITY; cells]);
    let backend = CpuBackend::with_threads(1);
    backend.soft_dtw_of_costs(costs, gamma, band, &mut values, Some(&mut expected), &Unobserved)?;
    let mut alone = values.clone();
    backend.soft_dtw_of_costs(costs, gamma, band, &mut alone, None, &Unobserved)?;
    assert_eq!(alone, values, "the same values without derivatives");
    Ok((values, expected))
}

#[track_caller]
fn close<T: Scalar>(found: &[T], wanted: &[f64], tolerance: f64) {
    assert_eq!(found.len(), wanted.len());
    for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let apart = (found.to_f64() - wanted).abs();
        assert!(apart <= tolerance * wanted.abs().max(1.0), "{place}: {found} is not {wanted}");
    }
}

#[test]
fn they_are_sums_over_all_paths() {
    for (n, m) in [(1, 1), (1, 4), (4, 1), (2, 2), (3, 5), (5, 4), (6, 6)] {
        for gamma in [1e-3, 0.1, 1.0, 100.0] {
            for radius in [None, Some(0), Some(1)] {
                let band = radius.map_or(Band::Full, |r| Band::SakoeChiba { radius: Radius::Points(r) });
                let costs: Vec<f64> = noise(n * m, (n * 10 + m) as u64);
                let ranges = band.ranges(n, m, Anchor::Global).unwrap();
                let (value, wanted) = by_paths(&costs, (n, m), gamma, &|i, j| ranges.row(i).contains(&j));
                let matrices = CostMatrices::new(&costs, [1, n, m]).unwrap();
                let (values, expected) = compute(&matrices, (1, n * m), gamma, &band).unwrap();
                close(&values, &[value], 1e-13 * gamma.max(1.0));
                close(&expected, &wanted, 1e-11);
                let single: Vec<f32> = costs.iter().map(|cost| *cost as f32).collect();
                let matrices = CostMatrices::new(&single, [1, n, m]).unwrap();
                let (values, expected) = compute(&matrices, (1, n * m), gamma, &band).unwrap();
                // The costs are rounded by up to 3e-8, and a path has up to 11.
                close(&values, &[value], 1e-6 * gamma.max(1.0));
                close(&expected, &wanted, 1e-6 / gamma.min(1.0));
            }
        }
    }
}

/// Longer than a few blocks of rows, with padding that is not read.
#[test]
fn padded_batches_are_as_the_oracle_of_series() {
    let lengths = [(40, 33), (1, 33), (37, 1), (26, 26), (9, 30)];
    let (n, m) = (40, 33);
    for radius in [None, Some(4)] {
        let band = radius.map_or(Band::Full, |r| Band::SakoeChiba { radius: Radius::Points(r) });
        for gamma in [0.01, 1.0, 100.0] {
            let mut costs = vec![f64::NAN; lengths.len() * n * m];
            let mut wanted = vec![0.0; costs.len()];
            let mut wanted_values = Vec::new();
            for (pair, (rows, columns)) in lengths.into_iter().enumerate() {
                let series =
                    |length: usize, seed| noise(length, seed).iter().map(|v| vec![*v]).collect::<Vec<_>>();
                let (x, y) = (series(rows, pair as u64), series(columns, pair as u64 + 50));
                let ranges = band.ranges(rows, columns, Anchor::Global).unwrap();
                let cost = LocalCost::SquaredEuclidean;
                let allowed: Vec<_> = (0..rows).map(|i| ranges.row(i)).collect();
                let alignment = soft_dtw::alignment(&x, &y, gamma, cost, &allowed);
                wanted_values.push(soft_dtw::value(&x, &y, gamma, cost, &allowed));
                for i in 0..rows {
                    // Outside of the band nothing is read either.
                    for j in ranges.row(i) {
                        let at = (pair * n + i) * m + j;
                        costs[at] = local::squared_euclidean(&x[i], &y[j]);
                        wanted[at] = alignment[i][j];
                    }
                }
            }
            let (rows, columns): (Vec<_>, Vec<_>) = lengths.into_iter().unzip();
            let matrices = CostMatrices::new(&costs, [lengths.len(), n, m]).unwrap();
            let matrices = matrices.with_lengths(Some(&rows), Some(&columns)).unwrap();
            let (values, expected) = compute(&matrices, (lengths.len(), costs.len()), gamma, &band).unwrap();
            close(&values, &wanted_values, 1e-12);
            close(&expected, &wanted, 1e-10);

            let many = CpuBackend::with_threads(3);
            let (mut again, mut again_expected) = (vec![0.0; lengths.len()], vec![1.0; costs.len()]);
            let out = Some(&mut again_expected[..]);
            many.soft_dtw_of_costs(&matrices, gamma, &band, &mut again, out, &Unobserved).unwrap();
            assert_eq!((again, again_expected), (values, expected), "the same bits on more threads");
        }
    }
}

#[test]
fn digits_are_kept_at_a_large_gamma() {
    // One path: gamma adds nothing.
    let costs: Vec<f64> = noise(50, 3);
    let sum: f64 = costs.iter().sum();
    let matrices = CostMatrices::new(&costs, [1, 1, 50]).unwrap();
    let (values, expected) = compute(&matrices, (1, 50), 1e12, &Band::Full).unwrap();
    close(&values, &[sum], 1e-13);
    assert_eq!(expected, [1.0; 50]);
}

#[test]
fn mistakes_are_told() {
    #[track_caller]
    fn refused<T>(found: Result<T>, text: &str) {
        let error = found.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(text), "{error:?} does not say {text:?}");
    }
    let costs = [0.5_f32; 24];
    refused(CostMatrices::new(&costs, [2, 0, 12]), "needs a row and a column, got shape [2, 0, 12]");
    refused(CostMatrices::new(&costs, [2, 3, 5]), "costs of shape [2, 3, 5] are not 24 values");
    refused(CostMatrices::new(&costs, [usize::MAX, 3, 5]), "are not 24 values");
    let matrices = CostMatrices::new(&costs, [2, 3, 4]).unwrap();
    refused(matrices.with_lengths(Some(&[3]), None), "the rows of 2 pairs, got 1");
    refused(matrices.with_lengths(Some(&[3, 4]), None), "the rows of pair 1 must be from 1 to 3, got 4");
    refused(matrices.with_lengths(None, Some(&[0, 4])), "the columns of pair 0 must be from 1 to 4, got 0");
    refused(compute(&matrices, (2, 24), 0.0, &Band::Full), "gamma");
    refused(compute(&matrices, (1, 24), 1.0, &Band::Full), "values needs 2 values, got a slice of 1");
    refused(compute(&matrices, (2, 23), 1.0, &Band::Full), "expected needs 24 values, got a slice of 23");
    for (bad, text) in [(f32::NAN, "NaN"), (f32::INFINITY, "inf"), (f32::NEG_INFINITY, "-inf")] {
        let mut costs = costs;
        costs[12 + 4 + 3] = bad;
        costs[12 + 8] = bad;
        let matrices = CostMatrices::new(&costs, [2, 3, 4]).unwrap();
        refused(
            compute(&matrices, (2, 24), 1.0, &Band::Full),
            &format!("pair 1, row 1, column 3 is {text};"),
        );
    }
    let large = [f32::MAX; 24];
    let matrices = CostMatrices::new(&large, [2, 3, 4]).unwrap();
    refused(compute(&matrices, (2, 24), 1.0, &Band::Full), "so large that Soft-DTW is inf");
    let large = [f64::MAX; 24];
    let matrices = CostMatrices::new(&large, [2, 3, 4]).unwrap();
    refused(compute(&matrices, (2, 24), 1.0, &Band::Full), "so large that Soft-DTW is inf");
}

/// Cancels after so many questions.
struct Stop(AtomicUsize);

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
    }
}

#[test]
fn it_is_cancelled_between_rows() {
    let costs = noise(20 * 20, 1);
    let matrices = CostMatrices::new(&costs, [1, 20, 20]).unwrap();
    // 20 rows forward, and as many backward.
    for (questions, is_done) in [(0, false), (19, false), (25, false), (40, true)] {
        let (stop, mut expected) = (Stop(AtomicUsize::new(questions)), vec![0.0; 400]);
        let backend = CpuBackend::with_threads(1);
        let found =
            backend.soft_dtw_of_costs(&matrices, 1.0, &Band::Full, &mut [0.0], Some(&mut expected), &stop);
        assert!(if is_done { found.is_ok() } else { matches!(found, Err(Error::Cancelled)) }, "{questions}");
    }
}
