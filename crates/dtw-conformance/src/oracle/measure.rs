//! One call per question: distance, path, matches, gradients.

use std::ops::Range;

use dtw_core::measure::Preparation;
use dtw_core::{Anchor, Band, Measure, Spec};

use super::{
    BandError, Cells, Ends, Grid, Real, Series, ask, derivative::derivative, path, soft_dtw,
    soft_dtw_divergence, subsequence_dtw,
};

/// Two series and, for TWED, their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<F> {
    /// `[n][channel]`.
    pub x: Vec<Vec<F>>,
    /// `[m][channel]`.
    pub y: Vec<Vec<F>>,
    /// Times of `x`; `1..=n` if absent.
    pub tx: Option<Vec<F>>,
    /// Times of `y`; `1..=m` if absent.
    pub ty: Option<Vec<F>>,
}

impl<F: Real> Pair<F> {
    /// A pair without explicit times.
    pub fn new(x: Vec<Vec<F>>, y: Vec<Vec<F>>) -> Self {
        Pair { x, y, tx: None, ty: None }
    }

    /// This pair in another precision, each number rounded to the nearest.
    pub fn cast<G: Real>(&self) -> Pair<G> {
        let flat = |values: &[F]| values.iter().map(|value| G::of(value.wide())).collect::<Vec<G>>();
        let deep = |series: &[Vec<F>]| series.iter().map(|point| flat(point)).collect();
        Pair {
            x: deep(&self.x),
            y: deep(&self.y),
            tx: self.tx.as_deref().map(flat),
            ty: self.ty.as_deref().map(flat),
        }
    }
}

/// Why an oracle has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OracleError {
    /// The band does not fit the grid.
    #[error(transparent)]
    Band(#[from] BandError),
    /// A derivative was asked of a series of fewer than three points.
    #[error("{which} has {length} points; a derivative needs at least 3")]
    TooShort {
        /// `x` or `y`.
        which: &'static str,
        /// Its length.
        length: usize,
    },
    /// The measure has no such result.
    #[error("{measure} has no {what}")]
    Undefined {
        /// Key of the measure.
        measure: &'static str,
        /// What was asked for.
        what: &'static str,
    },
}

/// Two series as a loop gets them: prepared, with their band.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a, F> {
    /// `n` points.
    pub x: &'a Series<F>,
    /// `m` points.
    pub y: &'a Series<F>,
    /// Times of `x`, where given.
    pub tx: Option<&'a [F]>,
    /// Times of `y`, where given.
    pub ty: Option<&'a [F]>,
    /// Which cells paths may use.
    pub band: &'a Band,
}

impl<F: Real> Given<'_, F> {
    /// The columns that the band allows in each row.
    ///
    /// # Errors
    /// A band that does not fit.
    pub fn rows(&self) -> Result<Vec<Range<usize>>, OracleError> {
        self.rows_of(self.x, self.y)
    }

    /// The columns that the band allows in each row for two other series.
    ///
    /// # Errors
    /// A band that does not fit.
    pub fn rows_of(&self, x: &Series<F>, y: &Series<F>) -> Result<Vec<Range<usize>>, OracleError> {
        Ok(self.band.rows(x.len(), y.len(), Ends::Global)?)
    }
}

/// What a loop comes to.
#[derive(Clone, Debug)]
pub struct Answer<F> {
    /// The distance.
    pub value: F,
    /// The accumulated matrix, of measures that take minima.
    pub grid: Option<Grid<F>>,
}

impl<F: Real> From<Grid<F>> for Answer<F> {
    fn from(grid: Grid<F>) -> Self {
        Self { value: grid.last(), grid: Some(grid) }
    }
}

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
                Ok(soft_dtw_divergence::gradients(x, y, F::of(gamma), cost, &xy, &xx, &yy))
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
    let given = Given { x: &pair.x, y: &pair.y, tx, ty, band: &spec.band };
    match spec.measure.preparation() {
        Preparation::None => ask(&spec.measure, &given),
        Preparation::Derivative => {
            for (which, series) in [("x", &pair.x), ("y", &pair.y)] {
                if series.len() < 3 {
                    return Err(OracleError::TooShort { which, length: series.len() });
                }
            }
            let (x, y) = (derivative(&pair.x), derivative(&pair.y));
            ask(&spec.measure, &Given { x: &x, y: &y, ..given })
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
