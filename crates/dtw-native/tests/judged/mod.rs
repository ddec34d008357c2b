//! Gradients of the host's machine against the oracle, as the conformance suite judges them.

use dtw_conformance::batch::{Batch, Element};
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::check::{self, Stop};
use dtw_core::{Backend, Pairing, Spec};
use dtw_native::{HostMachine, NativeBackend};

pub(crate) fn backend() -> NativeBackend<HostMachine> {
    NativeBackend::new(HostMachine::new(1 << 30))
}

pub(crate) fn case(spec: Spec, kind: Kind, lengths: &[(usize, usize)], channels: usize) -> Case {
    let mut random = SplitMix::new(5);
    let mut batch = |lengths: Vec<usize>| {
        Batch::new(lengths.into_iter().map(|length| series(kind, length, channels, &mut random)).collect())
    };
    let x = batch(lengths.iter().map(|lengths| lengths.0).collect());
    let y = batch(lengths.iter().map(|lengths| lengths.1).collect());
    let name = format!("{spec:?} {kind:?} {lengths:?} of {channels} channels");
    Case { name, spec, pairing: Pairing::Zipped, x, y }
}

pub(crate) fn judge_as<T: Element>(case: &Case)
where
    NativeBackend<HostMachine>: Backend<T>,
{
    match check::gradients::check::<T>(case, &backend()) {
        Ok(()) => {}
        Err(Stop::Failed(why)) => panic!("{}: {why}", case.name),
        Err(_) => panic!("{}: was not computed", case.name),
    }
}

pub(crate) fn judge(case: &Case) {
    judge_as::<f32>(case);
    judge_as::<f64>(case);
}
