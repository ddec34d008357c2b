//! From a measure to the functor that computes it in shaders, and what that functor needs to know of the series.

use dtw_core::measure::{Preparation, Value};
use dtw_core::{Anchor, Measure, Spec};

use crate::shaders::pieces::Wgsl;

/// The local cost, where it is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cost {
    Squared,
    Euclidean,
    Manhattan,
}

impl Cost {
    /// The cost that a measure has chosen, if it has the choice.
    fn of(measure: &Measure) -> Option<Self> {
        let chosen = |(parameter, value): (&_, Value)| match (parameter, value) {
            (dtw_core::measure::Parameter { name: "cost", .. }, Value::Choice(name)) => Some(name),
            _ => None,
        };
        measure.parameters().into_iter().find_map(chosen).map(|name| match name {
            "euclidean" => Self::Euclidean,
            "manhattan" => Self::Manhattan,
            _ => Self::Squared,
        })
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
    pub(crate) wgsl: &'static Wgsl,
    pub(crate) cost: Option<Cost>,
    /// `a`, `b`, `c` and `d` of the shaders.
    pub(crate) parameters: [f32; 4],
    /// Steepness of the weights, where cells are weighted.
    pub(crate) weights: Option<f64>,
    pub(crate) preparation: Preparation,
}

/// The key of the recurrence that a spec is swept by.
pub(crate) fn key(spec: &Spec) -> &'static str {
    let kind = spec.kind();
    if kind.anchor == Anchor::Global { kind.recurrence } else { kind.key }
}

/// The numbers among a measure's parameters, in the order of declaration.
fn numbers(measure: &Measure) -> impl Iterator<Item = (&'static str, f64)> {
    measure.parameters().into_iter().filter_map(|(parameter, value)| match value {
        Value::Number(number) => Some((parameter.name, number)),
        _ => None,
    })
}

/// `−log₂(e)` over the divisor that a file declares: what a cost is multiplied by to be an exponent of 2.
fn rate(wgsl: &Wgsl, measure: &Measure) -> f32 {
    let factor = |name: &&str| {
        let number = numbers(measure).find(|(known, _)| known == name).map(|(_, number)| number);
        number
            .or_else(|| name.parse().ok())
            .unwrap_or_else(|| panic!("{}.wgsl: no parameter {name}", wgsl.key))
    };
    (-std::f64::consts::LOG2_E / wgsl.divisor.iter().map(factor).product::<f64>()) as f32
}

impl Functor {
    /// The functor of a spec; `None` for a measure that has no shaders.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        let (wgsl, measure) = (Wgsl::of(key(spec))?, &spec.measure);
        let preparation = measure.preparation();
        if !matches!(preparation, Preparation::None | Preparation::Derivative) {
            return None;
        }
        let mut given = numbers(measure).map(|(_, number)| number);
        // The steepness of weights is the host's.
        let weights = if wgsl.has("WEIGHTS") { given.next() } else { None };
        let mut parameters = [0.0; 4];
        let mut places = parameters.iter_mut();
        given.for_each(|number| *places.next().expect("shaders take four numbers") = number as f32);
        if !wgsl.divisor.is_empty() {
            parameters[0] = rate(wgsl, measure);
        }
        Some(Self { wgsl, cost: Cost::of(measure), parameters, weights, preparation })
    }

    /// What gives the excess of a measure that sums over all paths.
    ///
    /// # Panics
    /// For another measure: callers ask [`dtw_core::SoftResult::of`] first.
    pub(crate) fn excess(spec: &Spec) -> Self {
        let own = Wgsl::of(key(spec)).filter(|wgsl| wgsl.excess.is_some());
        let Some((own, b)) = own.and_then(|own| Some((own, own.excess?))) else {
            panic!("{} has no excess", spec.key())
        };
        Self {
            wgsl: Wgsl::of_excess(),
            cost: Cost::of(&spec.measure).or(Some(Cost::Squared)),
            parameters: [rate(own, &spec.measure), b, 0.0, 0.0],
            weights: None,
            preparation: Preparation::None,
        }
    }

    /// Whether a point has a time or a sum of gaps, and a gap.
    pub(crate) fn has_extras(&self) -> bool {
        self.wgsl.has("GAPS")
    }

    /// Whether states are rescaled every few steps; they have several numbers, so fewer columns fit the registers.
    pub(crate) fn rescales(&self) -> bool {
        self.wgsl.has("RESCALES")
    }

    /// The constant factor of the slopes of its cost, by which sums of them are multiplied.
    pub(crate) fn slope(&self) -> f64 {
        if self.cost == Some(Cost::Squared) { 2.0 } else { 1.0 }
    }

    /// Bytes of a state in memory.
    pub(crate) fn state_bytes(&self) -> u64 {
        [4, 8, 16][self.wgsl.parts - 1]
    }

    /// Numbers of a state in memory.
    pub(crate) fn stride(&self) -> usize {
        self.state_bytes() as usize / size_of::<f32>()
    }
}
