//! Searches of z-normalised windows that leave windows out: the hits of those that sweep all of them, to the last bit.

use std::sync::Arc;

use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Backend, Band, Explainer, Match, Measure, Pairing, Plan, Problem, Radius, Scalar, SearchOptions,
    SeriesBatch, Spec,
};
use dtw_native::{HostMachine, NativeBackend};

use crate::launch::noise;

/// More hits than bounds are asked for: every window is swept.
const ALL: usize = 1025;

/// References that are hard to bound: a few levels, constants, spikes, far from zero, of many sizes, all the same.
fn references(points: usize, seed: u64) -> Vec<(&'static str, Vec<f64>)> {
    let white = noise(points, seed);
    let made = |value: &dyn Fn(usize, f64) -> f64| {
        white.iter().enumerate().map(|(k, v)| value(k, *v)).collect::<Vec<f64>>()
    };
    let mut level = 0.0;
    let walk: Vec<f64> = white.iter().map(|step| (level += step, level).1).collect();
    let far: Vec<f64> = walk.iter().map(|v| v + 1e6).collect();
    vec![
        ("noise", white.clone()),
        ("a walk", walk),
        ("the same again and again", made(&|k, _| white[k % 23])),
        ("zeros, then noise", made(&|k, v| if k < points / 2 { 0.0 } else { v })),
        ("tiny and large", made(&|k, v| v * 10.0_f64.powi((k / 40) as i32 % 30 - 15))),
        ("far away", far),
        ("spikes", made(&|k, v| if k % 37 == 0 { 1e6 * v } else { v })),
        ("a constant", made(&|_, _| 0.1)),
        ("levels", made(&|k, _| (white[k / 9] * 2.0).round())),
        ("few digits", made(&|_, v| 1e7 + (v * 4.0).round())),
    ]
}

/// A search of one reference of `values`.
struct Case<'a, T> {
    band: &'a Band,
    queries: SeriesBatch<'a, T>,
    values: &'a [T],
}

impl<T: Scalar> Case<'_, T>
where
    NativeBackend<HostMachine>: Backend<T>,
{
    fn plan(&self) -> (Box<dyn Plan<T>>, SeriesBatch<'_, T>) {
        let reference = SeriesBatch::equal(self.values, 1, self.values.len(), 1).unwrap();
        let spec = Spec::new(Measure::DTW).with_band(self.band.clone());
        let problem = Problem::of(spec, Pairing::Cross, &self.queries, &reference).unwrap();
        let backend = NativeBackend::new(HostMachine::new(1 << 30));
        (Backend::<T>::plan(&backend, &problem).unwrap(), reference)
    }

    /// The hits, and how many windows were swept for all queries together.
    fn hits(&self, options: &SearchOptions) -> (Vec<Vec<Match<T>>>, u64) {
        let (mut plan, reference) = self.plan();
        let explainer = Arc::new(Explainer::default());
        plan.observe(explainer.clone());
        let found = plan.matches(self.queries, reference, options).unwrap();
        let kernels = explainer.explanation().kernels.into_iter();
        (found, kernels.filter(|kernel| !kernel.name.contains("bounds")).map(|kernel| kernel.pairs).sum())
    }

    fn hits_in_blocks(&self, options: &SearchOptions) -> Vec<Vec<Match<T>>> {
        let most = 2 * self.values.len() / 3;
        let mut source = Trickle { values: self.values, channels: 1, most };
        self.plan().0.matches_in_blocks(self.queries, &mut source, options).unwrap()
    }
}

/// Checks `kinds` references of `points` points with queries of `n` points, in windows of `length`.
fn check<T>(points: usize, (n, length): (usize, usize), band: &Band, kinds: usize)
where
    T: Scalar,
    NativeBackend<HostMachine>: Backend<T>,
{
    for (what, values) in references(points, 3).into_iter().take(kinds) {
        let values: Vec<T> = values.into_iter().map(T::from_f64).collect();
        // A part of the reference with some noise, and something else.
        let other = noise(2 * n, 10);
        let near = (0..n).map(|k| T::from_f64(values[points / 3 + k].to_f64() + 0.05 * other[k]));
        let queries: Vec<T> = near.chain(other[n..].iter().map(|v| T::from_f64(*v))).collect();
        let queries = SeriesBatch::equal(&queries, 2, n, 1).unwrap();
        let case = Case { band, queries, values: &values };
        for (exclusion, wanted) in [
            (0, &[(1, None), (10, None)][..]),
            (length / 2, &[(4, None), (2000, Some(0.5 * n as f64))]),
            (points, &[(3, None)]),
        ] {
            let options =
                SearchOptions::default().with_exclusion(exclusion).with_normalized_window(Some(length));
            let (all, swept) = case.hits(&options.with_top_k(ALL));
            assert_eq!(swept, 2 * (points - length + 1) as u64);
            for (top_k, threshold) in wanted {
                let options = options.with_top_k(*top_k).with_threshold(*threshold);
                let name = format!("{what}, {n} points in {length}, {band:?}, {options:?}");
                let (found, swept) = case.hits(&options);
                for (found, all) in found.iter().zip(&all) {
                    let limit = threshold.unwrap_or(f64::INFINITY);
                    let best = all.iter().filter(|hit| hit.distance.to_f64() <= limit).take(*top_k);
                    assert_eq!(*found, best.copied().collect::<Vec<_>>(), "{name}");
                }
                assert_eq!(case.hits_in_blocks(&options), found, "{name}, in blocks");
                if what == "noise" && (*top_k, exclusion) == (1, 0) && n == 16 {
                    assert!(swept < points as u64 / 2, "{name}: {swept} windows were swept");
                }
            }
        }
    }
}

#[test]
fn hits_are_those_of_all_windows() {
    check::<f32>(1180, (16, 16), &Band::sakoe_chiba(1), 2);
    check::<f64>(300, (14, 12), &Band::SakoeChiba { radius: Radius::Fraction(0.2) }, 10);
    check::<f32>(200, (1, 1), &Band::Full, 3);
    check::<f64>(200, (12, 12), &Band::Itakura { max_slope: 2.5 }, 3);
}

#[test]
fn every_kind_of_reference_in_single_precision() {
    check::<f32>(1180, (16, 16), &Band::sakoe_chiba(1), 10);
}
