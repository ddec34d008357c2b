//! From a measure to the functor that computes it in shaders, and what that functor needs to know of the series.

use dtw_core::measure::{Parameter, Preparation, Value};
use dtw_core::recurrence::{One, Recurrence, State, Visitor, dispatch, excess};
use dtw_core::{Anchor, LocalCost, Measure, Spec};

use crate::shaders::pieces::Wgsl;

/// The local cost that a measure has chosen, if it has the choice.
fn cost_of(measure: &Measure) -> Option<LocalCost> {
    let chosen = |(parameter, value): (&Parameter, Value)| match (parameter.name, value) {
        ("cost", Value::Choice("euclidean")) => Some(LocalCost::Euclidean),
        ("cost", Value::Choice("manhattan")) => Some(LocalCost::Manhattan),
        ("cost", Value::Choice(_)) => Some(LocalCost::SquaredEuclidean),
        _ => None,
    };
    measure.parameters().into_iter().find_map(chosen)
}

/// What a recurrence needs of a sweep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Needs {
    /// Borders that paths may visit.
    pub(crate) borders: bool,
    /// Times of points.
    pub(crate) times: bool,
    /// What deleting a point costs, and sums of these costs.
    pub(crate) gaps: bool,
    /// Weights of cells.
    pub(crate) weights: bool,
    /// Cells outside the band that have a state.
    pub(crate) leaves_band: bool,
    /// States that are rescaled every few steps; they have several numbers, so fewer columns fit the registers.
    pub(crate) rescales: bool,
    /// Numbers of a state.
    pub(crate) parts: usize,
}

/// Asks a recurrence of dtw-core what it needs; whether paths may visit its borders is known here.
struct Ask(bool);

impl Visitor<f32, One<f32>> for Ask {
    type Output = Needs;

    fn visit<R: Recurrence<f32, One<f32>>>(self, _: R) -> Needs {
        Needs {
            borders: self.0,
            times: R::TIMES,
            gaps: R::GAPS,
            weights: R::WEIGHTS,
            leaves_band: R::LEAVES_BAND,
            rescales: R::RESCALES,
            parts: <R::State as State<f32>>::PARTS,
        }
    }
}

/// A measure as shaders compute it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Functor {
    pub(crate) wgsl: &'static Wgsl,
    pub(crate) needs: Needs,
    pub(crate) cost: Option<LocalCost>,
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

/// What a cost is multiplied by to be an exponent of 2, and 1 for the alignment kernel, 0 for Soft-DTW; `None` for a
/// measure that does not sum over all paths.
fn rate_and_kernel(measure: &Measure) -> Option<[f32; 2]> {
    let (divisor, kernel) = excess::divisor_and_kernel(measure)?;
    Some([(-std::f64::consts::LOG2_E / divisor) as f32, kernel as f32])
}

impl Functor {
    /// The functor of a spec; `None` for a measure that has no shaders.
    pub(crate) fn of(spec: &Spec) -> Option<Self> {
        let (wgsl, measure) = (Wgsl::of(key(spec))?, &spec.measure);
        let preparation = measure.preparation();
        if !matches!(preparation, Preparation::None | Preparation::Derivative) {
            return None;
        }
        let has_borders = spec.anchor == Anchor::Subsequence || spec.kind().has_open_borders;
        let needs = dispatch::<f32, One<f32>, _>(spec, 0.0, Ask(has_borders));
        let mut arguments = numbers(measure).map(|(_, number)| number);
        // The steepness of weights is the host's.
        let weights = if needs.weights { arguments.next() } else { None };
        let mut parameters = [0.0; 4];
        let mut places = parameters.iter_mut();
        arguments.for_each(|number| *places.next().expect("shaders take four numbers") = number as f32);
        if let Some([rate, _]) = rate_and_kernel(measure) {
            parameters[0] = rate;
        }
        Some(Self { wgsl, needs, cost: cost_of(measure), parameters, weights, preparation })
    }

    /// What gives the excess of a measure that sums over all paths.
    ///
    /// # Panics
    /// For another measure: callers ask [`dtw_core::SoftResult::of`] first.
    pub(crate) fn excess(spec: &Spec) -> Self {
        let Some([rate, kernel]) = rate_and_kernel(&spec.measure) else {
            panic!("{} has no excess", spec.key())
        };
        Self {
            wgsl: Wgsl::of_excess(),
            needs: excess::visit::<f32, One<f32>, _>(0.0, &spec.measure, Ask(false)),
            cost: cost_of(&spec.measure).or(Some(LocalCost::SquaredEuclidean)),
            parameters: [rate, kernel, 0.0, 0.0],
            weights: None,
            preparation: Preparation::None,
        }
    }

    /// The constant factor of the slopes of its cost, by which sums of them are multiplied.
    pub(crate) fn slope(&self) -> f64 {
        if self.cost == Some(LocalCost::SquaredEuclidean) { 2.0 } else { 1.0 }
    }

    /// Bytes of a state in memory, as WGSL aligns it: of one to three numbers, or of two pairs and one.
    pub(crate) fn state_bytes(&self) -> u64 {
        match self.needs.parts {
            1 => 4,
            2 => 8,
            3 => 16,
            5 => 24,
            parts => unreachable!("no state has {parts} numbers"),
        }
    }

    /// Numbers of a state in memory.
    pub(crate) fn stride(&self) -> usize {
        self.state_bytes() as usize / size_of::<f32>()
    }
}
