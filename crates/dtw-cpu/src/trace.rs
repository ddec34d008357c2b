//! Warping paths of many pairs: of pairs of equal lengths a register-full per thread at a time, else one.

use std::ops::Range;

use dtw_core::derivative::Derivatives;
use dtw_core::{
    Anchor, Band, ColumnRanges, Error, Observer, Path, Result, Scalar, Series, SeriesBatch, Spec, Uncounted,
};

use crate::group::Scratch;
use crate::lanes::Register;
use crate::parallel;
use crate::path::trace;
use crate::plan::{CpuPlan, callers, own};
use crate::prepare::{Borders, with_strips};
use crate::quantity::Quantity;

/// Most bytes of the choices of pairs side by side: what fits the caches of a core. The walk back reads one in each
/// step, and larger grids keep the lanes of the diagonal sweep busy.
const MOST_CHOICE_BYTES: u64 = 1 << 21;

impl<V: Register + Send + 'static> CpuPlan<V> {
    /// Best paths of zipped pairs.
    pub(crate) fn all_paths(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
    ) -> Result<Vec<Path<V::Scalar>>> {
        let spec = self.problem.spec();
        let derived = Derivatives::wanted(spec.measure.preparation(), x, y);
        let (x, y) = match &derived {
            Some((x, y)) => (x.batch(), y.batch()),
            None => (*x, *y),
        };
        let threads = self.threads.count().min(x.len()) as u64;
        let memory_limit_bytes = self.problem.memory_limit_bytes() / threads;
        let (token, scratch, observer) = (self.token, &self.scratch, &*self.observer);
        let trace = |s: usize, scratch: &mut Scratch<V>| {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let (x, y) = (x.get(s), y.get(s));
            if spec.anchor == Anchor::Global {
                let ranges = scratch.ranges(spec, x.len(), y.len())?;
                return scratch.path(token, spec, (x, y), &ranges, memory_limit_bytes, observer);
            }
            scratch.single(token, spec, x, y, &Uncounted(observer))?;
            let (totals, starts) = scratch.strips.edge.split_at(y.len() + 1);
            let totals = &totals[1..];
            let least = |a: usize, b: usize| if totals[b] < totals[a] { b } else { a };
            let best = (0..y.len()).reduce(least);
            let end = best.filter(|best| totals[*best] < V::Scalar::INFINITY).unwrap_or(y.len() - 1);
            let stretch = starts[end + 1].to_index()..end + 1;
            scratch.matched_path(token, spec, (x, y), stretch, memory_limit_bytes, observer)
        };
        if x.len() == 1 {
            return Ok(vec![trace(0, &mut callers(scratch))?]);
        }
        let groups = x.len().div_ceil(V::LANES);
        if spec.anchor == Anchor::Global && groups as u64 >= threads {
            let most_bytes = memory_limit_bytes.min(MOST_CHOICE_BYTES);
            let group = |group: usize| -> Result<Vec<Path<V::Scalar>>> {
                if observer.cancelled() {
                    return Err(Error::Cancelled);
                }
                let pairs = group * V::LANES..((group + 1) * V::LANES).min(x.len());
                let same = |batch: &SeriesBatch<'_, V::Scalar>| {
                    pairs.clone().all(|s| batch.length(s) == batch.length(pairs.start))
                };
                let scratch = &mut own(scratch);
                if same(&x) && same(&y) {
                    let [ours, theirs] =
                        [&x, &y].map(|batch| pairs.clone().map(|s| batch.get(s)).collect::<Vec<_>>());
                    let ranges = scratch.ranges(spec, ours[0].len(), theirs[0].len())?;
                    let both = (&ours[..], &theirs[..]);
                    let paths = scratch.paths_side_by_side(token, spec, both, &ranges, most_bytes, observer);
                    if let Some(paths) = paths {
                        return Ok(paths);
                    }
                }
                pairs.map(|s| trace(s, scratch)).collect()
            };
            let found: Result<Vec<Vec<Path<V::Scalar>>>> = self.threads.run(|| parallel::map(groups, &group));
            return Ok(found?.into_iter().flatten().collect());
        }
        self.threads.run(|| parallel::map(x.len(), &|s| trace(s, &mut own(scratch))))
    }
}

impl<V: Register> Scratch<V> {
    /// The best path of one pair within `ranges`.
    fn path(
        &mut self,
        token: V::Token,
        spec: &Spec,
        (x, y): (Series<'_, V::Scalar>, Series<'_, V::Scalar>),
        ranges: &ColumnRanges,
        memory_limit_bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Path<V::Scalar>> {
        crate::span::check_band::<V>(ranges)?;
        self.pair.x.fill(x, false);
        self.pair.y.fill(y, true);
        let (mut edge, mut column, mut right) = (Vec::new(), Vec::new(), Vec::new());
        let borders = Borders { edge: &mut edge, column: &mut column, right: &mut right, before: &[] };
        with_strips::<V, _>(
            token,
            (Quantity::Value, spec),
            &self.pair,
            borders,
            observer,
            |strips, top, _| trace(strips, ranges, std::mem::take(top), memory_limit_bytes, observer),
        )
    }

    /// The path of a match of all of x in the points `stretch` of y. Between its ends it is the best path of both as
    /// wholes: the totals along it are the same, and no other cell's total is smaller than in the open grid.
    fn matched_path(
        &mut self,
        token: V::Token,
        spec: &Spec,
        (x, y): (Series<'_, V::Scalar>, Series<'_, V::Scalar>),
        stretch: Range<usize>,
        memory_limit_bytes: u64,
        observer: &dyn Observer,
    ) -> Result<Path<V::Scalar>> {
        let open = spec.band.ranges(x.len(), y.len(), spec.anchor)?;
        let length = stretch.len();
        let band = if open.is_full() {
            Band::Full
        } else {
            let cut = |i| {
                let row = open.row(i);
                row.start.max(stretch.start) - stretch.start
                    ..row.end.min(stretch.end).saturating_sub(stretch.start)
            };
            Band::Ranges((0..x.len()).map(cut).collect())
        };
        let values = &y.values[stretch.start * y.channels..stretch.end * y.channels];
        let part = Series { values, channels: y.channels, times: None };
        let spec = Spec { anchor: Anchor::Global, band: Band::Full, ..spec.clone() };
        let ranges = band.ranges(x.len(), length, Anchor::Global)?;
        let mut path = self.path(token, &spec, (x, part), &ranges, memory_limit_bytes, observer)?;
        path.points.iter_mut().for_each(|(_, j)| *j += stretch.start);
        Ok(path)
    }
}
