//! What holds of every average: its start, its dispatch, its result for series that are all the same.

use dtw_core::{Measure, OwnedBatch, Series, SeriesBatch, Spec};
use dtw_learn::{BarycenterOptions, Context, Optimizer, Start, barycenter, dba, medoid, soft_barycenter};

use crate::plain;

fn specs() -> [Spec; 3] {
    [Spec::dtw(), Spec::soft_dtw(0.5), Spec::new(Measure::soft_dtw_divergence(0.5))]
}

#[test]
fn the_medoid_has_the_least_total_distance() {
    let x = plain::ragged(11, &[5, 8, 6, 6, 7, 4], 2);
    let backend = plain::backend();
    for weights in [[1.0; 6], [0.0, 2.0, 1.0, 0.5, 0.0, 3.0]] {
        for limit in [4 * 8 * 4, 1 << 20] {
            let context = Context::new(&backend).with_memory_limit(limit);
            for (spec, gamma) in [(Spec::dtw(), None), (Spec::soft_dtw(0.7), Some(0.7))] {
                let cost = |i: usize| {
                    plain::total(x.batch().get(i).values, x.batch(), &weights, |c, x| match gamma {
                        None => plain::dtw(c, x, 2, None).0,
                        Some(gamma) => plain::soft_dtw(c, x, 2, gamma),
                    })
                };
                let brute = (0..6)
                    .filter(|i| weights[*i] > 0.0)
                    .min_by(|a, b| cost(*a).partial_cmp(&cost(*b)).unwrap())
                    .unwrap();
                assert_eq!(medoid(&context, &spec, x.batch(), Some(&weights)).unwrap(), brute);
            }
        }
    }
}

#[test]
fn the_start_is_returned_with_its_cost_when_nothing_may_be_done() {
    let x = plain::ragged(12, &[6; 4], 1);
    let given = [0.3, -0.2, 0.1];
    let backend = plain::backend();
    let context = Context::new(&backend);
    let weights = [1.0, 2.0, 0.0, 1.0];
    let mean: Vec<f64> = (0..6)
        .map(|i| x.batch().iter().zip(weights).map(|(s, w)| w * s.values[i]).sum::<f64>() / 4.0)
        .collect();
    for spec in specs() {
        let at = |start| {
            let options = BarycenterOptions::default()
                .with_weights(Some(&weights))
                .with_start(start)
                .with_max_iterations(0);
            barycenter(&context, &spec, x.batch(), &options).unwrap()
        };
        let member = medoid(&context, &spec, x.batch(), Some(&weights)).unwrap();
        let series = Series::univariate(&given);
        let starts = [
            (at(Start::Medoid), x.batch().get(member).values.to_vec()),
            (at(Start::Mean), mean.clone()),
            (at(Start::Series(series)), given.to_vec()),
        ];
        for (found, start) in starts {
            assert!(found.center.iter().zip(&start).all(|(a, b)| (a - b).abs() < 1e-15));
            let cost = plain::total(&start, x.batch(), &weights, |c, x| match spec.measure {
                Measure::SoftDtw { gamma, .. } => plain::soft_dtw(c, x, 1, gamma),
                Measure::SoftDtwDivergence { gamma, .. } => plain::divergence(c, x, 1, gamma),
                _ => plain::dtw(c, x, 1, None).0,
            });
            assert_eq!((found.costs.len(), found.iterations(), found.converged), (1, 0, false));
            plain::assert_close(found.cost(), cost, 1e-10);
        }
    }
}

#[test]
fn the_average_of_equal_series_is_that_series() {
    let series = plain::series(&mut plain::rng(13), 12, 2);
    let mut x = OwnedBatch::new(2).unwrap();
    for _ in 0..5 {
        x.push(&series).unwrap();
    }
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default();
    // Exactly so for DTW; the divergence is 0 there and nowhere less; Soft-DTW approaches DTW as γ falls.
    let exact = dba(&context, &Spec::dtw(), x.batch(), &options).unwrap();
    assert!(exact.converged);
    assert_eq!((exact.center, exact.costs), (series.clone(), vec![0.0]));
    let divergence = Spec::new(Measure::soft_dtw_divergence(0.1));
    let noisy: Vec<f64> = series.iter().enumerate().map(|(k, v)| v + 0.05 * (k as f64).sin()).collect();
    for start in [Start::Medoid, Start::Series(Series { values: &noisy, channels: 2, times: None })] {
        let options = options.with_start(start).with_tolerance(1e-12);
        let found = soft_barycenter(&context, &divergence, x.batch(), &options).unwrap();
        assert!(found.converged && found.cost().abs() < 1e-6, "{:?}", found.costs);
        assert!(found.center.iter().zip(&series).all(|(a, b)| (a - b).abs() < 1e-3));
    }
    let soft = soft_barycenter(&context, &Spec::soft_dtw(1e-4), x.batch(), &options).unwrap();
    assert!(soft.center.iter().zip(&series).all(|(a, b)| (a - b).abs() < 1e-3), "{:?}", soft.costs);
}

