//! References that are read block by block: the hits are those in the whole, to the last bit.

use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Backend, Band, Error, LocalCost, Match, OwnedBatch, Pairing, Plan, Problem, Scalar, SearchOptions,
    SeriesBatch, Spec,
};
use dtw_native::{HostMachine, NativeBackend};

/// Numbers without a pattern, the same every time, and plateaus among them, whose windows are constant.
fn noise<T: Scalar>(count: usize) -> Vec<T> {
    let mut state = 7_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 8) / f64::from(1 << 23) - 1.0
    };
    (0..count).map(|k| T::from_f64(if k % 400 > 350 { 0.5 } else { next() })).collect()
}

fn plan<T>(problem: &Problem) -> Box<dyn Plan<T>>
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    NativeBackend::new(HostMachine::new(1 << 30)).plan(problem).unwrap()
}

fn check<T>(channels: usize)
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    const POINTS: usize = 600;
    const LENGTH: usize = 17;
    let values = noise::<T>(POINTS * channels);
    let reference = SeriesBatch::equal(&values, 1, POINTS, channels).unwrap();
    let mut queries = OwnedBatch::<T>::new(channels).unwrap();
    for (start, length) in [(100, LENGTH), (300, 11), (550, 25)] {
        queries.push(&values[start * channels..(start + length) * channels]).unwrap();
    }
    let queries = queries.batch();
    let options = |top_k, exclusion, threshold| {
        SearchOptions::default()
            .with_top_k(top_k)
            .with_exclusion(exclusion)
            .with_threshold(threshold)
            .with_normalized_window(Some(LENGTH))
    };
    // The first are chosen on the device where the reference is whole, the others on the host.
    for (options, band) in [
        (options(5, 16, None), Band::Full),
        (options(40, 0, None), Band::sakoe_chiba(7)),
        (options(50, 2, Some(30.0 * channels as f64)), Band::Full),
    ] {
        let spec = Spec::dtw().with_band(band);
        let problem = Problem::of(spec, Pairing::Cross, &queries, &reference).unwrap();
        let whole: Vec<Vec<Match<T>>> = plan::<T>(&problem).matches(queries, reference, &options).unwrap();
        assert!(whole.iter().all(|hits| hits.len() > 1), "{options:?}");
        // Room for some hundred windows of a block.
        let little = problem.clone().with_memory_limit(96 << 10);
        for (problem, most) in [(&problem, 7), (&problem, 251), (&little, 4000)] {
            let mut source = Trickle { values: &values, channels, most };
            let mut plan = plan::<T>(problem);
            let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
            assert_eq!(read, whole, "{channels} channels, {most} at a time, {options:?}");
            assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
        }
    }
    if channels == 1 {
        // Not enough for the costs of all windows at once.
        let problem = Problem::of(Spec::dtw(), Pairing::Cross, &queries, &reference).unwrap();
        let least = problem.clone().with_memory_limit((2 << 10) * size_of::<T>() as u64);
        let best = options(1, 0, None);
        let [whole, cut] =
            [&problem, &least].map(|p| plan::<T>(p).matches(queries, reference, &best).unwrap());
        assert_eq!(cut, whole, "in little memory");
    }
}

#[test]
fn windows_do_not_depend_on_how_the_reference_is_cut() {
    check::<f32>(1);
    check::<f64>(1);
    check::<f32>(3);
}

#[test]
fn a_bad_reference_is_refused_wherever_it_is_bad() {
    let values = noise::<f32>(300);
    let query = SeriesBatch::equal(&values[..40], 1, 40, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &query, &query).unwrap();
    let options = SearchOptions::default().with_normalized_window(Some(40));
    let read = |values: &[f32], limit: u64| {
        let problem = problem.clone().with_memory_limit(limit);
        let mut source = Trickle { values, channels: 1, most: 50 };
        plan::<f32>(&problem).matches_in_blocks(query, &mut source, &options).unwrap_err()
    };
    let mut bad = values.clone();
    bad[211] = f32::NAN;
    assert!(read(&bad, 1 << 30).to_string().contains("NaN at point 211"));
    assert!(read(&values[..39], 1 << 30).to_string().contains("39 points, fewer than a window of 40"));
    assert!(matches!(read(&values, 1 << 10), Error::OutOfMemory { .. }));
    // Searches without windows; a band needs the whole reference.
    let free = |values: &[f32], limit: u64, band: Band| {
        let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean).with_band(band);
        let problem = Problem::of(spec, Pairing::Cross, &query, &query).unwrap().with_memory_limit(limit);
        let mut source = Trickle { values, channels: 1, most: 50 };
        plan::<f32>(&problem).matches_in_blocks(query, &mut source, &SearchOptions::default()).unwrap_err()
    };
    assert!(free(&bad, 1 << 30, Band::Full).to_string().contains("NaN at point 211"));
    assert!(free(&[], 1 << 30, Band::Full).to_string().contains("at least one point"));
    assert!(matches!(free(&values, 1 << 10, Band::Full), Error::OutOfMemory { .. }));
    let banded = free(&values, 1 << 30, Band::sakoe_chiba(3));
    assert!(matches!(banded, Error::Invalid(_)) && banded.to_string().contains("a band needs"));
}

