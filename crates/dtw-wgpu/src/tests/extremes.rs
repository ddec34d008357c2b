//! Numbers at the edges of f32 (costs that overflow, weights of 0, parameters that are no f32), and calls at the edges
//! of their speed and memory.

use std::sync::Arc;

use dtw_core::{
    Backend, Error, Measure, Pairing, Plan as _, Problem, Result, SearchOptions, SeriesBatch, Spec,
};

use super::{BACKEND, open};
use crate::launch::speed::Speed;
use crate::plans::plan::WgpuPlan;

fn distance(measure: Measure, x: &[f32], y: &[f32], channels: usize) -> Result<f32> {
    let batch = |values| SeriesBatch::equal(values, 1, x.len() / channels, channels).unwrap();
    let problem = Problem::of(Spec::new(measure), Pairing::Cross, &batch(x), &batch(y))?;
    let mut out = [0.0];
    Backend::<f32>::plan(&*BACKEND, &problem)?.distances(batch(x), batch(y), &mut out)?;
    Ok(out[0])
}

/// Zeros but for one number whose square overflows.
fn outlier(at: usize) -> Vec<f32> {
    (0..40).map(|k| if k == at { 2e19 } else { 0.0 }).collect()
}

#[test]
fn a_cost_that_overflows_has_no_part_in_a_cell_without_weight() {
    let (x, y) = (outlier(10), outlier(11));
    assert_eq!(distance(Measure::Wdtw { g: 10.0 }, &x, &y, 1).unwrap(), 0.0);
    assert_eq!(distance(Measure::Wdtw { g: 10.0 }, &x, &x, 1).unwrap(), 0.0);
    assert_eq!(distance(Measure::Wddtw { g: 10.0 }, &x, &y, 1).unwrap(), 0.0);
    // All have weight.
    assert_eq!(distance(Measure::Wdtw { g: 0.0 }, &x, &[0.0; 40], 1).unwrap(), f32::INFINITY);
}

#[test]
fn a_norm_that_overflows_is_infinite() {
    let twed = |degree| Measure::Twed { nu: 0.001, lambda: 1.0, degree };
    for channels in [2, 5, 17] {
        let (x, y) = (vec![2e38; channels], vec![-2e38; channels]);
        for degree in [1.0, 2.0, 3.0] {
            assert_eq!(
                distance(twed(degree), &x, &y, channels).unwrap(),
                f32::INFINITY,
                "{channels} {degree}"
            );
        }
    }
}

/// Also before its first point, where a place of memory stands for a point of zeros.
#[test]
fn series_of_many_channels_are_at_no_distance_from_themselves() {
    for channels in [2, 5, 17, 40] {
        let x: Vec<f32> = (0..6 * channels).map(|k| (k % 7) as f32).collect();
        for degree in [1.0, 2.0, 3.0] {
            let twed = Measure::Twed { nu: 0.001, lambda: 1.0, degree };
            assert_eq!(distance(twed, &x, &x, channels).unwrap(), 0.0, "{channels} {degree}");
        }
    }
}

#[test]
fn parameters_beyond_f32_are_refused() {
    let usual = Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 };
    assert!(distance(usual, &[1.0, 2.0], &[1.0, 3.0], 1).unwrap() > 0.0);
    for measure in [
        Measure::Twed { nu: 1e39, lambda: 1.0, degree: 2.0 },
        Measure::Twed { nu: 0.001, lambda: 1.0, degree: 1e39 },
        Measure::Adtw { penalty: 1e39 },
    ] {
        let error = distance(measure, &[1.0, 2.0], &[1.0, 3.0], 1).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains("1e39"), "{error}");
    }
}

/// A pair is swept in pieces, cut as the device's speed allows. The result must not depend on where.
#[test]
fn sums_over_paths_do_not_depend_on_how_fast_the_device_is() {
    let noise = |n: usize, mean: f32| -> Vec<f32> {
        (0..2 * n).map(|k| mean + ((k * k * 7 + k) % 31) as f32 / 4.0).collect()
    };
    let (n, m) = (400, 300);
    let (x, y) = (noise(n, -1000.0), noise(m, 0.0));
    let gpu = open(None);
    for measure in [Measure::LogGak { sigma: 3.848 }, Measure::soft_dtw(0.01), Measure::soft_dtw(30.0)] {
        let x = SeriesBatch::equal(&x, 1, n, 2).unwrap();
        let y = SeriesBatch::equal(&y, 1, m, 2).unwrap();
        let problem = Problem::of(Spec::new(measure), Pairing::Cross, &x, &y).unwrap();
        let of_speed = |cells| {
            let speed = Arc::new(Speed::of(cells));
            let mut plan = WgpuPlan::new(gpu.clone(), speed, &problem).unwrap();
            let mut out = [0.0_f32];
            plan.distances(x, y, &mut out).unwrap();
            out[0].to_bits()
        };
        assert_eq!(of_speed(1), of_speed(1 << 40), "{measure:?}");
    }
}

/// Whether it is searched whole or block by block.
#[test]
fn a_search_needs_no_more_memory_than_it_is_given() {
    let channels = 16;
    let noise = |count: usize| -> Vec<f32> { (0..count).map(|k| ((k * k) % 97) as f32).collect() };
    let queries = noise(30 * 50 * channels);
    let queries = SeriesBatch::equal(&queries, 30, 50, channels).unwrap();
    let mut costs = Vec::new();
    for length in [500, 1900, 2500, 3500, 3700, 4100] {
        let reference = noise(length * channels);
        let reference = SeriesBatch::equal(&reference, 1, length, channels).unwrap();
        let spec = Spec::subsequence_dtw(dtw_core::LocalCost::SquaredEuclidean);
        let problem = Problem::of(spec, Pairing::Cross, &queries, &reference).unwrap();
        let problem = problem.with_memory_limit(1 << 20);
        let mut plan = Backend::<f32>::plan(&*BACKEND, &problem).unwrap();
        let found = plan.matches(queries, reference, &SearchOptions::default()).unwrap();
        // The first query is where the reference begins.
        assert_eq!((found[0][0].start, found[0][0].distance), (0, 0.0), "{length}");
        costs.push(plan.scratch_bytes());
    }
    assert!(costs.iter().all(|bytes| *bytes <= 1 << 20), "{costs:?}");
}
