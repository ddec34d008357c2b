//! The nearest window of each window of a series: DTW with squared Euclidean cost on one channel, of which few pairs
//! are swept.
//!
//! What is known of the windows of x is made once, a stretch at a time: how they are normalised, what lies in reach of
//! their points. Then each window of y is a query: lower bounds ([`crate::keogh`]) reject what decides nothing
//! ([`dtw_core::contenders`]), and the sweep that gives up ([`crate::abandon`]) takes what is left, the lowest bounds
//! first.
//!
//! **Neighbours know.** If window `j` is near to window `i`, window `j + 1` is likely to be near to `i + 1`, as STOMP
//! makes exact use of (Zhu et al. 2016, 10.1109/ICDM.2016.0085). So the distances `i − j` that the last queries found
//! are tried first, and bounds are compared with a good bar from the first stretch on. Only the time depends on that.

use std::ops::Range;

use dtw_core::bounds::raised;
use dtw_core::contenders::Contenders;
use dtw_core::moving::Moving;
use dtw_core::{
    Anchor, Band, ColumnRanges, Dtype, Error, LocalCost, Measure, NearestWindow, Observer, Problem, Result,
    Scalar, SearchOptions, Series, WindowJoin,
};

use crate::abandon::{Abandoning, Cut};
use crate::group::Scratch;
use crate::keogh::{Enveloped, Reach, Stretch};
use crate::lanes::Register;
use crate::parallel;
use crate::plan::{CpuPlan, own};
use crate::told::{OF_DTW, Told};

/// Windows of a stretch, unless they are longer: more would cost digits of the moments of a walk.
const STRETCH: usize = 1 << 11;
/// Queries that a thread takes at a time. The first of them knows of no neighbour.
const QUERIES: usize = 1 << 6;
/// Registers of windows that are swept in the order of their bounds, before those in the order of their places.
const BEST_FIRST: usize = 2;
/// Bounds are of every window: with longer steps most of them would be of none that is asked for.
const MOST_STEP: usize = 8;

/// Some windows of x, and what is known of them.
#[derive(Debug)]
struct Known<T> {
    /// The first of them.
    first: usize,
    count: usize,
    moving: Moving<T>,
    reach: Reach<T>,
    slack: Vec<T>,
}

/// What the queries share.
struct Joined<'a, V: Register> {
    token: V::Token,
    x: &'a [V::Scalar],
    y: Series<'a, V::Scalar>,
    join: &'a WindowJoin,
    ranges: ColumnRanges,
    known: Vec<Known<V::Scalar>>,
}

/// What a thread needs for a query.
#[derive(Debug)]
struct Own<T> {
    query: Vec<T>,
    bounds: Vec<T>,
    /// Windows that are not rejected.
    left: Vec<usize>,
    /// Windows that were swept before all others.
    tried: Vec<usize>,
    /// Of the queries before: how far away the nearest windows were, the latest last.
    apart: Vec<isize>,
}

/// Whether the nearest windows of this problem are found by bounds.
pub(crate) fn is_pruned(problem: &Problem) -> bool {
    let (spec, shape) = (problem.spec(), problem.shape());
    spec.measure == (Measure::Dtw { cost: LocalCost::SquaredEuclidean })
        && spec.anchor == Anchor::Global
        && matches!(spec.band, Band::Full | Band::SakoeChiba { .. })
        && shape.channels == 1
}

