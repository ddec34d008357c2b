//! Soft-DTW gradients against central differences of the value.

use dtw_core::{Band, LocalCost, Measure, Radius, Spec};

use crate::oracle::{Oracle, Pair};

/// Step of the central differences; their error is of the order of step²·|third derivative| + 1e-16·|value|/step.
const STEP: f64 = 1e-5;
const TOLERANCE: f64 = 1e-6;

fn within(measure: Measure, band: &Band) -> Spec {
    Spec::new(measure).with_band(band.clone())
}

fn wave(length: usize, channels: usize, seed: f64) -> Vec<Vec<f64>> {
    (0..length)
        .map(|i| (0..channels).map(|k| ((i as f64 + 1.3 * seed) * (0.7 + 0.4 * k as f64)).sin()).collect())
        .collect()
}

fn difference(measure: Measure, pair: &Pair<f64>, band: &Band, nudge: impl Fn(&mut Pair<f64>, f64)) -> f64 {
    let at = |step: f64| {
        let mut nudged = pair.clone();
        nudge(&mut nudged, step);
        within(measure, band).distance(&nudged).unwrap()
    };
    (at(STEP) - at(-STEP)) / (2.0 * STEP)
}

fn check(measure: Measure, pair: &Pair<f64>, band: &Band) {
    let (grad_x, grad_y) = within(measure, band).gradients(pair).unwrap();
    for k in 0..pair.x[0].len() {
        for (i, slope) in grad_x.iter().enumerate() {
            let expected = difference(measure, pair, band, |pair, step| pair.x[i][k] += step);
            assert!((slope[k] - expected).abs() < TOLERANCE, "x[{i}][{k}] of {measure:?}");
        }
        for (j, slope) in grad_y.iter().enumerate() {
            let expected = difference(measure, pair, band, |pair, step| pair.y[j][k] += step);
            assert!((slope[k] - expected).abs() < TOLERANCE, "y[{j}][{k}] of {measure:?}");
        }
    }
}

#[test]
fn both_gradients_match_central_differences() {
    for (n, m, channels) in [(1, 1, 1), (1, 5, 1), (6, 2, 3), (7, 7, 1), (5, 9, 2)] {
        let pair = Pair::new(wave(n, channels, 1.0), wave(m, channels, 2.0));
        for gamma in [0.05, 1.0, 100.0] {
            for band in [
                Band::Full,
                Band::SakoeChiba { radius: Radius::Points(1) },
                Band::Slanted { radius: Radius::Points(0) },
            ] {
                for cost in [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan] {
                    check(Measure::SoftDtw { gamma, cost }, &pair, &band);
                    check(Measure::SoftDtwDivergence { gamma, cost }, &pair, &band);
                }
            }
        }
    }
}

/// One path, so γ does not matter; the first points are equal.
#[test]
fn one_path_of_each_cost_by_hand() {
    let pair = Pair::new(vec![vec![1.0, 1.0], vec![4.0, -3.0]], vec![vec![1.0, 1.0]]);
    for (cost, value, slope) in [
        (LocalCost::SquaredEuclidean, 25.0_f64, [6.0, -8.0]),
        (LocalCost::Euclidean, 5.0, [0.6, -0.8]),
        (LocalCost::Manhattan, 7.0, [1.0, -1.0]),
    ] {
        let spec = Spec::new(Measure::SoftDtw { gamma: 0.5, cost });
        assert!((spec.distance(&pair).unwrap() - value).abs() < 1e-14);
        let (grad_x, grad_y) = spec.gradients(&pair).unwrap();
        assert_eq!(grad_x, [vec![0.0, 0.0], slope.to_vec()]);
        assert_eq!(grad_y, [slope.map(|slope| -slope).to_vec()]);
    }
}

#[test]
fn alignment_becomes_the_path_as_gamma_vanishes() {
    let pair = Pair::new(wave(6, 1, 1.0), wave(8, 1, 2.0));
    let alignment = within(Measure::soft_dtw(1e-4), &Band::Full).alignment(&pair).unwrap();
    let path = within(Measure::Dtw { cost: LocalCost::SquaredEuclidean }, &Band::Full).path(&pair).unwrap();
    for (i, row) in alignment.iter().enumerate() {
        for (j, &weight) in row.iter().enumerate() {
            let on_path = if path.contains(&(i, j)) { 1.0 } else { 0.0 };
            assert!((weight - on_path).abs() < 1e-6, "({i}, {j}): {weight}");
        }
    }
}
