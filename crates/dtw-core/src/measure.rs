//! What to compute, as data: the measure, its parameters, the band and the anchor.
//!
//! Exact definitions with equations and sources are in `docs/measures.md`.

use crate::{Band, Result, bail_invalid};

/// Everything that fixes the value of a distance between two given series.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The recurrence and its parameters.
    pub measure: Measure,
    /// The cells that may be visited.
    pub band: Band,
    /// Whether both ends of both series must be matched.
    pub anchor: Anchor,
}

/// Cost of matching one point with another; a point is a vector of channel values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum LocalCost {
    /// Sum over channels of squared differences.
    #[default]
    SquaredEuclidean,
    /// Square root of the sum of squared differences.
    Euclidean,
    /// Sum of absolute differences.
    Manhattan,
}

/// Where a warping path may start and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Anchor {
    /// From the first points of both series to the last points of both.
    #[default]
    Global,
    /// All of `x` (the query) against any stretch of `y` (the reference).
    Subsequence,
}

/// What an EDR call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum EdrOutput {
    /// The number of edits.
    #[default]
    Count,
    /// The number of edits divided by `max(n, m)`.
    Normalized,
}

/// What an LCSS call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum LcssOutput {
    /// `1 − length / min(n, m)`.
    #[default]
    Distance,
    /// The length of the longest common subsequence.
    Length,
}

/// An elastic measure with its parameters. Defaults, where the field has them, are the `DEFAULT_*` constants.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// Dynamic time warping: the accumulated cost, no root. Sakoe & Chiba 1978, 10.1109/TASSP.1978.1163055.
    Dtw {
        /// Local cost.
        cost: LocalCost,
    },
    /// DTW on the Keogh–Pazzani derivative; needs 3 points. Keogh & Pazzani 2001, 10.1137/1.9781611972719.1.
    Ddtw {
        /// Local cost.
        cost: LocalCost,
    },
    /// Squared Euclidean cost weighted by a logistic of `|i − j|`. Jeong et al. 2011, 10.1016/j.patcog.2010.09.022.
    Wdtw {
        /// Steepness of the weight, ≥ 0.
        g: f64,
    },
    /// [`Measure::Wdtw`] on the derivative.
    Wddtw {
        /// Steepness of the weight, ≥ 0.
        g: f64,
    },
    /// Squared Euclidean cost plus a penalty for each step off the diagonal. Herrmann & Webb 2023,
    /// 10.1016/j.patcog.2023.109333.
    Adtw {
        /// Penalty ω ≥ 0 of an up or left step.
        penalty: f64,
    },
    /// Edit distance with real penalty. Chen & Ng 2004, 10.1016/B978-012088469-8.50070-X.
    Erp {
        /// Value of the gap point, in every channel.
        gap: f64,
    },
    /// Edit distance on real sequences. Chen, Özsu & Oria 2005, 10.1145/1066157.1066213.
    Edr {
        /// Points farther apart than this differ; ≥ 0.
        epsilon: f64,
        /// Count or count over length.
        output: EdrOutput,
    },
    /// Longest common subsequence. Vlachos, Kollios & Gunopulos 2002, 10.1109/ICDE.2002.994784.
    Lcss {
        /// Points no farther apart than this match; ≥ 0.
        epsilon: f64,
        /// Distance or length.
        output: LcssOutput,
    },
    /// Move–split–merge; several channels: the sum of the channels' distances, each warped on its own. Stefan, Athitsos & Das 2013, 10.1109/TKDE.2012.88.
    Msm {
        /// Cost c ≥ 0 of a split or merge.
        c: f64,
    },
    /// Time warp edit distance; timestamps are the batch's or 1, 2, …. Marteau 2009, 10.1109/TPAMI.2008.76.
    Twed {
        /// Stiffness ν ≥ 0, per unit of time.
        nu: f64,
        /// Penalty λ ≥ 0 of a deletion.
        lambda: f64,
        /// Degree p ≥ 1 of the norm between points (rooted).
        degree: f64,
    },
    /// Soft-DTW of squared Euclidean cost; signed. Cuturi & Blondel 2017, arXiv 1703.01541.
    SoftDtw {
        /// Smoothing γ > 0, in units of the cost.
        gamma: f64,
    },
    /// `s(x,y) − ½(s(x,x) + s(y,y))`. Blondel, Mensch & Vert 2021, arXiv 2010.08354.
    SoftDtwDivergence {
        /// Smoothing γ > 0, in units of the cost.
        gamma: f64,
    },
    /// Logarithm of the global alignment kernel (a similarity). Cuturi 2011.
    LogGak {
        /// Bandwidth σ > 0, in units of the values.
        sigma: f64,
    },
}

