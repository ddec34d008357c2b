//! Values of Soft-DTW and of the alignment kernel that come from a sweep in tiles: several channels, and Euclidean and
//! Manhattan costs. Lengths round the edges of tiles, bands that leave tiles out, ragged batches of every pairing,
//! little memory.

use crate::judged::{backend, case, case_of, judge_values, soft};
use crate::numbers::noise;
use dtw_conformance::cases::series::Kind;
use dtw_core::{Backend, Band, Error, LocalCost, Measure, Pairing, Plan, Problem, Radius, SeriesBatch, Spec};

/// Measures of this steepness, and numbers of channels for which each is swept in tiles.
fn swept_in_tiles(gamma: f64) -> [(Spec, &'static [usize]); 4] {
    [
        (soft(gamma, LocalCost::SquaredEuclidean), &[5]),
        (Spec::new(Measure::LogGak { sigma: (gamma / 2.0).sqrt() }), &[5]),
        (soft(gamma, LocalCost::Euclidean), &[1, 5]),
        (soft(gamma, LocalCost::Manhattan), &[1, 5]),
    ]
}

/// Whether smaller pairs go to another sweep.
fn is_for_large_pairs(spec: &Spec) -> bool {
    matches!(
        spec.measure,
        Measure::LogGak { .. } | Measure::SoftDtw { cost: LocalCost::SquaredEuclidean, .. }
    )
}

#[test]
fn lengths_round_the_edges_of_tiles() {
    for (spec, channels) in swept_in_tiles(1.0) {
        let (rows, columns): (&[_], &[_]) = if is_for_large_pairs(&spec) {
            (&[31, 33, 64, 65, 130], &[33, 64, 65, 129])
        } else {
            (&[1, 2, 20, 63, 65], &[1, 7, 64, 65])
        };
        for channels in channels {
            for n in rows {
                for m in columns {
                    judge_values(&case(spec.clone(), Kind::Noise, &[(*n, *m)], *channels));
                }
            }
        }
    }
}

#[test]
fn channels_of_any_number() {
    for channels in [2, 8, 31, 32, 33, 65] {
        judge_values(&case(soft(10.0, LocalCost::SquaredEuclidean), Kind::Noise, &[(70, 66)], channels));
        judge_values(&case(Spec::new(Measure::LogGak { sigma: 2.0 }), Kind::Noise, &[(70, 66)], channels));
    }
}

#[test]
fn every_pairing_of_ragged_series() {
    let lengths: [&[usize]; 2] = [&[70, 1, 130, 64], &[129, 65, 3, 90]];
    for (spec, channels) in swept_in_tiles(0.1) {
        for channels in channels {
            for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
                judge_values(&case_of(spec.clone(), Kind::Noise, pairing, lengths, *channels));
            }
        }
    }
}

#[test]
fn bands_that_leave_tiles_out() {
    let slanted = Band::Slanted { radius: Radius::Points(2) };
    for (spec, channels) in swept_in_tiles(1.0) {
        let squared = is_for_large_pairs(&spec);
        let lengths: &[_] = if squared { &[(130, 130), (200, 70), (70, 200)] } else { &[(130, 70)] };
        for channels in channels {
            for pair in lengths {
                for band in [Band::sakoe_chiba(0), Band::sakoe_chiba(20), Band::Itakura { max_slope: 4.0 }] {
                    let spec = spec.clone().with_band(band);
                    judge_values(&case(spec, Kind::Noise, &[*pair], *channels));
                }
                if squared {
                    let spec = spec.clone().with_band(slanted.clone());
                    judge_values(&case(spec, Kind::Noise, &[*pair], *channels));
                }
            }
        }
    }
}

/// With little memory a launch has few pairs; one by one they have the same bits.
#[test]
fn the_bits_do_not_depend_on_the_memory() {
    for (cost, channels, band) in [
        (LocalCost::SquaredEuclidean, 5, Band::Full),
        (LocalCost::SquaredEuclidean, 5, Band::Slanted { radius: Radius::Points(4) }),
        (LocalCost::Euclidean, 3, Band::Full),
        (LocalCost::Manhattan, 1, Band::Full),
    ] {
        let values: Vec<f32> = noise(12 * 100 * channels, 5);
        let batch = SeriesBatch::equal(&values, 12, 100, channels).unwrap();
        let problem = Problem::of(soft(1.0, cost).with_band(band), Pairing::Cross, &batch, &batch).unwrap();
        let run = |problem: &Problem| {
            let mut plan: Box<dyn Plan<f32>> = backend().plan(problem).unwrap();
            let mut out = vec![f32::NAN; problem.output_len()];
            plan.distances(batch, batch, &mut out).map(|()| out)
        };
        let whole = run(&problem).unwrap();
        assert!(whole.iter().all(|value| value.is_finite()));
        assert_eq!(run(&problem.with_memory_limit(64 << 10)).unwrap(), whole);
    }
}

/// There is no other sweep that would take less.
#[test]
fn too_little_memory_is_refused_with_numbers() {
    let points = 20_000;
    let x = vec![0.5_f32; points];
    let batch = SeriesBatch::equal(&x, 1, points, 1).unwrap();
    let spec = soft(1.0, LocalCost::Manhattan).with_band(Band::sakoe_chiba(10));
    let problem = Problem::of(spec, Pairing::Zipped, &batch, &batch).unwrap();
    let run = |limit| -> Result<f32, Error> {
        let mut plan: Box<dyn Plan<f32>> = backend().plan(&problem.clone().with_memory_limit(limit))?;
        let mut out = [f32::NAN];
        plan.distances(batch, batch, &mut out)?;
        Ok(out[0])
    };
    let error = run(645_000).unwrap_err();
    assert!(
        matches!(&error, Error::OutOfMemory { what, requested_bytes, available_bytes: 645_000 }
            if what.contains("row of tiles") && *requested_bytes > 645_000),
        "{error}"
    );
    assert!(run(4 << 20).unwrap().is_finite());
}
