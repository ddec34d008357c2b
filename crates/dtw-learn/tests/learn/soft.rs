//! The Soft-DTW average: lower cost than the start, no gradient at the end, measured by plain loops.

use dtw_core::{Band, Measure, Radius, Series, SeriesBatch, Spec};
use dtw_learn::{BarycenterOptions, Context, Optimizer, Start, soft_barycenter};

use crate::plain;

/// Central differences of Σ w·d(c, x) at `center`.
fn gradient(
    center: &[f64],
    x: SeriesBatch<'_, f64>,
    weights: &[f64],
    d: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<f64> {
    (0..center.len())
        .map(|k| {
            let at = |offset: f64| {
                let mut moved = center.to_vec();
                moved[k] += offset;
                plain::total(&moved, x, weights, &d)
            };
            (at(1e-5) - at(-1e-5)) / 2e-5
        })
        .collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, v| most.max(v.abs()))
}

#[test]
fn the_average_of_two_series_is_a_minimum() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    for gamma in [0.05, 1.0, 20.0] {
        for channels in [1, 2] {
            let x = plain::ragged(51, &[10, 13], channels);
            let weights = [1.0, 2.5];
            let start = plain::series(&mut plain::rng(52), 9, channels);
            let options = BarycenterOptions::default()
                .with_weights(Some(&weights))
                .with_start(Start::Series(Series { values: &start, channels, times: None }))
                .with_tolerance(1e-13)
                .with_max_iterations(500);
            for divergence in [false, true] {
                let d = |x: &[f64], y: &[f64]| {
                    if divergence {
                        plain::divergence(x, y, channels, gamma)
                    } else {
                        plain::soft_dtw(x, y, channels, gamma)
                    }
                };
                let measure =
                    if divergence { Measure::soft_dtw_divergence(gamma) } else { Measure::soft_dtw(gamma) };
                let found = soft_barycenter(&context, &Spec::new(measure), x.batch(), &options).unwrap();
                assert!(found.converged, "{measure:?}: {:?}", found.costs);
                assert!(found.cost() < found.costs[0]);
                assert!(found.costs.windows(2).all(|w| w[1] <= w[0]), "L-BFGS only descends");
                assert_eq!((found.len(), found.channels), (9, channels));
                let own = plain::total(&found.center, x.batch(), &weights, d);
                assert!((found.cost() - own).abs() <= 1e-9 * own.abs().max(gamma), "{} {own}", found.cost());
                let (before, after) = (
                    gradient(&start, x.batch(), &weights, d),
                    gradient(&found.center, x.batch(), &weights, d),
                );
                assert!(
                    largest(&after) < 1e-4 * largest(&before),
                    "{measure:?}: gradient {} of {}",
                    largest(&after),
                    largest(&before)
                );
            }
        }
    }
}

