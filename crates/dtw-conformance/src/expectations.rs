//! What a backend is known not to do yet.
//!
//! Cases that a gap covers still ask the backend. One that it refuses as unsupported is skipped, with the gap's reason.
//! One that it supports fails, so that this list stays true; so does one that it refuses though no gap covers it, so
//! that support is not lost unseen.

use dtw_core::{Dtype, Problem, Task};

/// A known gap.
struct Gap {
    backends: &'static [&'static str],
    dtypes: &'static [Dtype],
    /// Which problems, and what is asked of them.
    covers: fn(&Problem, Task) -> bool,
    reason: &'static str,
}

const GAPS: &[Gap] = &[
    Gap {
        backends: &["wgpu"],
        dtypes: &[Dtype::F64],
        covers: |_, _| true,
        reason: "WebGPU has no double precision",
    },
    Gap {
        backends: &[INCOMPLETE],
        dtypes: &[Dtype::F32, Dtype::F64],
        covers: |_, task| matches!(task, Task::Gradients | Task::Alignment),
        reason: "a backend of the suite's own tests, which has no gradients",
    },
];

/// No backend that there is: the suite's own tests give this name to theirs, to see that gaps are asked about.
pub const INCOMPLETE: &str = "incomplete";

/// Why a backend is expected not to support this; `None` if it is expected to.
pub fn expected_unsupported(
    backend: &str,
    dtype: Dtype,
    problem: &Problem,
    task: Task,
) -> Option<&'static str> {
    let covers = |gap: &&Gap| {
        gap.backends.contains(&backend) && gap.dtypes.contains(&dtype) && (gap.covers)(problem, task)
    };
    GAPS.iter().find(covers).map(|gap| gap.reason)
}

/// Relative error of the weights `e^(−c/γ)` that a backend's sweep of univariate Soft-DTW in `f32` without a band
/// forms, beyond those of a float: 0 unless it trades their last bits for speed.
pub fn weight_error(backend: &str) -> f64 {
    // A float's last three bits are replaced by a fraction (native/sweeps/soft.cuh): half a unit of 2⁻²⁰ either way.
    if ["cuda", "hip", "host"].contains(&backend) { 0.5 / f64::from(1 << 20) } else { 0.0 }
}

/// Whether a backend may form gradients of squared Euclidean costs as products of matrices, `x ΣE − ΣE y`: kernels of
/// GPUs do in `f32`, of eight channels or more (native/tiles/matrix.cuh).
pub fn multiplies_matrices(backend: &str, dtype: Dtype, channels: usize) -> bool {
    ["cuda", "hip", "host"].contains(&backend) && dtype == Dtype::F32 && channels >= 8
}

/// Whether half precision can propose places of a backend's searches.
pub fn proposes(backend: &str) -> bool {
    ["cuda", "hip", "host"].contains(&backend)
}
