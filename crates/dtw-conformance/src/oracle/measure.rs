//! The fourteen measures as data, and one call per question: distance, path, matches, gradients.

use super::{
    Band, BandError, Grid, LocalCost, Real, adtw, band::Ends, derivative::derivative, dtw, edr, erp, lcss,
    log_gak, msm, path, soft_dtw, soft_dtw_divergence, subsequence_dtw, twed, wdtw,
};

/// What to compute, with its parameters in double precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Measure {
    /// Dynamic time warping.
    Dtw {
        /// Cost between two points.
        cost: LocalCost,
    },
    /// DTW of the derivatives.
    Ddtw {
        /// Cost between two points of the derivatives.
        cost: LocalCost,
    },
    /// DTW of squared Euclidean cost, weighted by the distance from the diagonal.
    Wdtw {
        /// Steepness of the weight.
        g: f64,
    },
    /// Weighted DTW of the derivatives.
    Wddtw {
        /// Steepness of the weight.
        g: f64,
    },
    /// DTW of squared Euclidean cost with a fixed penalty ω for every step off the diagonal.
    Adtw {
        /// The penalty ω.
        penalty: f64,
    },
    /// Edit distance with real penalty.
    Erp {
        /// The value a gap stands for, in every channel.
        gap: f64,
    },
    /// Edit distance on real sequences.
    Edr {
        /// Points at most this far apart are equal.
        epsilon: f64,
        /// Whether the number of edits is divided by `max(n, m)`.
        normalized: bool,
    },
    /// Longest common subsequence as a distance.
    Lcss {
        /// Points at most this far apart are equal.
        epsilon: f64,
    },
    /// The length itself, which grows with similarity.
    LcssLength {
        /// Points at most this far apart are equal.
        epsilon: f64,
    },
    /// Move–split–merge.
    Msm {
        /// Cost of one split or merge.
        c: f64,
    },
    /// Time-warp edit distance.
    Twed {
        /// Stiffness `ν`.
        nu: f64,
        /// Deletion penalty `λ`.
        lambda: f64,
        /// Degree `p` of the norm.
        degree: f64,
    },
    /// Soft-DTW.
    SoftDtw {
        /// Smoothing.
        gamma: f64,
    },
    /// Soft-DTW divergence.
    SoftDtwDivergence {
        /// Smoothing.
        gamma: f64,
    },
    /// Logarithm of the global alignment kernel.
    LogGak {
        /// Bandwidth `σ`.
        sigma: f64,
    },
    /// DTW of the whole of `x` against any stretch of `y`.
    SubsequenceDtw {
        /// Cost between two points.
        cost: LocalCost,
    },
}

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

    /// The same pair in another precision, each number rounded to the nearest.
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