impl<V: Register + Send> CpuPlan<V> {
    /// For each of these windows of y the nearest of x; nothing where all distances are to be computed instead.
    pub(crate) fn pruned_nearest_windows(
        &mut self,
        x: Series<'_, V::Scalar>,
        y: Series<'_, V::Scalar>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<V::Scalar>>>> {
        if !is_pruned(&self.problem) || x.channels != 1 || join.step > MOST_STEP {
            return Ok(None);
        }
        // A point of x: the moments, two envelopes, the slack; stretches overlap. Each thread has bounds of a stretch.
        let length = join.length;
        let stretch = STRETCH.max(2 * length);
        let point = Moving::<V::Scalar>::POINT_BYTES + 3 * size_of::<V::Scalar>();
        let own_bytes = Abandoning::<V>::bytes_for(length, length)
            + (stretch * (size_of::<V::Scalar>() + size_of::<usize>())) as u64;
        let bytes = (point as u64).saturating_mul(2 * x.len() as u64)
            + own_bytes.saturating_mul(self.threads.count() as u64);
        let is_in_range = join.is_normalized || squares_fit(x.values, y.values, length);
        if bytes > self.problem.memory_limit_bytes() || !is_in_range {
            return Ok(None);
        }
        let ranges = self.problem.spec().band.ranges(length, length, Anchor::Global)?;
        let reach = crate::keogh::reach(&ranges);
        let Self { token, threads, observer, scratch, .. } = self;
        let (token, observer, scratch) = (*token, &**observer, &*scratch);
        // No z-normalised value is larger.
        let height = (length as f64).sqrt() * 1.01 + 1.0;
        let all = x.len() + 1 - length;
        threads.run(|| {
            let firsts: Vec<usize> = (0..all).step_by(stretch).collect();
            let known = parallel::map(firsts.len(), &|k| {
                let first = firsts[k];
                let count = stretch.min(all - first);
                let points = &x.values[first..first + count + length - 1];
                Ok(Known::new::<V>(token, points, (first, count), join, reach, height))
            })?;
            let joined = Joined::<V> { token, x: x.values, y, join, ranges, known };
            let firsts: Vec<usize> = some.clone().step_by(QUERIES).collect();
            let found = parallel::map(firsts.len(), &|k| {
                let first = firsts[k];
                joined.queries(first..(first + QUERIES).min(some.end), &mut own(scratch), observer)
            })?;
            Ok(Some(found.into_iter().flatten().collect()))
        })
    }
}

/// Whether no distance of windows can overflow: that is an error, which must not depend on what is swept.
fn squares_fit<T: Scalar>(x: &[T], y: &[T], length: usize) -> bool {
    let largest = |values: &[T]| values.iter().fold(0.0, |most: f64, v| most.max(v.to_f64().abs()));
    let apart = largest(x) + largest(y);
    let most = match T::DTYPE {
        Dtype::F32 => f64::from(f32::MAX),
        Dtype::F64 => f64::MAX,
    };
    apart * apart * 4.0 * length as f64 <= most
}

impl<T: Scalar> Known<T> {
    fn new<V: Register<Scalar = T>>(
        token: V::Token,
        points: &[T],
        (first, count): (usize, usize),
        join: &WindowJoin,
        reach: (usize, usize),
        height: f64,
    ) -> Self {
        let mut known =
            Self { first, count, moving: Moving::default(), reach: Reach::default(), slack: Vec::new() };
        V::compiled(
            token,
            #[inline(always)]
            || {
                if join.is_normalized {
                    known.moving.fill(points, join.length);
                    known.moving.slack(height, &mut known.slack);
                } else {
                    // A window is its points, exactly.
                    known.moving.points = points.to_vec();
                    known.moving.scale = vec![T::from_f64(1.0); count];
                    known.moving.offset = vec![T::ZERO; count];
                    known.slack = vec![T::ZERO; count];
                }
                known.reach.fill::<V>(token, &known.moving.points, reach);
            },
        );
        known
    }

    fn stretch(&self) -> Stretch<'_, T> {
        Stretch {
            points: &self.moving.points,
            reach: &self.reach,
            scale: &self.moving.scale,
            offset: &self.moving.offset,
            slack: &self.slack,
        }
    }
}

