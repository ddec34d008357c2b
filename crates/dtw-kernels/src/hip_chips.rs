//! AMD's chips that get images of their own, by the names that compilers have for them.

/// What `cargo xtask kernels hip` compiles for: Vega 20, MI200, MI300, RDNA 2, RDNA 3, RDNA 4. An image runs on its own
/// chip alone. Waves have 64 lanes on the first three, 32 on the others.
pub const HIP_CHIPS: &[&str] = &["gfx906", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];
