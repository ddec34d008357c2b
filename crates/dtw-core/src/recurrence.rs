//! The measures as code: what it costs to arrive at a cell, and how the three arrivals combine.
//!
//! 1-based cells `(i, j)` over a border row and column of index 0. A sweep walks the cells in any order that has
//! `(i−1, j−1)`, `(i−1, j)` and `(i, j−1)` before `(i, j)`, and for each one asks the recurrence
//!
//! 1. [`Recurrence::price`]: what the cell costs, from the two points (no neighbour needed, so off the critical path),
//! 2. [`Recurrence::combine`]: the cell's state from its three neighbours and the price.
//!
//! The sweep knows no measure and the measure knows no sweep. Each file below holds one measure under its formula;
//! the same names recur in every other language a backend is written in.

pub mod cost;
pub mod excess;
mod point;
mod scaled;
pub mod subsequence;
mod threshold;
mod traits;

pub use excess::{Parted, SoftExcess};
pub use point::{Apart, One, Point};
pub use scaled::{Scaled, log_of};
pub use soft_dtw::SoftDtw;
pub use subsequence::Located;
pub use traits::{MOST_PARTS, RESCALE_EVERY, Recurrence, Sample, State, Value, Visitor};

use crate::vector::Vector;
use crate::{Anchor, Measure, Spec};

/// Makes a module for each row of the table of measures with a recurrence of its own, and [`dispatch`].
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
        $( own! { $key $($base)? } )*

        /// Makes the recurrence that a spec names and hands it to `visitor`.
        ///
        /// `any` is any vector; it only says how wide constants are. Derivative measures give the recurrence that runs
        /// on the derivatives, [`Measure::SoftDtwDivergence`] that of Soft-DTW.
        ///
        /// # Panics
        /// For [`Measure::Msm`] and points of several channels ([`Measure::sums_channels`]).
        #[inline(always)]
        pub fn dispatch<V: Vector, P: Point<V>, F: Visitor<V, P>>(spec: &Spec, any: V, visitor: F) -> F::Output {
            // `Spec::check` admits DTW alone here.
            if let (Anchor::Subsequence, Measure::Dtw { cost }) = (spec.anchor, spec.measure) {
                return subsequence::visit(any, cost, visitor);
            }
            match spec.measure {
                $( Measure::$variant { $($($field),*)? } => {
                    run!($key $($base)?)(any, $($($field,)*)? visitor)
                } )*
            }
        }
    };
}

/// The module of a row, where its recurrence is its own.
macro_rules! own {
    ($key:ident) => {
        pub mod $key;
    };
    ($key:ident $base:ident) => {};
}

/// What hands over the recurrence of a row.
macro_rules! run {
    ($key:ident) => {
        $key::visit
    };
    ($key:ident $base:ident) => {
        $base::visit
    };
}

crate::measures! { define [] }
