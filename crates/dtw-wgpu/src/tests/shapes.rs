//! Every shape of pairs against a plain loop in double precision, with lanes that shuffle and with lanes that go
//! through memory.

use std::sync::Arc;

use dtw_core::{Backend, OwnedBatch, Pairing, Problem, Spec};

use super::open;
use crate::backend::WgpuBackend;
use crate::gpu::lanes::LanesKind;

/// DTW of squared differences.
fn plain(x: &[f32], y: &[f32]) -> f64 {
    let mut row = vec![f64::INFINITY; y.len() + 1];
    row[0] = 0.0;
    for a in x {
        let mut diagonal = row[0];
        row[0] = f64::INFINITY;
        for (j, b) in y.iter().enumerate() {
            let least = diagonal.min(row[j]).min(row[j + 1]);
            diagonal = row[j + 1];
            row[j + 1] = least + f64::from(a - b).powi(2);
        }
    }
    row[y.len()]
}

/// Series of these lengths, whose values are never the same twice.
fn series(lengths: impl Iterator<Item = usize>, seed: u32) -> OwnedBatch<f32> {
    let mut state = seed;
    let mut batch = OwnedBatch::new(1).unwrap();
    for length in lengths {
        let values: Vec<f32> = (0..length)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 22) as f32 - 2.0
            })
            .collect();
        batch.push(&values).unwrap();
    }
    batch
}

#[track_caller]
fn check(kind: LanesKind, x: &OwnedBatch<f32>, y: &OwnedBatch<f32>) {
    let backend = WgpuBackend::of(open(Some(kind)));
    let (x, y) = (x.batch(), y.batch());
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &x, &y).unwrap();
    let mut out = vec![0.0; x.len() * y.len()];
    Backend::<f32>::plan(&backend, &problem).unwrap().distances(x, y, &mut out).unwrap();
    for (k, value) in out.iter().enumerate() {
        let (a, b) = (x.get(k / y.len()), y.get(k % y.len()));
        let expected = plain(a.values, b.values);
        let error = (f64::from(*value) - expected).abs();
        assert!(error <= 2e-5 * expected, "{} × {}: {value}, expected {expected}", a.len(), b.len());
    }
}

#[test]
fn lengths_from_1_to_70() {
    for kind in [LanesKind::Subgroup, LanesKind::Workgroup] {
        check(kind, &series(1..=70, 1), &series(1..=70, 2));
    }
}

#[test]
fn edges_of_lanes_and_strips() {
    let lengths = || [63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025].into_iter();
    for kind in [LanesKind::Subgroup, LanesKind::Workgroup] {
        check(kind, &series(lengths(), 3), &series(lengths(), 4));
    }
}

/// A triangle of pairs is decoded from its tasks' numbers by a root, which rounds.
#[test]
fn all_pairs_of_a_triangle() {
    let x = series((0..301).map(|k| 1 + k % 3), 5);
    let backend = WgpuBackend::of(open(None));
    let x = x.batch();
    let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &x, &x).unwrap();
    let mut out = vec![-1.0; x.len() * x.len()];
    let mut plan = Backend::<f32>::plan(&backend, &problem).unwrap();
    plan.observe(Arc::new(dtw_core::Unobserved));
    plan.distances(x, x, &mut out).unwrap();
    for (k, value) in out.iter().enumerate() {
        let expected = plain(x.get(k / x.len()).values, x.get(k % x.len()).values);
        assert!((f64::from(*value) - expected).abs() <= 1e-5 * expected, "{k}: {value}, expected {expected}");
    }
}

/// The copy of the series on the host counts, too.
#[test]
fn scratch_stays_within_the_limit() {
    let (x, y) = (series((0..64).map(|_| 1000), 6), series((0..64).map(|_| 900), 7));
    let (x, y) = (x.batch(), y.batch());
    let limit = 1 << 20;
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &x, &y).unwrap().with_memory_limit(limit);
    let mut plan = Backend::<f32>::plan(&WgpuBackend::of(open(None)), &problem).unwrap();
    let mut out = vec![0.0; x.len() * y.len()];
    plan.distances(x, y, &mut out).unwrap();
    assert!(plan.scratch_bytes() <= limit, "{} bytes of {limit}", plan.scratch_bytes());
    let expected = plain(x.get(63).values, y.get(0).values);
    assert!((f64::from(out[63 * 64]) - expected).abs() <= 2e-5 * expected);
}
