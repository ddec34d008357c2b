//! The same pair gives the same bits however it is computed: alone or in a batch, on one thread or several, with much
//! memory or little.

use dtw_core::{
    Backend, Band, EdrOutput, LcssOutput, LocalCost, Measure, Pairing, Problem, Radius, SeriesBatch, Spec,
};
use dtw_cpu::{CpuBackend, Element, Isa};
use proptest::prelude::*;

const MEASURES: &[Measure] = &[
    Measure::DTW,
    Measure::Dtw { cost: LocalCost::Manhattan },
    Measure::Ddtw { cost: LocalCost::SquaredEuclidean },
    Measure::Wdtw { g: 0.05 },
    Measure::Adtw { penalty: 0.3 },
    Measure::Erp { gap: 0.1 },
    Measure::Edr { epsilon: 0.2, output: EdrOutput::Count },
    Measure::Lcss { epsilon: 0.3, output: LcssOutput::Distance },
    Measure::Msm { c: 0.5 },
    Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 },
    Measure::SoftDtw { gamma: 0.1 },
    Measure::LogGak { sigma: 1.0 },
];

/// Deterministic values in [−1, 1) that differ from series to series.
fn values<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            T::from_f64((state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0)
        })
        .collect()
}

fn zipped<T: Element>(
    backend: &CpuBackend,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
) -> Vec<u64> {
    let problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y).unwrap();
    let mut out = vec![T::ZERO; x.len()];
    Backend::<T>::plan(backend, &problem).unwrap().distances(x, y, &mut out).unwrap();
    out.iter().map(|v| v.to_f64().to_bits()).collect()
}

fn check<T: Element>(count: usize, n: usize, m: usize, channels: usize, band: &Band) {
    let (x, y) = (values::<T>(count * n * channels, 1), values::<T>(count * m * channels, 2));
    let x = SeriesBatch::equal(&x, count, n, channels).unwrap();
    let y = SeriesBatch::equal(&y, count, m, channels).unwrap();
    for isa in Isa::available() {
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        for measure in MEASURES {
            let spec = Spec::new(*measure).with_band(band.clone());
            let together = zipped(&backend, &spec, x, y);
            let threaded = zipped(&CpuBackend::with_threads(3).with_isa(isa), &spec, x, y);
            assert_eq!(together, threaded, "{} {spec:?}: threads", isa.name());
            for s in 0..count {
                let alone =
                    zipped(&backend, &spec, SeriesBatch::single(x.get(s)), SeriesBatch::single(y.get(s)));
                assert_eq!(alone, together[s..=s], "{} {spec:?} {n} x {m}: pair {s} alone", isa.name());
            }
        }
    }
}

#[test]
fn alone_and_in_a_batch_agree_around_register_and_strip_edges() {
    for (n, m) in [(3, 3), (15, 17), (33, 31), (64, 65), (129, 130), (257, 40), (40, 257)] {
        check::<f64>(21, n, m, 1, &Band::Full);
        check::<f32>(21, n, m, 1, &Band::Full);
    }
}

#[test]
fn alone_and_in_a_batch_agree_in_bands_and_channels() {
    let bands =
        [Band::sakoe_chiba(5), Band::Slanted { radius: Radius::Points(3) }, Band::Itakura { max_slope: 2.5 }];
    for band in &bands {
        check::<f64>(19, 70, 66, 1, band);
        check::<f32>(19, 140, 150, 1, band);
    }
    check::<f64>(11, 40, 37, 3, &Band::Full);
    check::<f32>(18, 40, 37, 2, &Band::sakoe_chiba(4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// From one sweep that keeps every choice down to the least memory that is accepted.
    #[test]
    fn paths_do_not_depend_on_memory(n in 1_usize..1400, m in 1_usize..60, seed: u64, banded: bool) {
        let (x, y) = (values::<f64>(n, seed), values::<f64>(m, seed ^ 1));
        let x = SeriesBatch::equal(&x, 1, n, 1).unwrap();
        let y = SeriesBatch::equal(&y, 1, m, 1).unwrap();
        let band = if banded { Band::sakoe_chiba(7) } else { Band::Full };
        let problem = Problem::of(Spec::dtw().with_band(band), Pairing::Zipped, &x, &y).unwrap();
        let backend = CpuBackend::with_threads(1);
        let path = |limit: u64| {
            let problem = problem.clone().with_memory_limit(limit);
            Backend::<f64>::plan(&backend, &problem).unwrap().paths(x, y)
        };
        let free = path(1 << 30).unwrap();
        let least = (1..40).map(|k| 1_u64 << k).find(|limit| path(*limit).is_ok()).unwrap();
        for limit in [least, least + least / 8, least + least / 2] {
            prop_assert_eq!(&path(limit).unwrap(), &free);
        }
    }
}
