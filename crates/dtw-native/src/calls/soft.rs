//! Results of Soft-DTW, its divergence and the alignment kernel: a second sweep where one would lose digits.
//!
//! [`keep_digits`] of dtw-plan says which pairs are swept again, for their excess.

use std::collections::BTreeSet;
use std::sync::Arc;

use dtw_core::{Measure, Pairing, PathCounts, Result, SeriesBatch, SoftResult, Uncounted, Unobserved};
use dtw_kernels::params;
use dtw_plan::{Order, keep_digits};

use crate::launch::functor::{Arguments, Functor};
use crate::machine::Machine;
use crate::memory::bytes::Number;
use crate::state::{NativePlan, Watch};

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Results of one pairing; of a divergence, the excess of Soft-DTW.
    pub(crate) fn soft(
        &mut self,
        soft: SoftResult,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: &mut [T],
        counts: &mut PathCounts,
    ) -> Result<()> {
        self.pass(pairing, None, x, y, out)?;
        self.keep_digits(soft, counts, (pairing, x, y), out)
    }

    /// Makes results of the values that a plain sweep gave, by a second sweep where it has lost digits.
    pub(crate) fn keep_digits(
        &mut self,
        soft: SoftResult,
        counts: &mut PathCounts,
        pairs: (Pairing, &SeriesBatch<'_, T>, &SeriesBatch<'_, T>),
        out: &mut [T],
    ) -> Result<()> {
        let spec = self.problem.spec().clone();
        let plain = std::mem::replace(&mut self.functor, Functor::excess(&spec.measure));
        let observer = std::mem::replace(&mut self.observer, Watch(Arc::new(Unobserved)));
        self.observer = Watch(Arc::new(Uncounted(Arc::clone(&observer.0))));
        let swept = keep_digits(soft, counts, &spec.band, pairs, out, |pairing, x, y, excess| {
            self.pass(pairing, None, x, y, excess)
        });
        (self.functor, self.observer) = (plain, observer);
        swept
    }

    /// The functor to sweep with before the plain one, which then does the pairs that this gave up: for results on a
    /// device that nobody looks at, if there are lengths with so few paths that some may lose their digits.
    pub(crate) fn soft_before(&mut self, order_x: &Order, order_y: &Order) -> Result<Option<Functor>> {
        let measure = &self.problem.spec().measure;
        let Some(soft) = SoftResult::of(measure) else { return Ok(None) };
        let functor = Functor::without_cancellation(measure);
        let band = &self.problem.spec().band;
        let counts = &mut self.passes.counts;
        let mut keeps = |n, m| soft.always_keeps_digits(counts, band, (n, m));
        let lengths = |order: &Order| -> BTreeSet<usize> {
            (0..if order.is_equal_length() { 1 } else { order.len() }).map(|k| order.length(k)).collect()
        };
        let (lengths_x, lengths_y) = (lengths(order_x), lengths(order_y));
        if self.problem.pairing() == Pairing::Zipped && lengths_x.len().max(lengths_y.len()) > 1 {
            for k in 0..order_x.len() {
                if !keeps(order_x.length(k), order_y.length(k))? {
                    return Ok(Some(functor));
                }
            }
            return Ok(None);
        }
        for n in lengths_x {
            for m in &lengths_y {
                if !keeps(n, *m)? {
                    return Ok(Some(functor));
                }
            }
        }
        Ok(None)
    }
}

impl Functor {
    /// The functor that gives the excess of a measure that sums over all paths; NaN where the plain one has all digits.
    pub(crate) fn excess(measure: &Measure) -> Self {
        let (parameter, option) = match *measure {
            Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => {
                (gamma, Arguments::of(measure).option << params::COST_SHIFT)
            }
            Measure::LogGak { sigma } => (sigma, params::EXCESS_OF_KERNEL),
            _ => unreachable!("callers ask SoftResult::of first"),
        };
        let row = Functor::row(measure.key(), measure).and_then(|row| row.excess);
        let key = row.expect("permutations.toml names it for these measures");
        Self { parts: 7, option, ..Self::with_parameter(key, parameter) }
    }

    /// The functor that sums without cancellation and gives the value.
    fn without_cancellation(measure: &Measure) -> Self {
        let excess = Self::excess(measure);
        Self { option: excess.option | params::EXCESS_VALUE, ..excess }
    }
}
