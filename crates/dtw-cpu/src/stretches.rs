//! One query in one reference on several threads: a block in stretches that are swept side by side, with the bits of
//! one sweep.
//!
//! A state depends on what comes before it, and the longer ago that was, the less. So a stretch may begin a few query
//! lengths before its own points, with nothing known (its run-up). If its state is then that with which the stretch
//! before it ends, starts included, all its own are right, since a state depends on the one before it and on nothing
//! else. If not, the stretch is swept again from the right one.

use std::sync::Mutex;

use dtw_core::{Observer, Result, Scalar, Series, Spec, Uncounted};

use crate::group::{Scratch, tell};
use crate::lanes::Register;
use crate::plan::{callers, for_each, held};
use crate::scan::{Scan, State, Sweep};

/// Query lengths of a run-up. Over noise, walks, ECG, plateaus and sines, states were the same after 0.3 to 1.8 on
/// average, and after 4 at most.
const RUN_UP: usize = 4;

/// A stretch has at least so many times the points of its run-up.
const LEAST_OWN: usize = 4;

/// Copies of a block that stretches keep: costs and starts of ends, in numbers of the type.
pub(crate) const COPIES: usize = 3;

/// A stretch that was swept.
struct Swept<T> {
    /// What it went on from, and what it ends with.
    began: State<T>,
    ended: State<T>,
    totals: Vec<T>,
    starts: Vec<usize>,
}

/// Stretches into which a block is worth cutting, for so many threads.
pub(crate) fn stretches(threads: usize, query: usize, points: usize) -> usize {
    let least = (LEAST_OWN * RUN_UP).saturating_mul(query.max(1));
    threads.min(points / least).max(1)
}

impl<T: Scalar> Scan<T> {
    /// Sweeps the next block of the reference on as many threads as that is worth.
    pub(crate) fn next_on_threads<V: Register<Scalar = T> + Send>(
        &mut self,
        (token, scratch): (V::Token, &[Mutex<Scratch<V>>]),
        workers: usize,
        spec: &Spec,
        query: Series<'_, T>,
        block: Series<'_, T>,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (length, count) = (block.len(), stretches(workers, query.len(), block.len()));
        let most = self.points.saturating_mul(count);
        if length > most {
            for values in block.values.chunks(most * block.channels) {
                let block = Series { values, ..block };
                self.next_on_threads::<V>((token, scratch), workers, spec, query, block, observer)?;
            }
            return Ok(());
        }
        if count == 1 {
            return self.next::<V>((token, &mut callers(scratch)), spec, query, block, observer);
        }
        tell::<V>(observer, "diagonal sweep", "stretches of a reference are swept side by side", count);
        let sweep = Sweep { token, spec, query, points: self.points };
        let part = |from: usize, to: usize| {
            let values = &block.values[from * block.channels..to * block.channels];
            (Series { values, ..block }, self.done + from)
        };
        let first = |s: usize| s * length / count;
        let on_from = |scratch: &mut Scratch<V>, began: State<T>, s: usize, observer: &dyn Observer| {
            let (mut totals, mut starts) = (Vec::new(), Vec::new());
            let keep = |costs: &[T], start: &dyn Fn(usize) -> usize| {
                totals.extend_from_slice(costs);
                starts.extend((0..costs.len()).map(start));
                Ok(())
            };
            let ended = sweep.block::<V>(scratch, &began, part(first(s), first(s + 1)), observer, keep)?;
            Ok(Swept { began, ended, totals, starts })
        };
        let found: Vec<Mutex<Option<Swept<T>>>> = (0..count).map(|_| Mutex::default()).collect();
        for_each(scratch, workers, count, &|s, scratch| {
            let began = if s == 0 {
                self.state.clone()
            } else {
                let run_up = part(first(s) - RUN_UP * query.len(), first(s));
                sweep.block::<V>(scratch, &State::new(), run_up, &Uncounted(observer), |_, _| Ok(()))?
            };
            *held(&found[s]) = Some(on_from(scratch, began, s, observer)?);
            Ok(())
        })?;
        let mut state = self.state.clone();
        for (s, swept) in found.iter().enumerate() {
            let swept = held(swept).take().expect("every stretch was swept");
            let swept = if swept.began == state {
                swept
            } else {
                on_from(&mut callers(scratch), state, s, &Uncounted(observer))?
            };
            self.selection.offer(&swept.totals, |j| swept.starts[j])?;
            state = swept.ended;
        }
        self.state = state;
        self.done += length;
        Ok(())
    }
}
