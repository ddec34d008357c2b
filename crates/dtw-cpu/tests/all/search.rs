//! A search finds the same, bit by bit, however the reference is cut, read and shared between threads.

use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Anchor, Backend, Error, LocalCost, Match, OwnedBatch, Pairing, Plan, Problem, SearchOptions, SeriesBatch,
    Spec,
};
use dtw_cpu::{CpuBackend, Element, Isa};

/// Whole numbers from 0 to `levels`, held for up to `hold` points: ties, plateaus, and paths that stay level for long.
fn steps<T: Element>(count: usize, levels: u64, hold: u64, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let mut values = Vec::new();
    while values.len() < count {
        let (level, times) = (next() % levels, 1 + next() % hold);
        values.extend((0..times).map(|_| T::from_f64(level as f64 * 0.7)));
    }
    values.truncate(count);
    values
}

fn queries<T: Element>(channels: usize) -> OwnedBatch<T> {
    let mut batch = OwnedBatch::new(channels).unwrap();
    for (q, length) in [1, 3, 40, 130, 64].into_iter().enumerate() {
        batch.push(&steps(length * channels, 4, 9, 77 + q as u64)).unwrap();
    }
    batch
}

fn spec(options: &SearchOptions, cost: LocalCost) -> Spec {
    let spec = Spec::subsequence_dtw(cost);
    if options.normalized_window.is_some() { Spec { anchor: Anchor::Global, ..spec } } else { spec }
}

fn plan<T: Element>(backend: &CpuBackend, problem: &Problem) -> Box<dyn Plan<T>> {
    Backend::<T>::plan(backend, problem).unwrap()
}

fn options() -> Vec<SearchOptions> {
    let free = |top_k, exclusion, threshold| {
        SearchOptions::default().with_top_k(top_k).with_exclusion(exclusion).with_threshold(threshold)
    };
    let mut all =
        vec![free(1, 0, None), free(7, 20, None), free(1000, 3, Some(20.0)), free(usize::MAX, 0, None)];
    all.push(free(9, 16, None).with_normalized_window(Some(33)));
    all.push(free(usize::MAX, 2, Some(60.0)).with_normalized_window(Some(33)));
    all
}

fn check<T: Element>(isa: Isa, channels: usize, hold: u64) {
    let values = steps::<T>(3000 * channels, 4, hold, 5);
    let reference = SeriesBatch::equal(&values, 1, 3000, channels).unwrap();
    let queries = queries::<T>(channels);
    let queries = queries.batch();
    for options in options() {
        let problem =
            Problem::of(spec(&options, LocalCost::SquaredEuclidean), Pairing::Cross, &queries, &reference)
                .unwrap();
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        let whole = plan(&backend, &problem).matches(queries, reference, &options).unwrap();
        assert!(whole.iter().any(|hits| hits.len() > 1) || options.top_k == 1);
        let what = format!("{} {channels} channels, held {hold}, {options:?}", isa.name());
        // Blocks of a few hundred points, on one thread and on three; of many hits, only where the source has no more
        // at a time.
        let little = problem.with_memory_limit(if options.top_k > 100 { 16 << 20 } else { 640 << 10 });
        for threads in [1, 3] {
            let backend = CpuBackend::with_threads(threads).with_isa(isa);
            let mut plan = plan(&backend, &little);
            let cut = plan.matches(queries, reference, &options).unwrap();
            assert_eq!(cut, whole, "{what}, {threads} threads, little memory");
            for most in [29, 500, 5000] {
                let mut source = Trickle { values: &values, channels, most };
                let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
                assert_eq!(read, whole, "{what}, {threads} threads, {most} points at a time");
            }
        }
    }
}

#[test]
fn hits_do_not_depend_on_how_the_reference_is_cut() {
    for isa in Isa::available() {
        // Plateaus longer than a block: matches that start blocks before they end.
        for hold in [3, 900] {
            check::<f64>(isa, 1, hold);
            check::<f32>(isa, 1, hold);
        }
        check::<f32>(isa, 2, 900);
    }
}

