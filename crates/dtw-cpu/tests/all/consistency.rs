//! A pair gives the same bits however it is computed: alone or in a batch, on one thread or several, with much
//! memory or little.

use dtw_core::{
    Anchor, Backend, Band, Dtype, EdrOutput, Gradients, LcssOutput, LocalCost, Measure, Pairing, Problem,
    Radius, SeriesBatch, Spec,
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
    Measure::soft_dtw(0.1),
    Measure::SoftDtw { gamma: 0.1, cost: LocalCost::Euclidean },
    Measure::SoftDtw { gamma: 0.1, cost: LocalCost::Manhattan },
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

/// Paths of pairs that are swept side by side are those of each pair alone: the same steps, the same bits.
fn check_paths<T: Element>(count: usize, n: usize, m: usize, channels: usize, band: &Band) {
    // Few different values, so that arrivals tie.
    let few = |count, seed| -> Vec<T> {
        values::<T>(count, seed).iter().map(|v| T::from_f64((v.to_f64() * 3.0).round() / 2.0)).collect()
    };
    let (x, y) = (few(count * n * channels, 1), few(count * m * channels, 2));
    let x = SeriesBatch::equal(&x, count, n, channels).unwrap();
    let y = SeriesBatch::equal(&y, count, m, channels).unwrap();
    for isa in Isa::available() {
        for measure in MEASURES.iter().filter(|measure| measure.has_path(channels)) {
            let spec = Spec::new(*measure).with_band(band.clone());
            let paths = |threads, x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>| {
                let problem = Problem::of(spec.clone(), Pairing::Zipped, &x, &y).unwrap();
                let backend = CpuBackend::with_threads(threads).with_isa(isa);
                Backend::<T>::plan(&backend, &problem).unwrap().paths(x, y).unwrap()
            };
            let together = paths(1, x, y);
            assert_eq!(together, paths(2, x, y));
            for (s, found) in together.iter().enumerate() {
                let alone = paths(1, x.slice(s..s + 1), y.slice(s..s + 1));
                assert_eq!(found, &alone[0], "{measure:?} {isa:?}, pair {s} of {count}, {n} x {m} {band:?}");
            }
        }
    }
}

#[test]
fn paths_side_by_side_are_those_of_each_pair() {
    for (n, m) in [(1, 1), (3, 3), (8, 9), (33, 31), (64, 64)] {
        for radius in [None, Some(0), Some(2), Some(63)] {
            let band =
                radius.map_or(Band::Full, |radius| Band::SakoeChiba { radius: Radius::Points(radius) });
            // Derivatives have two points fewer.
            if n > 2 {
                check_paths::<f32>(35, n, m, 1, &band);
                check_paths::<f64>(17, n, m, 2, &band);
            }
        }
    }
    check_paths::<f64>(20, 40, 37, 1, &Band::Itakura { max_slope: 2.0 });
    check_paths::<f32>(20, 40, 25, 1, &Band::Slanted { radius: Radius::Points(3) });
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

/// Who asked whether to stop: every task does, on the thread that does it.
#[derive(Default)]
struct Asked(std::sync::Mutex<std::collections::HashSet<std::thread::ThreadId>>);

impl dtw_core::Observer for Asked {
    fn cancelled(&self) -> bool {
        self.0.lock().unwrap().insert(std::thread::current().id());
        false
    }
}

#[test]
fn one_task_and_little_work_are_done_by_the_callers_thread() {
    let backend = CpuBackend::with_threads(2);
    let by_caller = |count: usize, length: usize| {
        let values = values::<f64>(count * length, 1);
        let batch = SeriesBatch::equal(&values, count, length, 1).unwrap();
        let problem = Problem::of(Spec::dtw(), Pairing::Zipped, &batch, &batch).unwrap();
        let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
        let asked = std::sync::Arc::new(Asked::default());
        plan.observe(asked.clone());
        plan.distances(batch, batch, &mut vec![0.0; count]).unwrap();
        if count == 1 {
            plan.paths(batch, batch).unwrap();
        }
        let asked = asked.0.lock().unwrap();
        assert!(!asked.is_empty());
        asked.iter().all(|thread| *thread == std::thread::current().id())
    };
    assert!(by_caller(1, 2000) && by_caller(100, 10));
    assert!(!by_caller(100, 100));
}

#[test]
fn callers_of_another_pool_of_threads_are_served() {
    // The last thread of a larger pool than the backend's own.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let (x, y) = (values::<f64>(7, 1), values::<f64>(5, 2));
    let backend = CpuBackend::with_threads(1);
    let results = pool.broadcast(|_| {
        let (x, y) = (SeriesBatch::equal(&x, 1, 7, 1).unwrap(), SeriesBatch::equal(&y, 1, 5, 1).unwrap());
        let problem = Problem::of(Spec::soft_dtw(1.0), Pairing::Zipped, &x, &y).unwrap();
        let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
        let mut out = [0.0];
        plan.distances(x, y, &mut out).unwrap();
        (out, plan.alignment(x.get(0), y.get(0)).unwrap())
    });
    assert!(results.iter().all(|result| *result == results[0]));
}

/// Values and gradients of Soft-DTW.
fn gradients<T: Element>(x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>, spec: &Spec) -> [Vec<T>; 3] {
    let problem = Problem::of(spec.clone(), Pairing::Zipped, x, y).unwrap();
    let zeros = |count: usize| vec![T::from_f64(0.0); count];
    let [mut distances, mut grad_x, mut grad_y] = [x.len(), x.values().len(), y.values().len()].map(zeros);
    let out =
        Gradients { distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y, upstream: None };
    Backend::<T>::plan(&CpuBackend::new(), &problem).unwrap().gradients(*x, *y, out).unwrap();
    [distances, grad_x, grad_y]
}

/// Pairs of these lengths in one batch have the values and gradients of each pair alone.
fn check_gradients<T: Element>(lengths: &[(usize, usize)], channels: usize, cost: LocalCost, band: &Band) {
    let spec = Spec::new(Measure::SoftDtw { gamma: 0.7, cost }).with_band(band.clone());
    let (lengths_x, lengths_y): (Vec<_>, Vec<_>) = lengths.iter().copied().unzip();
    let flat = |lengths: &[usize], seed: u64| {
        let parts: Vec<Vec<T>> =
            lengths.iter().zip(seed..).map(|(length, seed)| values(length * channels, seed)).collect();
        (parts.concat(), parts)
    };
    let ((all_x, each_x), (all_y, each_y)) = (flat(&lengths_x, 3), flat(&lengths_y, 77));
    let offsets = |lengths: &[usize]| {
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        offsets
    };
    let (offsets_x, offsets_y) = (offsets(&lengths_x), offsets(&lengths_y));
    let x = SeriesBatch::ragged(&all_x, &offsets_x, channels).unwrap();
    let y = SeriesBatch::ragged(&all_y, &offsets_y, channels).unwrap();
    let together = gradients(&x, &y, &spec);
    for (pair, (own_x, own_y)) in each_x.iter().zip(&each_y).enumerate() {
        let (n, m) = (lengths_x[pair], lengths_y[pair]);
        let x = SeriesBatch::equal(own_x, 1, n, channels).unwrap();
        let y = SeriesBatch::equal(own_y, 1, m, channels).unwrap();
        let [distances, grad_x, grad_y] = gradients(&x, &y, &spec);
        let (at_x, at_y) = (offsets_x[pair] * channels, offsets_y[pair] * channels);
        assert!(distances[0] == together[0][pair], "value of {n} x {m}, {band:?}");
        assert!(grad_x == together[1][at_x..at_x + n * channels], "gradient to x of {n} x {m}, {band:?}");
        assert!(grad_y == together[2][at_y..at_y + m * channels], "gradient to y of {n} x {m}, {band:?}");
        // The cost of two points does not change when both move, so neither does the value.
        let total = |values: &[T]| values.iter().map(|value| value.to_f64()).sum::<f64>();
        let size: f64 = grad_x.iter().map(|value| value.to_f64().abs()).sum();
        let digits = if T::DTYPE == Dtype::F32 { 1e-4 } else { 1e-12 };
        assert!((total(&grad_x) + total(&grad_y)).abs() <= digits * (1.0 + size), "{n} x {m}, {band:?}");
    }
}

/// Tiles of a gradient have 48 rows and columns or more, those of a long pair alone 16, 32 or 48; strips have 4 rows.
#[test]
fn gradients_alone_and_in_a_batch_agree_around_strip_and_tile_edges() {
    let ragged = [
        (1, 1),
        (3, 4),
        (4, 3),
        (5, 5),
        (47, 49),
        (48, 48),
        (49, 47),
        (52, 50),
        (95, 97),
        (96, 96),
        (97, 95),
        (101, 104),
        (103, 103),
        (2500, 130),
    ];
    for band in [Band::Full, Band::sakoe_chiba(0), Band::sakoe_chiba(9), Band::Itakura { max_slope: 2.0 }] {
        let fits = |&(n, m): &(usize, usize)| band.ranges(n, m, Anchor::Global).is_ok();
        for channels in [1, 3] {
            // Full registers of any width, so that pairs are side by side, and registers with room.
            for lengths in
                [vec![(101, 104); 16], vec![(145, 97); 16], ragged.into_iter().filter(fits).collect()]
            {
                assert!(lengths.len() > 10, "{band:?}");
                for cost in [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan] {
                    check_gradients::<f32>(&lengths, channels, cost, &band);
                    check_gradients::<f64>(&lengths, channels, cost, &band);
                }
            }
        }
    }
}
