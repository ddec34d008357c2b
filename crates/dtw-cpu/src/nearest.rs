//! The nearest series of one length and one channel, most of which are not swept.
//!
//! The series of x lie in lanes, a register-full together, with their envelopes. A series of y is compared with all of
//! them: by DTW with squared Euclidean cost as `nearest_dtw.rs` says, by other measures as `nearest_any.rs` says. What
//! decides nothing, [`dtw_core::contenders`] says: there is no exclusion, and places are numbers of series. Roles are
//! exchanged here, y has the rows; with equal lengths and a band that is its own mirror image, every path has its
//! mirror image with the same sums, and so the distance has the same bits.
//!
//! Where nothing can be pruned, bounds and looks at them are a loss, and so is half of a symmetric problem. Some series
//! of y are searched for first. When these leave most columns to be swept, all distances are to be ranked instead.

use dtw_core::contenders::MOST;
use dtw_core::derivative::Derivatives;
use dtw_core::{
    Anchor, Band, Dtype, Error, LocalCost, Measure, Problem, Ranked, Result, Scalar, SeriesBatch,
};

use crate::batched::ROWS;
use crate::in_lanes::{InLanes, LaneReach};
use crate::lanes::Register;
use crate::parallel;
use crate::plan::{CpuPlan, own};
use crate::told::{OF_ANY, OF_DTW, Told};
use crate::{least, nearest_any, nearest_dtw};

/// One of so many series of y is searched for before it is decided whether pruning is worth it.
const ONE_TRIED_OF: usize = 64;
/// The largest share of columns that may be left to be swept by then. The sweep that gives up takes up to 1.4 times as
/// long for a column (noise in a band of 10%, AVX-512 Xeon), and a symmetric problem needs half of the pairs otherwise.
const MOST_LEFT: f64 = 0.4;

/// Whether this problem's nearest series are found by bounds, if lengths are equal, on a machine whose registers are
/// tuned or not.
pub(crate) fn is_pruned(problem: &Problem, is_tuned: bool) -> bool {
    let (spec, shape) = (problem.spec(), problem.shape());
    let has_bounds = match spec.measure {
        Measure::Dtw { cost: LocalCost::SquaredEuclidean }
        | Measure::Ddtw { cost: LocalCost::SquaredEuclidean } => true,
        Measure::Dtw { .. }
        | Measure::Ddtw { .. }
        | Measure::Wdtw { .. }
        | Measure::Wddtw { .. }
        | Measure::Adtw { .. }
        | Measure::Erp { .. }
        | Measure::Msm { .. }
        | Measure::Twed { .. } => is_tuned,
        // Without a band, 64 cells are a word.
        Measure::Edr { .. } => is_tuned && spec.band != Band::Full,
        _ => false,
    };
    has_bounds
        && spec.anchor == Anchor::Global
        && matches!(spec.band, Band::Full | Band::SakoeChiba { .. })
        && shape.channels == 1
}

