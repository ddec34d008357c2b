//! Results of Soft-DTW, its divergence and the alignment kernel: a second sweep where one would lose digits.
//!
//! The plain sweep gives a value for every pair; [`SoftResult`] says which values have kept their digits. The other
//! pairs are swept again for their excess. If they are many, all pairs are swept again.

use std::collections::BTreeSet;
use std::sync::Arc;

use dtw_core::{
    Measure, OwnedBatch, Pairing, PathCounts, Result, SeriesBatch, SoftResult, Uncounted, Unobserved,
};
use dtw_plan::Order;

use crate::Machine;
use crate::bytes::Number;
use crate::functor::{Arguments, Functor};
use crate::state::{NativePlan, Watch};

/// All pairs are swept again if at least one in so many has lost its digits.
const FEW: usize = 8;

/// Points that are gathered at once, where pairs are swept again by themselves.
const MOST_GATHERED: usize = 1 << 22;

/// The batches of a pairing and the places of its results.
#[derive(Clone, Copy)]
struct Pairs<'a, 'b, T> {
    pairing: Pairing,
    x: &'a SeriesBatch<'b, T>,
    y: &'a SeriesBatch<'b, T>,
}

impl<'a, 'b, T> Pairs<'a, 'b, T> {
    fn new(pairing: Pairing, x: &'a SeriesBatch<'b, T>, y: &'a SeriesBatch<'b, T>) -> Self {
        Self { pairing, x, y: if pairing == Pairing::SelfSymmetric { x } else { y } }
    }

    /// The pair of result `k`.
    fn of(&self, k: usize) -> (usize, usize) {
        match self.pairing {
            Pairing::Zipped => (k, k),
            _ => (k / self.y.len(), k % self.y.len()),
        }
    }

    fn lengths(&self, k: usize) -> (usize, usize) {
        let (i, j) = self.of(k);
        (self.x.length(i), self.y.length(j))
    }

    /// The lengths that all pairs have, if they are the same.
    fn only_lengths(&self) -> Option<(usize, usize)> {
        (self.x.is_equal_length() && self.y.is_equal_length()).then(|| self.lengths(0))
    }
}

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
        (pairing, x, y): (Pairing, &SeriesBatch<'_, T>, &SeriesBatch<'_, T>),
        out: &mut [T],
    ) -> Result<()> {
        let pairs = Pairs::new(pairing, x, y);
        let band = self.problem.spec().band.clone();
        if let Some(lengths) = pairs.only_lengths()
            && soft.always_keeps_digits(counts, &band, lengths)?
        {
            return Ok(());
        }
        let mut lost = Vec::new();
        for (k, value) in out.iter_mut().enumerate() {
            match soft.from_value(*value, counts, &band, pairs.lengths(k))? {
                Some(result) => *value = result,
                None => lost.push(k),
            }
        }
        if lost.is_empty() {
            return Ok(());
        }
        let plain = std::mem::replace(&mut self.functor, Functor::excess(&self.problem.spec().measure));
        let observer = std::mem::replace(&mut self.observer, Watch(Arc::new(Unobserved)));
        self.observer = Watch(Arc::new(Uncounted(Arc::clone(&observer.0))));
        let swept = self.excess(pairs, &lost, out.len(), |k, excess| {
            out[k] = soft.from_excess(excess, out[k], counts, &band, pairs.lengths(k))?;
            Ok(())
        });
        (self.functor, self.observer) = (plain, observer);
        swept
    }

    /// Calls `each` with the excess of every result that is in `lost`, of `count` in all.
    fn excess(
        &mut self,
        pairs: Pairs<'_, '_, T>,
        lost: &[usize],
        count: usize,
        mut each: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let Pairs { pairing, x, y } = pairs;
        if lost.len() >= count / FEW {
            let mut excess = vec![T::ZERO; count];
            self.pass(pairing, None, x, y, &mut excess)?;
            return lost.iter().try_for_each(|k| each(*k, excess[*k]));
        }
        // Of two mirrored results the one above the diagonal is computed.
        let is_computed = |k: &usize| {
            let (i, j) = pairs.of(*k);
            pairing != Pairing::SelfSymmetric || i <= j
        };
        let mut left = lost.iter().copied().filter(is_computed).peekable();
        let mut excess = Vec::new();
        while left.peek().is_some() {
            let (mut own_x, mut own_y) = (OwnedBatch::new(x.channels())?, OwnedBatch::new(x.channels())?);
            let (mut places, mut points) = (Vec::new(), 0);
            while let Some(k) = left.next_if(|_| points < MOST_GATHERED) {
                let (i, j) = pairs.of(k);
                own_x.push(x.get(i).values)?;
                own_y.push(y.get(j).values)?;
                places.push(k);
                points += x.length(i) + y.length(j);
            }
            excess.clear();
            excess.resize(places.len(), T::ZERO);
            self.pass(Pairing::Zipped, None, &own_x.batch(), &own_y.batch(), &mut excess)?;
            for (k, excess) in places.into_iter().zip(&excess) {
                each(k, *excess)?;
                let (i, j) = pairs.of(k);
                if pairing == Pairing::SelfSymmetric && i != j {
                    each(j * x.len() + i, *excess)?;
                }
            }
        }
        Ok(())
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

/// Where the option of an excess has the local cost: kCostShift of native/recurrence/soft_excess.cuh.
const COST_SHIFT: u32 = 2;

impl Functor {
    /// The functor that gives the excess of a measure that sums over all paths; NaN where the plain one has all digits.
    pub(crate) fn excess(measure: &Measure) -> Self {
        let (parameter, option) = match *measure {
            Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => {
                (gamma, Arguments::of(measure).option << COST_SHIFT)
            }
            Measure::LogGak { sigma } => (sigma, 1),
            _ => unreachable!("callers ask SoftResult::of first"),
        };
        let row = Functor::row(measure.key(), measure).and_then(|row| row.excess);
        let key = row.expect("permutations.toml names it for these measures");
        Self { parts: 5, option, ..Self::with_parameter(key, parameter) }
    }

    /// The same, giving the value.
    fn without_cancellation(measure: &Measure) -> Self {
        let excess = Self::excess(measure);
        Self { option: excess.option | 2, ..excess }
    }
}
