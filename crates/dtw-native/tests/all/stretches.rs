//! Long references that are swept in stretches side by side: the bits of one sweep, whatever the reference.

use std::sync::{Arc, Mutex};

use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Backend, Launch, LocalCost, Match, Observer, Pairing, Problem, Scalar, SearchOptions, SeriesBatch, Spec,
};
use dtw_native::{HostMachine, NativeBackend, SweepKind};

use crate::launch::noise;

/// A reference, what it is, and whether its states forget what was before, if that does not hang on the cut.
struct Reference {
    what: &'static str,
    values: Vec<f64>,
    forgets: Option<bool>,
}

fn references(points: usize, channels: usize) -> Vec<Reference> {
    let walk = |values: Vec<f64>| {
        let mut sum = 0.0;
        values.into_iter().map(|step| (sum += step, sum).1).collect::<Vec<f64>>()
    };
    let noise = |seed| noise(points, seed);
    let made = |what, forgets: Option<bool>, value: &dyn Fn(usize) -> f64| Reference {
        what,
        values: (0..points).map(value).collect(),
        forgets,
    };
    let (white, levels) = (noise(3), noise(5));
    vec![
        Reference { what: "noise", values: noise(1), forgets: Some(true) },
        Reference { what: "a walk", values: walk(noise(2)), forgets: Some(true) },
        made("a wave", Some(true), &|k| (k as f64 * 0.37).sin()),
        made("a constant", Some(true), &|_| 0.25),
        made("zeros", Some(true), &|_| 0.0),
        made("levels held for long", Some(true), &|k| (levels[k / 90] * 2.0).round() * 0.7),
        made("the same again and again", Some(true), &|k| white[k % 17]),
        // A path that starts at the only 1 pays nothing for all zeros behind it.
        made("an event, then zeros", (channels == 1).then_some(false), &|k| if k == 5 { 1.0 } else { 0.0 }),
        made("an event in each half, then zeros", None, &|k| f64::from(u8::from(k == 9 || k == points / 2))),
    ]
}

/// A kernel's name and its pairs, of each launch.
type Launched = Vec<(String, u64)>;

/// Kernels that were launched, and with how many pairs.
#[derive(Default)]
struct Launches(Mutex<Launched>);

impl Observer for Launches {
    fn explains(&self) -> bool {
        true
    }

    fn launched(&self, launch: &Launch<'_>) {
        self.0.lock().unwrap().push((launch.kernel.to_string(), launch.pairs));
    }
}

/// Hits by the fastest sweep and the launches that computed them, or by one sweep of the whole.
fn hits<T>(
    problem: &Problem,
    queries: SeriesBatch<'_, T>,
    reference: SeriesBatch<'_, T>,
    options: &SearchOptions,
    kind: Option<SweepKind>,
) -> (Vec<Vec<Match<T>>>, Launched)
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    let backend = NativeBackend::new(HostMachine::new(1 << 30)).forcing(kind).eager(true);
    let mut plan = Backend::<T>::plan(&backend, problem).unwrap();
    let launches = Arc::new(Launches::default());
    plan.observe(launches.clone());
    let found = plan.matches(queries, reference, options).unwrap();
    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
    let launches = launches.0.lock().unwrap().clone();
    (found, launches)
}

/// Compares searches with `most` kinds of options; whether some knew costs before starts.
fn check<T>(cost: LocalCost, channels: usize, points: usize, lengths: &[usize], most: usize) -> bool
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    let options = |top_k, exclusion, threshold| {
        SearchOptions::default().with_top_k(top_k).with_exclusion(exclusion).with_threshold(threshold)
    };
    let mut costs_first = false;
    for Reference { what, values, forgets } in references(points * channels, channels) {
        let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
        let reference = SeriesBatch::equal(&values, 1, points, channels).unwrap();
        for &length in lengths {
            // The event, then what comes behind it.
            let own = &values[5 * channels..(5 + length) * channels];
            let other: Vec<T> = noise(length * channels, 11).into_iter().map(T::from_f64).collect();
            let both = [own, &other].concat();
            let queries = SeriesBatch::equal(&both, 2, length, channels).unwrap();
            let problem =
                Problem::of(Spec::subsequence_dtw(cost), Pairing::Cross, &queries, &reference).unwrap();
            let all = [
                options(7, 3, None),
                options(1, 0, None),
                options(5, points / 3, None),
                options(20, 0, Some(0.5)),
                options(60, 2, None),
            ];
            for options in all.into_iter().take(most) {
                let (found, launches) = hits::<T>(&problem, queries, reference, &options, None);
                let (whole, _) = hits::<T>(&problem, queries, reference, &options, Some(SweepKind::Strips));
                let name = format!("{what}, {cost:?}, {channels} channels, {length} points, {options:?}");
                assert_eq!(found, whole, "{name}");
                let is = |kind: &str| launches.iter().any(|(kernel, _)| kernel.contains(kind));
                assert!(is("block") || is("wide"), "{name}: not in stretches, {launches:?}");
                costs_first |= is("wide") && is("block");
                // What does not agree is swept whole: by strips, or as two pairs that know costs alone.
                let is_whole = |(kernel, pairs): &(String, u64)| {
                    kernel.contains("strips") || kernel.contains("wide") && *pairs == 2
                };
                let whole_sweeps = launches.iter().filter(|launch| is_whole(launch)).count();
                assert!(forgets.is_none_or(|forgets| forgets == (whole_sweeps == 0)), "{name}: {launches:?}");
                let mut source = Trickle { values: &values, channels, most: 2 * points / 3 };
                let mut plan =
                    Backend::<T>::plan(&NativeBackend::new(HostMachine::new(1 << 30)), &problem).unwrap();
                let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
                assert_eq!(read, whole, "{name}, in blocks");
            }
        }
    }
    costs_first
}

#[test]
fn hits_are_those_of_one_sweep_of_the_whole() {
    // Kernels that know costs alone are of f32 and one channel.
    assert!(check::<f32>(LocalCost::SquaredEuclidean, 1, 900, &[3, 8], 3));
    assert!(!check::<f64>(LocalCost::SquaredEuclidean, 1, 900, &[8], 3));
    assert!(!check::<f32>(LocalCost::Manhattan, 2, 700, &[7], 3));
}

#[test]
fn more_random_references() {
    assert!(check::<f32>(LocalCost::SquaredEuclidean, 1, 900, &[3, 8], 5));
    assert!(!check::<f64>(LocalCost::SquaredEuclidean, 1, 900, &[8], 5));
    assert!(!check::<f32>(LocalCost::Manhattan, 2, 700, &[7], 5));
}

/// Links from strip to strip, and strips whose last column is not the last of its lane.
#[test]
fn queries_of_several_strips() {
    assert!(check::<f32>(LocalCost::SquaredEuclidean, 1, 3000, &[128, 140], 1));
}