#[test]
fn a_match_may_be_longer_than_many_blocks() {
    // A query that climbs once, and a reference that takes 2,900 points for it.
    let query = [0.0_f32, 1.0, 1.0, 2.0];
    let mut reference = vec![9.0_f32; 3000];
    reference[20..1500].fill(0.0);
    reference[1500..2919].fill(1.0);
    reference[2919] = 2.0;
    let (x, y) =
        (SeriesBatch::equal(&query, 1, 4, 1).unwrap(), SeriesBatch::equal(&reference, 1, 3000, 1).unwrap());
    let problem = Problem::of(Spec::subsequence_dtw(LocalCost::SquaredEuclidean), Pairing::Cross, &x, &y)
        .unwrap()
        .with_memory_limit(48 << 10);
    let backend = CpuBackend::with_threads(1);
    let hits = plan::<f32>(&backend, &problem).matches(x, y, &SearchOptions::default()).unwrap();
    // The walk back takes the diagonal where it can, into the last of the zeros.
    assert_eq!(hits, [[Match { distance: 0.0, start: 1499, end: 2919 }]]);
    let mut out = [1.0];
    plan::<f32>(&backend, &problem).distances(x, y, &mut out).unwrap();
    assert_eq!(out, [0.0]);
}

#[test]
fn costs_of_best_matches_are_those_of_the_hits_in_long_references() {
    let values = steps::<f32>(80_000, 9, 3, 6);
    let reference = SeriesBatch::equal(&values, 1, 80_000, 1).unwrap();
    let queries = queries::<f32>(1);
    let queries = queries.batch();
    let problem =
        Problem::of(Spec::subsequence_dtw(LocalCost::Manhattan), Pairing::Cross, &queries, &reference)
            .unwrap();
    let backend = CpuBackend::with_threads(2);
    let mut plan = plan::<f32>(&backend, &problem);
    let mut out = vec![0.0; queries.len()];
    plan.distances(queries, reference, &mut out).unwrap();
    let hits = plan.matches(queries, reference, &SearchOptions::default()).unwrap();
    let best: Vec<f32> = hits.iter().map(|hits| hits[0].distance).collect();
    assert_eq!(out, best);
    // One row of the reference would be more than a megabyte for each thread.
    assert!(plan.scratch_bytes() < 3 << 20, "{} bytes", plan.scratch_bytes());
}

#[test]
fn memory_is_held_to_the_limit() {
    let values = steps::<f64>(400_000, 9, 3, 7);
    let reference = SeriesBatch::equal(&values, 1, 400_000, 1).unwrap();
    let queries = queries::<f64>(1);
    let queries = queries.batch();
    for limit in [256 << 10, 1 << 20, 4 << 20] {
        let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
        let problem =
            Problem::of(spec, Pairing::Cross, &queries, &reference).unwrap().with_memory_limit(limit);
        for threads in [1, 2, 64] {
            let backend = CpuBackend::with_threads(threads);
            let mut plan = plan::<f64>(&backend, &problem);
            let options = SearchOptions::default().with_top_k(5).with_exclusion(20);
            plan.matches(queries, reference, &options).unwrap();
            let held = plan.scratch_bytes();
            assert!(held <= limit, "{held} bytes of {limit} on {threads} threads");
        }
    }
    let tiny = Problem::of(Spec::subsequence_dtw(LocalCost::Manhattan), Pairing::Cross, &queries, &reference)
        .unwrap()
        .with_memory_limit(4 << 10);
    let backend = CpuBackend::with_threads(1);
    let refused = plan::<f64>(&backend, &tiny).matches(queries, reference, &SearchOptions::default());
    let Err(Error::OutOfMemory { requested_bytes, available_bytes: 4096, .. }) = refused else {
        panic!("{refused:?}")
    };
    let enough = tiny.with_memory_limit(requested_bytes);
    plan::<f64>(&backend, &enough).matches(queries, reference, &SearchOptions::default()).unwrap();
}

