//! The suite of every backend and what it leaves out, on whatever adapter there is.

mod asynchronous;
mod gradients;
mod paths;
mod windows;

use std::sync::LazyLock;

use dtw_wgpu::WgpuBackend;

static BACKEND: LazyLock<WgpuBackend> =
    LazyLock::new(|| WgpuBackend::new().expect("a Vulkan driver: mesa-vulkan-drivers"));

mod shaders {
    use super::BACKEND;

    dtw_conformance::suite!(f32: BACKEND.clone());
}
