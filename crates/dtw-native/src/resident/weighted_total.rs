//! The weighted total of a centre's values with series that stay on the device, and its gradient.
//!
//! ```text
//! soft_dtw             f(c) = Σ_s w_s · s(c, y_s)
//! soft_dtw_divergence  f(c) = Σ_s w_s · (s(c, y_s) − s(c, c) / 2 − s(y_s, y_s) / 2)
//! ```
//!
//! A call uploads the centre. The device copies it for each pair, sweeps the pairs, and sums values and gradients
//! ([`params::Total`]); the sums come down. Of a divergence, the gradient of `s(c, c)` is swept once, and its two parts
//! are two more rows of the sum, of weight `−Σ w_s / 2`.
//!
//! ```text
//! gradients          weights      values
//! pair 0   . . . .      w_0          .
//! pair 1   . . . .      w_1          .
//!   ...
//! own, x   . . . .    −Σw / 2        0
//! own, y   . . . .    −Σw / 2        0
//!          -------                   -
//!          gradient                value          of the centre
//! ```

use std::sync::Arc;

use dtw_core::{
    Measure, Observer, Pairing, Problem, Result, Scalar, SeriesBatch, WeightedTotal, bail_invalid,
};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Role, catalog};

use crate::calls::gradients::InPlace;
use crate::launch::combine::launch_combine;
use crate::machine::Machine;
use crate::machine::blocks_for;
use crate::memory::bytes::{Number, bytes_mut};
use crate::memory::region::Region;
use crate::resident::combined::DevicePairs;
use crate::series::device_batch::{DeviceBatch, DeviceGradients, DeviceLayout};
use crate::state::{NativePlan, Watch};

/// Rows that one launch sums in one piece; more are summed in two launches.
const PIECE_ROWS: usize = 256;

/// Series, and what calls need beside a plan, may take one part in so many of the memory limit.
const SHARE: u64 = 4;

/// A centre's total with series on a machine.
#[derive(Debug)]
pub(crate) struct DeviceTotal<T: Number, M: Machine> {
    /// Sweeps the pairs, in the memory that is left.
    plan: NativePlan<T, M>,
    /// Points of the centre.
    length: usize,
    channels: usize,
    count: usize,
    /// Points of the longest series.
    longest: usize,
    /// First points of series that differ in length, and the end of the last.
    offsets: Option<Vec<usize>>,
    /// Rows of the sum.
    rows: usize,
    series: Region<M>,
    weights: Region<M>,
    center: Region<M>,
    copies: Region<M>,
    values: Region<M>,
    /// To the copies and to the series.
    gradients: [Region<M>; 2],
    /// Sums of pieces, and of all.
    sums: [Region<M>; 2],
    host: Vec<f64>,
    /// Cells of a call, for the observer.
    cells: u64,
}

