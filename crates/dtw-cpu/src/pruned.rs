//! The search in z-normalised windows that sweeps few of them: DTW with squared Euclidean cost on one channel.
//!
//! A stretch of windows is taken at a time. Lower bounds ([`crate::keogh`]) reject what decides nothing about the hits
//! ([`dtw_core::contenders`]). What is left is normalised and swept, the lowest bounds first, then neighbours side by
//! side; each register-full makes the bar lower for those that wait. The sweep gives up what reaches the bar
//! ([`crate::abandon`]). Every cost that is offered has the bits of the unpruned search, and so have the hits. Windows
//! that are rejected or given up are offered as infinite.

use dtw_core::bounds::raised;
use dtw_core::contenders::Contenders;
use dtw_core::moving::Moving;
use dtw_core::{Error, LocalCost, Measure, Result, Scalar, SearchOptions, SeriesBatch, Spec, Windows};

use crate::abandon::{Abandoning, Cut};
use crate::group::Scratch;
use crate::keogh::{Enveloped, Reach, Stretch};
use crate::lanes::Register;
use crate::parallel;
use crate::plan::{CpuPlan, callers, own};
use crate::told::{OF_DTW, Told};

/// Windows whose bounds are compared with the same bar, at most, unless they are shorter than a window.
const STRETCH: usize = 1 << 11;
/// Windows read at a time, at most.
const WINDOWS: usize = 1 << 15;
/// Registers of windows that each thread sweeps between two looks at the bar, where there are several threads.
const BETWEEN_LOOKS: usize = 4;
/// Registers of windows that are swept in the order of their bounds, before those in the order of their places.
const BEST_FIRST: usize = 2;
/// Windows whose bounds one thread takes at a time.
const SHARE: usize = 1 << 8;

/// How a pruned search shares its memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Windows read at a time.
    pub(crate) most: usize,
    stretch: usize,
}

/// A query and what is known of its hits.
#[derive(Debug)]
struct Searched<T> {
    bounds: Enveloped<T>,
    length: usize,
    contenders: Contenders<T>,
}

/// What a pruned search keeps from block to block.
#[derive(Debug)]
pub(crate) struct Pruned<T> {
    sizes: Sizes,
    length: usize,
    queries: Vec<Searched<T>>,
    moving: Moving<T>,
    reach: Reach<T>,
    slack: Vec<T>,
    bounds: Vec<T>,
    costs: Vec<T>,
    /// Windows that are not rejected.
    left: Vec<usize>,
    /// Windows that are swept at once, and their costs.
    group: Vec<usize>,
    swept: Vec<T>,
}

impl Sizes {
    /// Of windows of `length` points, in `share_bytes`; none where that is too little.
    fn new<T: Scalar>(length: usize, share_bytes: u64) -> Option<Self> {
        let value = size_of::<T>() as u64;
        // A point of a stretch: the moments, two envelopes with what they reach beyond, slack, bound, place of a
        // window.
        let point = Moving::<T>::POINT_BYTES as u64 + 8 * value + 2 * size_of::<usize>() as u64;
        // A window that is read brings a point and has a cost.
        let (read, length) = (2 * value, length as u64);
        let kept = length.checked_mul(2 * point + read)?;
        let room = share_bytes.checked_sub(kept)?;
        let stretch = (room / 2 / point).min((2 * length).max(STRETCH as u64));
        let most = (room / 2 / read).min(WINDOWS.max(stretch as usize) as u64);
        let enough = stretch >= SHARE as u64 && most >= stretch;
        enough.then_some(Self { most: most as usize, stretch: stretch as usize })
    }
}

impl<T: Scalar> Pruned<T> {
    /// A search for normalised queries on so many threads, where this search can prune at all and has the memory for
    /// it.
    ///
    /// # Errors
    /// As [`dtw_core::Band::ranges`].
    pub(crate) fn new<V: Register<Scalar = T>>(
        plan: &CpuPlan<V>,
        spec: &Spec,
        queries: &SeriesBatch<'_, T>,
        options: &SearchOptions,
        length: usize,
        share_bytes: u64,
    ) -> Result<Option<Self>> {
        if spec.measure != (Measure::Dtw { cost: LocalCost::SquaredEuclidean }) || queries.channels() != 1 {
            return Ok(None);
        }
        // Of each query, its points and its envelope, twice, and its band; of each thread, what it sweeps.
        let points = queries.values().len() + length * queries.len();
        let held = points * (3 * size_of::<(usize, T, T)>() + size_of::<std::ops::Range<usize>>());
        let sweeps = Abandoning::<V>::bytes_for(queries.max_length(), length) * plan.threads.count() as u64;
        let Some(room) = share_bytes.checked_sub(held as u64 + sweeps) else { return Ok(None) };
        let Some(sizes) = Sizes::new::<T>(length, room) else { return Ok(None) };
        let queries = queries.iter().map(|query| {
            let ranges = spec.band.ranges(query.len(), length, spec.anchor)?;
            let bounds = Enveloped::new(query.values, ranges);
            Ok(Searched { bounds, length: query.len(), contenders: Contenders::new(options) })
        });
        Ok(Some(Self {
            sizes,
            length,
            queries: queries.collect::<Result<_>>()?,
            moving: Moving::default(),
            reach: Reach::default(),
            slack: Vec::new(),
            bounds: Vec::new(),
            costs: Vec::new(),
            left: Vec::new(),
            group: Vec::new(),
            swept: Vec::new(),
        }))
    }

