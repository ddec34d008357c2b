//! From a measure to the functor that computes it, and what that functor needs to know of the series.

use dtw_core::measure::{Preparation, Value};
use dtw_core::{Measure, Spec};
pub(crate) use dtw_kernels::catalog::Gaps;
use dtw_kernels::{SweepKind, catalog};

/// Where a path starts that came from the block before: here, plus its column (1-based). Beyond all rows of a block;
/// kCarried of native/sweeps/block.cuh.
pub(crate) const CARRIED: u32 = 1 << 31;

/// A functor and its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functor {
    /// Its key in the catalogue.
    pub(crate) key: &'static str,
    /// The measure's numbers, in the order of declaration.
    pub(crate) parameters: [f64; 4],
    /// 1 where the measure's switch is on.
    pub(crate) option: u32,
    /// Numbers that make a state.
    pub(crate) parts: usize,
    pub(crate) gaps: Gaps,
    /// Steepness of the weights, where cells are weighted.
    pub(crate) weights: Option<f64>,
    pub(crate) preparation: Preparation,
    /// The functor of a search that wants no starts.
    pub(crate) costs: Option<&'static str>,
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
            preparation: Preparation::None,
            costs: None,
        }
    }

    /// The functor of a spec; `None` for a measure that has no kernels.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        let Arguments { parameters, option, .. } = Arguments::of(&spec.measure);
        let row = Self::row(spec.key(), &spec.measure)?;
        Some(Self {
            key: row.key,
            parameters,
            option,
            parts: row.parts,
            gaps: row.gaps,
            weights: row.weights.then_some(parameters[0]),
            preparation: spec.measure.preparation(),
            costs: row.costs,
        })
    }

    /// The row of the catalogue for `key`, which is that of `measure` or of a search with it.
    pub(crate) fn row(key: &str, measure: &Measure) -> Option<&'static catalog::Functor> {
        catalog::functor(key, Arguments::of(measure).choice)
    }

    /// The functor of a search that wants to know where matches end and what they cost, but not where they start.
    pub(crate) fn without_starts(self) -> Self {
        match self.costs {
            Some(key) => Self { key, parts: 1, ..self },
            None => self,
        }
    }

    /// Whether there are sweeps of this kind.
    pub(crate) fn has(&self, kind: SweepKind) -> bool {
        catalog::kernels().iter().any(|kernel| kernel.key == self.key && kernel.is(kind))
    }
}

/// A measure's parameters as kernels take them.
struct Arguments {
    /// Its numbers.
    parameters: [f64; 4],
    /// 1 where its switch is on.
    option: u32,
    /// What it has chosen of an option.
    choice: Option<&'static str>,
}

impl Arguments {
    fn of(measure: &Measure) -> Self {
        let mut arguments = Self { parameters: [0.0; 4], option: 0, choice: None };
        let mut places = arguments.parameters.iter_mut();
        for (parameter, value) in measure.parameters() {
            match value {
                Value::Number(number) => *places.next().expect("kernels take four numbers") = number,
                Value::Choice(name) => {
                    arguments.choice = Some(name);
                    arguments.option = u32::from(parameter.switch() == Some(name));
                }
                _ => unreachable!("a parameter is a number or a choice"),
            }
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use dtw_core::measure::Kind;
    use dtw_core::{Anchor, LocalCost};

    use super::*;

    #[test]
    fn a_choice_without_kernels_says_which_has_them() {
        let measure = Measure::SoftDtw { gamma: 1.0, cost: LocalCost::Manhattan };
        let error = crate::state::no_kernels("cuda", &Spec::new(measure)).to_string();
        let said = "soft_dtw with cost = manhattan: there are kernels for cost = squared_euclidean only; \
                    the cpu backend can";
        assert_eq!(error, format!("cuda cannot compute this: {said}"));
    }

    #[test]
    fn every_functor_has_kernels_of_each_kind() {
        for spec in Kind::all().iter().flat_map(Kind::specs) {
            let Some(functor) = Functor::of(&spec) else {
                let (Measure::SoftDtw { cost, .. } | Measure::SoftDtwDivergence { cost, .. }) = spec.measure
                else {
                    panic!("{spec:?} has no functor");
                };
                assert_ne!(cost, LocalCost::SquaredEuclidean);
                continue;
            };
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
