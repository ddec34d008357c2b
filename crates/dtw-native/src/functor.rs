//! From a measure to the functor that computes it, and what that functor wants to know of the series.

use dtw_core::{Anchor, EdrOutput, LcssOutput, LocalCost, Measure, Spec};
use dtw_kernels::{SweepKind, catalog};

/// What a point costs to delete, where the measure has such a cost; the numbers are `Prepare::gap_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gaps {
    None = 0,
    /// Distance to the gap value; borders add up, so running sums are wanted too.
    Erp = 1,
    /// Distance to the point before, in value and time.
    Twed = 2,
}

/// Where a path starts that came from the block before: here, plus its column (1-based). Beyond all rows of a block; kCarried of
/// native/sweeps/block.cuh.
pub(crate) const CARRIED: u32 = 1 << 31;

/// A functor and its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functor {
    /// Its key in the catalogue.
    pub(crate) key: &'static str,
    pub(crate) parameters: [f64; 4],
    pub(crate) option: u32,
    /// Numbers that make a state.
    pub(crate) parts: usize,
    pub(crate) gaps: Gaps,
    /// Steepness of the weights, where cells are weighted.
    pub(crate) weights: Option<f64>,
    pub(crate) derivative: bool,
}

impl Functor {
    /// The functor of this key with one parameter and nothing else.
    pub(crate) fn with_parameter(key: &'static str, parameter: f64) -> Self {
        Self {
            key,
            parameters: [parameter, 0.0, 0.0, 0.0],
            option: 0,
            parts: 1,
            gaps: Gaps::None,
            weights: None,
            derivative: false,
        }
    }

    /// The functor of a spec; `None` for a measure that has no kernels.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        let plain = |key| Self { derivative: spec.measure.is_derivative(), ..Self::with_parameter(key, 0.0) };
        let with = |key, parameter: f64| Self { parameters: [parameter, 0.0, 0.0, 0.0], ..plain(key) };
        Some(match spec.measure {
            Measure::Dtw { cost } if spec.anchor == Anchor::Subsequence => {
                let key = match cost {
                    LocalCost::SquaredEuclidean => "subsequence_dtw",
                    LocalCost::Euclidean => "subsequence_dtw_euclidean",
                    LocalCost::Manhattan => "subsequence_dtw_manhattan",
                };
                Self { parts: 2, ..plain(key) }
            }
            Measure::Dtw { cost } | Measure::Ddtw { cost } => plain(match cost {
                LocalCost::SquaredEuclidean => "dtw",
                LocalCost::Euclidean => "dtw_euclidean",
                LocalCost::Manhattan => "dtw_manhattan",
            }),
            Measure::Wdtw { g } | Measure::Wddtw { g } => Self { weights: Some(g), ..plain("wdtw") },
            Measure::Adtw { penalty } => with("adtw", penalty),
            Measure::Erp { gap } => Self { gaps: Gaps::Erp, ..with("erp", gap) },
            Measure::Edr { epsilon, output } => {
                Self { option: u32::from(output == EdrOutput::Normalized), ..with("edr", epsilon) }
            }
            Measure::Lcss { epsilon, output } => {
                Self { option: u32::from(output == LcssOutput::Length), ..with("lcss", epsilon) }
            }
            Measure::Msm { c } => with("msm", c),
            Measure::Twed { nu, lambda, degree } => {
                let parameters = [nu, lambda, degree, 0.0];
                Self { parameters, gaps: Gaps::Twed, ..plain("twed") }
            }
            Measure::SoftDtw { gamma } | Measure::SoftDtwDivergence { gamma } => {
                Self { parts: 2, ..with("soft_dtw", gamma) }
            }
            Measure::LogGak { sigma } => Self { parts: 2, ..with("log_gak", sigma) },
            _ => return None,
        })
    }

    /// The functor of a search that wants to know where matches end and what they cost, but not where they start.
    pub(crate) fn without_starts(self) -> Self {
        let key = match self.key {
            "subsequence_dtw" => "open_dtw",
            "subsequence_dtw_euclidean" => "open_dtw_euclidean",
            "subsequence_dtw_manhattan" => "open_dtw_manhattan",
            _ => return self,
        };
        Self { key, parts: 1, ..self }
    }

    /// Whether there are sweeps of this kind.
    pub(crate) fn has(&self, kind: SweepKind) -> bool {
        catalog::kernels().iter().any(|kernel| kernel.key == self.key && kernel.is(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_functor_has_kernels_of_each_kind() {
        let measures = [
            Measure::DTW,
            Measure::Ddtw { cost: LocalCost::Manhattan },
            Measure::Wddtw { g: 0.1 },
            Measure::Adtw { penalty: 1.0 },
            Measure::Erp { gap: 0.0 },
            Measure::Edr { epsilon: 1.0, output: EdrOutput::Count },
            Measure::Lcss { epsilon: 1.0, output: LcssOutput::Length },
            Measure::Msm { c: 1.0 },
            Measure::Twed { nu: 0.0, lambda: 1.0, degree: 2.0 },
            Measure::SoftDtwDivergence { gamma: 1.0 },
            Measure::LogGak { sigma: 1.0 },
        ];
        let searches = [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan];
        let specs = measures.map(Spec::new).into_iter().chain(searches.map(Spec::subsequence_dtw));
        for spec in specs {
            let functor = Functor::of(&spec).unwrap();
            for dtype in ["f32", "f64"] {
                for channels in [1, 3] {
                    let many = channels > 1 && !spec.measure.sums_channels();
                    let is_general = |functor: &Functor| {
                        catalog::sweeps(functor.key, dtype, many)
                            .any(|kernel| kernel.is(SweepKind::Strips) && kernel.band)
                    };
                    assert!(is_general(&functor), "{} {dtype} {channels}", functor.key);
                    assert!(is_general(&functor.without_starts()));
                    let in_blocks =
                        catalog::sweeps(functor.key, dtype, many).any(|kernel| kernel.is(SweepKind::Block));
                    assert_eq!(in_blocks, spec.anchor == Anchor::Subsequence);
                    assert_eq!(in_blocks, functor.has(SweepKind::Block));
                }
            }
        }
    }
}
