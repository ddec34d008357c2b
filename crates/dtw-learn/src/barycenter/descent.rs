//! Minimising a differentiable function of a series: what is asked for and what is found.

#[cfg(not(target_family = "wasm"))]
mod steps;

#[cfg(not(target_family = "wasm"))]
pub(super) use steps::minimize;

use dtw_core::Result;

use super::Optimizer;

/// A function of a series with its gradient.
pub(super) trait Objective<T> {
    /// Value and gradient, the gradient laid out as the position.
    fn value_and_gradient(&mut self, position: &[T]) -> Result<(f64, Vec<f64>)>;
}

/// How to minimise.
pub(super) struct Descent {
    pub(super) optimizer: Optimizer,
    pub(super) max_iterations: usize,
    /// Relative change of the value that counts as none.
    pub(super) tolerance: f64,
    /// The change is taken relative to the value or to this, whichever is larger in magnitude.
    pub(super) cost_floor: f64,
}

/// What was found.
pub(super) struct Minimum<T> {
    /// The best position seen.
    pub(super) position: Vec<T>,
    /// Values at the start and after each iteration.
    pub(super) values: Vec<f64>,
    pub(super) converged: bool,
}

/// The optimisers' crate handles signals, which a WebAssembly module has none of.
#[cfg(target_family = "wasm")]
pub(super) fn minimize<T: dtw_core::Scalar>(
    _: impl Objective<T>,
    _: &[T],
    _: &Descent,
    _: impl Fn() -> Result<()>,
) -> Result<Minimum<T>> {
    Err(dtw_core::Error::Unsupported {
        backend: "WebAssembly",
        what: "an average under soft_dtw or its divergence: dtw's (DBA) runs here, all run elsewhere"
            .to_owned(),
    })
}
