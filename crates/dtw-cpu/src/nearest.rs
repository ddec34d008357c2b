//! The nearest series by DTW with squared Euclidean cost on one channel, most of which are not swept.
//!
//! The series of x lie in lanes, a register-full together, with their envelopes. A series of y is compared with all of
//! them: bounds first ([`crate::keogh`]), then, the lowest bounds first, the sweep that gives up ([`crate::abandon`]).
//! What decides nothing, [`dtw_core::contenders`] says: there is no exclusion, and places are numbers of series. Roles
//! are exchanged here, y has the rows; with equal lengths and a band that is its own mirror image, every path has its
//! mirror image with the same sums, and so the distance has the same bits.

use dtw_core::bounds::raised;
use dtw_core::contenders::{Contenders, MOST};
use dtw_core::{
    Anchor, Band, ColumnRanges, Error, LocalCost, Measure, Problem, Ranked, Result, Scalar, SearchOptions,
    Series, SeriesBatch,
};
use rayon::prelude::*;

use crate::abandon::Cut;
use crate::group::Scratch;
use crate::in_lanes::LaneReach;
use crate::keogh::Enveloped;
use crate::lanes::{MOST_LANES, Register};
use crate::plan::{CpuPlan, own};
use crate::told::Told;

/// Whether this problem's nearest series are found by bounds, if lengths are equal.
pub(crate) fn is_pruned(problem: &Problem) -> bool {
    let (spec, shape) = (problem.spec(), problem.shape());
    spec.measure == (Measure::Dtw { cost: LocalCost::SquaredEuclidean })
        && spec.anchor == Anchor::Global
        && matches!(spec.band, Band::Full | Band::SakoeChiba { .. })
        && shape.channels == 1
}

/// Series of one length in lanes: point `j` of the series `l` of a register-full at `j · LANES + l`, one register-full
/// after the other.
struct InLanes<T> {
    points: Vec<T>,
    lower: Vec<T>,
    upper: Vec<T>,
    /// Values of a register-full.
    full: usize,
}

impl<T: Scalar> InLanes<T> {
    fn new<V: Register<Scalar = T>>(
        token: V::Token,
        x: &SeriesBatch<'_, T>,
        length: usize,
        reach: (usize, usize),
    ) -> Self {
        let full = length * V::LANES;
        let all = x.len().div_ceil(V::LANES) * full;
        let mut points = vec![T::ZERO; all];
        let (mut lower, mut upper) = (points.clone(), points.clone());
        V::compiled(
            token,
            #[inline(always)]
            || {
                let mut columns = Vec::new();
                let mut extremes = LaneReach::default();
                for (r, register) in points.chunks_exact_mut(full).enumerate() {
                    columns.clear();
                    for l in 0..V::LANES {
                        let values = x.get((r * V::LANES + l).min(x.len() - 1)).values;
                        for (point, value) in register.chunks_exact_mut(V::LANES).zip(values) {
                            point[l] = *value;
                        }
                    }
                    columns.extend(register.chunks_exact(V::LANES).map(
                        #[inline(always)]
                        |point| V::load(token, point),
                    ));
                    extremes.fill(token, &columns, reach);
                    for (j, (least, most)) in
                        extremes.lower.iter().zip(&extremes.upper).take(length).enumerate()
                    {
                        least.store(&mut lower[r * full + j * V::LANES..]);
                        most.store(&mut upper[r * full + j * V::LANES..]);
                    }
                }
            },
        );
        Self { points, lower, upper, full }
    }

    /// Points and envelopes of a register-full.
    fn register(&self, r: usize) -> [&[T]; 3] {
        let all = r * self.full..(r + 1) * self.full;
        [&self.points[all.clone()], &self.lower[all.clone()], &self.upper[all]]
    }
}

/// What the calls for single series of y share.
struct Searched<'a, V: Register> {
    token: V::Token,
    x: SeriesBatch<'a, V::Scalar>,
    lanes: InLanes<V::Scalar>,
    ranges: ColumnRanges,
    k: usize,
}