impl Measure {
    /// The measure's key.
    pub fn key(&self) -> &'static str {
        match self {
            Measure::Dtw { .. } => "dtw",
            Measure::Ddtw { .. } => "ddtw",
            Measure::Wdtw { .. } => "wdtw",
            Measure::Wddtw { .. } => "wddtw",
            Measure::Adtw { .. } => "adtw",
            Measure::Erp { .. } => "erp",
            Measure::Edr { .. } => "edr",
            Measure::Lcss { .. } | Measure::LcssLength { .. } => "lcss",
            Measure::Msm { .. } => "msm",
            Measure::Twed { .. } => "twed",
            Measure::SoftDtw { .. } => "soft_dtw",
            Measure::SoftDtwDivergence { .. } => "soft_dtw_divergence",
            Measure::LogGak { .. } => "log_gak",
            Measure::SubsequenceDtw { .. } => "subsequence_dtw",
        }
    }

    /// The result for one pair.
    ///
    /// # Errors
    /// A band that does not fit, or a series too short for a derivative.
    pub fn distance<F: Real>(&self, pair: &Pair<F>, band: &Band) -> Result<F, OracleError> {
        let (n, m) = (pair.x.len(), pair.y.len());
        let global = |n, m| band.rows(n, m, Ends::Global);
        Ok(match *self {
            Measure::Edr { normalized: true, .. } => edr::normalized(self.grid(pair, band)?.last(), n, m),
            Measure::Lcss { .. } => lcss::distance(lcss::length(&self.grid(pair, band)?), n, m),
            Measure::LcssLength { .. } => lcss::length(&self.grid(pair, band)?),
            Measure::Msm { c } => msm::distance(&pair.x, &pair.y, F::of(c), &global(n, m)?),
            Measure::SoftDtw { gamma } => soft_dtw::value(&pair.x, &pair.y, F::of(gamma), &global(n, m)?),
            Measure::SoftDtwDivergence { gamma } => soft_dtw_divergence::value(
                &pair.x,
                &pair.y,
                F::of(gamma),
                &global(n, m)?,
                &global(n, n)?,
                &global(m, m)?,
            ),
            Measure::LogGak { sigma } => log_gak::value(&pair.x, &pair.y, F::of(sigma), &global(n, m)?),
            Measure::SubsequenceDtw { .. } => {
                let grid = self.grid(pair, band)?;
                subsequence_dtw::matches(&grid, 1, 0)[0].cost
            }
            _ => self.grid(pair, band)?.last(),
        })
    }

    /// The warping path, 0-based, in the grid that is swept (a derivative's for `ddtw` and `wddtw`).
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for measures that sum over all paths (or, MSM with several channels,
    /// over one path per channel).
    pub fn path<F: Real>(&self, pair: &Pair<F>, band: &Band) -> Result<Vec<(usize, usize)>, OracleError> {
        let grid = self.grid(pair, band)?;
        if let Measure::SubsequenceDtw { .. } = self {
            let best = subsequence_dtw::matches(&grid, 1, 0)[0];
            return Ok(path::ending_at(&grid, grid.n(), best.end + 1));
        }
        Ok(path::path(&grid))
    }

    /// Up to `k` occurrences of `x` in `y`, best first.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for every measure but subsequence DTW.
    pub fn matches<F: Real>(
        &self,
        pair: &Pair<F>,
        band: &Band,
        k: usize,
        exclusion: usize,
    ) -> Result<Vec<subsequence_dtw::Match<F>>, OracleError> {
        match self {
            Measure::SubsequenceDtw { .. } => {
                Ok(subsequence_dtw::matches(&self.grid(pair, band)?, k, exclusion))
            }
            _ => Err(OracleError::Undefined { measure: self.key(), what: "matches" }),
        }
    }

    /// The cost of the best occurrence of `x` ending in each column of `y`.
    ///
    /// # Errors
    /// As [`matches`](Self::matches).
    pub fn end_costs<F: Real>(&self, pair: &Pair<F>, band: &Band) -> Result<Vec<F>, OracleError> {
        match self {
            Measure::SubsequenceDtw { .. } => Ok(self.grid(pair, band)?.values[pair.x.len()][1..].to_vec()),
            _ => Err(OracleError::Undefined { measure: self.key(), what: "matches" }),
        }
    }

    /// The gradients of Soft-DTW or its divergence with respect to `x` and to `y`.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for every other measure.
    #[expect(clippy::type_complexity, reason = "two series, spelt as series are everywhere here")]
    pub fn gradients<F: Real>(
        &self,
        pair: &Pair<F>,
        band: &Band,
    ) -> Result<(Vec<Vec<F>>, Vec<Vec<F>>), OracleError> {
        let (x, y) = (&pair.x, &pair.y);
        let rows = |n, m| band.rows(n, m, Ends::Global);
        let (n, m) = (x.len(), y.len());
        match *self {
            Measure::SoftDtw { gamma } => Ok(soft_dtw::gradients(x, y, F::of(gamma), &rows(n, m)?)),
            Measure::SoftDtwDivergence { gamma } => {
                let (xy, xx, yy) = (rows(n, m)?, rows(n, n)?, rows(m, m)?);
                Ok(soft_dtw_divergence::gradients(x, y, F::of(gamma), &xy, &xx, &yy))
            }
            _ => Err(OracleError::Undefined { measure: self.key(), what: "gradient" }),
        }
    }

    /// The Soft-DTW alignment matrix `E`, `n × m`.
    ///
    /// # Errors
    /// As [`distance`](Self::distance), and for every measure but Soft-DTW.
    pub fn alignment<F: Real>(&self, pair: &Pair<F>, band: &Band) -> Result<Vec<Vec<F>>, OracleError> {
        let Measure::SoftDtw { gamma } = *self else {
            return Err(OracleError::Undefined { measure: self.key(), what: "alignment matrix" });
        };
        let rows = band.rows(pair.x.len(), pair.y.len(), Ends::Global)?;
        Ok(soft_dtw::alignment(&pair.x, &pair.y, F::of(gamma), &rows))
    }

    /// The accumulated matrix of a measure that takes minima.
    fn grid<F: Real>(&self, pair: &Pair<F>, band: &Band) -> Result<Grid<F>, OracleError> {
        let (x, y) = (&pair.x, &pair.y);
        let rows = |ends| band.rows(x.len(), y.len(), ends);
        let ordered = || band.check_order().and_then(|()| rows(Ends::Global));
        Ok(match *self {
            Measure::Dtw { cost } => dtw::grid(x, y, cost, &rows(Ends::Global)?),
            Measure::Ddtw { cost } => {
                let (dx, dy, rows) = differentiated(pair, band)?;
                dtw::grid(&dx, &dy, cost, &rows)
            }
            Measure::Wdtw { g } => wdtw::grid(x, y, F::of(g), &rows(Ends::Global)?),
            Measure::Wddtw { g } => {
                let (dx, dy, rows) = differentiated(pair, band)?;
                wdtw::grid(&dx, &dy, F::of(g), &rows)
            }
            Measure::Adtw { penalty } => adtw::grid(x, y, F::of(penalty), &rows(Ends::Global)?),
            Measure::Erp { gap } => erp::grid(x, y, F::of(gap), &ordered()?),
            Measure::Edr { epsilon, .. } => edr::grid(x, y, F::of(epsilon), &ordered()?),
            Measure::Lcss { epsilon } | Measure::LcssLength { epsilon } => {
                lcss::grid(x, y, F::of(epsilon), &ordered()?)
            }
            Measure::Msm { c } if x[0].len() == 1 => msm::grid(x, y, 0, F::of(c), &rows(Ends::Global)?),
            Measure::Twed { nu, lambda, degree } => {
                let tx = pair.tx.clone().unwrap_or_else(|| twed::unit_times(x.len()));
                let ty = pair.ty.clone().unwrap_or_else(|| twed::unit_times(y.len()));
                let parameters =
                    twed::Parameters { nu: F::of(nu), lambda: F::of(lambda), degree: F::of(degree) };
                twed::grid(x, y, &tx, &ty, parameters, &rows(Ends::Global)?)
            }
            Measure::SubsequenceDtw { cost } => subsequence_dtw::grid(x, y, cost, &rows(Ends::Free)?),
            Measure::Msm { .. }
            | Measure::SoftDtw { .. }
            | Measure::SoftDtwDivergence { .. }
            | Measure::LogGak { .. } => {
                return Err(OracleError::Undefined { measure: self.key(), what: "single best path" });
            }
        })
    }
}

type Differentiated<F> = (Vec<Vec<F>>, Vec<Vec<F>>, Vec<std::ops::Range<usize>>);

fn differentiated<F: Real>(pair: &Pair<F>, band: &Band) -> Result<Differentiated<F>, OracleError> {
    for (which, series) in [("x", &pair.x), ("y", &pair.y)] {
        if series.len() < 3 {
            return Err(OracleError::TooShort { which, length: series.len() });
        }
    }
    let (dx, dy) = (derivative(&pair.x), derivative(&pair.y));
    let rows: Vec<_> = band.rows(dx.len(), dy.len(), Ends::Global)?;
    Ok((dx, dy, rows))
}
