//! What the device is told for results that several sweeps make together: numbers of paths, by the lengths of a pair.

use std::collections::BTreeMap;

use dtw_core::{Band, Pairing, PathCounts, Result};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Pass, catalog};
use dtw_plan::Order;

use crate::machine::Machine;
use crate::machine::blocks_for;
use crate::memory::bytes::Number;
use crate::memory::region::Region;
use crate::series::layout::Layout;

/// The least logarithm of `Z` that keeps the digits of a result: as `dtw_core::SoftResult` has it for a plain sweep.
fn least_logarithm(n: usize, m: usize) -> f64 {
    ((n + m) as f64).sqrt()
}

/// Puts results together, or in their places.
pub(crate) fn launch_settle<T: Number, M: Machine>(machine: &M, p: &params::Settle) -> Result<()> {
    let kernel = catalog::other(Pass::Settle, "settle", T::DTYPE.name(), false);
    let kernel = kernel.expect("permutations.toml lists it");
    let results = if p.pairing == params::ZIPPED { p.rows } else { p.rows * p.columns };
    machine.launch(kernel, p.bytes(), blocks_for(results.div_ceil(32)))
}

/// What is needed on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Together<M: Machine> {
    /// The excess of each series with itself.
    pub(crate) own: [Region<M>; 2],
    /// Gradients of a side's series with themselves, to them as x and as y.
    pub(crate) gradients: [Region<M>; 2],
    nothing: Region<M>,
    known_nothing: Vec<f64>,
    /// Where the series of x and y are when they are compared with themselves.
    pub(crate) layouts: [[Layout<M>; 2]; 2],
    /// Of x with y, x with itself, y with itself.
    pub(crate) classes: [Classes<M>; 3],
}

impl<M: Machine> Default for Together<M> {
    fn default() -> Self {
        Self {
            own: std::array::from_fn(|_| Region::default()),
            gradients: std::array::from_fn(|_| Region::default()),
            nothing: Region::lasting(),
            known_nothing: Vec::new(),
            layouts: std::array::from_fn(|_| std::array::from_fn(|_| Layout::default())),
            classes: std::array::from_fn(|_| Classes::default()),
        }
    }
}

impl<M: Machine> Together<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.own.iter().chain(&self.gradients).map(Region::bytes).sum::<usize>()
            + self.nothing.bytes()
            + self.layouts.iter().flatten().map(Layout::bytes).sum::<usize>()
            + self.classes.iter().map(Classes::bytes).sum::<usize>()
    }

    /// Tells the device that the terms of all pairs have nothing but themselves to take off.
    pub(crate) fn tell_nothing(&mut self, machine: &M) -> Result<u64> {
        self.nothing.keep(machine, &[0.0], &mut self.known_nothing)
    }
}

/// Numbers that depend on the lengths of a pair alone, by classes of series of one length.
#[derive(Debug)]
pub(crate) struct Classes<M: Machine> {
    of_series: [Region<M>; 2],
    known_series: [Vec<u32>; 2],
    numbers: [Region<M>; 3],
    known_numbers: [Vec<f64>; 3],
}

impl<M: Machine> Default for Classes<M> {
    fn default() -> Self {
        Self {
            of_series: std::array::from_fn(|_| Region::lasting()),
            known_series: [Vec::new(), Vec::new()],
            numbers: std::array::from_fn(|_| Region::lasting()),
            known_numbers: std::array::from_fn(|_| Vec::new()),
        }
    }
}

impl<M: Machine> Classes<M> {
    fn bytes(&self) -> usize {
        self.of_series.iter().chain(&self.numbers).map(Region::bytes).sum()
    }

    /// Tells the device the logarithms of the numbers of paths, the least ones that keep their digits and, if asked,
    /// what a divergence has too much.
    pub(crate) fn tell(
        &mut self,
        machine: &M,
        p: &mut params::Settle,
        counts: &mut PathCounts,
        band: &Band,
        (pairing, x, y): (Pairing, &Order, &Order),
        is_divergence: bool,
    ) -> Result<()> {
        let (mut of_x, mut of_y) = (Vec::new(), Vec::new());
        let mut lengths = Vec::new();
        if pairing == Pairing::Zipped {
            let mut known = BTreeMap::new();
            for k in 0..x.len() {
                let pair = (x.length(k), y.length(k));
                let class = *known.entry(pair).or_insert_with(|| {
                    lengths.push(pair);
                    lengths.len() - 1
                });
                of_x.push(class as u32);
            }
            p.classes = 1;
        } else {
            let (distinct_x, distinct_y) = (x.distinct(), y.distinct());
            lengths.extend(distinct_x.iter().flat_map(|n| distinct_y.iter().map(|m| (*n, *m))));
            let classes = |order: &Order, distinct: &[usize]| -> Vec<u32> {
                let class = |k| distinct.partition_point(|length| *length < order.length(k)) as u32;
                (0..order.len()).map(class).collect()
            };
            (of_x, of_y) = (classes(x, &distinct_x), classes(y, &distinct_y));
            p.classes = distinct_y.len() as u32;
        }
        let mut numbers = [Vec::new(), Vec::new(), Vec::new()];
        for (n, m) in lengths {
            numbers[0].push(counts.log(band, n, m)?);
            numbers[2].push(least_logarithm(n, m));
            if is_divergence {
                numbers[1].push(counts.divergence(band, n, m)?);
            }
        }
        for (side, (of, address)) in
            [(of_x, &mut p.classes_x), (of_y, &mut p.classes_y)].into_iter().enumerate()
        {
            if of.iter().any(|class| *class > 0) {
                *address = self.of_series[side].keep(machine, &of, &mut self.known_series[side])?;
            }
        }
        p.log_paths = self.numbers[0].keep(machine, &numbers[0], &mut self.known_numbers[0])?;
        p.least = self.numbers[2].keep(machine, &numbers[2], &mut self.known_numbers[2])?;
        if is_divergence {
            p.divergences = self.numbers[1].keep(machine, &numbers[1], &mut self.known_numbers[1])?;
        }
        Ok(())
    }
}