impl Measure {
    /// Weight steepness of WDTW and WDDTW.
    pub const DEFAULT_G: f64 = 0.05;
    /// Penalty of ADTW.
    pub const DEFAULT_PENALTY: f64 = 1.0;
    /// Gap value of ERP.
    pub const DEFAULT_GAP: f64 = 0.0;
    /// Threshold of LCSS. EDR has no default: it depends on the data.
    pub const DEFAULT_EPSILON: f64 = 1.0;
    /// Split and merge cost of MSM.
    pub const DEFAULT_C: f64 = 1.0;
    /// Stiffness of TWED.
    pub const DEFAULT_NU: f64 = 0.001;
    /// Deletion penalty of TWED.
    pub const DEFAULT_LAMBDA: f64 = 1.0;
    /// Norm degree of TWED.
    pub const DEFAULT_DEGREE: f64 = 2.0;
    /// Smoothing of Soft-DTW and its divergence.
    pub const DEFAULT_GAMMA: f64 = 1.0;

    /// DTW with squared Euclidean cost.
    pub const DTW: Self = Self::Dtw { cost: LocalCost::SquaredEuclidean };

    /// The measure's key, as in the documentation, on the command line and in golden files.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Dtw { .. } => "dtw",
            Self::Ddtw { .. } => "ddtw",
            Self::Wdtw { .. } => "wdtw",
            Self::Wddtw { .. } => "wddtw",
            Self::Adtw { .. } => "adtw",
            Self::Erp { .. } => "erp",
            Self::Edr { .. } => "edr",
            Self::Lcss { .. } => "lcss",
            Self::Msm { .. } => "msm",
            Self::Twed { .. } => "twed",
            Self::SoftDtw { .. } => "soft_dtw",
            Self::SoftDtwDivergence { .. } => "soft_dtw_divergence",
            Self::LogGak { .. } => "log_gak",
        }
    }

    /// Whether the measure runs on derivatives, which drops both end points.
    pub const fn is_derivative(&self) -> bool {
        matches!(self, Self::Ddtw { .. } | Self::Wddtw { .. })
    }

    /// Fewest points a series may have.
    pub const fn min_length(&self) -> usize {
        if self.is_derivative() { 3 } else { 1 }
    }

    /// Whether the value is the cost of one best path, so that a warping path exists, for series of this many channels.
    pub const fn has_path(&self, channels: usize) -> bool {
        match self {
            Self::SoftDtw { .. } | Self::SoftDtwDivergence { .. } | Self::LogGak { .. } => false,
            _ => !self.sums_channels() || channels == 1,
        }
    }

    /// Whether the distance of series of several channels is the sum of the channels' distances, each warped on its own.
    pub const fn sums_channels(&self) -> bool {
        matches!(self, Self::Msm { .. })
    }

    /// Whether cells beside a band matter: paths may run along the border row and column, or only matches are restricted.
    const fn has_open_borders(&self) -> bool {
        matches!(self, Self::Erp { .. } | Self::Edr { .. } | Self::Lcss { .. })
    }

    /// Whether the value is differentiable and [`crate::Plan::gradients`] is defined.
    pub const fn has_gradient(&self) -> bool {
        matches!(self, Self::SoftDtw { .. } | Self::SoftDtwDivergence { .. })
    }

    /// Whether larger values mean more alike.
    pub const fn is_similarity(&self) -> bool {
        matches!(self, Self::LogGak { .. } | Self::Lcss { output: LcssOutput::Length, .. })
    }

    /// Points left of a series of `length` points after preprocessing: what the sweep and the band see.
    pub const fn swept_length(&self, length: usize) -> usize {
        if self.is_derivative() { length.saturating_sub(2) } else { length }
    }

    fn check(&self) -> Result<()> {
        let at_least = |name: &str, value: f64, least: f64| {
            if value.is_finite() && value >= least {
                Ok(())
            } else {
                Err(crate::Error::invalid(format!("{} needs {name} >= {least}, got {value}", self.key())))
            }
        };
        let positive = |name: &str, value: f64| {
            if value.is_finite() && value > 0.0 {
                Ok(())
            } else {
                Err(crate::Error::invalid(format!("{} needs {name} > 0, got {value}", self.key())))
            }
        };
        match *self {
            Self::Dtw { .. } | Self::Ddtw { .. } => Ok(()),
            Self::Wdtw { g } | Self::Wddtw { g } => at_least("g", g, 0.0),
            Self::Adtw { penalty } => at_least("penalty", penalty, 0.0),
            Self::Erp { gap } => {
                if gap.is_finite() {
                    Ok(())
                } else {
                    bail_invalid!("erp needs a finite gap, got {gap}")
                }
            }
            Self::Edr { epsilon, .. } | Self::Lcss { epsilon, .. } => at_least("epsilon", epsilon, 0.0),
            Self::Msm { c } => at_least("c", c, 0.0),
            Self::Twed { nu, lambda, degree } => {
                at_least("nu", nu, 0.0)?;
                at_least("lambda", lambda, 0.0)?;
                at_least("degree", degree, 1.0)
            }
            Self::SoftDtw { gamma } | Self::SoftDtwDivergence { gamma } => positive("gamma", gamma),
            Self::LogGak { sigma } => positive("sigma", sigma),
        }
    }
}