/// Few levels, each held for some points: equal costs, and matches that start many blocks before they end.
fn steps<T: Scalar>(count: usize, hold: usize) -> Vec<T> {
    let levels = noise::<f64>(count.div_ceil(hold));
    (0..count).map(|k| T::from_f64((levels[k / hold] * 2.0).round() * 0.7)).collect()
}

fn free<T>(cost: LocalCost, channels: usize, points: usize, lengths: &[usize], cuts: &[(usize, u64)])
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    for values in [noise::<T>(points * channels), steps::<T>(points * channels, 40 * channels)] {
        let reference = SeriesBatch::equal(&values, 1, points, channels).unwrap();
        let mut queries = OwnedBatch::<T>::new(channels).unwrap();
        for &length in lengths {
            let start = (points - length) / 2 * channels;
            queries.push(&values[start..start + length * channels]).unwrap();
        }
        let queries = queries.batch();
        let problem = Problem::of(Spec::subsequence_dtw(cost), Pairing::Cross, &queries, &reference).unwrap();
        let options = |top_k, exclusion, threshold| {
            SearchOptions::default().with_top_k(top_k).with_exclusion(exclusion).with_threshold(threshold)
        };
        for options in [options(3, 20, None), options(usize::MAX, 0, None), options(60, 2, Some(40.0))] {
            let whole = plan::<T>(&problem).matches(queries, reference, &options).unwrap();
            assert!(whole.iter().any(|hits| hits.len() > 1), "{options:?}");
            for (most, limit) in cuts {
                // Many hits take memory of their own.
                let limit = if options.top_k > 10 { 1 << 30 } else { *limit };
                let problem = problem.clone().with_memory_limit(limit);
                let mut source = Trickle { values: &values, channels, most: *most };
                let mut plan = plan::<T>(&problem);
                let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
                assert_eq!(read, whole, "{cost:?}, {channels} channels, {most} at a time, {options:?}");
                assert!(plan.scratch_bytes() <= limit);
            }
        }
    }
}

#[test]
fn matches_of_any_length_do_not_depend_on_how_the_reference_is_cut() {
    let much = 1 << 30;
    // 300 points: two strips.
    let lengths = [1, 37, 300, 8];
    for cost in [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan] {
        for channels in [1, 3] {
            free::<f32>(cost, channels, 700, &lengths, &[(7, much), (251, much), (700, 96 << 10)]);
            free::<f64>(cost, channels, 700, &lengths, &[(1, much), (700, 192 << 10)]);
        }
    }
    free::<f32>(LocalCost::SquaredEuclidean, 1, 5000, &lengths, &[(4000, much)]);
    // The strips of one query, where each other strip could be of the same wave.
    free::<f32>(LocalCost::SquaredEuclidean, 1, 2000, &[1100], &[(600, much)]);
}

#[test]
fn a_reference_whose_rows_do_not_fit_is_searched_in_blocks() {
    const POINTS: usize = 6000;
    let values = steps::<f64>(POINTS, 1700);
    let references = SeriesBatch::equal(&values, 2, POINTS / 2, 1).unwrap();
    let queries = SeriesBatch::ragged(&values[1690..1790], &[0, 30, 100], 1).unwrap();
    for pairing in [Pairing::Cross, Pairing::Zipped] {
        let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
        let problem = Problem::of(spec, pairing, &queries, &references).unwrap();
        let little = problem.clone().with_memory_limit(64 << 10);
        let [whole, cut] = [&problem, &little].map(|problem| {
            let mut plan = plan::<f64>(problem);
            let mut out = vec![f64::NAN; problem.output_len()];
            plan.distances(queries, references, &mut out).unwrap();
            let options = SearchOptions::default().with_top_k(5).with_exclusion(50);
            let hits = plan.matches(queries, references, &options).unwrap();
            assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
            (out, hits)
        });
        assert_eq!(cut, whole, "{pairing:?}");
    }
}
