//! Reference implementations: one full matrix per pair, one double loop per measure.
//!
//! A series is `&[Vec<F>]`, `[time][channel]`; `x` has `n` points and `y` has `m`. Every grid here is the
//! `(n+1) × (m+1)` matrix of the papers with its border row and column, 1-based in `i` and `j`. Nothing is
//! saved, fused or reordered: the loops are written to be compared with the equations by eye, and cost
//! `O(n·m)` time and memory.
//!
//! The loops are generic over [`Real`] for one reason only: at `f64` they are the truth that backends are held
//! to, at `f32` they are the *plain single-precision loop* whose error bounds the error a backend may make.
//!
//! This module knows no type of `dtw-core` and shares no code with it.

pub mod adtw;
pub mod band;
pub mod derivative;
pub mod dtw;
pub mod edr;
pub mod erp;
mod grid;
pub mod lcss;
pub mod local;
pub mod log_gak;
mod measure;
pub mod msm;
pub mod path;
pub mod path_count;
pub mod soft_dtw;
pub mod soft_dtw_divergence;
pub mod soft_excess;
pub mod subsequence_dtw;
pub mod twed;
pub mod wdtw;
pub mod znormalize;

pub use band::{Band, BandError, Ends, Radius};
pub use grid::{Grid, Step};
pub use local::{LocalCost, Real};
pub use measure::{Measure, OracleError, Pair};

/// One series, `[time][channel]`, every point with the same number of channels.
pub type Series<F> = [Vec<F>];

/// A column range per row of the grid, 0-based and half-open: the cells a band allows.
pub type Rows = [std::ops::Range<usize>];

#[cfg(test)]
mod tests;
