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
//! This module knows of `dtw-core` what to compute, as data: measures with their parameters, bands, local costs. It
//! shares none of its code: not the recurrences, not the cells of bands, not the derivative.

pub mod band;
pub mod derivative;
mod grid;
pub mod local;
mod measure;
pub mod path;
pub mod path_count;
pub mod soft_excess;
pub mod subsequence_dtw;
pub mod znormalize;

pub use band::{BandError, Cells, Ends};
pub use grid::{Grid, Step};
pub use local::Real;
pub use measure::{Answer, Given, Oracle, OracleError, Pair};

use dtw_core::Measure;

/// Makes, for the rows of the table of measures, a module for each that has a loop of its own, and what asks it.
macro_rules! define {
    (
        []
        $(
            $(#[$doc:meta])*
            $key:ident $variant:ident $(as $base:ident)? $({
                $( $(#[$about:meta])* $field:ident: $type:ident { $($domain:tt)* } )*
            })? is $facts:tt examples $examples:tt
        )*
        ; $($anchored:tt)*
    ) => {
        $( own! { $facts $key $($base)? } )*

        /// Asks the loop of a measure; its series are prepared.
        fn ask<F: Real>(measure: &Measure, given: &Given<'_, F>) -> Result<Answer<F>, OracleError> {
            match *measure {
                $( Measure::$variant { $($($field),*)? } => {
                    loop_of!($facts $key $($base)?)(given $($(, $field)*)?)
                } )*
                _ => unreachable!("the table has every measure"),
            }
        }
    };
}

/// The module of a row: its own, but where the difference is in the preparation alone.
macro_rules! own {
    ({ preparation: $preparation:expr $(, $($more:tt)*)? } $key:ident $base:ident) => {};
    ($facts:tt $key:ident $($base:ident)?) => {
        pub mod $key;
    };
}

/// What answers for a row.
macro_rules! loop_of {
    ({ preparation: $preparation:expr $(, $($more:tt)*)? } $key:ident $base:ident) => {
        $base::answer
    };
    ($facts:tt $key:ident $($base:ident)?) => {
        $key::answer
    };
}

dtw_core::measures! { define [] }

/// One series, `[time][channel]`, every point with the same number of channels.
pub type Series<F> = [Vec<F>];

/// A column range per row of the grid, 0-based and half-open: the cells a band allows.
pub type Rows = [std::ops::Range<usize>];

#[cfg(test)]
mod tests;
