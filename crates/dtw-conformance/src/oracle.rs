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
mod pair;
pub mod path;
pub mod path_count;
pub mod soft_excess;
pub mod subsequence_dtw;
pub mod znormalize;

pub use band::{BandError, Cells, Ends};
pub use grid::{Grid, Rows, Series, Step};
pub use local::Real;
pub use pair::{Answer, Input, OracleError, Pair};

use dtw_core::measure::Preparation;
use dtw_core::{Anchor, Measure, Spec};

use derivative::derivative;

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
        fn ask<F: Real>(measure: &Measure, input: &Input<'_, F>) -> Result<Answer<F>, OracleError> {
            match *measure {
                $( Measure::$variant { $($($field),*)? } => {
                    loop_of!($facts $key $($base)?)(input $($(, $field)*)?)
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

/// What the oracles know of a spec.
pub trait Oracle {
    /// The result for one pair.
    ///
    /// # Errors
    /// A band that does not fit, or a series too short for a derivative.
    fn distance<F: Real>(&self, pair: &Pair<F>) -> Result<F, OracleError>;

    /// The warping path, 0-based, in the grid that is swept (a derivative's for `ddtw` and `wddtw`).
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for measures that sum over all paths (or, MSM with several channels,
    /// over one path per channel).
    fn path<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<(usize, usize)>, OracleError>;

    /// Up to `k` occurrences of `x` in `y`, best first.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for all but subsequence DTW.
    fn matches<F: Real>(
        &self,
        pair: &Pair<F>,
        k: usize,
        exclusion: usize,
    ) -> Result<Vec<subsequence_dtw::Match<F>>, OracleError>;

    /// The cost of the best occurrence of `x` ending in each column of `y`.
    ///
    /// # Errors
    /// As [`matches`](Self::matches).
    fn end_costs<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<F>, OracleError>;

    /// The gradients of Soft-DTW or its divergence with respect to `x` and to `y`.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for every other measure.
    #[expect(clippy::type_complexity, reason = "two series, spelt as series are everywhere here")]
    fn gradients<F: Real>(&self, pair: &Pair<F>) -> Result<(Vec<Vec<F>>, Vec<Vec<F>>), OracleError>;

    /// The Soft-DTW alignment matrix `E`, `n × m`.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for every measure but Soft-DTW.
    fn alignment<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<Vec<F>>, OracleError>;
}

impl Oracle for Spec {
    fn distance<F: Real>(&self, pair: &Pair<F>) -> Result<F, OracleError> {
        match self.anchor {
            Anchor::Global => Ok(answer(self, pair)?.value),
            _ => Ok(subsequence_dtw::matches(&searched(self, pair)?, 1, 0)[0].cost),
        }
    }

    fn path<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<(usize, usize)>, OracleError> {
        if self.anchor != Anchor::Global {
            let grid = searched(self, pair)?;
            let best = subsequence_dtw::matches(&grid, 1, 0)[0];
            return Ok(path::ending_at(&grid, grid.n(), best.end + 1));
        }
        match answer(self, pair)?.grid {
            Some(grid) => Ok(path::path(&grid)),
            None => Err(OracleError::Undefined { measure: self.key(), what: "single best path" }),
        }
    }

    fn matches<F: Real>(
        &self,
        pair: &Pair<F>,
        k: usize,
        exclusion: usize,
    ) -> Result<Vec<subsequence_dtw::Match<F>>, OracleError> {
        Ok(subsequence_dtw::matches(&searched(self, pair)?, k, exclusion))
    }

    fn end_costs<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<F>, OracleError> {
        Ok(searched(self, pair)?.values[pair.x.len()][1..].to_vec())
    }

    fn gradients<F: Real>(&self, pair: &Pair<F>) -> Result<(Vec<Vec<F>>, Vec<Vec<F>>), OracleError> {
        let (x, y) = (&pair.x, &pair.y);
        let rows = |n, m| self.band.rows(n, m, Ends::Global);
        let (n, m) = (x.len(), y.len());
        match self.measure {
            Measure::SoftDtw { gamma, cost } => {
                Ok(soft_dtw::gradients(x, y, F::of(gamma), cost, &rows(n, m)?))
            }
            Measure::SoftDtwDivergence { gamma, cost } => {
                let (xy, xx, yy) = (rows(n, m)?, rows(n, n)?, rows(m, m)?);
                Ok(soft_dtw_divergence::gradients(x, y, F::of(gamma), cost, [&xy, &xx, &yy]))
            }
            _ => Err(OracleError::Undefined { measure: self.key(), what: "gradient" }),
        }
    }

    fn alignment<F: Real>(&self, pair: &Pair<F>) -> Result<Vec<Vec<F>>, OracleError> {
        let Measure::SoftDtw { gamma, cost } = self.measure else {
            return Err(OracleError::Undefined { measure: self.key(), what: "alignment matrix" });
        };
        let rows = self.band.rows(pair.x.len(), pair.y.len(), Ends::Global)?;
        Ok(soft_dtw::alignment(&pair.x, &pair.y, F::of(gamma), cost, &rows))
    }
}

/// What the measure's loop comes to, on series prepared for it.
fn answer<F: Real>(spec: &Spec, pair: &Pair<F>) -> Result<Answer<F>, OracleError> {
    if spec.kind().has_open_borders {
        spec.band.check_order()?;
    }
    let (tx, ty) = (pair.tx.as_deref(), pair.ty.as_deref());
    let input = Input { x: &pair.x, y: &pair.y, tx, ty, band: &spec.band };
    match spec.measure.preparation() {
        Preparation::None => ask(&spec.measure, &input),
        Preparation::Derivative => {
            for (which, series) in [("x", &pair.x), ("y", &pair.y)] {
                if series.len() < 3 {
                    return Err(OracleError::TooShort { which, length: series.len() });
                }
            }
            let (x, y) = (derivative(&pair.x), derivative(&pair.y));
            ask(&spec.measure, &Input { x: &x, y: &y, ..input })
        }
        _ => unreachable!("no other preparation is known"),
    }
}

/// The accumulated matrix of a search.
fn searched<F: Real>(spec: &Spec, pair: &Pair<F>) -> Result<Grid<F>, OracleError> {
    match (spec.measure, spec.anchor) {
        (Measure::Dtw { cost }, Anchor::Subsequence) => {
            let rows = spec.band.rows(pair.x.len(), pair.y.len(), Ends::Free)?;
            Ok(subsequence_dtw::grid(&pair.x, &pair.y, cost, &rows))
        }
        _ => Err(OracleError::Undefined { measure: spec.key(), what: "matches" }),
    }
}

#[cfg(test)]
mod tests;
