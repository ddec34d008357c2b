//! A pruned search in z-normalised windows finds what a search finds that sweeps every window, bit by bit.

use std::sync::Arc;

use dtw_conformance::trickle::Trickle;
use dtw_core::normalize::z_normalize;
use dtw_core::{
    Backend, Band, Explainer, Match, OwnedBatch, Pairing, Problem, Radius, SearchOptions, Selection,
    SeriesBatch, Spec,
};
use dtw_cpu::{CpuBackend, Element, Isa};

use crate::random::Random;

/// The definition: every window, normalised, and its distance.
fn every_window<T: Element>(
    backend: &CpuBackend,
    spec: &Spec,
    query: &[T],
    reference: &[T],
    options: &SearchOptions,
) -> Vec<Match<T>> {
    let length = options.normalized_window.unwrap();
    let (mut x, mut windows) = (query.to_vec(), Vec::new());
    z_normalize(&mut x, 1);
    for window in reference.windows(length) {
        let start = windows.len();
        windows.extend_from_slice(window);
        z_normalize(&mut windows[start..], 1);
    }
    let count = windows.len() / length;
    let x = SeriesBatch::equal(&x, 1, x.len(), 1).unwrap();
    let y = SeriesBatch::equal(&windows, count, length, 1).unwrap();
    let problem = Problem::of(spec.clone(), Pairing::Cross, &x, &y).unwrap();
    let mut costs = vec![T::ZERO; count];
    Backend::<T>::plan(backend, &problem).unwrap().distances(x, y, &mut costs).unwrap();
    let mut selection = Selection::new(options, 1 << 30);
    selection.offer(&costs, |w| w).unwrap();
    let whole = |hit: Match<T>| Match { end: hit.end + length - 1, ..hit };
    selection.finish().into_iter().map(whole).collect()
}

fn bits<T: Element>(hits: &[Match<T>]) -> Vec<(u64, usize, usize)> {
    hits.iter().map(|hit| (hit.distance.to_f64().to_bits(), hit.start, hit.end)).collect()
}

/// Searches for two queries; returns windows and those that were not swept.
fn check<T: Element>(random: &mut Random, isa: Isa, round: usize) -> (u64, u64) {
    let length = random.one(&[1, 2, 3, 5, 16, 17, 33, 64]);
    let count = length + random.below(700);
    let reference = random.series::<T>(count);
    let mut queries = OwnedBatch::new(1).unwrap();
    for _ in 0..2 {
        let rows = random.one(&[length, length, length, length + 3, 1 + length / 2]);
        let mut query = random.series::<T>(rows);
        if rows == length && random.below(2) == 0 {
            let start = random.below(count + 1 - length);
            let noise = random.one(&[0.0, 0.05]);
            for (v, r) in query.iter_mut().zip(&reference[start..]) {
                *v = T::from_f64(r.to_f64() + noise * random.unit());
            }
        }
        queries.push(&query).unwrap();
    }
    let band = random.one(&[
        Band::Full,
        Band::sakoe_chiba(0),
        Band::sakoe_chiba(2),
        Band::SakoeChiba { radius: Radius::Fraction(0.1) },
        Band::SakoeChiba { radius: Radius::Fraction(0.5) },
        Band::Slanted { radius: Radius::Points(2) },
        Band::Itakura { max_slope: 8.0 },
    ]);
    let spec = Spec::dtw().with_band(band);
    let options = SearchOptions::default()
        .with_top_k(random.one(&[0, 1, 1, 2, 3, 5, 10, usize::MAX]))
        .with_exclusion(random.one(&[0, 1, length / 2, 3 * length]))
        .with_threshold(random.one(&[None, None, Some(0.0), Some(0.3 * length as f64)]))
        .with_normalized_window(Some(length));
    let queries = queries.batch();
    let batch = SeriesBatch::equal(&reference, 1, count, 1).unwrap();
    let Ok(problem) = Problem::of(spec.clone(), Pairing::Cross, &queries, &batch) else {
        panic!("round {round}: {spec:?}")
    };
    if spec.band.ranges(queries.length(0), length, spec.anchor).is_err()
        || spec.band.ranges(queries.length(1), length, spec.anchor).is_err()
    {
        return (0, 0);
    }
    let backend = CpuBackend::with_threads(random.one(&[1, 1, 1, 3])).with_isa(isa);
    let mut plan = Backend::<T>::plan(&backend, &problem).unwrap();
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let found = plan.matches(queries, batch, &options).unwrap();
    let explained = explainer.explanation();
    let most = 1 + random.below(2 * count);
    let mut source = Trickle { values: &reference, channels: 1, most };
    let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
    for q in 0..2 {
        let expected = every_window(&backend, &spec, queries.get(q).values, &reference, &options);
        let what = format!(
            "round {round}, {}, query {q} of {}: {spec:?}, {options:?}",
            isa.name(),
            queries.length(q)
        );
        assert_eq!(bits(&found[q]), bits(&expected), "{what}");
        assert_eq!(bits(&read[q]), bits(&expected), "{what}, in blocks");
    }
    let rejected = explained.kernels.iter().filter(|k| k.name == "lower bounds").map(|k| k.pairs).sum();
    let windows: u64 = explained.kernels.iter().map(|k| k.pairs).sum();
    // Of no hits, nothing is computed.
    let all = if options.top_k == 0 { 0 } else { 2 * (count + 1 - length) as u64 };
    assert_eq!(windows, all, "round {round}: every window is told of once, {options:?}");
    (windows, rejected)
}

fn rounds<T: Element>(seed: u64) {
    let mut random = Random(seed);
    for isa in Isa::available() {
        let (mut windows, mut rejected) = (0, 0);
        for round in 0..1500 {
            let (all, some) = check::<T>(&mut random, isa, round);
            windows += all;
            rejected += some;
        }
        assert!(rejected > windows / 5, "{}: {rejected} of {windows} windows rejected", isa.name());
    }
}

#[test]
fn hits_are_those_of_every_window_f64() {
    rounds::<f64>(1);
}

#[test]
fn hits_are_those_of_every_window_f32() {
    rounds::<f32>(2);
}

#[test]
fn a_noisy_copy_is_found_by_sweeping_few_windows() {
    let mut random = Random(3);
    let (mut level, mut reference) = (0.0, Vec::new());
    for _ in 0..20_000 {
        level += random.unit();
        reference.push(level);
    }
    let query: Vec<f64> = reference[12_345..][..128].iter().map(|v| v + 0.1 * random.unit()).collect();
    let (x, y) = (
        SeriesBatch::equal(&query, 1, 128, 1).unwrap(),
        SeriesBatch::equal(&reference, 1, 20_000, 1).unwrap(),
    );
    let spec = Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Fraction(0.05) });
    let options = SearchOptions::default().with_normalized_window(Some(128));
    let problem = Problem::of(spec.clone(), Pairing::Cross, &x, &y).unwrap();
    let backend = CpuBackend::with_threads(1);
    let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let found = plan.matches(x, y, &options).unwrap();
    assert_eq!(bits(&found[0]), bits(&every_window(&backend, &spec, &query, &reference, &options)));
    assert_eq!((found[0][0].start, found[0][0].end), (12_345, 12_345 + 127));
    let told = explainer.explanation();
    let swept: u64 = told.kernels.iter().filter(|k| k.name != "lower bounds").map(|k| k.pairs).sum();
    assert!(swept < 1000, "{told}");
}
