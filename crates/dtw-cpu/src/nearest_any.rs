//! The nearest series by any measure whose states grow along a path: bounds of all pairs first ([`crate::least`]),
//! then, the lowest bounds first, the sweep that gives up ([`crate::living`]).

use dtw_core::bounds::{above, raised};
use dtw_core::contenders::Contenders;
use dtw_core::{ColumnRanges, EdrOutput, Measure, Ranked, Scalar, SearchOptions, Series, SeriesBatch, Spec};

use crate::abandon::Cut;
use crate::group::Scratch;
use crate::in_lanes::InLanes;
use crate::lanes::{MOST_LANES, Register};
use crate::least::Reached;
use crate::told::Told;

/// What the calls for single series of y share.
pub(crate) struct Searched<'a, V: Register> {
    pub(crate) token: V::Token,
    pub(crate) spec: Spec,
    pub(crate) x: SeriesBatch<'a, V::Scalar>,
    pub(crate) lanes: InLanes<V::Scalar>,
    pub(crate) ranges: ColumnRanges,
    /// Of the band.
    pub(crate) radius: usize,
    /// [`crate::least::weights`].
    pub(crate) weights: Vec<V::Scalar>,
    pub(crate) k: usize,
}

impl<V: Register> Searched<'_, V> {
    /// The nearest to `y` of the series in these registers.
    pub(crate) fn one(
        &self,
        y: Series<'_, V::Scalar>,
        registers: std::ops::Range<usize>,
        scratch: &mut Scratch<V>,
        told: &mut Told,
    ) -> Ranked<V::Scalar> {
        let Self { token, spec, x, lanes, ranges, radius, weights, k } = self;
        let reached = Reached::new(y.values, *radius, weights);
        let mut left = Vec::new();
        for r in registers {
            let bounds = reached.bound::<V>(*token, spec, lanes.register(r));
            let of_register = r * V::LANES..x.len().min((r + 1) * V::LANES);
            left.extend(bounds.lanes().iter().copied().zip(of_register));
        }
        told.pairs = left.len() as u64;
        left.sort_unstable_by(|a, b| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1)));
        let mut contenders = Contenders::new(&SearchOptions::default().with_top_k(*k));
        let mut waiting = left.as_slice();
        loop {
            let cut = self.cut(contenders.bar(0));
            let count = waiting.iter().take(V::LANES).take_while(|(bound, _)| *bound < cut.bar).count();
            if count == 0 {
                break;
            }
            let (group, others) = waiting.split_at(count);
            waiting = others;
            let mut series = [Series::univariate(&[]); MOST_LANES];
            let mut out = [V::Scalar::INFINITY; MOST_LANES];
            for (series, (_, i)) in series.iter_mut().zip(group) {
                *series = x.get(*i);
            }
            let (series, out) = (&series[..count], &mut out[..count]);
            let columns = scratch.living.sweep(*token, spec, y, series, (ranges, &reached), cut, out);
            told.columns += columns as u64;
            told.swept += count as u64;
            for ((_, i), distance) in group.iter().zip(out.iter()) {
                contenders.offer(*distance, *i);
                told.given_up += u64::from(!distance.finite());
            }
        }
        contenders.best().into_iter().map(|(distance, i)| (i, distance)).collect()
    }

    /// What states and bounds must reach, so that distances are at least `distance`.
    fn cut(&self, distance: V::Scalar) -> Cut<V::Scalar> {
        let cut = match self.spec.measure {
            // A state that is a little above the product gives a quotient that is not below the distance.
            Measure::Edr { output: EdrOutput::Normalized, .. } => {
                above(distance.to_f64() * self.ranges.n() as f64)
            }
            _ => distance,
        };
        // A step of ADTW is rounded twice.
        Cut { cut, bar: raised(cut, (2 * self.ranges.n(), 2 * self.ranges.m())) }
    }
}

/// A number that no price exceeds, of series of these many points whose values are at most `apart` from each other, and
/// at most `height` from zero.
pub(crate) fn dearest(measure: &Measure, apart: f64, height: f64, length: usize) -> f64 {
    match measure {
        Measure::Adtw { penalty } => apart * apart + penalty,
        Measure::Erp { gap } => apart + height + gap.abs(),
        Measure::Msm { c } => 2.0 * apart + c,
        Measure::Twed { nu, lambda, .. } => 2.0 * apart + lambda + nu * 2.0 * length as f64,
        // With Manhattan and Euclidean cost it is less, or 1.
        _ => apart * apart + apart + 1.0,
    }
}
