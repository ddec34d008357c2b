//! The nearest series that bounds and a sweep that gives up find are those of all distances, bit by bit.

use std::sync::Arc;

use dtw_core::{
    Backend, Band, EdrOutput, Explainer, LocalCost, Measure, Pairing, Problem, Radius, SeriesBatch, Spec,
};
use dtw_cpu::{CpuBackend, Element, Isa};

use crate::random::Random;

/// Some series of one length, some of them near others or twice there.
fn batch<T: Element>(random: &mut Random, count: usize, length: usize, others: &[T]) -> Vec<T> {
    let mut values = Vec::new();
    for _ in 0..count {
        let known = others.len() / length;
        if known > 0 && random.below(2) == 0 {
            let start = random.below(known) * length;
            let noise = random.one(&[0.0, 0.0, 0.01, 0.3]);
            let near = others[start..start + length].iter();
            values.extend(near.map(|v| T::from_f64(v.to_f64() + noise * random.unit())));
        } else {
            values.extend(random.series::<T>(length));
        }
    }
    values
}

/// The measures that are pruned, each with parameters that make bounds and states stand still, and with others.
fn measures(random: &mut Random) -> Measure {
    let free = random.one(&[0.0, 0.0, 0.1, 1.0, 1e6]);
    let cost = random.one(&[LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan]);
    let g = random.one(&[0.0, 0.05, 1.0, 60.0]);
    let gap = random.one(&[0.0, 0.5, -2.0, 1e3]);
    let degree = random.one(&[1.0, 2.0, 3.0]);
    let epsilon = random.one(&[0.0, 0.1, 0.5]);
    let output = random.one(&[EdrOutput::Count, EdrOutput::Normalized]);
    random.one(&[
        Measure::Dtw { cost },
        Measure::Ddtw { cost },
        Measure::Wdtw { g },
        Measure::Wddtw { g },
        Measure::Adtw { penalty: free },
        Measure::Erp { gap },
        Measure::Msm { c: free },
        Measure::Twed { nu: free * 0.01, lambda: free, degree },
        Measure::Edr { epsilon, output },
    ])
}

/// Compares; returns pairs and those that were not swept.
fn check<T: Element>(random: &mut Random, isa: Isa, round: usize, measure: Measure) -> (u64, u64) {
    let length = random.one(&[1, 2, 3, 7, 8, 9, 30, 65]);
    let is_derived = matches!(measure, Measure::Ddtw { .. } | Measure::Wddtw { .. });
    let length = if is_derived { length + 2 } else { length };
    let (n_x, n_y) = (1 + random.below(120), 1 + random.below(5));
    let some = batch::<T>(random, n_x, length, &[]);
    let x = batch(random, n_x, length, &some);
    let y = batch(random, n_y, length, &x);
    let (x, y) =
        (SeriesBatch::equal(&x, n_x, length, 1).unwrap(), SeriesBatch::equal(&y, n_y, length, 1).unwrap());
    let band = random.one(&[
        Band::Full,
        Band::sakoe_chiba(0),
        Band::sakoe_chiba(1),
        Band::SakoeChiba { radius: Radius::Fraction(0.1) },
        Band::SakoeChiba { radius: Radius::Fraction(0.6) },
    ]);
    let k = random.one(&[1, 1, 2, 3, 10]).min(n_x);
    let spec = Spec { measure, ..Spec::dtw() }.with_band(band);
    let what = format!("round {round}, {}, {k} of {n_x} of {length} points, {spec:?}", isa.name());
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
    let backend = CpuBackend::with_threads(random.one(&[1, 1, 1, 3])).with_isa(isa);
    let mut plan = Backend::<T>::plan(&backend, &problem).unwrap();
    let mut distances = vec![T::ZERO; n_x * n_y];
    plan.distances(x, y, &mut distances).unwrap();
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let found = plan.nearest(x, y, k).unwrap();
    assert_eq!(found.is_some(), Backend::<T>::prunes_nearest(&backend, &problem), "{what}");
    let Some(found) = found else { return (0, 0) };
    let mut expected = Vec::new();
    for j in 0..n_y {
        let mut all: Vec<_> = (0..n_x).map(|i| (distances[i * n_y + j].to_f64(), i)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).unwrap());
        expected.extend(all.into_iter().take(k).map(|(distance, i)| (i, distance.to_bits())));
    }
    let found: Vec<_> = found.into_iter().map(|(i, distance)| (i, distance.to_f64().to_bits())).collect();
    assert_eq!(found, expected, "{what}");
    let told = explainer.explanation();
    let pairs: u64 = told.kernels.iter().map(|kernel| kernel.pairs).sum();
    assert_eq!(pairs, (n_x * n_y) as u64, "{what}: every pair is told of once");
    let finished: u64 = told
        .kernels
        .iter()
        .filter(|kernel| kernel.name == "abandoning sweep")
        .map(|kernel| kernel.pairs)
        .sum();
    (pairs, pairs - finished)
}

fn rounds<T: Element>(seed: u64) {
    let mut random = Random(seed);
    for isa in Isa::available() {
        let (mut pairs, mut left_out) = (0, 0);
        for round in 0..2000 {
            let (all, some) = check::<T>(&mut random, isa, round, Spec::dtw().measure);
            pairs += all;
            left_out += some;
        }
        assert!(left_out > pairs / 5, "{}: {left_out} of {pairs} pairs are left out", isa.name());
    }
}

