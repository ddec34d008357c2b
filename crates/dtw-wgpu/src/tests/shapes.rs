//! Every shape of pairs against the oracle, with lanes that shuffle and with lanes that go through memory.

use dtw_conformance::batch::{Batch, pairs};
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::oracle::Oracle;
use dtw_core::{Backend, Pairing, Problem, Spec};

use super::{BACKEND, open};
use crate::backend::WgpuBackend;
use crate::gpu::lanes::LanesKind;

/// Noise of these lengths.
pub(super) fn noise(lengths: impl IntoIterator<Item = usize>, channels: usize, seed: u64) -> Batch {
    let mut random = SplitMix::new(seed);
    let lengths = lengths.into_iter();
    Batch::new(lengths.map(|length| series(Kind::Noise, length, channels, &mut random)).collect())
}

#[track_caller]
pub(super) fn check(backend: &WgpuBackend, spec: &Spec, pairing: Pairing, x: &Batch, y: &Batch) {
    let (a, b) = (x.flat::<f32>(), y.flat::<f32>());
    let (a, b) = (a.batch().unwrap(), b.batch().unwrap());
    let problem = Problem::of(spec.clone(), pairing, &a, &b).unwrap();
    let mut out = vec![f32::NAN; problem.output_len()];
    Backend::<f32>::plan(backend, &problem).unwrap().distances(a, b, &mut out).unwrap();
    for ((s, t), value) in pairs(pairing, a.len(), b.len()).into_iter().zip(out) {
        let expected = spec.distance(&Batch::pair(x, s, y, t)).unwrap();
        let error = (f64::from(value) - expected).abs();
        let (n, m, channels) = (a.length(s), b.length(t), a.channels());
        assert!(error <= 1e-5 * expected, "{spec:?}, {n} × {m} × {channels}: {value}, expected {expected}");
    }
}

fn backend(kind: LanesKind) -> WgpuBackend {
    WgpuBackend::of(open(Some(kind)))
}

#[test]
fn lengths_from_1_to_70() {
    for kind in [LanesKind::Subgroup, LanesKind::Workgroup] {
        check(&backend(kind), &Spec::dtw(), Pairing::Cross, &noise(1..=70, 1, 1), &noise(1..=70, 1, 2));
    }
}

#[test]
fn edges_of_lanes_and_strips() {
    let lengths = [63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025];
    for kind in [LanesKind::Subgroup, LanesKind::Workgroup] {
        let (x, y) = (noise(lengths, 1, 3), noise(lengths, 1, 4));
        check(&backend(kind), &Spec::dtw(), Pairing::Cross, &x, &y);
    }
}

/// A triangle of pairs is decoded from its tasks' numbers by a root, which rounds.
#[test]
fn all_pairs_of_a_triangle() {
    let x = noise((0..301).map(|k| 1 + k % 3), 1, 5);
    check(&BACKEND, &Spec::dtw(), Pairing::SelfSymmetric, &x, &x);
}

/// The copy of the series on the host counts, too.
#[test]
fn scratch_stays_within_the_limit() {
    let (x, y) = (noise([1000; 16], 1, 6), noise([900; 16], 1, 7));
    let (a, b) = (x.flat::<f32>(), y.flat::<f32>());
    let (a, b) = (a.batch().unwrap(), b.batch().unwrap());
    let limit = 1 << 18;
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &a, &b).unwrap().with_memory_limit(limit);
    let mut plan = Backend::<f32>::plan(&*BACKEND, &problem).unwrap();
    let mut out = vec![0.0; 16 * 16];
    plan.distances(a, b, &mut out).unwrap();
    assert!(plan.scratch_bytes() <= limit, "{} bytes of {limit}", plan.scratch_bytes());
    let expected = Spec::dtw().distance(&Batch::pair(&x, 15, &y, 0)).unwrap();
    assert!((f64::from(out[15 * 16]) - expected).abs() <= 2e-5 * expected);
}
