//! Gradients of zipped pairs, and the expected alignment: Soft-DTW and its divergence.

use std::sync::Arc;

use dtw_core::recurrence::cost::{Euclidean, Manhattan, SquaredEuclidean};
use dtw_core::recurrence::{One, SoftDtw};
use dtw_core::{
    Error, Gradients, LocalCost, Measure, Observer, Pairing, PathCounts, Result, Scalar, Series, SeriesBatch,
    SoftResult, Spec, Uncounted, bail_invalid,
};
use rayon::prelude::*;

use crate::gradient::{Batch, gradients};
use crate::gradient_scratch::GradientScratch;
use crate::gradient_shape::ROWS;
use crate::gradient_single::{Cut, Single};
use crate::gradient_strip::Smooth;
use crate::group::Scratch;
use crate::lanes::Register;
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
    pub(crate) fn check_gradients(
        &self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: &Gradients<'_, V::Scalar>,
    ) -> Result<()> {
        if x.len() != y.len() {
            bail_invalid!("gradients are of zipped pairs: x has {} series, y has {}", x.len(), y.len());
        }
        let lengths = [
            ("upstream", out.upstream.map_or(x.len(), <[_]>::len), x.len()),
            ("distances", out.distances.len(), x.len()),
            ("grad_x", out.grad_x.len(), x.values().len()),
            ("grad_y", out.grad_y.len(), y.values().len()),
        ];
        for (name, got, expected) in lengths {
            if got != expected {
                bail_invalid!("{name} needs {expected} values, got a slice of {got}");
            }
        }
        Ok(())
    }

    pub(crate) fn all_gradients(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: Gradients<'_, V::Scalar>,
    ) -> Result<()> {
        let spec = self.problem.spec().clone();
        self.soft_gradients(&spec, x, y, out.distances, out.grad_x, out.grad_y)?;
        if matches!(spec.measure, Measure::SoftDtwDivergence { .. }) {
            let half = V::Scalar::from_f64(0.5);
            for (batch, grad) in [(x, &mut *out.grad_x), (y, &mut *out.grad_y)] {
                let mut values = vec![V::Scalar::ZERO; batch.len()];
                let mut left = vec![V::Scalar::ZERO; grad.len()];
                let mut right = left.clone();
                self.soft_gradients(&spec, batch, batch, &mut values, &mut left, &mut right)?;
                for (grad, (left, right)) in grad.iter_mut().zip(left.iter().zip(&right)) {
                    *grad = *grad - half * (*left + *right);
                }
            }
        }
        self.distances_of_gradients(&spec, x, y, out.distances)?;
        if let Some(upstream) = out.upstream {
            for (batch, grad) in [(x, out.grad_x), (y, out.grad_y)] {
                for (series, factor) in cut(batch, grad).into_iter().zip(upstream) {
                    series.iter_mut().for_each(|g| *g = *g * *factor);
                }
            }
        }
        Ok(())
    }

    /// Makes distances of what the gradients' sweep found, by sweeps of their own where it has not kept their digits.
    fn distances_of_gradients(
        &mut self,
        spec: &Spec,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        distances: &mut [V::Scalar],
    ) -> Result<()> {
        let Some(soft) = SoftResult::of(&spec.measure) else {
            unreachable!("callers check the measure");
        };
        let observer = Arc::clone(&self.observer);
        self.observer = Arc::new(Uncounted(Arc::clone(&observer)));
        let done = if let Measure::SoftDtwDivergence { .. } = spec.measure {
            self.unchecked_distances(Pairing::Zipped, x, y, distances)
        } else {
            let mut counts = PathCounts::default();
            let mut is_kept = |(pair, value): (usize, &V::Scalar)| {
                soft.from_value(*value, &mut counts, &spec.band, (x.length(pair), y.length(pair)))
                    .map(|kept| kept.is_some())
            };
            let kept = distances.iter().enumerate().map(&mut is_kept).collect::<Result<Vec<_>>>();
            match kept {
                Ok(kept) if kept.iter().all(|kept| *kept) => Ok(()),
                Ok(_) => self.pairing(spec, Pairing::Zipped, x, y, distances),
                Err(error) => Err(error),
            }
        };
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
                outlets.par_chunks_mut(V::LANES).try_for_each(|group| sweep(group, &mut own(&self.scratch)))
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
        for (name, series) in [("x", x), ("y", y)] {
            SeriesBatch::single(series).check(name)?;
        }
        if x.channels != y.channels {
            bail_invalid!("x has {} channels, y has {}: they must be equal", x.channels, y.channels);
        }
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
    let lanes = Lanes { token, spec, gamma, x, y };
    match cost {
        LocalCost::SquaredEuclidean => lanes.differentiate::<SquaredEuclidean>(scratch, expected, observer),
        // For one channel the Euclidean cost is the Manhattan cost.
        LocalCost::Euclidean if x[0].channels > 1 => {
            lanes.differentiate::<Euclidean>(scratch, expected, observer)
        }
        LocalCost::Euclidean | LocalCost::Manhattan => {
            lanes.differentiate::<Manhattan>(scratch, expected, observer)
        }
    }
}

/// One register-full of pairs.
#[derive(Clone, Copy)]
struct Lanes<'a, V: Register> {
    token: V::Token,
    spec: &'a Spec,
    gamma: f64,
    x: &'a [Series<'a, V::Scalar>],
    y: &'a [Series<'a, V::Scalar>],
}

impl<V: Register> Lanes<'_, V> {
    /// [`differentiate`] for a local cost.
    fn differentiate<C: Smooth<V>>(
        self,
        scratch: &mut Scratch<V>,
        expected: Option<&mut [V::Scalar]>,
        observer: &dyn Observer,
    ) -> Result<Vec<(f64, u64)>> {
        let Self { token, spec, gamma, x, y } = self;
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
        let cuts: Vec<_> =
            ranges.iter().filter(|_| has_idle_lanes).map(|ranges| Cut::best(ranges, V::LANES)).collect();
        if has_idle_lanes && cuts.iter().map(|cut| cut.cost).sum::<usize>() < together {
            let mut expected = expected;
            for (lane, (x, y)) in x.iter().zip(y).enumerate() {
                let mut value = None;
                V::compiled(
                    token,
                    #[inline(always)]
                    || {
                        let soft = SoftDtw::<V, C>::new(V::splat(token, V::Scalar::ZERO), gamma);
                        let (ranges, cut) = (ranges[lane], cuts[lane]);
                        let single = Single { soft: &soft, token, x: *x, y: *y, ranges, cut };
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
                let soft = SoftDtw::<V, C>::new(V::splat(token, V::Scalar::ZERO), gamma);
                let batch = Batch { x: side_x, y: side_y, ends: &ends, ranges: &ranges };
                let value = |lane: usize, value: f64| values[lane].0 = value;
                if x[0].channels == 1 {
                    is_done =
                        gradients::<V, One<V>, C>(&soft, token, &batch, gradient, value, expected, observer);
                } else {
                    is_done =
                        gradients::<V, &[V], C>(&soft, token, &batch, gradient, value, expected, observer);
                }
            },
        );
        if is_done { Ok(values) } else { Err(Error::Cancelled) }
    }
}
