//! From a measure to the functor that computes it, and what that functor needs to know of the series.

use dtw_core::measure::{Preparation, Value};
use dtw_core::{Measure, Spec};
pub(crate) use dtw_kernels::catalog::Gaps;
use dtw_kernels::{SweepKind, catalog, params};

/// A functor and its arguments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functor {
    /// Its key in the catalogue.
    pub(crate) key: &'static str,
    /// The measure's numbers, in the order of declaration.
    pub(crate) parameters: [f64; 4],
    /// Which of the values to choose from the measure's option has: 0 is the first.
    pub(crate) option: u32,
    /// Whether there are kernels in tiles alone.
    pub(crate) in_tiles: bool,
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
            in_tiles: false,
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
        let norm = row.norm.filter(|_| option != params::SQUARED_EUCLIDEAN);
        Some(Self {
            key: norm.unwrap_or(row.key),
            parameters,
            option,
            in_tiles: norm.is_some(),
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
pub(crate) struct Arguments {
    /// Its numbers.
    parameters: [f64; 4],
    /// The place of `choice` among the values to choose from.
    pub(crate) option: u32,
    /// What it has chosen of an option.
    choice: Option<&'static str>,
}

impl Arguments {
    pub(crate) fn of(measure: &Measure) -> Self {
        let mut arguments = Self { parameters: [0.0; 4], option: 0, choice: None };
        let mut places = arguments.parameters.iter_mut();
        for (parameter, value) in measure.parameters() {
            match value {
                Value::Number(number) => *places.next().expect("kernels take four numbers") = number,
                Value::Choice(name) => {
                    arguments.choice = Some(name);
                    let place = parameter.choices.iter().position(|choice| *choice == name);
                    arguments.option = place.expect("a choice is one of these") as u32;
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
    use crate::launch::differentiate::Kernels;

    #[test]
    fn kernels_are_told_the_local_cost_of_soft_dtw() {
        for (cost, key, option) in [
            (LocalCost::SquaredEuclidean, "soft_dtw", params::SQUARED_EUCLIDEAN),
            (LocalCost::Euclidean, "soft_dtw_norm", params::EUCLIDEAN),
            (LocalCost::Manhattan, "soft_dtw_norm", params::MANHATTAN),
        ] {
            for measure in
                [Measure::SoftDtw { gamma: 2.0, cost }, Measure::SoftDtwDivergence { gamma: 2.0, cost }]
            {
                let functor = Functor::of(&Spec::new(measure)).unwrap();
                assert_eq!((functor.key, functor.option), (key, option));
                assert_eq!(functor.in_tiles, key == "soft_dtw_norm");
                let excess = Functor::excess(&measure);
                assert_eq!((excess.key, excess.option), ("soft_excess", option << 2));
                assert!(!excess.in_tiles);
            }
        }
    }

    #[test]
    fn every_functor_has_kernels_of_each_kind() {
        for spec in Kind::all().iter().flat_map(Kind::specs) {
            let functor = Functor::of(&spec).unwrap_or_else(|| panic!("{spec:?} has no functor"));
            if functor.in_tiles {
                for many in [false, true] {
                    assert!(Kernels::of::<f32>(functor.key, many).is_some(), "{}", functor.key);
                    assert!(Kernels::of::<f64>(functor.key, many).is_some(), "{}", functor.key);
                }
                continue;
            }
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
