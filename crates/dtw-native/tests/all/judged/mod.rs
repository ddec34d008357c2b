//! Soft-DTW on the host's machine against the oracle, as the conformance suite judges it.
#![allow(dead_code, reason = "not all tests need all of it")]

use dtw_conformance::batch::{Batch, Element};
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::check::{self, Stop};
use dtw_core::{Backend, LocalCost, Measure, Pairing, Spec};
use dtw_native::{HostMachine, NativeBackend};

pub(crate) fn backend() -> NativeBackend<HostMachine> {
    NativeBackend::new(HostMachine::new(1 << 30))
}

pub(crate) fn soft(gamma: f64, cost: LocalCost) -> Spec {
    Spec::new(Measure::SoftDtw { gamma, cost })
}

/// Series of these lengths; those of y are those of x where pairs are symmetric.
pub(crate) fn case_of(
    spec: Spec,
    kind: Kind,
    pairing: Pairing,
    lengths: [&[usize]; 2],
    channels: usize,
) -> Case {
    let mut random = SplitMix::new(5);
    let mut batch = |lengths: &[usize]| {
        Batch::new(lengths.iter().map(|length| series(kind, *length, channels, &mut random)).collect())
    };
    let x = batch(lengths[0]);
    let y = if pairing == Pairing::SelfSymmetric { x.clone() } else { batch(lengths[1]) };
    let name = format!("{spec:?} {kind:?} {pairing:?} {lengths:?} of {channels} channels");
    Case { name, spec, pairing, x, y }
}

/// Zipped pairs of these lengths.
pub(crate) fn case(spec: Spec, kind: Kind, lengths: &[(usize, usize)], channels: usize) -> Case {
    let (x, y): (Vec<_>, Vec<_>) = lengths.iter().copied().unzip();
    case_of(spec, kind, Pairing::Zipped, [&x, &y], channels)
}

fn passed<R>(case: &Case, found: Result<R, Stop>) {
    match found {
        Ok(_) => {}
        Err(Stop::Failed(why)) => panic!("{}: {why}", case.name),
        Err(_) => panic!("{}: was not computed", case.name),
    }
}

/// Gradients in one precision.
pub(crate) fn judge_as<T: Element>(case: &Case)
where
    NativeBackend<HostMachine>: Backend<T>,
{
    passed(case, check::gradients::check::<T>(case, &backend()));
}

/// Gradients.
pub(crate) fn judge(case: &Case) {
    judge_as::<f32>(case);
    judge_as::<f64>(case);
}

/// Values.
pub(crate) fn judge_values(case: &Case) {
    passed(case, check::distances::check::<f32>(case, &backend()));
    passed(case, check::distances::check::<f64>(case, &backend()));
}