fn rounds_of_all_measures<T: Element>(seed: u64) {
    let mut random = Random(seed);
    for isa in Isa::available() {
        let mut left_out = std::collections::BTreeMap::<_, (u64, u64)>::new();
        for round in 0..6000 {
            let measure = measures(&mut random);
            let (all, some) = check::<T>(&mut random, isa, round, measure);
            let sum = left_out.entry(measure.key()).or_default();
            *sum = (sum.0 + all, sum.1 + some);
        }
        for (key, (pairs, left_out)) in left_out {
            let is_pruned = isa.name() != "sse2" || matches!(key, "dtw" | "ddtw");
            assert_eq!(pairs > 0, is_pruned, "{key} on {}", isa.name());
            assert!(left_out * 10 >= pairs, "{key} on {}: {left_out} of {pairs}", isa.name());
        }
    }
}

#[test]
fn by_any_measure_they_are_those_of_all_distances_f64() {
    rounds_of_all_measures::<f64>(6);
}

#[test]
fn by_any_measure_they_are_those_of_all_distances_f32() {
    rounds_of_all_measures::<f32>(7);
}

/// Noise has no bounds that tell; the first series show it.
#[test]
fn where_nothing_is_pruned_distances_are_ranked() {
    let mut random = Random(8);
    let (count, length) = (150, 40);
    let noise: Vec<f64> = (0..count * length).map(|_| random.unit() - 0.5).collect();
    let steps: Vec<f64> =
        (0..count).flat_map(|s| (0..length).map(move |_| (s % 50) as f64)).map(|v| v + 0.01).collect();
    for (values, is_pruned) in [(&noise, false), (&steps, true)] {
        let x = SeriesBatch::equal(values, count, length, 1).unwrap();
        let spec = Spec { measure: Measure::Msm { c: 0.1 }, ..Spec::dtw() };
        let problem = Problem::of(spec, Pairing::Cross, &x, &x).unwrap();
        let backend = CpuBackend::with_threads(1);
        let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
        let found = plan.nearest(x, x, 2).unwrap();
        assert_eq!(found.is_some(), is_pruned && Isa::best().name() != "sse2");
        let Some(found) = found else { continue };
        for (j, two) in found.chunks(2).enumerate() {
            let first = j % 50;
            assert_eq!(two, [(first, 0.0), (first + 50, 0.0)], "of series {j}");
        }
    }
}

#[test]
fn they_are_those_of_all_distances_f64() {
    rounds::<f64>(4);
}

#[test]
fn they_are_those_of_all_distances_f32() {
    rounds::<f32>(5);
}

#[test]
fn what_bounds_do_not_hold_for_is_ranked_by_distances() {
    let values: Vec<f64> = (0..24).map(f64::from).collect();
    let x = SeriesBatch::equal(&values, 6, 4, 1).unwrap();
    let none = |spec: Spec, y: SeriesBatch<'_, f64>| {
        let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
        let backend = CpuBackend::with_threads(1);
        let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
        let found = plan.nearest(x, y, 2).unwrap();
        (Backend::<f64>::prunes_nearest(&backend, &problem), found.is_none())
    };
    assert_eq!(none(Spec::dtw(), x), (true, false));
    let by = |measure| Spec { measure, ..Spec::dtw() };
    let is_tuned = Isa::best().name() != "sse2";
    assert_eq!(none(by(Measure::Msm { c: 1.0 }), x), (is_tuned, !is_tuned));
    assert_eq!(none(by(Measure::Msm { c: 1e308 }), x), (is_tuned, true));
    assert_eq!(none(by(Measure::Frechet), x), (false, true));
    assert_eq!(
        none(by(Measure::SoftDtw { gamma: 1.0, cost: LocalCost::SquaredEuclidean }), x),
        (false, true)
    );
    let times: Vec<f64> = (0..24).map(|k| f64::from(k) - 10.0).collect();
    let twed = by(Measure::Twed { nu: 1.0, lambda: 1.0, degree: 2.0 });
    assert_eq!(none(twed.clone(), x), (is_tuned, !is_tuned));
    assert_eq!(none(twed, x.with_times(&times).unwrap()), (is_tuned, true));
    // Without a band, words of 64 cells are faster.
    let edr = by(Measure::Edr { epsilon: 0.5, output: EdrOutput::Count });
    assert_eq!(none(edr.clone(), x), (false, true));
    assert_eq!(none(edr.with_band(Band::sakoe_chiba(1)), x), (is_tuned, !is_tuned));
    assert_eq!(none(Spec::dtw().with_band(Band::Itakura { max_slope: 2.0 }), x), (false, true));
    assert_eq!(none(Spec::dtw(), SeriesBatch::equal(&values, 4, 6, 1).unwrap()), (true, true));
    let large: Vec<f64> = values.iter().map(|v| v * 1e153).collect();
    assert_eq!(none(Spec::dtw(), SeriesBatch::equal(&large, 6, 4, 1).unwrap()), (true, true));
}
