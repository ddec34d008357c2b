//! From a measure to the pieces of WGSL that compute it, and what these need to know of the series.

use dtw_core::measure::Preparation;
use dtw_core::{Anchor, LocalCost, Measure, Spec};

/// The local cost, where it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cost {
    Squared,
    Euclidean,
    Manhattan,
}

impl Cost {
    fn of(cost: LocalCost) -> Self {
        match cost {
            LocalCost::SquaredEuclidean => Self::Squared,
            LocalCost::Euclidean => Self::Euclidean,
            LocalCost::Manhattan => Self::Manhattan,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Squared => "squared",
            Self::Euclidean => "euclidean",
            Self::Manhattan => "manhattan",
        }
    }

    /// The piece that prices points of one or of several channels.
    pub(crate) fn source(self, one: bool) -> &'static str {
        match self {
            Self::Squared if one => include_str!("../../shaders/costs/squared_one.wgsl"),
            Self::Squared => include_str!("../../shaders/costs/squared.wgsl"),
            Self::Euclidean => include_str!("../../shaders/costs/euclidean.wgsl"),
            Self::Manhattan => include_str!("../../shaders/costs/manhattan.wgsl"),
        }
    }
}

/// A measure as shaders compute it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functor {
    pub(crate) name: &'static str,
    pub(crate) cost: Option<Cost>,
    pub(crate) pieces: &'static [&'static str],
    /// Orders of the sweep that it needs.
    pub(crate) flags: &'static [&'static str],
    /// `a`, `b`, `c` and `d` of the shaders.
    pub(crate) parameters: [f32; 4],
    /// Numbers of a state.
    pub(crate) parts: usize,
    /// Loops over the channels for each cell.
    pub(crate) channel_loops: u32,
    /// Steepness of the weights, where cells are weighted.
    pub(crate) weights: Option<f64>,
    pub(crate) preparation: Preparation,
}

macro_rules! pieces {
    ($($name:literal),*) => { &[$(include_str!(concat!("../../shaders/measures/", $name, ".wgsl"))),*] };
}

/// `−log₂(e)/divisor`: what a cost is multiplied by to be an exponent of 2.
fn rate(divisor: f64) -> f32 {
    (-std::f64::consts::LOG2_E / divisor) as f32
}

impl Functor {
    const PLAIN: Self = Self {
        name: "",
        cost: None,
        pieces: &[],
        flags: &[],
        parameters: [0.0; 4],
        parts: 1,
        channel_loops: 1,
        weights: None,
        preparation: Preparation::None,
    };

    /// The functor of a spec; `None` for a measure that has no shaders.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        if !matches!(spec.measure.preparation(), Preparation::None | Preparation::Derivative) {
            return None;
        }
        let plain = Self { preparation: spec.measure.preparation(), ..Self::PLAIN };
        if let (Anchor::Subsequence, Measure::Dtw { cost }) = (spec.anchor, spec.measure) {
            return Some(Self {
                name: "subsequence",
                cost: Some(Cost::of(cost)),
                pieces: pieces!("subsequence"),
                flags: &["BORDERS"],
                parts: 2,
                ..plain
            });
        }
        let with = |name, pieces, flags, parameters| Self { name, pieces, flags, parameters, ..plain };
        let first = |a: f64| [a as f32, 0.0, 0.0, 0.0];
        Some(match spec.measure {
            Measure::Dtw { cost } | Measure::Ddtw { cost } => Self {
                cost: Some(Cost::of(cost)),
                ..with("dtw", pieces!("total", "closed", "dtw"), &[], [0.0; 4])
            },
            Measure::Wdtw { g } | Measure::Wddtw { g } => Self {
                weights: Some(g),
                ..with("wdtw", pieces!("total", "closed", "wdtw"), &["WEIGHTS"], [0.0; 4])
            },
            Measure::Adtw { penalty } => {
                with("adtw", pieces!("total", "closed", "adtw"), &[], first(penalty))
            }
            Measure::Erp { gap } => {
                with("erp", pieces!("total", "three", "erp"), &["BORDERS", "SUMS", "GAPS"], first(gap))
            }
            Measure::Edr { epsilon, .. } => {
                with("edr", pieces!("total", "edr"), &["BORDERS"], first(epsilon))
            }
            Measure::Lcss { epsilon, .. } => {
                with("lcss", pieces!("total", "lcss"), &["BORDERS", "LEAVES_BAND"], first(epsilon))
            }
            Measure::Msm { c } => with("msm", pieces!("total", "closed", "three", "msm"), &[], first(c)),
            Measure::Twed { nu, lambda, degree } => Self {
                channel_loops: 4,
                ..with(
                    "twed",
                    pieces!("total", "closed", "three", "twed"),
                    &["TIMES", "SUMS", "GAPS"],
                    [nu as f32, lambda as f32, degree as f32, 0.0],
                )
            },
            Measure::Frechet => with("frechet", pieces!("total", "closed", "frechet"), &[], [0.0; 4]),
            Measure::SoftDtw { gamma, cost } | Measure::SoftDtwDivergence { gamma, cost } => Self {
                cost: Some(Cost::of(cost)),
                parts: 2,
                ..with(
                    "soft_dtw",
                    pieces!("exponents", "scaled", "closed", "soft_dtw"),
                    &["SETTLES"],
                    [rate(gamma), 0.0, 0.0, 0.0],
                )
            },
            Measure::LogGak { sigma } => Self {
                parts: 2,
                ..with(
                    "log_gak",
                    pieces!("exponents", "scaled", "closed", "log_gak"),
                    &["SETTLES"],
                    [rate(2.0 * sigma * sigma), 0.0, 0.0, 0.0],
                )
            },
            _ => return None,
        })
    }

    /// What gives the excess of a measure that sums over all paths.
    ///
    /// # Panics
    /// For another measure: callers ask [`dtw_core::SoftResult::of`] first.
    pub(crate) fn excess(measure: &Measure) -> Self {
        let (divisor, is_kernel, cost) = match *measure {
            Measure::SoftDtw { gamma, cost } | Measure::SoftDtwDivergence { gamma, cost } => {
                (gamma, 0.0, Cost::of(cost))
            }
            Measure::LogGak { sigma } => (2.0 * sigma * sigma, 1.0, Cost::Squared),
            _ => panic!("{} has no excess", measure.key()),
        };
        Self {
            name: "soft_excess",
            cost: Some(cost),
            pieces: pieces!("exponents", "soft_excess", "closed"),
            flags: &["SETTLES"],
            parameters: [rate(divisor), is_kernel, 0.0, 0.0],
            parts: 3,
            ..Self::PLAIN
        }
    }

    /// Whether a point has a time or a sum of gaps, and a gap.
    pub(crate) fn has_extras(&self) -> bool {
        self.flags.contains(&"SUMS")
    }

    /// Whether states are wide: fewer columns fit the registers, and they are settled often enough.
    pub(crate) fn settles(&self) -> bool {
        self.flags.contains(&"SETTLES")
    }

    /// The constant factor of the slopes of its cost, by which sums of them are multiplied.
    pub(crate) fn slope(&self) -> f64 {
        if self.cost == Some(Cost::Squared) { 2.0 } else { 1.0 }
    }

    /// Bytes of a state in memory.
    pub(crate) fn state_bytes(&self) -> u64 {
        [4, 8, 16][self.parts - 1]
    }

    /// The same in numbers.
    pub(crate) fn stride(&self) -> usize {
        self.state_bytes() as usize / size_of::<f32>()
    }
}