#[test]
fn adam_goes_where_lbfgs_goes() {
    let x = plain::ragged(53, &[8, 9, 7], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let spec = Spec::soft_dtw(1.0);
    let run = |optimizer, max_iterations| {
        let options = BarycenterOptions::default()
            .with_optimizer(optimizer)
            .with_max_iterations(max_iterations)
            .with_tolerance(1e-10);
        soft_barycenter(&context, &spec, x.batch(), &options).unwrap()
    };
    let lbfgs = run(Optimizer::default(), 200);
    let adam = run(Optimizer::Adam { learning_rate: 0.02 }, 2000);
    assert!(lbfgs.converged && adam.converged, "{} {}", lbfgs.iterations(), adam.iterations());
    assert!(adam.cost() < adam.costs[0] && lbfgs.iterations() < adam.iterations());
    assert!((adam.cost() - lbfgs.cost()).abs() < 1e-4, "{} {}", adam.cost(), lbfgs.cost());
    // The best centre is returned, also when the last one is worse.
    let restless = run(Optimizer::Adam { learning_rate: 1.0 }, 7);
    let own = plain::total(&restless.center, x.batch(), &[1.0; 3], |c, x| plain::soft_dtw(c, x, 1, 1.0));
    assert!((restless.cost() - own).abs() < 1e-9);
}

#[test]
fn a_band_reaches_the_gradient() {
    let x = plain::ragged(54, &[12; 4], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default().with_start(Start::Mean).with_tolerance(1e-12);
    let spec = Spec::soft_dtw(0.1);
    let free = soft_barycenter(&context, &spec, x.batch(), &options).unwrap();
    // Radius 0 leaves the diagonal alone: the minimum is the mean.
    let banded = spec.with_band(Band::SakoeChiba { radius: Radius::Points(0) });
    let tied = soft_barycenter(&context, &banded, x.batch(), &options).unwrap();
    let mean: Vec<f64> = (0..12).map(|i| x.batch().iter().map(|s| s.values[i]).sum::<f64>() / 4.0).collect();
    assert!(tied.center.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-6), "{tied:?}");
    assert!(free.cost() < tied.cost());
}

#[test]
fn single_precision_converges_too() {
    let x = plain::ragged(55, &[15; 5], 1);
    let narrow: Vec<f32> = x.batch().values().iter().map(|v| *v as f32).collect();
    let backend = plain::backend();
    for measure in [Measure::soft_dtw(1.0), Measure::soft_dtw_divergence(1.0)] {
        let spec = Spec::new(measure);
        let options = BarycenterOptions::default();
        let batch = SeriesBatch::equal(&narrow, 5, 15, 1).unwrap();
        let found = soft_barycenter(&Context::<f32>::new(&backend), &spec, batch, &options).unwrap();
        let wide = soft_barycenter(&Context::new(&backend), &spec, x.batch(), &BarycenterOptions::default());
        assert!(found.converged, "{:?}", found.costs);
        let wide = wide.unwrap().cost();
        assert!((found.cost() - wide).abs() < 1e-2 * wide.abs().max(1.0), "{} {wide}", found.cost());
    }
}

/// γ far above the costs: each of the divergence's terms is millions of times as large as what they leave.
#[test]
fn a_divergence_keeps_its_digits_at_a_large_gamma() {
    let points =
        [[0.0, 3.0, 1.0, -2.0, 0.0], [1.0, -2.0, 2.0, 0.0, 1.0], [-1.0, 0.0, 2.0, 2.0, -3.0]].concat();
    let wide = SeriesBatch::equal(&points, 3, 5, 1).unwrap();
    let narrow: Vec<f32> = points.iter().map(|v| *v as f32).collect();
    let narrow = SeriesBatch::equal(&narrow, 3, 5, 1).unwrap();
    let cpu = dtw_cpu::CpuBackend::new();
    for gamma in [1e4, 1e6, 3e7] {
        let spec = Spec::new(Measure::soft_dtw_divergence(gamma));
        let exact = BarycenterOptions::default().with_tolerance(0.0).with_max_iterations(2000);
        let least = soft_barycenter(&Context::<f64>::new(&cpu), &spec, wide, &exact).unwrap().cost();
        let own =
            |center: &[f64]| plain::total(center, wide, &[1.0; 3], |c, x| plain::divergence(c, x, 1, gamma));
        let found =
            soft_barycenter(&Context::<f64>::new(&cpu), &spec, wide, &BarycenterOptions::default()).unwrap();
        assert!(found.converged && found.cost() <= least * (1.0 + 1e-3), "{gamma}: {} {least}", found.cost());
        assert!((found.cost() - own(&found.center)).abs() < 1e-4 * least, "{gamma}");
        let rounded =
            soft_barycenter(&Context::<f32>::new(&cpu), &spec, narrow, &BarycenterOptions::default())
                .unwrap();
        let center: Vec<f64> = rounded.center.iter().map(|v| f64::from(*v)).collect();
        assert!(
            (rounded.cost() - own(&center)).abs() < 1e-4 * least,
            "{gamma}: {} {}",
            rounded.cost(),
            own(&center)
        );
        assert!(rounded.cost() <= least * (1.0 + 1e-2), "{gamma}: {} {least}", rounded.cost());
    }
}

/// A step of Adam is no longer than its learning rate: that a step gains little does not say that nothing is to be
/// gained.
#[test]
fn short_steps_are_no_rest() {
    let points = [0.0, 1e6, 3e5, 2e5, 1e6, 5e5, 2e5, 0.0, 4e5, 1e5, 0.0, 1.5e6];
    let x = SeriesBatch::equal(&points, 3, 4, 1).unwrap();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let by = |optimizer| {
        let options = BarycenterOptions::default().with_optimizer(optimizer);
        soft_barycenter(&context, &Spec::soft_dtw(1.0), x, &options).unwrap()
    };
    let short = by(Optimizer::Adam { learning_rate: 0.05 });
    assert!(!short.converged && short.iterations() == 100, "{:?}", short.costs);
    let long = by(Optimizer::Adam { learning_rate: 1e4 });
    assert!(long.cost() < 0.9 * short.cost(), "{} {}", long.cost(), short.cost());
}
