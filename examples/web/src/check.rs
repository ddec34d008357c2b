//! Whether WebGPU and the processor agree: searches of the recording, and distances by every measure.

use dtw_core::measure::Kind;
use dtw_core::{
    Anchor, Band, Error, Match, OwnedBatch, Pairing, Problem, Radius, SearchOptions, SeriesBatch, SoftResult,
    Spec,
};

use crate::search::{Gpu, by_processor, options, processors_plan};

/// How far two costs may be apart, relative to the larger one.
const TOLERANCE: f64 = 1e-5;

/// Queries as samples of the recording, matches that are asked for, and how far apart they are: a point, a few, a beat,
/// and one that is longer than what a workgroup sweeps at once.
const SEARCHES: &[(std::ops::Range<usize>, usize, usize)] = &[
    (700..701, 3, 40),
    (1000..1003, 5, 100),
    (700..1250, 60, 275),
    (700..1250, 1, 0),
    (20_000..21_100, 10, 550),
    (20_000..21_100, 1, 0),
];

/// Lengths of series: some of one strip, and some of several.
const LENGTHS: &[&[usize]] = &[&[3, 5, 17, 64, 65, 130], &[1030, 40]];

/// Compares everything; in words what agrees, or the first thing that does not.
pub(crate) async fn check(gpu: &mut Gpu, recording: &[f32]) -> Result<String, String> {
    let mut searches = 0;
    for (query, count, exclusion) in SEARCHES {
        let what = format!("the {count} best matches of samples {query:?}");
        let (query, options) = (&recording[query.clone()], options(*count, *exclusion));
        compare_searches(gpu, query, recording, &options).await.map_err(|why| format!("{what}: {why}"))?;
        searches += 1;
    }
    let (mut distances, mut refused) = (0, Vec::new());
    for kind in Kind::all().iter().filter(|kind| kind.anchor == Anchor::Global) {
        for spec in kind.specs().take(1) {
            if SoftResult::of(&spec.measure).is_some() {
                refused.push(kind.key);
                continue;
            }
            let banded = spec.clone().with_band(Band::SakoeChiba { radius: Radius::Points(9) });
            for (spec, channels) in [(spec, 3), (banded, 1)] {
                distances += compare_distances(gpu, &spec, channels, recording)
                    .await
                    .map_err(|why| format!("{} of {channels} channels: {why}", spec.key()))?;
            }
        }
    }
    refused.dedup();
    let refused = refused.join(", ");
    Ok(format!("{searches} searches and {distances} distances agree; not by WebGPU: {refused}"))
}

async fn compare_searches(
    gpu: &mut Gpu,
    query: &[f32],
    recording: &[f32],
    options: &SearchOptions,
) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    let found = gpu.search(query, recording, options).await.map_err(said)?;
    let expected = by_processor(query, recording, options).map_err(said)?;
    if found.len() != expected.len() || expected.is_empty() {
        return Err(format!("{} matches by WebGPU, {} by the processor", found.len(), expected.len()));
    }
    for (rank, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let place = |hit: &Match<f32>| (hit.start, hit.end);
        if place(found) != place(expected) || !agree(found.distance, expected.distance) {
            return Err(format!("match {rank} is {found:?} by WebGPU, {expected:?} by the processor"));
        }
    }
    Ok(())
}

/// Distances between stretches of the recording; how many.
async fn compare_distances(
    gpu: &Gpu,
    spec: &Spec,
    channels: usize,
    recording: &[f32],
) -> Result<usize, String> {
    let said = |error: Error| error.to_string();
    let mut compared = 0;
    for lengths in LENGTHS {
        let mut batches =
            [OwnedBatch::new(channels).map_err(said)?, OwnedBatch::new(channels).map_err(said)?];
        for (side, batch) in batches.iter_mut().enumerate() {
            for (k, length) in lengths.iter().enumerate() {
                let first = 3000 * side + 777 * k;
                batch.push(&recording[first..first + length * channels]).map_err(said)?;
            }
        }
        let [x, y] = [batches[0].batch(), batches[1].batch()];
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
            let [found, expected] = both(gpu, spec, pairing, x, y).await.map_err(said)?;
            if let Some(k) = (0..expected.len()).find(|k| !agree(found[*k], expected[*k])) {
                let (found, expected) = (found[k], expected[k]);
                return Err(format!(
                    "{:?}, {pairing:?}, result {k} of lengths {lengths:?}: {found} by WebGPU, {expected} by the \
                     processor",
                    spec.band
                ));
            }
            compared += expected.len();
        }
    }
    Ok(compared)
}

/// Distances by WebGPU and by the processor.
async fn both(
    gpu: &Gpu,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, f32>,
    y: SeriesBatch<'_, f32>,
) -> dtw_core::Result<[Vec<f32>; 2]> {
    let problem = Problem::of(spec.clone(), pairing, &x, &y)?;
    let mut results = [vec![f32::NAN; problem.output_len()], vec![f32::NAN; problem.output_len()]];
    gpu.backend.plan_async(&problem)?.distances(x, y, &mut results[0]).await?;
    processors_plan(&problem)?.distances(x, y, &mut results[1])?;
    Ok(results)
}

/// Whether two costs are as good as equal.
fn agree(a: f32, b: f32) -> bool {
    let (a, b) = (f64::from(a), f64::from(b));
    a == b || (a - b).abs() <= TOLERANCE * a.abs().max(b.abs())
}
