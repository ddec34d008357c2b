//! The nearest series by DTW with squared Euclidean cost: bounds first ([`crate::keogh`]), then, the lowest bounds
//! first, the sweep that gives up ([`crate::abandon`]).

use dtw_core::bounds::raised;
use dtw_core::contenders::Contenders;
use dtw_core::{ColumnRanges, Ranked, Scalar, SearchOptions, Series, SeriesBatch};

use crate::abandon::Cut;
use crate::group::Scratch;
use crate::in_lanes::InLanes;
use crate::keogh::Enveloped;
use crate::lanes::{MOST_LANES, Register};
use crate::told::Told;

/// What the calls for single series of y share.
pub(crate) struct Searched<'a, V: Register> {
    pub(crate) token: V::Token,
    pub(crate) x: SeriesBatch<'a, V::Scalar>,
    pub(crate) lanes: InLanes<V::Scalar>,
    pub(crate) ranges: ColumnRanges,
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
        let Self { token, x, lanes, ranges, k } = self;
        let query = Enveloped::new(y.values, ranges.clone());
        let mut contenders = Contenders::new(&SearchOptions::default().with_top_k(*k));
        let lengths = (ranges.n(), ranges.m());
        let mut sweep = |some: &[usize], contenders: &mut Contenders<V::Scalar>| {
            let cut = contenders.bar(0);
            let cut = Cut { cut, bar: raised(cut, lengths) };
            let mut series = [Series::univariate(&[]); MOST_LANES];
            let mut out = [V::Scalar::INFINITY; MOST_LANES];
            for (series, i) in series.iter_mut().zip(some) {
                *series = x.get(*i);
            }
            let out = &mut out[..some.len()];
            scratch.abandoning.series(*token, &query, &series[..some.len()], cut, out);
            for (i, distance) in some.iter().zip(out.iter()) {
                contenders.offer(*distance, *i);
                told.given_up += u64::from(!distance.finite());
            }
            told.swept += some.len() as u64;
        };
        let of = |registers: std::ops::Range<usize>| {
            (registers.start * V::LANES..registers.end * V::LANES).take_while(|i| *i < x.len())
        };
        told.pairs = of(registers.clone()).count() as u64;
        // Some that are as good as any, so that there is a bar at all.
        let begun = (registers.start + k.div_ceil(V::LANES)).min(registers.end);
        for r in registers.start..begun {
            let some: Vec<usize> = of(r..r + 1).collect();
            sweep(&some, &mut contenders);
        }
        let bar = raised(contenders.bar(0), lengths);
        let mut left = Vec::new();
        for r in begun..registers.end {
            let bounds = query.bound_lanes::<V>(*token, lanes.register(r), bar);
            let of_lanes = of(r..r + 1).zip(bounds.lanes());
            left.extend(of_lanes.filter(|(_, bound)| **bound < bar).map(|(i, bound)| (*bound, i)));
        }
        left.sort_unstable_by(|a, b| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1)));
        let mut waiting = left.as_slice();
        while !waiting.is_empty() {
            let bar = raised(contenders.bar(0), lengths);
            let count = waiting.iter().take(V::LANES).take_while(|(bound, _)| *bound < bar).count();
            if count == 0 {
                break;
            }
            let some: Vec<usize> = waiting[..count].iter().map(|(_, i)| *i).collect();
            sweep(&some, &mut contenders);
            waiting = &waiting[count..];
        }
        contenders.best().into_iter().map(|(distance, i)| (i, distance)).collect()
    }
}
