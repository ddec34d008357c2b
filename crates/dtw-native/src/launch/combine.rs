//! Combining the results of several sweeps on the device, and the numbers of paths that this takes, by the lengths of
//! a pair.

use std::collections::BTreeMap;

use dtw_core::soft::least_logarithm;
use dtw_core::{Band, Pairing, PathCounts, Result};
use dtw_kernels::params::{self, Params};
use dtw_kernels::{Role, catalog};
use dtw_plan::Order;

use crate::machine::Machine;
use crate::machine::blocks_for;
use crate::memory::bytes::Number;
use crate::memory::region::Region;

/// Combines results, or puts them in their places.
pub(crate) fn launch_combine<T: Number, M: Machine>(machine: &M, p: &params::Combine) -> Result<()> {
    let kernel = catalog::other(Role::Combine, "combine", T::DTYPE.name(), false);
    let kernel = kernel.expect("permutations.toml lists it");
    let results = if p.pairing == params::ZIPPED { p.rows } else { p.rows * p.columns };
    machine.launch(kernel, p.bytes(), blocks_for(results.div_ceil(32)))
}

/// What combined results need on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Combined<M: Machine> {
    /// The excess of each series with itself.
    pub(crate) own: [Region<M>; 2],
    /// Gradients of a side's series with themselves, to them as x and as y.
    pub(crate) gradients: [Region<M>; 2],
    zero: Region<M>,
    uploaded_zero: Vec<f64>,
    /// Numbers for x with y, x with itself, y with itself.
    pub(crate) classes: [Classes<M>; 3],
}

impl<M: Machine> Default for Combined<M> {
    fn default() -> Self {
        Self {
            own: std::array::from_fn(|_| Region::default()),
            gradients: std::array::from_fn(|_| Region::default()),
            zero: Region::lasting(),
            uploaded_zero: Vec::new(),
            classes: std::array::from_fn(|_| Classes::default()),
        }
    }
}

impl<M: Machine> Combined<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.own.iter().chain(&self.gradients).map(Region::bytes).sum::<usize>()
            + self.zero.bytes()
            + self.classes.iter().map(Classes::bytes).sum::<usize>()
    }

    /// The address of a zero: what a divergence has too much where no path is counted.
    pub(crate) fn zero(&mut self, machine: &M) -> Result<u64> {
        self.zero.keep(machine, &[0.0], &mut self.uploaded_zero)
    }
}

/// Numbers that depend on the lengths of a pair alone, by classes of series of one length.
#[derive(Debug)]
pub(crate) struct Classes<M: Machine> {
    classes_of: [Region<M>; 2],
    uploaded_series: [Vec<u32>; 2],
    numbers: [Region<M>; 3],
    uploaded_numbers: [Vec<f64>; 3],
}

impl<M: Machine> Default for Classes<M> {
    fn default() -> Self {
        Self {
            classes_of: std::array::from_fn(|_| Region::lasting()),
            uploaded_series: [Vec::new(), Vec::new()],
            numbers: std::array::from_fn(|_| Region::lasting()),
            uploaded_numbers: std::array::from_fn(|_| Vec::new()),
        }
    }
}

impl<M: Machine> Classes<M> {
    fn bytes(&self) -> usize {
        self.classes_of.iter().chain(&self.numbers).map(Region::bytes).sum()
    }

    /// Uploads the logarithms of the numbers of paths, the least ones that keep their digits and, if asked, what a
    /// divergence has too much; `p` then has their addresses.
    pub(crate) fn upload(
        &mut self,
        machine: &M,
        p: &mut params::Combine,
        counts: &mut PathCounts,
        band: &Band,
        (pairing, x, y): (Pairing, &Order, &Order),
        is_divergence: bool,
    ) -> Result<()> {
        let (mut of_x, mut of_y) = (Vec::new(), Vec::new());
        let mut lengths = Vec::new();
        if pairing == Pairing::Zipped {
            let mut classes = BTreeMap::new();
            for k in 0..x.len() {
                let pair = (x.length(k), y.length(k));
                let class = *classes.entry(pair).or_insert_with(|| {
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
                *address = self.classes_of[side].keep(machine, &of, &mut self.uploaded_series[side])?;
            }
        }
        p.log_paths = self.numbers[0].keep(machine, &numbers[0], &mut self.uploaded_numbers[0])?;
        p.least = self.numbers[2].keep(machine, &numbers[2], &mut self.uploaded_numbers[2])?;
        if is_divergence {
            p.divergences = self.numbers[1].keep(machine, &numbers[1], &mut self.uploaded_numbers[1])?;
        }
        Ok(())
    }
}
