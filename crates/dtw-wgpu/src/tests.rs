//! Tests of what shaders run on: devices, memory, errors. They need a Vulkan driver; Mesa's in software will do.

use crate::adapter::{Choice, choose};
use crate::gpu::Gpu;
use crate::lanes::{Lanes, LanesKind};

/// The processor as a GPU, which Mesa makes of it.
fn software(force: Option<LanesKind>) -> Gpu {
    let adapter = choose(&Choice::Name("llvmpipe".to_owned())).expect("mesa-vulkan-drivers is installed");
    Gpu::open_blocking(adapter, force).expect("llvmpipe opens")
}

#[test]
fn a_workgroup_of_eight_is_a_subgroup() {
    assert_eq!(software(None).lanes(), Lanes::Subgroup(8));
    assert_eq!(software(Some(LanesKind::Subgroup)).lanes(), Lanes::Subgroup(8));
    assert_eq!(software(Some(LanesKind::Workgroup)).lanes(), Lanes::Workgroup(64));
}
