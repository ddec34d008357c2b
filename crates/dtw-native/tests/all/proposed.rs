//! Searches whose places half precision proposes, and searches that know costs before starts: the hits of a sweep of
//! the whole, to the last bit.

use std::sync::Arc;

use dtw_core::{
    Backend, Explainer, Explanation, LocalCost, Match, Pairing, Precision, Problem, Scalar, SearchOptions,
    SeriesBatch, Spec,
};
use dtw_native::{HostMachine, NativeBackend, SweepKind};

use crate::launch::noise;

/// Numbers from a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn series(&mut self, points: usize) -> Vec<f64> {
        noise(points, self.below(1 << 30) as u64)
    }

    /// A reference of one of many kinds, most of them hard for halves, and queries from it or not.
    fn search(&mut self, m: usize, queries: usize, points: usize) -> (Vec<f64>, Vec<f64>) {
        let white = self.series(points);
        let (kind, run) = (self.below(9), 10 + self.below(90));
        let mut sum = 0.0;
        let reference: Vec<f64> = white
            .iter()
            .enumerate()
            .map(|(k, step)| {
                sum += step;
                match kind {
                    0 => *step,
                    1 => sum,
                    2 => (k / run % 2) as f64 + step * 10.0_f64.powi(-(run as i32 % 4)),
                    3 => (k as f64 * 0.07).sin() + 0.01 * step,
                    4 => white[k % run] + 1e-3 * step,
                    5 => (step * 2.0).round() * 0.5,
                    6 => k as f64 * 0.01 + step,
                    7 if k % 211 == 0 => 1e5 * step,
                    8 => (white[k / run] * 3.0).round(),
                    _ => 0.5 * sum,
                }
            })
            .collect();
        let from = self.below(3);
        let query = |draw: &mut Self| -> Vec<f64> {
            let at = draw.below(points - m);
            let others = draw.series(m);
            let near = |k: usize| reference[at + k] + 0.05 * others[k];
            (0..m).map(|k| [others[k], near(k), reference[at + k]][from]).collect()
        };
        let queries = (0..queries).flat_map(|_| query(self)).collect();
        (reference, queries)
    }
}

fn narrow<T: Scalar>(values: &[f64]) -> Vec<T> {
    values.iter().map(|value| T::from_f64(*value)).collect()
}

fn hits<T>(
    (queries, references): (SeriesBatch<'_, T>, SeriesBatch<'_, T>),
    options: &SearchOptions,
    kind: Option<SweepKind>,
) -> (Vec<Vec<Match<T>>>, Explanation)
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &queries, &references).unwrap();
    let backend = NativeBackend::new(HostMachine::new(1 << 30)).forcing(kind).eager(true);
    let mut plan = Backend::<T>::plan(&backend, &problem).unwrap();
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let found = plan.matches(queries, references, options).unwrap();
    assert!(plan.scratch_bytes() <= problem.memory_limit_bytes());
    (found, explainer.explanation())
}

/// Searches that are drawn; fewer where tests are many.
fn searches() -> usize {
    std::env::var("DTWAVE_SEARCHES").map_or(40, |count| count.parse().unwrap())
}

#[test]
fn what_half_precision_finds_has_the_bits_of_full_precision() {
    let (mut draw, mut confirmed, mut whole) = (Draw(7), 0, 0);
    for number in 0..searches() {
        let (m, queries) = ([63, 64, 95, 96, 125][draw.below(5)], 1 + draw.below(4));
        let points = 16 * m + draw.below(600);
        let (reference, values) = draw.search(m, queries, points);
        let (reference, values) = (narrow::<f32>(&reference), narrow::<f32>(&values));
        let sides = || {
            let queries = SeriesBatch::equal(&values, queries, m, 1).unwrap();
            (queries, SeriesBatch::equal(&reference, 1, points, 1).unwrap())
        };
        let options =
            SearchOptions::default().with_top_k(1 + draw.below(3)).with_exclusion([0, m / 2][draw.below(2)]);
        let (found, explained) = hits(sides(), &options.with_precision(Precision::Half), None);
        let (expected, _) = hits(sides(), &options, None);
        assert_eq!(found, expected, "search {number}");
        assert_eq!(explained.confirmed + explained.searched_whole, queries as u64);
        confirmed += explained.confirmed;
        whole += explained.searched_whole;
    }
    assert!(confirmed > whole && whole > 0, "{confirmed} confirmed, {whole} searched whole");
}

