//! DBA against its equations, iteration by iteration.

use dtw_core::{Band, Radius, Series, SeriesBatch, Spec};
use dtw_learn::{BarycenterOptions, Context, Start, dba};

use crate::plain;

/// One iteration as the paper writes it: the cost of a centre and the mean of what its points are matched with.
fn step(center: &[f64], x: SeriesBatch<'_, f64>, weights: &[f64], radius: Option<usize>) -> (f64, Vec<f64>) {
    let channels = x.channels();
    let (mut sums, mut counts) = (vec![0.0; center.len()], vec![0.0; center.len() / channels]);
    let mut cost = 0.0;
    for (series, w) in x.iter().zip(weights) {
        let (d, path) = plain::dtw(center, series.values, channels, radius);
        cost += w * d;
        for (i, j) in path {
            counts[i] += w;
            for k in 0..channels {
                sums[i * channels + k] += w * series.values[j * channels + k];
            }
        }
    }
    (cost, sums.iter().enumerate().map(|(at, s)| s / counts[at / channels]).collect())
}

#[test]
fn iterations_follow_the_equations() {
    let lengths = [9, 6, 11, 8, 8];
    let weights = [1.0, 0.5, 2.0, 1.0, 0.25];
    let backend = plain::backend();
    let context = Context::new(&backend);
    for (seed, radius) in [(21, None), (22, Some(1)), (23, Some(3))] {
        for channels in [1, 3] {
            let x = plain::ragged(seed, &lengths, channels);
            let start = plain::series(&mut plain::rng(seed + 100), 8, channels);
            let mut spec = Spec::dtw();
            if let Some(radius) = radius {
                spec = spec.with_band(Band::SakoeChiba { radius: Radius::Points(radius) });
            }
            let mut center = start.clone();
            let mut costs = Vec::new();
            for iterations in 0..4 {
                let options = BarycenterOptions::default()
                    .with_weights(Some(&weights))
                    .with_start(Start::Series(Series { values: &start, channels, times: None }))
                    .with_max_iterations(iterations)
                    .with_tolerance(0.0);
                let found = dba(&context, &spec, x.batch(), &options).unwrap();
                let (cost, next) = step(&center, x.batch(), &weights, radius);
                costs.push(cost);
                // A fixed point may come early: then the equations, too, gain nothing from there on.
                if found.converged && found.costs.len() < costs.len() {
                    plain::assert_close(cost, costs[costs.len() - 2], 1e-12);
                    break;
                }
                assert_eq!(found.costs.len(), costs.len());
                for (got, expected) in found.costs.iter().zip(&costs) {
                    plain::assert_close(*got, *expected, 1e-12);
                }
                for (got, expected) in found.center.iter().zip(&center) {
                    assert!((got - expected).abs() < 1e-12);
                }
                center = next;
            }
        }
    }
}

#[test]
fn the_cost_falls_until_the_centre_is_a_fixed_point() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    for seed in 30..40 {
        let x = plain::ragged(seed, &[12, 9, 14, 10, 11, 13], 2);
        let options = BarycenterOptions::default().with_tolerance(0.0);
        let found = dba(&context, &Spec::dtw(), x.batch(), &options).unwrap();
        assert!(found.converged && found.costs.len() > 2, "{:?}", found.costs);
        assert!(found.costs.windows(2).all(|w| w[1] < w[0]), "{:?}", found.costs);
        let weights = [1.0; 6];
        let (cost, next) = step(&found.center, x.batch(), &weights, None);
        plain::assert_close(found.cost(), cost, 1e-12);
        // Converged means that the equations give the centre back.
        let (after, _) = step(&next, x.batch(), &weights, None);
        plain::assert_close(after, cost, 1e-9);
    }
}

#[test]
fn weights_pull() {
    let x = SeriesBatch::equal(&[0.0_f64, 0.0, 1.0, 1.0], 2, 2, 1).unwrap();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default().with_weights(Some(&[3.0, 1.0])).with_start(Start::Mean);
    let found = dba(&context, &Spec::dtw(), x, &options).unwrap();
    assert_eq!(found.center, [0.25, 0.25]);
    assert_eq!(found.cost(), 3.0 * 2.0 * 0.0625 + 2.0 * 0.5625);
}

#[test]
fn single_precision_converges_too() {
    let x = plain::ragged(41, &[20; 6], 1);
    let narrow: Vec<f32> = x.batch().values().iter().map(|v| *v as f32).collect();
    let backend = plain::backend();
    let context = Context::<f32>::new(&backend);
    let batch = SeriesBatch::equal(&narrow, 6, 20, 1).unwrap();
    let found = dba(&context, &Spec::dtw(), batch, &BarycenterOptions::default()).unwrap();
    let wide = dba(&Context::new(&backend), &Spec::dtw(), x.batch(), &BarycenterOptions::default()).unwrap();
    assert!(found.converged);
    plain::assert_close(found.cost(), wide.cost(), 1e-3);
}
