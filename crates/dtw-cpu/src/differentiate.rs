//! Gradients of zipped pairs, and the expected alignment: Soft-DTW and its divergence.

use std::sync::Arc;

use dtw_core::recurrence::SoftDtw;
use dtw_core::{
    Error, Gradients, LocalCost, Measure, Observer, Pairing, PathCounts, Result, Scalar, Series, SeriesBatch,
    SoftResult, Spec, Uncounted,
};

use crate::gradient::{Batch, gradients};
use crate::gradient_scratch::GradientScratch;
use crate::gradient_single::{Cut, Single};
use crate::gradient_tiles::ROWS;
use crate::group::Scratch;
use crate::lanes::Register;
use crate::parallel;
use crate::plan::{CpuPlan, callers, own};

/// Where one pair's results go: its number, value and gradients.
struct Outlet<'a, T> {
    pair: usize,
    value: T,
    grad_x: &'a mut [T],
    grad_y: &'a mut [T],
}

/// Cuts `values` into the series of `batch`.
fn cut<'v, T>(batch: &SeriesBatch<'_, T>, mut values: &'v mut [T]) -> Vec<&'v mut [T]> {
    (0..batch.len())
        .map(|s| {
            let (own, rest) = std::mem::take(&mut values).split_at_mut(batch.length(s) * batch.channels());
            values = rest;
            own
        })
        .collect()
}

