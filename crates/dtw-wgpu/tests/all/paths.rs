//! Warping paths: in little memory, of long and of ragged pairs, outside the band of LCSS, and of subsequences.
//! Values are small multiples of 1/8, so that every sum is exact and ties are the same ties everywhere.

use dtw_conformance::batch::Batch;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::oracle::band::Ends;
use dtw_conformance::oracle::{Cells, Oracle, path, subsequence_dtw};
use dtw_core::{
    Anchor, Backend, Band, Error, LcssOutput, LocalCost, Measure, Pairing, Path, Problem, Radius, Result,
    SeriesBatch, Spec,
};

use super::BACKEND;

/// Series of these lengths.
fn steps(lengths: &[usize], channels: usize, seed: u64) -> Batch {
    let mut random = SplitMix::new(seed);
    Batch::new(lengths.iter().map(|n| series(Kind::Eighths, *n, channels, &mut random)).collect())
}

/// Paths of zipped pairs, and whether the plan keeps to its limit.
fn paths(spec: &Spec, x: &Batch, y: &Batch, limit: Option<u64>) -> Result<Vec<Path<f32>>> {
    let (x, y) = (x.flat::<f32>(), y.flat::<f32>());
    let (x, y) = (x.batch()?, y.batch()?);
    let mut problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y)?;
    if let Some(limit) = limit {
        problem = problem.with_memory_limit(limit);
    }
    let mut plan = Backend::<f32>::plan(&*BACKEND, &problem)?;
    let paths = plan.paths(x, y)?;
    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes(), "{} bytes", plan.scratch_bytes());
    Ok(paths)
}

#[test]
fn little_memory_changes_nothing() {
    let lcss = Measure::Lcss { epsilon: 1.0, output: LcssOutput::Distance };
    let specs = [
        (Spec::dtw(), 1),
        (Spec::dtw(), 3),
        (Spec::dtw().with_band(Band::Slanted { radius: Radius::Points(60) }), 1),
        (Spec::new(lcss).with_band(Band::sakoe_chiba(2)), 1),
        (Spec::new(Measure::Msm { c: 1.0 }), 1),
    ];
    for (spec, channels) in specs {
        let x = steps(&[700, 300, 512, 1], channels, 1);
        let y = steps(&[640, 655, 512, 129], channels, 2);
        let expected: Vec<_> = (0..4).map(|s| spec.path(&Batch::pair(&x, s, &y, s)).unwrap()).collect();
        let whole = paths(&spec, &x, &y, None).unwrap();
        // The choices of the largest pair take 112 kB; a limit of 320 KiB keeps few rows of it.
        for limit in [None, Some(1 << 20), Some(320 << 10)] {
            let found = paths(&spec, &x, &y, limit).unwrap();
            for (s, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found.points, *expected, "{} of {channels}, pair {s}, {limit:?}", spec.key());
            }
            assert_eq!(found, whole, "{}, {limit:?}", spec.key());
        }
        let refused = paths(&spec, &x, &y, Some(40 << 10)).unwrap_err();
        assert!(
            matches!(refused, Error::OutOfMemory { requested_bytes, available_bytes, .. }
                if requested_bytes > available_bytes && available_bytes == 40 << 10),
            "{refused}"
        );
    }
}

#[test]
fn distances_of_paths_are_those_of_distances() {
    let (x, y) = (steps(&[300; 5], 1, 3).flat::<f32>(), steps(&[411; 5], 1, 4).flat::<f32>());
    let (x, y) = (x.batch().unwrap(), y.batch().unwrap());
    for measure in [
        Measure::Twed { nu: 0.01, lambda: 0.7, degree: 2.0 },
        Measure::Wdtw { g: 0.05 },
        Measure::Lcss { epsilon: 0.5, output: LcssOutput::Length },
    ] {
        let problem = Problem::of(Spec::new(measure), Pairing::Zipped, &x, &y).unwrap();
        let mut plan = Backend::<f32>::plan(&*BACKEND, &problem).unwrap();
        let mut distances = [0.0; 5];
        plan.distances(x, y, &mut distances).unwrap();
        let of_paths: Vec<f32> = plan.paths(x, y).unwrap().iter().map(|path| path.distance).collect();
        assert_eq!(of_paths, distances, "{}", measure.key());
    }
}

#[test]
fn paths_of_subsequences_end_where_the_best_match_does() {
    let x = steps(&[20, 7, 1, 64, 33], 1, 5);
    let y = steps(&[300, 257, 90, 700, 33], 1, 6);
    for band in [Band::Full, Band::Slanted { radius: Radius::Points(300) }] {
        let spec = Spec::subsequence_dtw(LocalCost::Manhattan).with_band(band.clone());
        assert_eq!(spec.anchor, Anchor::Subsequence);
        for limit in [None, Some(256 << 10)] {
            let found = paths(&spec, &x, &y, limit).unwrap();
            for (s, found) in found.iter().enumerate() {
                let Ok(rows) = band.rows(x.series[s].len(), y.series[s].len(), Ends::Free) else {
                    panic!("the band leaves pair {s} no path")
                };
                let cost = LocalCost::Manhattan;
                let grid = subsequence_dtw::grid(&x.series[s], &y.series[s], cost, &rows);
                let best = subsequence_dtw::matches(&grid, 1, 0)[0];
                let expected = path::ending_at(&grid, grid.n(), best.end + 1);
                assert_eq!(found.points, expected, "pair {s}, {band:?}, {limit:?}");
                assert_eq!(f64::from(found.distance), best.cost, "pair {s}");
            }
        }
    }
}

/// Bands that are cut to two matches of one length, at different places, are not taken for each other.
#[test]
fn paths_of_matches_of_one_length_have_bands_of_their_own() {
    let query = [0.0_f32, 3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0];
    let reference = |at: usize| -> Vec<f32> {
        let mut values = vec![50.0; 60];
        values[at..at + query.len()].copy_from_slice(&query);
        values
    };
    let (x, y) = ([query, query].concat(), [reference(3), reference(30)].concat());
    let x = SeriesBatch::equal(&x, 2, query.len(), 1).unwrap();
    let y = SeriesBatch::equal(&y, 2, 60, 1).unwrap();
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean).with_band(Band::sakoe_chiba(2));
    let problem = Problem::of(spec, Pairing::Zipped, &x, &y).unwrap();
    let paths = Backend::<f32>::plan(&*BACKEND, &problem).unwrap().paths(x, y).unwrap();
    for (path, at) in paths.iter().zip([3, 30]) {
        assert_eq!(path.distance, 0.0);
        assert_eq!(path.points, (0..query.len()).map(|k| (k, at + k)).collect::<Vec<_>>());
    }
}