#[test]
fn each_measure_gets_its_method() {
    let x = plain::ragged(14, &[7, 5, 8], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default().with_optimizer(Optimizer::Lbfgs { history: 5 });
    for spec in specs() {
        let direct = match spec.measure {
            Measure::Dtw { .. } => dba(&context, &spec, x.batch(), &options),
            _ => soft_barycenter(&context, &spec, x.batch(), &options),
        };
        assert_eq!(barycenter(&context, &spec, x.batch(), &options).unwrap(), direct.unwrap());
    }
}

#[test]
fn a_zero_weight_is_as_good_as_absence() {
    let x = plain::ragged(15, &[7, 5, 8, 6], 1);
    let mut without = OwnedBatch::new(1).unwrap();
    [0, 1, 3].iter().for_each(|s| without.push(x.batch().get(*s).values).unwrap());
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        let with = |x: SeriesBatch<'_, f64>, weights: &[f64]| {
            let options = BarycenterOptions::default().with_weights(Some(weights));
            barycenter(&context, &spec, x, &options).unwrap()
        };
        assert_eq!(with(x.batch(), &[1.0, 2.0, 0.0, 1.0]), with(without.batch(), &[1.0, 2.0, 1.0]));
    }
}

#[test]
fn a_small_memory_limit_changes_the_chunks_and_nothing_else() {
    let x = plain::ragged(16, &[9, 7, 8, 9, 6, 9, 10], 2);
    let backend = plain::backend();
    let start = plain::series(&mut plain::rng(17), 8, 2);
    let options = BarycenterOptions::default()
        .with_start(Start::Series(Series { values: &start, channels: 2, times: None }))
        .with_max_iterations(5);
    for spec in specs() {
        let run = |limit| {
            barycenter(&Context::new(&backend).with_memory_limit(limit), &spec, x.batch(), &options).unwrap()
        };
        // Large enough for the gradient's scratch, small enough for two or three series at a time.
        let (small, large) = (run(120_000), run(1 << 30));
        for (a, b) in small.center.iter().zip(&large.center) {
            assert!((a - b).abs() < 1e-9, "{}: {a} {b}", spec.key());
        }
    }
}

/// The start of the average with nothing done: which series it is.
fn started_at(x: SeriesBatch<'_, f64>, options: BarycenterOptions<'_, f64>) -> usize {
    let backend = plain::backend();
    let found =
        barycenter(&Context::new(&backend), &Spec::dtw(), x, &options.with_max_iterations(0)).unwrap();
    x.iter().position(|series| series.values == found.center).unwrap()
}

#[test]
fn of_many_series_the_start_is_the_medoid_of_a_sample() {
    let x = plain::ragged(18, &[5; 300], 1);
    let x = x.batch();
    let options = BarycenterOptions::default();
    let exact = medoid(&Context::new(&plain::backend()), &Spec::dtw(), x, None).unwrap();
    // As many as the default sample has: all of them, whatever the seed.
    let few = x.slice(0..256);
    let of_few = medoid(&Context::new(&plain::backend()), &Spec::dtw(), few, None).unwrap();
    assert!((0..3).all(|seed| started_at(few, options.with_seed(seed)) == of_few));
    assert!((0..3).all(|seed| started_at(x, options.with_seed(seed).with_sample_size(300)) == exact));
    // A seed fixes the draw, and other seeds draw others.
    let drawn: Vec<usize> =
        (0..8).map(|seed| started_at(x, options.with_seed(seed).with_sample_size(9))).collect();
    let again: Vec<usize> =
        (0..8).map(|seed| started_at(x, options.with_seed(seed).with_sample_size(9))).collect();
    assert!(drawn == again && drawn.iter().any(|s| *s != drawn[0]), "{drawn:?}");
    // What is drawn is drawn by weight.
    let mut weights = vec![1e-6; 300];
    weights[123] = 1.0;
    let weighted = options.with_weights(Some(&weights)).with_sample_size(5);
    assert!((0..20).all(|seed| started_at(x, weighted.with_seed(seed)) == 123));
}

#[test]
fn the_start_compares_no_more_pairs_than_the_sample_has() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    #[derive(Default)]
    struct Cells(AtomicU64);
    impl dtw_core::Observer for Cells {
        fn advance(&self, cells: u64) {
            self.0.fetch_add(cells, Ordering::Relaxed);
        }
    }
    let backend = plain::backend();
    let x = plain::ragged(19, &[4; 2000], 1);
    let swept = |options: BarycenterOptions<'_, f64>| {
        let cells = Arc::new(Cells::default());
        let context = Context::new(&backend).with_observer(cells.clone());
        barycenter(&context, &Spec::dtw(), x.batch(), &options.with_max_iterations(0)).unwrap();
        cells.0.load(Ordering::Relaxed) / 16
    };
    // The pairs of the sample, each once or twice where tiles are mirrored; and the path of each series.
    let (least, most) = (256 * 257 / 2, 256 * 256);
    let pairs = swept(BarycenterOptions::default());
    assert!((least + 2000..=most + 2000).contains(&pairs), "{pairs} pairs");
    let pairs = swept(BarycenterOptions::default().with_sample_size(10));
    assert!((55 + 2000..=100 + 2000).contains(&pairs), "{pairs} pairs");
}