impl<T: Number, M: Machine> DeviceTotal<T, M> {
    /// Takes in series that fit, with what calls need, a share of the memory limit.
    pub(crate) fn new(
        machine: &M,
        problem: &Problem,
        series: SeriesBatch<'_, T>,
        weights: &[f64],
    ) -> Result<Option<Self>> {
        check(problem, &series, weights)?;
        let (shape, count) = (problem.shape(), series.len());
        let (length, channels) = (shape.max_length_x, shape.channels);
        let is_divergence = matches!(problem.spec().measure, Measure::SoftDtwDivergence { .. });
        let rows = count + if is_divergence { 2 } else { 0 };
        let center = length * channels;
        let first = series.offset(0);
        let offsets: Vec<usize> =
            (0..count).map(|s| series.offset(s) - first).chain([points(&series)]).collect();
        let pieces = if rows > PIECE_ROWS { rows.div_ceil(PIECE_ROWS) } else { 0 };
        let number = size_of::<T>();
        let bytes = [
            points(&series) * channels * number,
            rows * size_of::<f64>(),
            center * number,
            count * center * number,
            rows * number,
            rows * center * number,
            points(&series) * channels * number,
            pieces * (center + 1) * size_of::<f64>(),
            (center + 1) * size_of::<f64>(),
        ];
        let (own, limit) = (bytes.iter().sum::<usize>() as u64, problem.memory_limit_bytes());
        if own > limit / SHARE {
            return Ok(None);
        }
        let plan = NativePlan::new(machine.own_queue()?, &problem.clone().with_memory_limit(limit - own))?;
        let machine = plan.machine().clone();
        let mut regions: [Region<M>; 9] = std::array::from_fn(|_| Region::default());
        for (region, bytes) in regions.iter_mut().zip(bytes).filter(|(_, bytes)| *bytes > 0) {
            region.reserve(&machine, bytes)?;
        }
        let [mut own_series, mut own_weights, center, copies, mut values, grad_x, grad_y, pieces, sum] =
            regions;
        own_series.hold(&machine, &series.values()[first * channels..][..points(&series) * channels])?;
        let half = -0.5 * weights.iter().sum::<f64>();
        let weights: Vec<f64> = weights.iter().copied().chain([half, half]).take(rows).collect();
        own_weights.hold(&machine, &weights)?;
        values.zeros(&machine, rows * number)?;
        let mut total = Self {
            plan,
            length,
            channels,
            count,
            longest: series.max_length(),
            rows,
            offsets: (!series.is_equal_length()).then_some(offsets),
            series: own_series,
            weights: own_weights,
            center,
            copies,
            values,
            gradients: [grad_x, grad_y],
            sums: [pieces, sum],
            host: Vec::new(),
            cells: 0,
        };
        total.cells = total.cells_of(&series, is_divergence)?;
        Ok(Some(total))
    }

    /// Cells that a call sweeps.
    fn cells_of(&mut self, series: &SeriesBatch<'_, T>, is_divergence: bool) -> Result<u64> {
        let banding = &mut self.plan.banding;
        let mut cells = 0;
        for m in (0..self.count).map(|s| series.length(s)) {
            cells += banding.cells(self.length, m)?;
            if is_divergence {
                // Values have a sweep of their own.
                cells += banding.cells(self.length, m)? + banding.cells(m, m)?;
                cells += banding.cells(self.length, self.length)?;
            }
        }
        Ok(cells + if is_divergence { banding.cells(self.length, self.length)? } else { 0 })
    }

    /// Sweeps all pairs: values and gradients of each to their places.
    fn sweep(&mut self) -> Result<()> {
        let (length, channels, count) = (self.length, self.channels, self.count);
        let x = DeviceBatch::packed(self.copies.address(), channels, DeviceLayout::Equal { count, length });
        let layout = match &self.offsets {
            Some(offsets) => DeviceLayout::Ragged(offsets),
            None => DeviceLayout::Equal { count, length: self.longest },
        };
        let y = DeviceBatch::packed(self.series.address(), channels, layout);
        let [grad_x, grad_y] = self.gradients.each_ref().map(Region::address);
        let out = DeviceGradients { upstream: 0, distances: self.values.address(), grad_x, grad_y };
        let plan = &mut self.plan;
        if !matches!(plan.problem.spec().measure, Measure::SoftDtwDivergence { .. }) {
            // SAFETY: regions of this struct, reserved for these layouts.
            return unsafe { plan.gradients_on_device(x, y, out) };
        }
        plan.check_layouts(&x, &y)?;
        plan.begin();
        let (order_x, order_y) = (x.order(0), y.order(0));
        let both = DevicePairs { batches: [x, y], orders: [&order_x, &order_y] };
        plan.divergences_on_device(both, out.distances)?;
        let taken = plan.engine.bytes() as u64;
        let place = InPlace { values: 0, out, from: [x.values, y.values], matrices: None };
        plan.soft_in_place([x, y], None, place, taken)?;
        let row = (length * channels * size_of::<T>()) as u64;
        let own = grad_x + count as u64 * row;
        let center =
            DeviceBatch::packed(self.center.address(), channels, DeviceLayout::Equal { count: 1, length });
        let out = DeviceGradients { upstream: 0, distances: 0, grad_x: own, grad_y: own + row };
        let place = InPlace { values: 0, out, from: [center.values; 2], matrices: None };
        plan.soft_in_place([center; 2], Some(0), place, taken)
    }