    /// Windows read at a time.
    pub(crate) fn most(&self) -> usize {
        self.sizes.most
    }

    /// Offers the costs of these windows for every normalised query, infinite where they decide nothing.
    ///
    /// # Errors
    /// What `offer` says; [`Error::Cancelled`].
    pub(crate) fn block<V: Register<Scalar = T> + Send>(
        &mut self,
        plan: &CpuPlan<V>,
        windows: Windows<'_, T>,
        offer: &mut dtw_core::windows::Offer<'_, T>,
    ) -> Result<()> {
        let mut skipped = 0;
        while skipped < windows.count {
            let count = self.sizes.stretch.min(windows.count - skipped);
            let points = &windows.points[skipped..skipped + count + self.length - 1];
            V::compiled(
                plan.token,
                #[inline(always)]
                || self.moving.fill(points, self.length),
            );
            for q in 0..self.queries.len() {
                if plan.observer.cancelled() {
                    return Err(Error::Cancelled);
                }
                self.stretch(plan, q, windows.first + skipped, points)?;
                offer(q, skipped, &self.costs)?;
            }
            skipped += count;
        }
        Ok(())
    }

    /// The costs of the windows of a stretch, of which the first is the `first` of all.
    fn stretch<V: Register<Scalar = T> + Send>(
        &mut self,
        plan: &CpuPlan<V>,
        q: usize,
        first: usize,
        points: &[T],
    ) -> Result<()> {
        let Self { queries, moving, reach, slack, bounds, costs, left, group, swept, .. } = self;
        let Searched { bounds: query, length, contenders } = &mut queries[q];
        let (query, lengths) = (&*query, (*length, self.length));
        let count = points.len() + 1 - self.length;
        let cut = |contenders: &Contenders<T>| {
            let cut = contenders.bar(first);
            Cut { cut, bar: raised(cut, lengths) }
        };
        let mut now = cut(contenders);
        let token = plan.token;
        V::compiled(
            token,
            #[inline(always)]
            || {
                moving.slack(query.height, slack);
                if query.is_square() {
                    reach.fill::<V>(token, &moving.points, query.reach);
                }
            },
        );
        bounds.clear();
        bounds.resize(count, T::ZERO);
        let stretch =
            Stretch { points: &moving.points, reach, scale: &moving.scale, offset: &moving.offset, slack };
        if plan.threads.count() == 1 {
            query.bound::<V>(token, stretch, 0, now.bar, bounds);
        } else {
            plan.threads.run(|| {
                parallel::each_chunk(bounds, SHARE, &|k, out| {
                    query.bound::<V>(token, stretch, k * SHARE, now.bar, out);
                    Ok(())
                })
            })?;
        }

        costs.clear();
        costs.resize(count, T::INFINITY);
        left.clear();
        left.extend((0..count).filter(|w| bounds[*w] < now.bar));
        let mut told = Told { pairs: count as u64, ..Told::default() };
        // The most promising ones lower the bar for the others.
        let some = (BEST_FIRST * V::LANES * plan.threads.count()).min(left.len());
        if some < left.len() {
            left.select_nth_unstable_by(some, |a, b| {
                bounds[*a].to_f64().total_cmp(&bounds[*b].to_f64()).then(a.cmp(b))
            });
            left[some..].sort_unstable();
        }
        let registers = if plan.threads.count() == 1 { 1 } else { BETWEEN_LOOKS * plan.threads.count() };
        let mut waiting = left.iter().copied();
        loop {
            group.clear();
            group.extend(waiting.by_ref().filter(|w| bounds[*w] < now.bar).take(registers * V::LANES));
            if group.is_empty() {
                break;
            }
            if plan.observer.cancelled() {
                return Err(Error::Cancelled);
            }
            swept.clear();
            swept.resize(group.len(), T::ZERO);
            let sweep = |starts: &[usize], out: &mut [T], scratch: &mut Scratch<V>| {
                scratch.abandoning.windows(token, query, points, starts, now, out);
            };
            if group.len() <= V::LANES {
                sweep(group, swept, &mut callers(&plan.scratch));
            } else {
                plan.threads.run(|| {
                    parallel::each_chunk(swept, V::LANES, &|k, out| {
                        sweep(&group[k * V::LANES..][..out.len()], out, &mut own(&plan.scratch));
                        Ok(())
                    })
                })?;
            }
            for (w, cost) in group.iter().zip(swept.iter()) {
                costs[*w] = *cost;
                contenders.offer(*cost, first + w);
                told.given_up += u64::from(!cost.finite());
            }
            told.swept += group.len() as u64;
            now = cut(contenders);
        }
        told.tell(&*plan.observer, query.cells, OF_DTW);
        Ok(())
    }
}
