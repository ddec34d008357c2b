//! z-normalised windows: whatever the memory and however the reference comes, the costs are those of the definition.

use dtw_conformance::oracle::subsequence_dtw;
use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Backend, Error, LocalCost, Match, Pairing, Problem, Result, SearchOptions, SeriesBatch, Spec,
};

use super::BACKEND;

/// Numbers from −1 to 1, and stretches of one value.
fn noise(count: usize, mut state: u64) -> Vec<f32> {
    (0..count)
        .map(|k| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 40) as f32 / (1 << 23) as f32 - 1.0;
            if k % 700 < 60 { 0.3 } else { value }
        })
        .collect()
}

fn points(values: &[f32], channels: usize) -> Vec<Vec<f64>> {
    values.chunks(channels).map(|point| point.iter().map(|value| f64::from(*value)).collect()).collect()
}

/// Hits in a reference in memory, or in one that comes a few points at a time.
fn hits(
    queries: &SeriesBatch<'_, f32>,
    reference: &SeriesBatch<'_, f32>,
    options: &SearchOptions,
    limit: Option<u64>,
    most: Option<usize>,
) -> Result<Vec<Vec<Match<f32>>>> {
    let mut problem = Problem::of(Spec::dtw(), Pairing::Cross, queries, reference)?;
    if let Some(limit) = limit {
        problem = problem.with_memory_limit(limit);
    }
    let mut plan = Backend::<f32>::plan(&*BACKEND, &problem)?;
    match most {
        None => plan.matches(*queries, *reference, options),
        Some(most) => {
            let (values, channels) = (reference.values(), reference.channels());
            plan.matches_in_blocks(*queries, &mut Trickle { values, channels, most }, options)
        }
    }
}

#[test]
fn windows_cost_what_the_definition_says() {
    for channels in [1, 3] {
        for (length, offset, scale) in
            [(1, 0.0, 1.0), (50, 0.0, 1.0), (130, 1000.0, 1.0), (50, 0.0, 1e-36), (33, 0.0, 1e38)]
        {
            let of = |count, state| -> Vec<f32> {
                noise(count * channels, state).iter().map(|value| value * scale + offset).collect()
            };
            let (queries, reference) = (of(2 * 40, 1), of(500, 2));
            let queries = SeriesBatch::equal(&queries, 2, 40, channels).unwrap();
            let reference = SeriesBatch::equal(&reference, 1, 500, channels).unwrap();
            let options = SearchOptions::default()
                .with_top_k(5000)
                .with_exclusion(0)
                .with_normalized_window(Some(length));
            let found = hits(&queries, &reference, &options, None, None).unwrap();
            for (q, found) in found.iter().enumerate() {
                let query = points(queries.get(q).values, channels);
                let costs = subsequence_dtw::window_costs(
                    &query,
                    &points(reference.values(), channels),
                    LocalCost::SquaredEuclidean,
                    &dtw_core::Band::Full,
                    length,
                );
                let Ok(costs) = costs else { panic!("no path") };
                assert_eq!(found.len(), 500 + 1 - length);
                for hit in found {
                    let (cost, expected) = (f64::from(hit.distance), costs[hit.end]);
                    assert_eq!(hit.end + 1 - hit.start, length);
                    // The offset takes ten bits of each value, before anything is computed.
                    assert!(
                        (cost - expected).abs() <= 2e-5 * expected.max(1.0),
                        "{channels} channels, windows of {length}, {offset}, {scale}: {cost}, expected {expected}"
                    );
                }
            }
            for (limit, most) in [(None, Some(77)), (Some(64 << 10), None), (Some(64 << 10), Some(300))] {
                let again = hits(&queries, &reference, &options.with_top_k(3), limit, most).unwrap();
                for (again, found) in again.iter().zip(&found) {
                    assert_eq!(*again, found[..3], "{channels}, {length}, {limit:?}, {most:?}");
                }
            }
        }
    }
}

#[test]
fn windows_that_do_not_fit_are_refused() {
    let values = noise(5000, 3);
    let queries = SeriesBatch::equal(&values[..40], 1, 40, 1).unwrap();
    let reference = SeriesBatch::equal(&values, 1, 5000, 1).unwrap();
    let options = SearchOptions::default().with_normalized_window(Some(4000));
    let refused = hits(&queries, &reference, &options, Some(64 << 10), None).unwrap_err();
    assert!(
        matches!(refused, Error::OutOfMemory { requested_bytes, available_bytes, .. }
            if requested_bytes > available_bytes && available_bytes == 64 << 10),
        "{refused}"
    );
}
