//! What a loop is given, what it comes to, and why it may have no answer.

use std::ops::Range;

use dtw_core::Band;

use super::{BandError, Cells, Ends, Grid, Real, Series};

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
pub struct Input<'a, F> {
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

impl<F: Real> Input<'_, F> {
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

    /// The grid of these series, filled as `arrivals` says ([`Grid::fill`]).
    pub(super) fn filled(
        &self,
        arrivals: impl Fn(usize, usize, [F; 3]) -> [F; 3],
    ) -> Result<Answer<F>, OracleError> {
        let mut grid = Grid::new(self.x, self.y);
        grid.fill(&self.rows()?, arrivals);
        Ok(grid.into())
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
