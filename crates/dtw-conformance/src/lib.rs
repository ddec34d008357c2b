//! What "right" means: reference implementations written from the papers, golden numbers, and the suite of
//! cases by which a backend is judged.
//!
//! A backend joins the whole suite with one line in its tests:
//!
//! ```text
//! dtw_conformance::suite!(MyBackend::new());
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | [`oracle`] | full-matrix loops for every measure, sharing no code with the recurrences |
//! | [`golden`] | cases with expected values, read from JSON |
//! | [`cases`] | the cases of the suite: chosen by hand, and strategies for random ones |
//! | [`check`] | one function per promise of a backend |
//! | [`guard`] | sentinels round outputs |
//! | [`tolerance`], [`accuracy`] | how large the error of one value may be, and of all values together, and why |
//! | [`digest`] | one number for all results of a run, to compare builds with |
//! | [`expectations`] | what a backend is known not to support |
//! | [`seed`] | which random cases are drawn |
//! | [`mod@suite`], [`report`] | the sections, and what a run found |
//! | [`trickle`] | a reference that comes a few points at a time |
#![forbid(unsafe_code)]

#[doc(hidden)]
pub use dtw_core as __core;

pub mod accuracy;
pub mod batch;
pub mod cases;
pub mod check;
pub mod digest;
pub mod expectations;
pub mod golden;
pub mod guard;
pub mod oracle;
pub mod report;
pub mod seed;
pub mod suite;
pub mod tolerance;
pub mod trickle;