    /// Sums rows of gradients, and their values as a last column.
    fn sum(&self) -> Result<()> {
        let machine = self.plan.machine();
        let (is_whole, columns) = (self.rows <= PIECE_ROWS, (self.length * self.channels) as u64);
        let [pieces, sum] = self.sums.each_ref().map(Region::address);
        let p = params::Total {
            r#in: self.gradients[0].address(),
            beside: self.values.address(),
            weights: self.weights.address(),
            out: if is_whole { sum } else { pieces },
            rows: self.rows as u64,
            columns,
            piece: PIECE_ROWS as u64,
        };
        launch_total::<T, M>(machine, &p)?;
        if is_whole {
            return Ok(());
        }
        let rows = self.rows.div_ceil(PIECE_ROWS) as u64;
        let p = params::Total {
            r#in: pieces,
            beside: 0,
            weights: 0,
            out: sum,
            rows,
            columns: columns + 1,
            piece: rows,
        };
        launch_total::<f64, M>(machine, &p)
    }
}

impl<T: Number, M: Machine> WeightedTotal<T> for DeviceTotal<T, M> {
    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.plan.observer = Watch(observer);
    }

    fn value_and_gradient(&mut self, center: &[T], gradient: &mut [f64]) -> Result<f64> {
        let numbers = self.length * self.channels;
        SeriesBatch::equal(center, 1, self.length, self.channels)?.check("the centre")?;
        if gradient.len() != numbers {
            bail_invalid!("the gradient needs {numbers} values, got a slice of {}", gradient.len());
        }
        let machine = self.plan.machine().clone();
        let p = params::Combine {
            first: self.center.hold(&machine, center)?,
            out: self.copies.address(),
            tile_stride: 0,
            out_stride: numbers as u64,
            rows: self.count as u64,
            columns: numbers as u64,
            pairing: params::CROSS,
            ..params::Combine::default()
        };
        launch_combine::<T, M>(&machine, &p)?;
        self.sweep()?;
        self.sum()?;
        self.host.resize(numbers + 1, 0.0);
        machine.download(self.sums[1].buffer().expect("reserved"), 0, bytes_mut(&mut self.host))?;
        self.plan.observer.0.advance(self.cells);
        gradient.copy_from_slice(&self.host[..numbers]);
        Ok(self.host[numbers])
    }
}

/// Points of all series.
fn points<T: Scalar>(series: &SeriesBatch<'_, T>) -> usize {
    let last = series.len() - 1;
    series.offset(last) + series.length(last) - series.offset(0)
}

fn check<T: Scalar>(problem: &Problem, series: &SeriesBatch<'_, T>, weights: &[f64]) -> Result<()> {
    let shape = problem.shape();
    if problem.pairing() != Pairing::Zipped {
        bail_invalid!("a weighted total is of zipped pairs: plan for Pairing::Zipped");
    }
    if series.is_empty() {
        bail_invalid!("a weighted total needs at least one series, got none");
    }
    let counts = [shape.n_x, shape.n_y, weights.len()];
    if counts != [series.len(); 3] || series.channels() != shape.channels {
        bail_invalid!(
            "planned for {} x {} series of {} channels, got {} of {} and {} weights",
            shape.n_x,
            shape.n_y,
            shape.channels,
            series.len(),
            series.channels(),
            weights.len()
        );
    }
    if series.has_times() {
        bail_invalid!("timestamps are used by twed only, which has no gradient: leave them out");
    }
    series.check("y")
}

/// Sums rows.
fn launch_total<T: Number, M: Machine>(machine: &M, p: &params::Total) -> Result<()> {
    let kernel = catalog::other(Role::Total, "total", T::DTYPE.name(), false);
    let kernel = kernel.expect("permutations.toml lists it");
    let columns = p.columns + u64::from(p.beside != 0);
    machine.launch(
        kernel,
        p.bytes(),
        blocks_for(columns.div_ceil(params::TOTAL_COLUMNS.into()) * p.rows.div_ceil(p.piece)),
    )
}