#[test]
fn bad_values_are_found_wherever_they_are_read() {
    let mut values = steps::<f64>(2000, 9, 3, 8);
    values[1777] = f64::NAN;
    let query = SeriesBatch::equal(&values[..10], 1, 10, 1).unwrap();
    let problem =
        Problem::of(Spec::subsequence_dtw(LocalCost::SquaredEuclidean), Pairing::Cross, &query, &query)
            .unwrap();
    let backend = CpuBackend::with_threads(1);
    let mut plan = plan::<f64>(&backend, &problem);
    let mut source = Trickle { values: &values, channels: 1, most: 100 };
    let error = plan.matches_in_blocks(query, &mut source, &SearchOptions::default()).unwrap_err();
    assert!(error.to_string().contains("NaN at point 1777"), "{error}");
    let mut empty = Trickle { values: &values[..0], channels: 1, most: 100 };
    let error = plan.matches_in_blocks(query, &mut empty, &SearchOptions::default()).unwrap_err();
    assert!(error.to_string().contains("empty"), "{error}");
    let mut wide = Trickle { values: &values[..10], channels: 2, most: 100 };
    let error = plan.matches_in_blocks(query, &mut wide, &SearchOptions::default()).unwrap_err();
    assert!(error.to_string().contains("the reference has 2"), "{error}");
    let bad = SearchOptions::default().with_threshold(Some(-1.0));
    let error = plan.matches(query, query, &bad).unwrap_err();
    assert!(error.to_string().contains("threshold"), "{error}");
}

/// A query on several threads: hits are those of one, also where states never forget what was long before.
fn check_stretches<T: Element>(channels: usize) {
    const POINTS: usize = 4000;
    let event = |at: usize| -> Vec<T> {
        (0..POINTS * channels).map(|k| T::from_f64(if k / channels == at { 1.0 } else { 0.0 })).collect()
    };
    let references = [
        steps::<T>(POINTS * channels, 4, 9, 5),
        steps::<T>(POINTS * channels, 3, 800, 6),
        event(5),
        event(POINTS / 2),
    ];
    for (n, values) in references.iter().enumerate() {
        let reference = SeriesBatch::equal(values, 1, POINTS, channels).unwrap();
        for length in [3, 40] {
            let start = if n == 3 { POINTS / 2 } else { 5 };
            let query =
                SeriesBatch::equal(&values[start * channels..][..length * channels], 1, length, channels)
                    .unwrap();
            for options in options().into_iter().filter(|options| options.normalized_window.is_none()) {
                let spec = spec(&options, LocalCost::SquaredEuclidean);
                let problem = Problem::of(spec, Pairing::Cross, &query, &reference).unwrap();
                let whole =
                    plan(&CpuBackend::with_threads(1), &problem).matches(query, reference, &options).unwrap();
                let little =
                    problem.clone().with_memory_limit(if options.top_k > 100 { 16 << 20 } else { 640 << 10 });
                for (threads, problem) in [(5, &problem), (3, &little)] {
                    let mut plan = plan(&CpuBackend::with_threads(threads), problem);
                    let cut = plan.matches(query, reference, &options).unwrap();
                    let what = format!(
                        "reference {n}, {length} points, {channels} channels, {threads} threads, {options:?}"
                    );
                    assert_eq!(cut, whole, "{what}");
                    let mut source = Trickle { values, channels, most: 3100 };
                    let read = plan.matches_in_blocks(query, &mut source, &options).unwrap();
                    assert_eq!(read, whole, "{what}, in blocks");
                    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
                }
            }
        }
    }
}

#[test]
fn threads_that_share_a_reference_find_what_one_finds() {
    check_stretches::<f32>(1);
    check_stretches::<f64>(2);
}