impl<V: Register + Send + 'static> CpuPlan<V> {
    pub(crate) fn all_gradients(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: Gradients<'_, V::Scalar>,
    ) -> Result<()> {
        let problem = self.problem.clone();
        let mut results = std::mem::take(&mut self.passes);
        // The upstream gradient is a factor of the whole.
        let Gradients { upstream, distances, grad_x, grad_y } = out;
        let whole = Gradients { upstream: None, distances, grad_x: &mut *grad_x, grad_y: &mut *grad_y };
        let swept = results.gradients(&problem, [x, y], whole, |[a, b], out, counts| {
            let Gradients { distances, grad_x, grad_y, .. } = out;
            self.soft_gradients(problem.spec(), a, b, distances, grad_x, grad_y)?;
            self.distances_of_gradients(problem.spec(), [a, b], distances, counts)
        });
        self.passes = results;
        swept?;
        if let Some(upstream) = upstream {
            for (batch, grad) in [(x, grad_x), (y, grad_y)] {
                for (series, factor) in cut(batch, grad).into_iter().zip(upstream) {
                    series.iter_mut().for_each(|g| *g = *g * *factor);
                }
            }
        }
        Ok(())
    }

    /// Makes distances of what the gradients' sweep found, by sweeps of their own where it has not kept their digits;
    /// of a divergence, the excess.
    fn distances_of_gradients(
        &mut self,
        spec: &Spec,
        [x, y]: [&SeriesBatch<'_, V::Scalar>; 2],
        distances: &mut [V::Scalar],
        counts: &mut PathCounts,
    ) -> Result<()> {
        let Some(soft) = SoftResult::of(&spec.measure) else {
            unreachable!("the problem admits gradients");
        };
        if matches!(spec.measure, Measure::SoftDtw { .. }) {
            let mut are_kept = true;
            for (pair, value) in distances.iter().enumerate() {
                let lengths = (x.length(pair), y.length(pair));
                are_kept &= soft.from_value(*value, counts, &spec.band, lengths)?.is_some();
            }
            if are_kept {
                return Ok(());
            }
        }
        let observer = Arc::clone(&self.observer);
        self.observer = Arc::new(Uncounted(Arc::clone(&observer)));
        let done = self.pairing(spec, Pairing::Zipped, x, y, distances);
        self.observer = observer;
        done
    }

    fn soft_gradients(
        &self,
        spec: &Spec,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        distances: &mut [V::Scalar],
        grad_x: &mut [V::Scalar],
        grad_y: &mut [V::Scalar],
    ) -> Result<()> {
        let threads = self.threads.count().min(x.len().div_ceil(V::LANES)) as u64;
        let needed = threads * GradientScratch::<V>::bytes(x.max_length(), y.max_length(), x.channels());
        if needed > self.problem.memory_limit_bytes() {
            return Err(Error::OutOfMemory {
                what: format!("the gradients of series of {} and {} points", x.max_length(), y.max_length()),
                requested_bytes: needed,
                available_bytes: self.problem.memory_limit_bytes(),
            });
        }
        let mut outlets: Vec<_> = cut(x, grad_x)
            .into_iter()
            .zip(cut(y, grad_y))
            .enumerate()
            .map(|(pair, (grad_x, grad_y))| Outlet { pair, value: V::Scalar::ZERO, grad_x, grad_y })
            .collect();
        outlets.sort_by_key(|o| (x.length(o.pair), y.length(o.pair)));
        let observer = &*self.observer;
        let sweep = |group: &mut [Outlet<'_, V::Scalar>], scratch: &mut Scratch<V>| {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let lanes_x: Vec<_> = group.iter().map(|o| x.get(o.pair)).collect();
            let lanes_y: Vec<_> = group.iter().map(|o| y.get(o.pair)).collect();
            let values = differentiate(scratch, self.token, spec, &lanes_x, &lanes_y, None, observer)?;
            let channels = x.channels();
            for (lane, outlet) in group.iter_mut().enumerate() {
                let (value, cells) = values[lane];
                outlet.value = V::Scalar::from_f64(value + 0.0);
                let lane_of = |from: &[V], to: &mut [V::Scalar]| {
                    for (to, from) in to.iter_mut().zip(&from[channels..]) {
                        *to = from.lanes()[lane];
                    }
                };
                lane_of(&scratch.gradient.grad_x, outlet.grad_x);
                lane_of(&scratch.gradient.grad_y, outlet.grad_y);
                observer.advance(cells);
            }
            Ok(())
        };
        if outlets.len() <= V::LANES {
            outlets.chunks_mut(V::LANES).try_for_each(|group| sweep(group, &mut callers(&self.scratch)))?;
        } else {
            self.threads.run(|| {
                parallel::each_chunk(&mut outlets, V::LANES, &|_, group| {
                    sweep(group, &mut own(&self.scratch))
                })
            })?;
        }
        for outlet in outlets {
            distances[outlet.pair] = outlet.value;
        }
        Ok(())
    }

    pub(crate) fn expected_alignment(
        &mut self,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
    ) -> Result<Vec<V::Scalar>> {
        let spec = self.problem.spec();
        let values = (x.len() as u64) * (y.len() as u64);
        let needed = values * size_of::<V::Scalar>() as u64
            + GradientScratch::<V>::bytes(x.len(), y.len(), x.channels);
        if needed > self.problem.memory_limit_bytes() {
            return Err(Error::OutOfMemory {
                what: format!("the {} x {} alignment matrix", x.len(), y.len()),
                requested_bytes: needed,
                available_bytes: self.problem.memory_limit_bytes(),
            });
        }
        let mut expected = vec![V::Scalar::ZERO; values as usize];
        let mut scratch = callers(&self.scratch);
        differentiate(&mut scratch, self.token, spec, &[x], &[y], Some(&mut expected), &*self.observer)?;
        Ok(expected)
    }
}