impl<V: Register + Send> CpuPlan<V> {
    /// The `k` nearest series of x to each of y, nearest first, ties by number; nothing where they are to be ranked by
    /// their distances instead.
    pub(crate) fn pruned_nearest(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        k: usize,
    ) -> Result<Option<Ranked<V::Scalar>>> {
        let length = x.length(0);
        let is_equal =
            |batch: &SeriesBatch<'_, V::Scalar>| batch.is_equal_length() && batch.length(0) == length;
        if !is_pruned(&self.problem) || k > MOST || !is_equal(x) || !is_equal(y) {
            return Ok(None);
        }
        // No distance may overflow: that is an error, which must not depend on what is swept.
        let largest = |batch: &SeriesBatch<'_, V::Scalar>| {
            batch.values().iter().fold(0.0, |largest: f64, v| largest.max(v.to_f64().abs()))
        };
        let apart = largest(x) + largest(y);
        let most = match V::Scalar::DTYPE {
            dtw_core::Dtype::F32 => f64::from(f32::MAX),
            dtw_core::Dtype::F64 => f64::MAX,
        };
        let in_lanes =
            (x.len().div_ceil(V::LANES) * V::LANES) as u64 * (3 * length * size_of::<V::Scalar>()) as u64;
        if apart * apart * 4.0 * length as f64 > most || in_lanes > self.problem.memory_limit_bytes() / 2 {
            return Ok(None);
        }
        let Self { token, problem, threads, observer, scratch, .. } = self;
        let (token, observer, scratch) = (*token, &**observer, &*scratch);
        let ranges = problem.spec().band.ranges(length, length, Anchor::Global)?;
        let reach = Enveloped::new(x.get(0).values, ranges.clone()).reach;
        let lanes = InLanes::new::<V>(token, x, length, reach);
        let cells = ranges.cells();
        let searched = Searched::<V> { token, x: *x, lanes, ranges, k };
        // With fewer series than threads, each is compared with parts of x at once.
        let registers = x.len().div_ceil(V::LANES);
        let parts = threads.count().div_ceil(y.len()).min(registers);
        let part = registers.div_ceil(parts);
        let mut found = threads.run(|| {
            (0..y.len() * parts)
                .into_par_iter()
                .map(|task| {
                    if observer.cancelled() {
                        return Err(Error::Cancelled);
                    }
                    let (j, first) = (task / parts, task % parts * part);
                    let registers = first..(first + part).min(registers);
                    let mut told = Told::default();
                    let best = searched.one(y.get(j), registers, &mut own(scratch), &mut told);
                    told.tell(observer, cells);
                    Ok(best)
                })
                .collect::<Result<Vec<_>>>()
        })?;
        let best = found.chunks_mut(parts).flat_map(|parts| {
            let mut all: Vec<_> = parts.iter_mut().flat_map(std::mem::take).collect();
            all.sort_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()).then(a.0.cmp(&b.0)));
            all.truncate(k);
            all
        });
        Ok(Some(best.collect()))
    }
}

impl<V: Register> Searched<'_, V> {
    /// The nearest to `y` of the series in these registers.
    fn one(
        &self,
        y: Series<'_, V::Scalar>,
        registers: std::ops::Range<usize>,
        scratch: &mut Scratch<V>,
        told: &mut Told,
    ) -> Ranked<V::Scalar> {
        let Self { token, x, lanes, ranges, k } = self;
        let query = Enveloped::new(y.values, ranges.clone());
        let mut contenders = Contenders::new(&SearchOptions::default().with_top_k(*k));
        let lengths = (ranges.n(), ranges.m());
        let mut sweep = |some: &[usize], contenders: &mut Contenders<V::Scalar>| {
            let cut = contenders.bar(0);
            let cut = Cut { cut, bar: raised(cut, lengths) };
            let mut series = [Series::univariate(&[]); MOST_LANES];
            let mut out = [V::Scalar::INFINITY; MOST_LANES];
            for (series, i) in series.iter_mut().zip(some) {
                *series = x.get(*i);
            }
            let out = &mut out[..some.len()];
            scratch.abandoning.series(*token, &query, &series[..some.len()], cut, out);
            for (i, distance) in some.iter().zip(out.iter()) {
                contenders.offer(*distance, *i);
                told.given_up += u64::from(!distance.finite());
            }
            told.swept += some.len() as u64;
        };
        let of = |registers: std::ops::Range<usize>| {
            (registers.start * V::LANES..registers.end * V::LANES).take_while(|i| *i < x.len())
        };
        told.pairs = of(registers.clone()).count() as u64;
        // Some that are as good as any, so that there is a bar at all.
        let begun = (registers.start + k.div_ceil(V::LANES)).min(registers.end);
        for r in registers.start..begun {
            let some: Vec<usize> = of(r..r + 1).collect();
            sweep(&some, &mut contenders);
        }
        let bar = raised(contenders.bar(0), lengths);
        let mut left = Vec::new();
        for r in begun..registers.end {
            let bounds = query.bound_lanes::<V>(*token, lanes.register(r), bar);
            let of_lanes = of(r..r + 1).zip(bounds.lanes());
            left.extend(of_lanes.filter(|(_, bound)| **bound < bar).map(|(i, bound)| (*bound, i)));
        }
        left.sort_unstable_by(|a, b| a.0.to_f64().total_cmp(&b.0.to_f64()).then(a.1.cmp(&b.1)));
        let mut waiting = left.as_slice();
        while !waiting.is_empty() {
            let bar = raised(contenders.bar(0), lengths);
            let count = waiting.iter().take(V::LANES).take_while(|(bound, _)| *bound < bar).count();
            if count == 0 {
                break;
            }
            let some: Vec<usize> = waiting[..count].iter().map(|(_, i)| *i).collect();
            sweep(&some, &mut contenders);
            waiting = &waiting[count..];
        }
        contenders.best().into_iter().map(|(distance, i)| (i, distance)).collect()
    }
}