/// How a series of y is searched for.
enum Searched<'a, V: Register> {
    Dtw(nearest_dtw::Searched<'a, V>),
    Any(nearest_any::Searched<'a, V>),
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
        // Times may turn back below zero, and are rarely given.
        let is_timed = x.has_times() || y.has_times();
        if !is_pruned(&self.problem, V::IS_TUNED) || k > MOST || !is_equal(x) || !is_equal(y) || is_timed {
            return Ok(None);
        }
        match Derivatives::wanted(self.problem.spec().measure.preparation(), x, y) {
            Some((x, y)) => self.pruned_nearest_of(&x.batch(), &y.batch(), k),
            None => self.pruned_nearest_of(x, y, k),
        }
    }

    /// Of prepared series, all of one length.
    fn pruned_nearest_of(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        k: usize,
    ) -> Result<Option<Ranked<V::Scalar>>> {
        let length = x.length(0);
        let spec = self.problem.spec();
        // No distance may overflow: that is an error, which must not depend on what is swept.
        let largest = |batch: &SeriesBatch<'_, V::Scalar>| {
            batch.values().iter().fold(0.0, |largest: f64, v| largest.max(v.to_f64().abs()))
        };
        let (height_x, height_y) = (largest(x), largest(y));
        let dearest =
            nearest_any::dearest(&spec.measure, height_x + height_y, height_x.max(height_y), length);
        let most = match V::Scalar::DTYPE {
            Dtype::F32 => f64::from(f32::MAX),
            Dtype::F64 => f64::MAX,
        };
        let in_lanes =
            (x.len().div_ceil(V::LANES) * V::LANES) as u64 * (3 * length * size_of::<V::Scalar>()) as u64;
        // What is not a number is too large as well.
        let is_safe = dearest * 4.0 * length as f64 <= most;
        if !is_safe || in_lanes > self.problem.memory_limit_bytes() / 2 {
            return Ok(None);
        }
        let ranges = spec.band.ranges(length, length, Anchor::Global)?;
        let (before, after) = crate::keogh::reach(&ranges);
        let is_dtw = matches!(
            spec.measure,
            Measure::Dtw { cost: LocalCost::SquaredEuclidean }
                | Measure::Ddtw { cost: LocalCost::SquaredEuclidean }
        );
        let Self { token, problem, threads, observer, scratch, .. } = self;
        let (token, observer, scratch) = (*token, &**observer, &*scratch);
        let lanes = InLanes::new::<V>(
            token,
            x,
            #[inline(always)]
            |reach: &mut LaneReach<V>, points: &[V]| {
                if is_dtw {
                    reach.fill(token, points, (before, after));
                } else {
                    reach.fill_all(token, points, (before, after));
                }
            },
        );
        let (cells, columns) = (ranges.cells(), columns_of_strips(&ranges));
        let (searched, bounds) = if is_dtw {
            (Searched::Dtw(nearest_dtw::Searched::<V> { token, x: *x, lanes, ranges, k }), OF_DTW)
        } else {
            let (spec, radius) = (problem.spec().clone(), before.max(after));
            let weights = least::weights(&spec, length);
            let any = nearest_any::Searched::<V> { token, spec, x: *x, lanes, ranges, radius, weights, k };
            (Searched::Any(any), OF_ANY)
        };
        let registers = x.len().div_ceil(V::LANES);
        let some = |series: std::ops::Range<usize>, is_told: bool| {
            // With fewer series than threads, each is compared with parts of x at once.
            let parts = threads.count().div_ceil(series.len()).min(registers);
            let part = registers.div_ceil(parts);
            threads
                .run(|| {
                    parallel::map(series.len() * parts, &|task| {
                        if observer.cancelled() {
                            return Err(Error::Cancelled);
                        }
                        let (j, first) = (series.start + task / parts, task % parts * part);
                        let registers = first.min(registers)..(first + part).min(registers);
                        let (mut told, scratch) = (Told::default(), &mut own(scratch));
                        let best = match &searched {
                            Searched::Dtw(searched) => searched.one(y.get(j), registers, scratch, &mut told),
                            Searched::Any(searched) => searched.one(y.get(j), registers, scratch, &mut told),
                        };
                        if is_told {
                            told.tell(observer, cells, bounds);
                        }
                        Ok((best, told))
                    })
                })
                .map(|mut found| {
                    let (mut ranked, mut told) = (Vec::with_capacity(series.len() * k), Told::default());
                    for parts in found.chunks_mut(parts) {
                        let mut all = Vec::new();
                        for (best, of_part) in parts {
                            all.append(best);
                            told.add(of_part);
                        }
                        all.sort_by(|a, b| a.1.to_f64().total_cmp(&b.1.to_f64()).then(a.0.cmp(&b.0)));
                        all.truncate(k);
                        ranked.append(&mut all);
                    }
                    (ranked, told)
                })
        };
        let tried = if is_dtw { 0 } else { y.len() / ONE_TRIED_OF };
        let mut ranked = Vec::new();
        if tried > 0 {
            let (of_tried, told) = some(0..tried, false)?;
            let all = (tried * registers * columns) as f64;
            if told.columns as f64 > MOST_LEFT * all {
                return Ok(None);
            }
            told.tell(observer, cells, bounds);
            ranked = of_tried;
        }
        ranked.append(&mut some(tried..y.len(), true)?.0);
        Ok(Some(ranked))
    }
}

/// Columns of rows that the strips of a full sweep have.
fn columns_of_strips(ranges: &dtw_core::ColumnRanges) -> usize {
    let n = ranges.n();
    (0..n)
        .step_by(ROWS)
        .map(|first| (ranges.row((first + ROWS - 1).min(n - 1)).end - ranges.row(first).start) * ROWS)
        .sum()
}
