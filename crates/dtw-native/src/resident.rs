//! Calls whose series and results are on the device: no copies, nothing allocated after the first call, nothing waited for.
//!
//! Everything is put on the machine's queue and done when the queue has got there. Values are not looked at: what
//! [`dtw_core::Problem::check_input`] promises of them (finite; timestamps that do not go back) is the caller's to keep.

use dtw_core::{Error, Measure, Pairing, Result, bail_invalid};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Pass, catalog};
use dtw_plan::{Form, Order, Rect, Rows};

use crate::hits::{Candidates, Searcher};
use crate::layout::{DeviceBatch, DeviceLayout};
use crate::side::{Preparation, Prepared, blocks_for};
use crate::state::NativePlan;
use crate::sweep::{Job, Sweeper};
use crate::{Machine, Number};

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Distances of all pairs to `out` on the device, shaped as the problem's pairing says. `y` is not looked at for
    /// [`Pairing::SelfSymmetric`].
    ///
    /// Returns when the work is on the queue. The inputs must stay as they are, and `out` unread, until it is done. The
    /// memory limit must have room for all prepared series; results are not tiled, they have their place.
    ///
    /// Nobody looks at the values between two sweeps. So if some pair's lengths and band leave few paths, all results of
    /// Soft-DTW and the alignment kernel come from the sweep that keeps their digits at any γ, which is slower; what it leaves
    /// undone, at small γ, comes from the usual one.
    ///
    /// # Errors
    /// [`Error::Invalid`] where shapes do not fit the problem; [`Error::Unsupported`] for what needs the host to put results
    /// together (soft_dtw_divergence, msm of several channels, searches in a band): `distances` can;
    /// [`Error::OutOfMemory`] where the series do not fit the memory limit.
    ///
    /// # Safety
    /// The addresses are memory of the machine's device with room for what the layouts and the problem say.
    pub unsafe fn distances_on_device(
        &mut self,
        x: DeviceBatch<'_>,
        y: DeviceBatch<'_>,
        out: u64,
    ) -> Result<()> {
        let pairing = self.problem.pairing();
        let y = if pairing == Pairing::SelfSymmetric { x } else { y };
        self.check_resident(&x, &y)?;
        if self.problem.output_len() == 0 {
            return Ok(());
        }
        let dropped = self.functor.preparation.dropped();
        let order = |batch: &DeviceBatch<'_>| match batch.layout {
            DeviceLayout::Equal { count, length } => Order::equal(count, length - dropped).dropping(dropped),
            DeviceLayout::Ragged(_) => Order::ragged(batch.layout.lengths(), dropped),
        };
        let (order_x, order_y) = (order(&x), order(&y));
        let preparation = Preparation {
            functor: self.functor,
            channels: x.channels,
            channel: None,
            normalize: false,
            times: x.times != 0,
        };
        let bytes = |order: &Order| -> u64 {
            (0..order.len()).map(|k| preparation.bytes::<T>(order.length(k))).sum()
        };
        let needed = bytes(&order_x) + if pairing == Pairing::SelfSymmetric { 0 } else { bytes(&order_y) };
        if needed > self.engine.budget.limit {
            return Err(self.engine.budget.exceeded("the prepared series", needed, self.engine.budget.limit));
        }
        let engine = &mut self.engine;
        let machine = engine.machine.clone();
        let place_x = self.resident[0].place(&machine, &x, &order_x)?;
        engine.x.load_resident(&machine, &preparation, &order_x, &place_x)?;
        if pairing != Pairing::SelfSymmetric {
            let place_y = self.resident[1].place(&machine, &y, &order_y)?;
            engine.y.load_resident(&machine, &preparation, &order_y, &place_y)?;
        }
        if self.problem.is_subsequence() {
            return self.search_on_device(&order_x, &order_y, out);
        }
        self.banding.check(pairing, &order_x, &order_y, Rows::X)?;
        let before = self.soft_before(&order_x, &order_y)?;
        let engine = &mut self.engine;
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        engine.sweeper.weigh::<T>(&self.functor, longest)?;
        let rect = Rect { rows: 0..order_x.len(), columns: 0..order_y.len(), pairing };
        let columns = if pairing == Pairing::SelfSymmetric { &engine.x } else { &engine.y };
        let (x, y) = (engine.x.part(&order_x, &rect.rows), columns.part(&order_y, &rect.columns));
        let (n, m) = (x.length as usize, y.length as usize);
        let job = Job {
            functor: self.functor,
            channels: preparation.channels,
            x,
            y,
            pairing,
            tasks: rect.tasks(),
            out,
            out_stride: rect.stride(),
            cells: self.banding.cells(n, m).unwrap_or(n as u64 * m as u64),
            keeps_edges: false,
            only_missing: before.is_some(),
            last_row: 0,
        };
        let band = engine.sweeper.band(&mut self.banding, &rect, &order_x, &order_y, Rows::X)?;
        if let Some(functor) = before {
            let first = Job { functor, only_missing: false, ..job };
            engine.sweeper.launch::<T>(&first, band, &engine.budget)?;
        }
        engine.sweeper.launch::<T>(&job, band, &engine.budget)?;
        Ok(())
    }

    fn check_resident(&self, x: &DeviceBatch<'_>, y: &DeviceBatch<'_>) -> Result<()> {
        let (shape, measure) = (self.problem.shape(), &self.problem.spec().measure);
        if (x.layout.count(), y.layout.count()) != (shape.n_x, shape.n_y)
            || x.channels != shape.channels
            || y.channels != shape.channels
        {
            bail_invalid!(
                "planned for {} x {} series of {} channels, got {} x {} of {} and {}",
                shape.n_x,
                shape.n_y,
                shape.channels,
                x.layout.count(),
                y.layout.count(),
                x.channels,
                y.channels
            );
        }
        x.layout.check("x", measure.min_length(), shape.max_length_x)?;
        y.layout.check("y", measure.min_length(), shape.max_length_y)?;
        if (x.times != 0 || y.times != 0) && !measure.takes_times() {
            bail_invalid!("timestamps are used by twed only, and the measure is {}", measure.key());
        }
        if (x.times == 0) != (y.times == 0) {
            bail_invalid!("either both x and y have timestamps or neither");
        }
        let what = match measure {
            Measure::SoftDtwDivergence { .. } => "soft_dtw_divergence",
            _ if measure.sums_channels() && shape.channels > 1 => "msm of several channels",
            _ if self.problem.is_subsequence() && self.banding.form() != Form::Full => "a search in a band",
            _ => return Ok(()),
        };
        Err(self.unsupported(format!("{what} on device memory: pass host memory to `distances`")))
    }

    /// The cost of the best match of every pair.
    fn search_on_device(&mut self, queries: &Order, references: &Order, out: u64) -> Result<()> {
        let functor = self.functor.without_starts();
        let (engine, pairing) = (&mut self.engine, self.problem.pairing());
        let (rows, columns) = (references.len(), queries.len());
        let n = references.longest(0..rows);
        let m = queries.longest(0..columns);
        let edge = Sweeper::<M>::kept_bytes::<T>(&functor, n, m, &engine.budget);
        let most = usize::try_from(engine.budget.edges / edge).unwrap_or(usize::MAX);
        if most == 0 {
            return Err(engine.budget.exceeded("the last column of a search", edge, engine.budget.edges));
        }
        // Costs come out task by task, with queries running fastest; the output has references running fastest.
        let step = |range: std::ops::Range<usize>| {
            range.clone().step_by(most).map(move |k| k..(k + most).min(range.end))
        };
        let mut parts = Vec::new();
        if pairing == Pairing::Zipped {
            parts.extend(
                step(0..rows)
                    .map(|run| (Rect { rows: run.clone(), columns: run.clone(), pairing }, run.start)),
            );
        } else if rows == 1 {
            parts.extend(
                step(0..columns).map(|run| (Rect { rows: 0..1, columns: run.clone(), pairing }, run.start)),
            );
        } else {
            for q in 0..columns {
                parts.extend(step(0..rows).map(|run| {
                    (Rect { rows: run.clone(), columns: q..q + 1, pairing }, q * rows + run.start)
                }));
            }
        }
        for (rect, at) in &parts {
            let (x, y): (&Prepared<T, M>, _) = (&engine.y, &engine.x);
            let job = Job {
                functor,
                channels: self.problem.shape().channels,
                x: x.part(references, &rect.rows),
                y: y.part(queries, &rect.columns),
                pairing,
                tasks: rect.tasks(),
                out: 0,
                out_stride: 0,
                cells: n as u64 * m as u64,
                keeps_edges: true,
                only_missing: false,
                last_row: 0,
            };
            let band = crate::sweep::LaunchBand::plain(Form::Full);
            let edges =
                engine.sweeper.launch::<T>(&job, band, &engine.budget)?.expect("a search keeps its edges");
            // A zipped or single-query part has the references' lengths in the order of its tasks.
            let lengths = if rows > 1 { job.x.lengths } else { 0 };
            let candidates = Candidates {
                totals: edges.address,
                starts: 0,
                stride: edges.stride,
                tasks: rect.tasks() as usize,
                longest: job.x.length as usize,
                lengths: &[],
            };
            let costs = out + (at * size_of::<T>()) as u64;
            Searcher::<T, M>::best(&engine.machine, &candidates, lengths, costs)?;
        }
        Ok(())
    }
}

/// z-normalises `count` univariate series of `length` points from `input` to `output` (which may be the same) on the
/// machine's queue: zero mean, unit population deviation; constant series become zero.
///
/// # Errors
/// What [`Machine::launch`] says.
///
/// # Safety
/// Both addresses are memory of the machine's device with room for `count * length` values.
pub unsafe fn normalize_on_device<T: Number, M: Machine>(
    machine: &M,
    input: u64,
    output: u64,
    count: usize,
    length: usize,
) -> Result<()> {
    let kernel = catalog::other(Pass::Normalize, "normalize", T::DTYPE.name(), false).ok_or_else(|| {
        Error::Unsupported { backend: machine.name(), what: format!("normalising {}: no kernel", T::DTYPE) }
    })?;
    if count == 0 || length == 0 {
        return Ok(());
    }
    let p = params::Normalize { r#in: input, out: output, count: count as u64, length: length as u64 };
    machine.launch(kernel, p.bytes(), blocks_for(p.count))
}
