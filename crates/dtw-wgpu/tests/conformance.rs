//! The suite of every backend, on whatever adapter there is.

mod shaders {
    use std::sync::LazyLock;

    use dtw_wgpu::WgpuBackend;

    static BACKEND: LazyLock<WgpuBackend> = LazyLock::new(|| WgpuBackend::new().expect("an adapter"));

    dtw_conformance::suite!(f32: BACKEND.clone());
}