/// Values of one register-full of pairs, each with its cells, unless the observer cancels; gradients stay in the
/// scratch. The expected alignment of the first pair, row by row, goes to `expected` if that is there.
fn differentiate<V: Register>(
    scratch: &mut Scratch<V>,
    token: V::Token,
    spec: &Spec,
    x: &[Series<'_, V::Scalar>],
    y: &[Series<'_, V::Scalar>],
    expected: Option<&mut [V::Scalar]>,
    observer: &dyn Observer,
) -> Result<Vec<(f64, u64)>> {
    let (Measure::SoftDtw { gamma, cost } | Measure::SoftDtwDivergence { gamma, cost }) = spec.measure else {
        unreachable!("callers check the measure");
    };
    let soft = SoftDtw::new(V::splat(token, V::Scalar::ZERO), gamma, cost);
    Lanes { token, spec, soft: &soft, x, y }.differentiate(scratch, expected, observer)
}

/// One register-full of pairs.
#[derive(Clone, Copy)]
struct Lanes<'a, V: Register> {
    token: V::Token,
    spec: &'a Spec,
    soft: &'a SoftDtw<V, LocalCost>,
    x: &'a [Series<'a, V::Scalar>],
    y: &'a [Series<'a, V::Scalar>],
}

impl<V: Register> Lanes<'_, V> {
    fn differentiate(
        self,
        scratch: &mut Scratch<V>,
        expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> Result<Vec<(f64, u64)>> {
        let Self { token, spec, soft, x, y } = self;
        let ends: Vec<_> = x.iter().zip(y).map(|(x, y)| (x.len(), y.len())).collect();
        let (mut distinct, mut of_lane) = (vec![], vec![]);
        for (lane, (n, m)) in ends.iter().enumerate() {
            if lane == 0 || ends[lane - 1] != (*n, *m) {
                distinct.push(spec.band.ranges(*n, *m, spec.anchor)?);
            }
            of_lane.push(distinct.len() - 1);
        }
        let ranges: Vec<_> = of_lane.into_iter().map(|k| &distinct[k]).collect();
        let n = ends.iter().map(|e| e.0).max().unwrap_or(0);
        let m = ends.iter().map(|e| e.1).max().unwrap_or(0);
        let mut values: Vec<_> = ranges.iter().map(|ranges| (0.0, ranges.cells())).collect();
        let Scratch { x: side_x, y: side_y, gradient, single_gradient, .. } = scratch;

        // One by one, with tiles in the lanes, if that is cheaper than side by side. It is not where lanes are full.
        let together = values.iter().map(|(_, cells)| *cells as usize).max().unwrap_or(0);
        let all: usize = values.iter().map(|(_, cells)| *cells as usize).sum();
        let has_idle_lanes = all < together * V::LANES;
        let is_apart = has_idle_lanes || !V::IS_TUNED;
        let cuts: Vec<_> =
            ranges.iter().filter(|_| is_apart).map(|ranges| Cut::best(ranges, V::LANES)).collect();
        let apart = cuts.iter().map(|cut| cut.cost).sum::<usize>();
        if !V::IS_TUNED || has_idle_lanes && apart < together {
            let mut expected = expected;
            for (lane, (x, y)) in x.iter().zip(y).enumerate() {
                let mut value = None;
                V::compiled(
                    token,
                    #[inline(always)]
                    || {
                        let (ranges, cut) = (ranges[lane], cuts[lane]);
                        let single = Single { soft, token, x: *x, y: *y, ranges, cut };
                        value = single.gradients(single_gradient, expected.take(), observer);
                    },
                );
                values[lane].0 = value.ok_or(Error::Cancelled)?;
                let gradients = (&single_gradient.grad_x[..], &single_gradient.grad_y[..]);
                gradient.put(lane, token, x.channels, gradients);
            }
            return Ok(values);
        }

        let mut is_done = false;
        V::compiled(
            token,
            #[inline(always)]
            || {
                side_x.fill(token, x, n, ROWS);
                side_y.fill(token, y, m, 0);
                let batch = Batch { x: side_x, y: side_y, ends: &ends, ranges: &ranges };
                let value = |lane: usize, value: f64| values[lane].0 = value;
                is_done = gradients(soft, token, &batch, gradient, value, expected, observer);
            },
        );
        if is_done { Ok(values) } else { Err(Error::Cancelled) }
    }
}