/// On long plateaus with little noise, sums of halves are 18 to 50% too low: no such number may be a result.
#[test]
fn sums_that_are_too_low_are_noticed() {
    let level = |k: usize| (k / 200 % 2) as f64;
    let steps = noise(9000, 5);
    let reference: Vec<f32> = (0..8000).map(|k| (level(k) + 0.02 * steps[k]) as f32).collect();
    let query: Vec<f32> = (0..400).map(|k| (level(k) + 0.45 + 0.02 * steps[8000 + k]) as f32).collect();
    let sides = || {
        (SeriesBatch::equal(&query, 1, 400, 1).unwrap(), SeriesBatch::equal(&reference, 1, 8000, 1).unwrap())
    };
    let options = SearchOptions::default().with_top_k(2).with_exclusion(100);
    let (found, explained) = hits(sides(), &options.with_precision(Precision::Half), None);
    assert_eq!(found, hits(sides(), &options, None).0);
    assert_eq!((explained.confirmed, explained.searched_whole), (0, 1));
}

/// A threshold, references of several lengths, and queries that have no scale.
#[test]
fn proposals_are_confirmed_in_every_reference() {
    let (white, m) = (noise(5000, 3), 96);
    let references = narrow::<f32>(&white);
    let queries = narrow::<f32>(&[&white[300..300 + m], &white[2000..2000 + m], &[0.25; 96]].concat());
    let sides = || {
        let queries = SeriesBatch::equal(&queries, 3, m, 1).unwrap();
        (queries, SeriesBatch::ragged(&references, &[0, 1700, 5000], 1).unwrap())
    };
    let options = SearchOptions::default().with_top_k(4).with_exclusion(48).with_threshold(Some(20.0));
    let (found, explained) = hits(sides(), &options.with_precision(Precision::Half), None);
    assert_eq!(found, hits(sides(), &options, None).0);
    assert_eq!((found[0][0].start, found[0][0].distance), (300, 0.0));
    assert!(explained.searched_whole >= 2, "{explained}");
}

/// Checks that starts are those of a sweep that carries them along, however long ago they were; whether costs were
/// known before them.
fn costs_first<T>() -> bool
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    let (mut draw, mut first) = (Draw(11), false);
    for _ in 0..2 {
        let (m, queries, points) = (40 + draw.below(30), 120, 2600);
        let (mut reference, mut values) = draw.search(m, queries, points);
        // A path that starts at the only 1 pays nothing for the zeros behind it.
        reference[..1500].fill(0.0);
        reference[5] = 1.0;
        values[..m].fill(0.0);
        values[0] = 1.0;
        let (reference, values) = (narrow::<T>(&reference), narrow::<T>(&values));
        let offsets = [0, 1000, points];
        let sides = || {
            let queries = SeriesBatch::equal(&values, queries, m, 1).unwrap();
            (queries, SeriesBatch::ragged(&reference, &offsets, 1).unwrap())
        };
        let options = SearchOptions::default().with_top_k(1 + draw.below(2)).with_exclusion(m);
        let (found, explained) = hits(sides(), &options, None);
        let (expected, _) = hits(sides(), &options, Some(SweepKind::Strips));
        assert_eq!(found, expected);
        let names: Vec<_> = explained.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let is_of = |key: &str| names.iter().any(|name| name.starts_with(key));
        first |= is_of("dtw_open_dtw_") && is_of("dtw_subsequence_dtw_block");
    }
    first
}

#[test]
fn starts_are_found_behind_the_hits() {
    assert!(costs_first::<f32>());
}

#[test]
fn starts_in_double_precision() {
    costs_first::<f64>();
}

/// Searches take more memory for last columns where series are small, and other calls have it back.
#[test]
fn a_plan_keeps_to_its_limit_whatever_it_is_asked_for() {
    let limit = 1 << 19;
    let values = narrow::<f32>(&noise(4 * 4000, 17));
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let sides = |m: usize, n: usize| {
        let queries = SeriesBatch::equal(&values[..4 * m], 4, m, 1).unwrap();
        (queries, SeriesBatch::equal(&values[4 * m..4 * m + 2 * n], 2, n, 1).unwrap())
    };
    let (x, y) = sides(96, 4000);
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap().with_memory_limit(limit);
    let backend = NativeBackend::new(HostMachine::new(1 << 30)).eager(true);
    let mut plan = Backend::<f32>::plan(&backend, &problem).unwrap();
    let options = SearchOptions::default().with_top_k(3).with_exclusion(20);
    let fresh = |m: usize, n: usize, options: &SearchOptions| {
        let (x, y) = sides(m, n);
        Backend::<f32>::plan(&backend, &problem).unwrap().matches(x, y, options).unwrap()
    };
    let mut costs = vec![0.0; 8];
    for (m, n) in [(96, 4000), (7, 40), (64, 1100), (96, 4000)] {
        let (x, y) = sides(m, n);
        for options in [options, options.with_precision(Precision::Half), options.with_top_k(300)] {
            assert_eq!(plan.matches(x, y, &options).unwrap(), fresh(m, n, &options), "{m} in {n}");
            assert!(plan.scratch_bytes() <= limit, "{} of {limit}", plan.scratch_bytes());
            plan.distances(x, y, &mut costs).unwrap();
            assert!(plan.scratch_bytes() <= limit, "{} of {limit}", plan.scratch_bytes());
        }
    }
}
