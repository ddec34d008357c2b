//! Distances up to a cutoff: those above it are infinite, and the others have the bits of all distances.

use std::sync::Arc;

use dtw_core::{Backend, Band, Error, Explainer, Measure, Pairing, Problem, Radius, SeriesBatch, Spec};
use dtw_cpu::{CpuBackend, Element, Isa};

use crate::random::Random;

fn batch<T: Element>(random: &mut Random, count: usize, length: usize) -> Vec<T> {
    (0..count).flat_map(|_| random.series::<T>(length)).collect()
}

/// Compares; returns pairs and those whose sweep was left out or given up.
fn check<T: Element>(random: &mut Random, isa: Isa, round: usize) -> (u64, u64) {
    let n = random.one(&[1, 2, 7, 8, 9, 30, 65]);
    let m = random.one(&[n, n, n, n + 3, 1 + n / 2]);
    let pairing = random.one(&[Pairing::Zipped, Pairing::Cross, Pairing::SelfSymmetric]);
    let n_x = 1 + random.below(40);
    let n_y = if pairing == Pairing::Cross { 1 + random.below(20) } else { n_x };
    let m = if pairing == Pairing::SelfSymmetric { n } else { m };
    let (x, y) = (batch::<T>(random, n_x, n), batch::<T>(random, n_y, m));
    let x = SeriesBatch::equal(&x, n_x, n, 1).unwrap();
    let y = if pairing == Pairing::SelfSymmetric { x } else { SeriesBatch::equal(&y, n_y, m, 1).unwrap() };
    let band = random.one(&[
        Band::Full,
        Band::sakoe_chiba(1),
        Band::SakoeChiba { radius: Radius::Fraction(0.2) },
        Band::Slanted { radius: Radius::Points(2) },
    ]);
    let what = format!("round {round}, {}, {pairing:?} of {n_x} x {n} and {n_y} x {m}, {band:?}", isa.name());
    let problem = Problem::of(Spec::dtw().with_band(band), pairing, &x, &y).unwrap();
    let backend = CpuBackend::with_threads(random.one(&[1, 1, 1, 3])).with_isa(isa);
    let mut plan = Backend::<T>::plan(&backend, &problem).unwrap();
    let mut all = vec![T::ZERO; problem.output_len()];
    plan.distances(x, y, &mut all).unwrap();
    // Cutoffs that are one of the distances, and others.
    let one = random.one(&all).to_f64();
    let cutoff = random.one(&[one, one, one * 0.5, 0.0, -1.0, f64::INFINITY, one.next_down(), one.next_up()]);
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let mut found = vec![T::ZERO; all.len()];
    plan.distances_within(x, y, cutoff, &mut found).unwrap();
    for (found, all) in found.iter().zip(&all) {
        let expected = if all.to_f64() > cutoff { f64::INFINITY } else { all.to_f64() };
        assert_eq!(found.to_f64().to_bits(), expected.to_bits(), "{what}: {found} of {all}, cutoff {cutoff}");
    }
    let told = explainer.explanation();
    let pairs: u64 = told.kernels.iter().map(|kernel| kernel.pairs).sum();
    let expected = if pairing == Pairing::SelfSymmetric { n_x * (n_x + 1) / 2 } else { all.len() };
    assert_eq!(pairs, expected as u64, "{what}: every pair is told of once");
    let pruned = ["lower bounds", "abandoning sweep, given up"];
    let left_out = told.kernels.iter().filter(|kernel| pruned.contains(&kernel.name.as_str()));
    (pairs, left_out.map(|kernel| kernel.pairs).sum())
}

fn rounds<T: Element>(seed: u64) {
    let mut random = Random(seed);
    for isa in Isa::available() {
        let (mut pairs, mut left_out) = (0, 0);
        for round in 0..3000 {
            let (all, some) = check::<T>(&mut random, isa, round);
            pairs += all;
            left_out += some;
        }
        assert!(left_out > pairs / 5, "{}: {left_out} of {pairs} pairs are left out", isa.name());
    }
}

#[test]
fn only_those_above_the_cutoff_are_infinite_f64() {
    rounds::<f64>(6);
}

#[test]
fn only_those_above_the_cutoff_are_infinite_f32() {
    rounds::<f32>(7);
}

#[test]
fn any_distance_has_a_cutoff_and_similarities_have_none() {
    let values = [0.0, 1.0, 4.0, 0.5, 1.0, 9.0, 3.0, 2.0, 1.0];
    let x = SeriesBatch::equal(&values, 3, 3, 1).unwrap();
    let within = |measure: Measure, cutoff: f64| {
        let problem = Problem::of(Spec::new(measure), Pairing::SelfSymmetric, &x, &x).unwrap();
        let mut plan = Backend::<f64>::plan(&CpuBackend::with_threads(1), &problem).unwrap();
        let (mut all, mut found) = ([0.0; 9], [0.0; 9]);
        plan.distances(x, x, &mut all).unwrap();
        plan.distances_within(x, x, cutoff, &mut found)?;
        Ok::<_, Error>((all, found))
    };
    for measure in
        [Measure::Msm { c: 0.5 }, Measure::soft_dtw(1.0), Measure::Ddtw { cost: Default::default() }]
    {
        let (all, found) = within(measure, 6.0).unwrap();
        assert!(all.iter().any(|d| *d > 6.0) && all.iter().any(|d| *d <= 6.0), "{measure:?}: {all:?}");
        assert_eq!(found, all.map(|d| if d > 6.0 { f64::INFINITY } else { d }));
    }
    let refused = |measure, cutoff| within(measure, cutoff).unwrap_err().to_string();
    assert!(
        refused(Measure::LogGak { sigma: 1.0 }, 1.0).starts_with("a cutoff is for distances: of log_gak")
    );
    assert_eq!(refused(Measure::DTW, f64::NAN), "a cutoff is a number, got NaN");
}