impl<V: Register> Joined<'_, V> {
    /// The nearest windows of some windows of y, which follow each other.
    fn queries(
        &self,
        some: Range<usize>,
        scratch: &mut Scratch<V>,
        observer: &dyn Observer,
    ) -> Result<Vec<NearestWindow<V::Scalar>>> {
        let mut own = Own {
            query: Vec::new(),
            bounds: Vec::new(),
            left: Vec::new(),
            tried: Vec::new(),
            apart: Vec::new(),
        };
        let mut told = Told::default();
        let found = some.map(|window| {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let nearest = self.one(window, &mut own, scratch, &mut told);
            if let Some((place, _)) = nearest {
                let apart = place.wrapping_sub(window * self.join.step) as isize;
                own.apart.retain(|known| *known != apart);
                own.apart.push(apart);
                if own.apart.len() > V::LANES {
                    own.apart.remove(0);
                }
            }
            Ok(nearest)
        });
        let found = found.collect::<Result<_>>()?;
        told.tell(observer, self.ranges.cells(), OF_DTW);
        Ok(found)
    }

    /// The nearest window of one of y.
    fn one(
        &self,
        window: usize,
        own: &mut Own<V::Scalar>,
        scratch: &mut Scratch<V>,
        told: &mut Told,
    ) -> NearestWindow<V::Scalar> {
        let Self { token, x, y, join, ranges, known } = self;
        let here = window * join.step;
        let Own { query, bounds, left, tried, apart } = own;
        query.clear();
        join.append(*y, window..window + 1, query);
        let query = Enveloped::new(query, ranges.clone());
        let lengths = (join.length, join.length);
        let is_wanted = |place: usize| place.is_multiple_of(join.step) && !join.excludes(place, here);
        // Without exclusion: it is of places near a query here, not of places near a hit.
        let mut contenders = Contenders::new(&SearchOptions::default());
        let cut = |contenders: &Contenders<V::Scalar>, first: usize| {
            let cut = contenders.bar(first);
            Cut { cut, bar: raised(cut, lengths) }
        };
        let mut sweep = |starts: &[usize], now: Cut<V::Scalar>, contenders: &mut Contenders<V::Scalar>| {
            let mut out = [V::Scalar::INFINITY; crate::lanes::MOST_LANES];
            let out = &mut out[..starts.len()];
            if join.is_normalized {
                scratch.abandoning.windows(*token, &query, x, starts, now, out);
            } else {
                scratch.abandoning.plain_windows(*token, &query, x, starts, now, out);
            }
            for (place, cost) in starts.iter().zip(out.iter()) {
                contenders.offer(*cost, *place);
                told.given_up += u64::from(!cost.finite());
            }
            told.swept += starts.len() as u64;
        };

        // Each distance is known once it has been offered.
        let places = known.last().map_or(0, |last| last.first + last.count);
        tried.clear();
        let likely = apart.iter().filter_map(|apart| here.checked_add_signed(*apart));
        tried.extend(likely.filter(|place| *place < places && is_wanted(*place)));
        if !tried.is_empty() {
            sweep(tried, cut(&contenders, 0), &mut contenders);
        }
        for known in known {
            let mut now = cut(&contenders, known.first);
            bounds.clear();
            bounds.resize(known.count, V::Scalar::ZERO);
            query.bound::<V>(*token, known.stretch(), 0, now.bar, bounds);
            left.clear();
            left.extend((0..known.count).filter(|w| {
                let place = known.first + w;
                bounds[*w] < now.bar && is_wanted(place) && !tried.contains(&place)
            }));
            let some = (BEST_FIRST * V::LANES).min(left.len());
            if some < left.len() {
                left.select_nth_unstable_by(some, |a, b| {
                    bounds[*a].to_f64().total_cmp(&bounds[*b].to_f64()).then(a.cmp(b))
                });
                left[some..].sort_unstable();
            }
            let mut waiting = left.iter().copied();
            let mut group = [0; crate::lanes::MOST_LANES];
            loop {
                let mut filled = 0;
                for w in waiting.by_ref().filter(|w| bounds[*w] < now.bar).take(V::LANES) {
                    group[filled] = known.first + w;
                    filled += 1;
                }
                if filled == 0 {
                    break;
                }
                sweep(&group[..filled], now, &mut contenders);
                now = cut(&contenders, known.first);
            }
        }
        told.pairs += places.div_ceil(join.step) as u64;
        contenders.best().pop().map(|(distance, place)| (place, distance))
    }
}