impl Spec {
    /// The measure over the full grid, both ends anchored.
    pub const fn new(measure: Measure) -> Self {
        Self { measure, band: Band::Full, anchor: Anchor::Global }
    }
    /// DTW of squared Euclidean cost, full grid.
    pub const fn dtw() -> Self {
        Self::new(Measure::DTW)
    }
    /// Subsequence DTW: all of the query against any stretch of the reference.
    pub const fn subsequence_dtw(cost: LocalCost) -> Self {
        Self { measure: Measure::Dtw { cost }, band: Band::Full, anchor: Anchor::Subsequence }
    }
    /// Soft-DTW, full grid.
    pub const fn soft_dtw(gamma: f64) -> Self {
        Self::new(Measure::SoftDtw { gamma })
    }
    /// The same with this band.
    #[must_use]
    pub fn with_band(mut self, band: Band) -> Self {
        self.band = band;
        self
    }

    /// The key of what is computed: the measure's, or `subsequence_dtw`.
    pub const fn key(&self) -> &'static str {
        match self.anchor {
            Anchor::Subsequence => "subsequence_dtw",
            Anchor::Global => self.measure.key(),
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the parameter, its range and its value.
    pub fn check(&self) -> Result<()> {
        self.measure.check()?;
        self.band.check()?;
        if self.anchor == Anchor::Subsequence && !matches!(self.measure, Measure::Dtw { .. }) {
            bail_invalid!("a subsequence search is defined for dtw only, got {}", self.measure.key());
        }
        if let (Band::Ranges(ranges), true) = (&self.band, self.measure.has_open_borders()) {
            for (i, pair) in ranges.windows(2).enumerate() {
                if pair[1].start < pair[0].start || pair[1].end < pair[0].end {
                    bail_invalid!(
                        "{} needs explicit ranges of which neither end ever decreases: row {i} is {:?}, row {} is {:?}",
                        self.measure.key(),
                        pair[0],
                        i + 1,
                        pair[1]
                    );
                }
            }
        }
        Ok(())
    }
}
