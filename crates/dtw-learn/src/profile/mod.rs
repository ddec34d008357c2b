//! The profile of a long series: how far each of its windows is from the nearest other one, and where that is.
//!
//! ```text
//! P(i)  =  min_j d(A_i, A_j)  over the windows with |i − j| > e        I(i) = the least such j
//! P(i)  =  min_j d(A_i, B_j)  over all windows of another series
//! ```
//!
//! `A_i` are the `m` points from point `i` on, z-normalised unless told otherwise. With Euclidean distance this is the
//! matrix profile (Yeh et al. 2016, 10.1109/ICDM.2016.0179); here `d` is any elastic measure that is the cost of one
//! best path, in any band. Windows near `i` overlap it and are near to it for that reason alone, so those within the
//! exclusion zone `e` do not count: `⌈m / 2⌉` unless told otherwise. Of equally near windows the first is taken. A
//! window without any neighbour outside the zone has an infinite distance and no place.
//!
//! A window of equal values becomes zeros when it is z-normalised ([`dtw_core::normalize`]), as in a search: two such
//! windows are at distance 0 of each other, and their distance to another window is that of a line of zeros.
//!
//! [`Profile::motifs`] and [`Profile::discords`] are what stands out. Where the backend has bounds
//! ([`dtw_core::Backend::prunes_windows`]), few pairs are swept; the result has the same bits. Windows are copied, and
//! distances made, a part at a time within the memory limit.
//!
//! ```
//! use dtw_core::{Series, Spec};
//! use dtw_learn::{Context, ProfileOptions, profile};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let a = [0.0_f64, 1.0, 5.0, 0.0, 2.0, 2.0, 1.0, 2.0, 6.0, 1.0, 9.0];
//! let found = profile(&Context::new(&backend), &Spec::dtw(), Series::univariate(&a), &ProfileOptions::new(3))?;
//! let motif = found.motifs(1)[0];
//! assert_eq!((motif.first, motif.second), (0, 6));
//! # Ok::<(), dtw_core::Error>(())
//! ```

mod options;
mod summary;

use dtw_core::{
    Anchor, NearestWindow, Pairing, Problem, Result, Scalar, Series, SeriesBatch, Shape, Spec, WindowJoin,
    bail_invalid,
};

pub use self::options::ProfileOptions;
pub use self::summary::{Discord, Motif, Profile};
use crate::Context;
use crate::nearest::{is_symmetric, ranking_threads};
use crate::ranking::Ranking;
use crate::tiled::for_each_finite_tile;

/// The profile of `series`: for each window the nearest other one outside the exclusion zone.
///
/// Time: a sweep for every pair of windows, half of them for most measures; where the backend has bounds, most pairs
/// cost a few operations. Memory: within the context's limit, and a distance and a place per window. A part of the
/// windows is copied at a time, or (with bounds) some numbers are kept per point.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for a window of no points or longer than the series, a step of 0, values that are not
/// finite, timestamps, a measure that is no cost of one best path, bad parameters, and a distance that is not finite;
/// [`dtw_core::Error::OutOfMemory`] where the limit holds no two windows; otherwise as [`crate::for_each_tile`].
pub fn profile<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    series: Series<'_, T>,
    options: &ProfileOptions,
) -> Result<Profile<T>> {
    Joined { context, spec, series, other: None, options }.profile()
}

/// The profile of `series` in `other`: for each window of `series` the nearest one of `other`. There is no exclusion
/// zone. The window of `other` is the first argument of the distance, which matters for explicit band ranges alone.
///
/// Time and memory: as [`profile`], of all pairs.
///
/// # Errors
/// As [`profile`]; [`dtw_core::Error::Invalid`] for another number of channels.
pub fn profile_join<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    series: Series<'_, T>,
    other: Series<'_, T>,
    options: &ProfileOptions,
) -> Result<Profile<T>> {
    Joined { context, spec, series, other: Some(other), options }.profile()
}

/// Grid cells that [`profile`], or with another series [`profile_join`], tells the observer of.
///
/// # Errors
/// As [`profile`], of series and parameters.
pub fn profile_cells<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    series: Series<'_, T>,
    other: Option<Series<'_, T>>,
    options: &ProfileOptions,
) -> Result<u64> {
    let joined = Joined { context, spec, series, other, options };
    let join = joined.checked()?;
    let (rows, columns) = joined.counts(&join);
    let pairs = match joined.pairing()? {
        Pairing::SelfSymmetric => rows as u64 * (rows as u64 + 1) / 2,
        Pairing::Cross | Pairing::Zipped => rows as u64 * columns as u64,
    };
    Ok(joined.pair_cells()?.saturating_mul(pairs))
}

