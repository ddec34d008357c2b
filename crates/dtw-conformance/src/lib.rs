//! What "right" means: reference implementations written from the papers, golden numbers, and the suite of
//! cases by which a backend is judged.
//!
//! - [`oracle`]: full-matrix loops for every measure, sharing no code with `dtw-core`;
//! - [`golden`]: cases with expected values, read from JSON.
#![forbid(unsafe_code)]

pub mod golden;
pub mod oracle;
