//! Calls whose series and results are on the device: no copies, nothing allocated after the first call, nothing waited
//! for.
//!
//! The planner's loop goes through them as through any other pairs: the source of its series and the sink of its
//! results are the caller's memory. Kernels write results to their places, so ragged series are swept as they come, not
//! sorted by length.
//!
//! A call puts its work on the machine's queue; the work is done when the queue has got there. Values are not looked
//! at. So the caller must keep what [`dtw_core::Problem::check_input`] promises of them: they are finite, and
//! timestamps do not go back.

use dtw_core::{Error, Match, Measure, Pairing, Path, Result, SearchOptions, Task, bail_invalid};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Role, catalog};
use dtw_plan::{Pairs, Rows, each_tile};

use crate::engine::Distances;
use crate::launch::hits::HitOptions;
use crate::machine::Machine;
use crate::machine::blocks_for;
use crate::memory::bytes::Number;
use crate::resident::combined::DevicePairs;
use crate::series::device_batch::DeviceBatch;
use crate::series::prepared::Preparation;
use crate::series::source::{SideSource, Source};
use crate::state::NativePlan;

impl<T: Number, M: Machine> NativePlan<T, M> {
    /// Distances of all pairs to `out` on the device, shaped as the problem's pairing says. `y` is not looked at for
    /// [`Pairing::SelfSymmetric`].
    ///
    /// Returns when the work is on the queue. The inputs must stay as they are, and `out` unread, until it is done.
    /// Series that do not fit the memory limit all at once are prepared in parts, and long work is put on the queue as
    /// several launches, before each of which the observer is asked whether to stop; it is told of no cells. What a
    /// launch puts in its place stays there.
    ///
    /// Nobody looks at the values between two sweeps. So if some pair's lengths and band leave few paths, all results
    /// of Soft-DTW and the alignment kernel come from the sweep that keeps their digits at any γ, which is slower;
    /// pairs that it gives up, at small γ, come from the usual one. For a divergence the device judges by itself which
    /// pairs need a second sweep.
    ///
    /// # Errors
    /// [`Error::Invalid`] where shapes do not fit the problem; [`Error::OutOfMemory`] where not even one series of each
    /// side fits the memory limit.
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
        self.check_layouts(&x, &y)?;
        if self.problem.output_len() == 0 {
            return Ok(());
        }
        if self.problem.is_subsequence() {
            self.engine.sweeper.begin();
        } else {
            self.begin();
        }
        let dropped = self.functor.preparation.dropped();
        let (order_x, order_y) = (x.order(dropped), y.order(dropped));
        if self.problem.is_subsequence() {
            let options =
                HitOptions::new(&SearchOptions::default(), order_y.longest(0..order_y.len()), order_y.len());
            let mut search = self.search(Source::Device(x), Source::Device(y), options);
            search.functor = search.functor.without_starts();
            return search.run_in_place(pairing, out);
        }
        let both = DevicePairs { batches: [x, y], orders: [&order_x, &order_y] };
        match self.problem.spec().measure {
            Measure::SoftDtwDivergence { .. } => return self.divergences_on_device(both, out),
            measure if measure.sums_channels() && x.channels > 1 => {
                return self.channels_on_device(both, out);
            }
            _ => {}
        }
        let before = self.soft_before(&order_x, &order_y)?;
        let longest = order_x.longest(0..order_x.len()).max(order_y.longest(0..order_y.len()));
        self.engine.sweeper.weigh::<T>(&self.functor, longest)?;
        let preparation = Preparation { times: x.times != 0, ..Preparation::plain(self.functor, x.channels) };
        let budget = self.engine.budget.in_place();
        let mut pairs = Pairs {
            pairing,
            rows: &order_x,
            columns: &order_y,
            kind: Rows::X,
            banding: &mut self.banding,
            observer: &*self.observer.0,
        };
        let [layout_x, layout_y] = &mut self.layouts;
        let sources = [SideSource::Device(x, layout_x), SideSource::Device(y, layout_y)];
        let mut device = Distances::new(&mut self.engine, preparation, sources);
        (device.before, device.place) = (before, Some(out));
        each_tile(&mut device, &mut pairs, &budget, |device, pairs, tile| device.sweep_in_place(pairs, tile))
    }

    /// Best paths of zipped pairs, of series on the device. They are brought to the host, which waits for them.
    ///
    /// # Errors
    /// As [`NativePlan::distances_on_device`] and [`dtw_core::Plan::paths`].
    ///
    /// # Safety
    /// The addresses are memory of the machine's device with room for what the layouts say.
    pub unsafe fn paths_on_device(&mut self, x: DeviceBatch<'_>, y: DeviceBatch<'_>) -> Result<Vec<Path<T>>> {
        self.problem.admits(Task::Paths)?;
        self.check_layouts(&x, &y)?;
        self.problem.check_zipped("paths")?;
        if x.layout.count() == 0 {
            return Ok(Vec::new());
        }
        self.begin();
        self.paths_of(Source::Device(x), Source::Device(y))
    }

    /// The best matches of every query in every reference, of series on the device. They are brought to the host, which
    /// waits for them.
    ///
    /// # Errors
    /// As [`NativePlan::distances_on_device`] and [`dtw_core::Plan::matches`]; [`dtw_core::Error::OutOfMemory`] also
    /// where a reference does not fit the memory limit whole, [`dtw_core::Error::Unsupported`] for z-normalised windows
    /// of references with strides or in another format than the plan's.
    ///
    /// # Safety
    /// As [`NativePlan::paths_on_device`].
    pub unsafe fn matches_on_device(
        &mut self,
        queries: DeviceBatch<'_>,
        references: DeviceBatch<'_>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        options.check(&self.problem)?;
        options.check_precision(T::DTYPE, true)?;
        self.check_layouts(&queries, &references)?;
        let order = references.order(0);
        options.check_windows((0..order.len()).map(|r| order.length(r)))?;
        let pairs = queries.layout.count() * references.layout.count();
        if pairs == 0 || options.top_k == 0 {
            return Ok(vec![Vec::new(); pairs]);
        }
        let Some(length) = options.normalized_window else {
            self.engine.sweeper.begin();
            return self.subsequence_matches(Source::Device(queries), Source::Device(references), options);
        };
        if references.strided.is_some() {
            return Err(self.unsupported(
                "z-normalised windows of series with strides or in another format: copy them first"
                    .to_owned(),
            ));
        }
        self.window_matches(Source::Device(queries), Source::Device(references), options, length)
    }

    pub(crate) fn check_layouts(&self, x: &DeviceBatch<'_>, y: &DeviceBatch<'_>) -> Result<()> {
        self.problem.check_precision::<T>()?;
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
    let kernel = catalog::other(Role::Normalize, "normalize", T::DTYPE.name(), false)
        .ok_or_else(|| Error::left_to_cpu(machine.name(), format!("normalising {}: no kernel", T::DTYPE)))?;
    if count == 0 || length == 0 {
        return Ok(());
    }
    let p = params::Normalize { r#in: input, out: output, count: count as u64, length: length as u64 };
    machine.launch(kernel, p.bytes(), blocks_for(p.count))
}