/// A profile to be made.
struct Joined<'a, 'b, T: Scalar> {
    context: &'a Context<'b, T>,
    spec: &'a Spec,
    series: Series<'a, T>,
    other: Option<Series<'a, T>>,
    options: &'a ProfileOptions,
}

impl<'a, T: Scalar> Joined<'a, '_, T> {
    /// The join, once it and the series have been checked.
    fn checked(&self) -> Result<WindowJoin> {
        let Self { spec, series, other, options, .. } = self;
        let join = options.join(other.is_none());
        for (series, name) in [(Some(series), "series"), (other.as_ref(), "other")] {
            let Some(series) = series else { continue };
            join.check(series, name)?;
            SeriesBatch::single(*series).check(name)?;
        }
        if let Some(other) = other
            && other.channels != series.channels
        {
            bail_invalid!(
                "series has {} channels, other has {}: they must be equal",
                series.channels,
                other.channels
            );
        }
        if !spec.measure.has_path(1) || spec.measure.is_similarity() || spec.anchor != Anchor::Global {
            bail_invalid!(
                "a profile needs a measure whose distance is the cost of one path from end to end, got {}",
                spec.measure.key()
            );
        }
        Ok(join)
    }

    /// Windows of the rows, which are the neighbours, and of the columns, which have them.
    fn counts(&self, join: &WindowJoin) -> (usize, usize) {
        (join.count(self.rows().len()), join.count(self.series.len()))
    }

    /// The series of the neighbours.
    fn rows(&self) -> Series<'a, T> {
        self.other.unwrap_or(self.series)
    }

    fn first_window<'s>(&self, series: &Series<'s, T>) -> Series<'s, T> {
        Series { values: &series.values[..self.options.window * series.channels], ..*series }
    }

    /// Grid cells of two windows.
    fn pair_cells(&self) -> Result<u64> {
        let window = SeriesBatch::single(self.first_window(&self.series));
        Problem::of(self.spec.clone(), Pairing::Zipped, &window, &window)?.cells(&window, &window)
    }

    /// The problem of some windows with others.
    fn problem(&self, pairing: Pairing, n_x: usize, n_y: usize) -> Result<Problem> {
        let window = SeriesBatch::single(self.first_window(&self.series));
        Problem::new(self.spec.clone(), pairing, Shape { n_x, n_y, ..Shape::of(&window, &window) })
    }

    /// The pairs that are told of: half of them where windows of one series are all compared with each other.
    fn pairing(&self) -> Result<Pairing> {
        let is_half = self.other.is_none()
            && is_symmetric(self.spec)
            && !self.context.backend().prunes_windows(&self.problem(Pairing::Cross, 1, 1)?);
        Ok(if is_half { Pairing::SelfSymmetric } else { Pairing::Cross })
    }

    fn profile(&self) -> Result<Profile<T>> {
        let join = self.checked()?;
        let nearest = match self.pruned(&join)? {
            Some(nearest) => nearest,
            None => self.ranked(&join)?,
        };
        Ok(Profile::new(self.options, self.other.is_some(), nearest))
    }

    /// By the backend's bounds, where it has some.
    fn pruned(&self, join: &WindowJoin) -> Result<Option<Vec<NearestWindow<T>>>> {
        let (rows, columns) = self.counts(join);
        let problem = self.problem(Pairing::Cross, rows, columns)?;
        if !self.context.backend().prunes_windows(&problem) {
            return Ok(None);
        }
        self.context.plan(problem, 0)?.nearest_windows(self.rows(), self.series, join, 0..columns)
    }

    /// By all distances.
    fn ranked(&self, join: &WindowJoin) -> Result<Vec<NearestWindow<T>>> {
        let (rows, columns) = self.counts(join);
        let is_half = self.other.is_none() && is_symmetric(self.spec);
        let mut ranking = Ranking::new(1, columns, false);
        // A quarter of the memory holds windows: all of one series, or a block of rows and one of columns.
        let limit = self.context.memory_limit_bytes();
        let window_bytes = (self.options.window * self.series.channels * T::DTYPE.bytes()) as u64;
        let fitting = limit / 4 / window_bytes;
        let is_whole = self.other.is_none() && fitting >= columns as u64;
        let block =
            if is_whole { columns } else { (fitting / 2).clamp(1, rows.max(columns) as u64) as usize };
        let held = window_bytes * if is_whole { block as u64 } else { 2 * block as u64 };
        if held > limit {
            return Err(dtw_core::Error::OutOfMemory {
                what: format!("two windows of {} points", self.options.window),
                requested_bytes: held,
                available_bytes: limit,
            });
        }
        let context = self.context.clone().with_memory_limit(limit - held);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for from in (0..rows).step_by(block) {
            let own = from..(from + block).min(rows);
            x.clear();
            join.append(self.rows(), own.clone(), &mut x);
            let first = if is_half { from } else { 0 };
            for to in (first..columns).step_by(block) {
                let others = to..(to + block).min(columns);
                let is_diagonal = self.other.is_none() && others == own;
                if !is_diagonal {
                    y.clear();
                    join.append(self.series, others.clone(), &mut y);
                }
                let y = if is_diagonal { &x } else { &y };
                self.rank(&context, join, &mut ranking, (&x, from), (y, to), is_half && !is_diagonal)?;
            }
        }
        let (places, distances) = ranking.finish();
        let found = places.into_iter().zip(distances);
        Ok(found.map(|(place, d)| d.finite().then_some((place * join.step, d))).collect())
    }

    /// Offers the distances of two blocks of windows, given with the number of the first; the mirrored ones, too, if
    /// the other half of them is not computed.
    fn rank(
        &self,
        context: &Context<'_, T>,
        join: &WindowJoin,
        ranking: &mut Ranking<T>,
        (x, from): (&[T], usize),
        (y, to): (&[T], usize),
        is_mirrored: bool,
    ) -> Result<()> {
        let (channels, window) = (self.series.channels, self.options.window);
        let x = SeriesBatch::equal(x, x.len() / (window * channels), window, channels)?;
        let y = SeriesBatch::equal(y, y.len() / (window * channels), window, channels)?;
        let pairing =
            if x.is(&y) && is_symmetric(self.spec) { Pairing::SelfSymmetric } else { Pairing::Cross };
        let name = |i: usize, j: usize| {
            format!("the windows at {} and {}", (from + i) * join.step, (to + j) * join.step)
        };
        // Where a backend that prunes could not, all pairs were announced, and half of them are told of below.
        let untold = if is_symmetric(self.spec) && self.other.is_none() && self.pairing()? == Pairing::Cross {
            self.pair_cells()?
        } else {
            0
        };
        let mut masked: Vec<T> = Vec::new();
        for_each_finite_tile(context, self.spec, pairing, x, y, &name, &mut |tile, values| {
            let rows = from + tile.rows.start..from + tile.rows.end;
            let columns = to + tile.columns.start..to + tile.columns.end;
            let values = match excluded(join, &rows, &columns) {
                false => values,
                true => {
                    masked.clear();
                    masked.extend_from_slice(values);
                    mask(join, &rows, &columns, &mut masked);
                    &masked
                }
            };
            let mirrored = match tile.pairing {
                Pairing::SelfSymmetric => rows.len() * (rows.len() - 1) / 2,
                _ => rows.len() * columns.len(),
            };
            context.observer().advance(untold * mirrored as u64);
            let threads = ranking_threads(context, values.len());
            ranking.offer_rows(rows.clone(), columns.clone(), values, threads);
            if is_mirrored || tile.is_mirrored(pairing) {
                ranking.offer_columns(rows, columns, values, threads);
            }
            Ok(())
        })
    }
}

/// Whether a pair of these windows may be in the exclusion zone.
fn excluded(join: &WindowJoin, rows: &std::ops::Range<usize>, columns: &std::ops::Range<usize>) -> bool {
    let apart = if rows.end <= columns.start {
        columns.start + 1 - rows.end
    } else if columns.end <= rows.start {
        rows.start + 1 - columns.end
    } else {
        0
    };
    join.excludes(0, apart * join.step)
}

/// Makes the distances of the pairs in the exclusion zone infinite: no neighbours.
fn mask<T: Scalar>(
    join: &WindowJoin,
    rows: &std::ops::Range<usize>,
    columns: &std::ops::Range<usize>,
    values: &mut [T],
) {
    // Numbers of windows that are so far apart are in the zone.
    let zone = join.exclusion.map_or(0, |exclusion| exclusion / join.step);
    for (row, values) in rows.clone().zip(values.chunks_exact_mut(columns.len())) {
        let start = row.saturating_sub(zone).clamp(columns.start, columns.end);
        let end = row.saturating_add(zone).saturating_add(1).clamp(columns.start, columns.end);
        values[start - columns.start..end - columns.start].fill(T::INFINITY);
    }
}
