//! Pairs of many channels, whose loops turn more often than some drivers let them: pieces of pairs have to be small
//! enough.

use dtw_conformance::batch::Batch;
use dtw_conformance::oracle::Oracle;
use dtw_core::{Backend, LocalCost, Measure, Pairing, Problem, Spec};
use dtw_wgpu::WgpuBackend;

/// One series of numbers from −2 to 2.
fn noise(length: usize, channels: usize, mut state: u64) -> Batch {
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 22) - 2.0
    };
    Batch::new(vec![(0..length).map(|_| (0..channels).map(|_| next()).collect()).collect()])
}

#[test]
fn no_loop_is_left_early() {
    let backend = WgpuBackend::new().expect("an adapter");
    let twed = |degree| Spec::new(Measure::Twed { nu: 0.625, lambda: 3.0, degree });
    let dtw = |cost| Spec::new(Measure::Dtw { cost });
    let specs = [
        (twed(3.0), [120, 140, 251, 500]),
        (twed(1.0), [120, 140, 251, 500]),
        (dtw(LocalCost::SquaredEuclidean), [120, 600, 900, 1300]),
        (dtw(LocalCost::Manhattan), [120, 600, 900, 1300]),
    ];
    for (spec, lengths) in specs {
        for channels in [5, 7] {
            for n in lengths {
                let (x, y) = (noise(n, channels, 1), noise(n, channels, 2));
                let expected = spec.distance(&Batch::pair(&x, 0, &y, 0)).unwrap();
                let (x, y) = (x.flat::<f32>(), y.flat::<f32>());
                let (x, y) = (x.batch().unwrap(), y.batch().unwrap());
                let problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y).unwrap();
                let mut plan = Backend::<f32>::plan(&backend, &problem).unwrap();
                let mut found = [0.0];
                plan.distances(x, y, &mut found).unwrap();
                let off = (f64::from(found[0]) - expected).abs() / expected;
                assert!(
                    off < 1e-5,
                    "{} of {n} points of {channels} channels: {found:?}, {expected}",
                    spec.key()
                );
            }
        }
    }
}
