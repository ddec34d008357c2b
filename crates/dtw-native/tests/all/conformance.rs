//! The whole suite on the host machine: every native kernel and the planner, without a GPU.

use dtw_native::{HostMachine, NativeBackend};

fn backend() -> NativeBackend<HostMachine> {
    NativeBackend::new(HostMachine::new(1 << 32))
}

dtw_conformance::suite!(backend());
