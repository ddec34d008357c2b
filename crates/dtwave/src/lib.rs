//! Elastic distances between time series: DTW and its relatives, Soft-DTW with gradients, subsequence DTW, TWED.
//!
//! ```
//! use dtwave::{Session, Spec};
//!
//! let x = [0.0, 1.0, 2.0, 1.0, 0.0];
//! let y = [0.0, 0.0, 1.0, 2.0, 1.0];
//! assert_eq!(dtwave::distance(&x, &y, &Spec::dtw())?, 1.0);
//!
//! // A session holds the choices: what to compute, on which device, within which memory.
//! let session = Session::new(Spec::soft_dtw(0.1));
//! let series = vec![x.to_vec(), y.to_vec()];
//! let matrix = session.pairwise(&series)?;
//! assert_eq!(matrix.dim(), (2, 2));
//! # Ok::<(), dtwave::Error>(())
//! ```
//!
//! Calls in a loop are quick if their series have the same shape. [`distance`] and the other short calls share threads
//! and plans in the whole process; a session keeps its own plans. To hold a plan yourself, make it with the backend
//! that [`Device::backend`] gives.
//!
//! This crate chooses a device and hands the work on. Its vocabulary is that of [`dtw_core`], re-exported here. The
//! algorithms built on distances are in [`dtw_learn`].

#![forbid(unsafe_code)]

mod device;
mod input;
mod names;
mod plans;
mod search;
mod session;
mod team;
mod tiles;

pub use device::{Device, DeviceInfo, Float, devices};
pub use dtw_core::{
    Anchor, Backend, BackendKind, Band, Blocks, CostMatrix, Dtype, EdrOutput, Error, Explainer, Explanation,
    Gradients, Launch, LcssOutput, LocalCost, Match, Measure, Observer, Obstacle, OwnedBatch, Pairing, Path,
    Plan, Precision, Problem, Radius, Remedy, Result, SearchOptions, Series, SeriesBatch, Shape, Spec, Task,
    Tile, TilePlan, Unobserved, backend_kind, measure, normalize,
};
/// What the CPU computes beside the calls of a session: Soft-DTW of matrices of costs.
#[cfg(feature = "cpu")]
pub use dtw_cpu as cpu;
/// Distances of series that are in a GPU's memory, on streams and scratch memory of the caller's.
#[cfg(feature = "cuda")]
pub use dtw_cuda as cuda;
/// Distances of series that are in an AMD GPU's memory.
#[cfg(feature = "hip")]
pub use dtw_hip as hip;
pub use dtw_learn as learn;
/// Any GPU through WebGPU: which ones there are, and how one is chosen.
#[cfg(feature = "wgpu")]
pub use dtw_wgpu as wgpu;
pub use input::{AsBatch, AsSeries, Batched, Sequence};
pub use session::{GradientResult, Session};

use ndarray::Array2;

/// Distance of two series on the automatically chosen device.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters.
pub fn distance<T: Float>(
    x: &(impl AsSeries<T> + ?Sized),
    y: &(impl AsSeries<T> + ?Sized),
    spec: &Spec,
) -> Result<T> {
    Session::of_process(spec.clone()).distance(x, y)
}

/// Distances of every series with every other: shape `[n, n]`, symmetric.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters.
pub fn pairwise<T: Float>(x: &(impl AsBatch<T> + ?Sized), spec: &Spec) -> Result<Array2<T>> {
    Session::of_process(spec.clone()).pairwise(x)
}

/// Distances of every series of `x` with every series of `y`: shape `[n_x, n_y]`.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters.
pub fn cross<T: Float>(
    x: &(impl AsBatch<T> + ?Sized),
    y: &(impl AsBatch<T> + ?Sized),
    spec: &Spec,
) -> Result<Array2<T>> {
    Session::of_process(spec.clone()).cross(x, y)
}

/// The best warping path of two series.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters, and for measures without a path.
pub fn align<T: Float>(
    x: &(impl AsSeries<T> + ?Sized),
    y: &(impl AsSeries<T> + ?Sized),
    spec: &Spec,
) -> Result<Path<T>> {
    Session::of_process(spec.clone()).align(x, y)
}

/// The best matches of `query` in the longer `reference` by subsequence DTW, best first.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters.
pub fn search<T: Float>(
    query: &(impl AsSeries<T> + ?Sized),
    reference: &(impl AsSeries<T> + ?Sized),
    cost: LocalCost,
    options: &SearchOptions,
) -> Result<Vec<Match<T>>> {
    Session::of_process(Spec::subsequence_dtw(cost)).search(query, reference, options)
}

/// The README's examples, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
