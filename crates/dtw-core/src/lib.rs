//! The vocabulary of dtwave: what an elastic distance is, over which cells it runs, between which series.
//!
//! One idea holds the project together: **a measure is a three-arrival recurrence; a backend is a machine that sweeps
//! any such recurrence over a banded grid.** This crate names both sides and knows no machine: no threads, no files, no
//! vendor, no SIMD.
//!
//! | module | holds |
//! | --- | --- |
//! | [`spec`], [`measure`] | [`Spec`] and [`Measure`]: what to compute, as data, and its validation |
//! | [`band`] | [`Band`] → column ranges per row and row ranges per diagonal |
//! | [`series`] | [`SeriesBatch`]: borrowed, ragged, multichannel series |
//! | [`problem`], `divisor` | [`Problem`]: spec + pairing + shape, validated once for every backend; its passes |
//! | [`backend`] | [`Backend`] and [`Plan`]: what callers see of a device |
//! | [`backend_kind`] | the table of backends: names, devices, number types |
//! | [`compute`] | [`Compute`], which a device implements, and the checks in front of it |
//! | [`recurrence`] | the measures as code: one small file each, written once over [`vector::Vector`] |
//! | [`search`], [`selection`] | what a search asks for; its hits, chosen from costs that are not kept |
//! | [`contenders`], [`bounds`], [`moving`] | what a search need not sweep, exactly: proofs and lower bounds |
//! | [`windows`] | the loop of a search over the windows of a reference |
//! | [`join`] | which windows of one series are compared with which of another |
//! | [`passes`] | how the results of the passes of a call are put together |
//! | [`soft`], [`counts`] | results of measures that sum over all paths, and how many paths there are |
//! | [`tile`], `serial` | cutting a distance matrix into tiles under a memory budget; what serde writes and reads |
//! | [`error`], [`remedy`] | what can go wrong, by whose doing, and what helps |
//! | [`observer`], [`explain`] | who watches a call; how a result was computed |
//! | [`normalize`], [`derivative`] | preprocessing shared by every backend |

#![forbid(unsafe_code)]

pub mod backend;
pub mod backend_kind;
pub mod band;
pub mod bounds;
pub mod compute;
pub mod contenders;
pub mod cost_matrix;
pub mod counts;
pub mod derivative;
pub mod diagonal;
mod divisor;
mod dtype;
pub mod error;
pub mod explain;
pub mod join;
pub mod measure;
pub mod moving;
pub mod normalize;
pub mod observer;
pub mod passes;
pub mod problem;
pub mod recurrence;
pub mod remedy;
pub mod search;
pub mod selection;
#[cfg(feature = "serde")]
mod serial;
pub mod series;
pub mod soft;
pub mod spec;
pub mod tile;
pub mod vector;
pub mod windows;

pub use backend::{Backend, Gradients, Path, Plan, Ranked, WeightedTotal};
pub use backend_kind::BackendKind;
pub use band::{Anchor, Band, ColumnRanges, Radius};
pub use compute::{CheckedBatches, CheckedBlocks, Compute};
pub use cost_matrix::CostMatrix;
pub use counts::PathCounts;
pub use dtype::Dtype;
pub use error::{Error, Result, reserved};
pub use explain::{Explainer, Explanation};
pub use join::{NearestWindow, WindowJoin};
pub use measure::{EdrOutput, LcssOutput, LocalCost, Measure};
pub use observer::{Launch, Observer, Uncounted, Unobserved};
pub use passes::PassResults;
pub use problem::{Pairing, Pass, Problem, Shape, Sides, Task};
pub use remedy::{Obstacle, Remedy};
pub use search::{Blocks, InMemory, Match, Precision, SearchOptions};
pub use selection::Selection;
pub use series::{OwnedBatch, Series, SeriesBatch};
pub use soft::SoftResult;
pub use spec::Spec;
pub use tile::{Tile, TilePlan};
pub use vector::Scalar;
pub use windows::{WindowSearch, Windows, search_each, search_pairs};
