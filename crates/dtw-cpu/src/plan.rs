//! The CPU's plan: pairs handed to threads a register-full at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dtw_core::compute::cut_off;
use dtw_core::derivative::Derivatives;
use dtw_core::{
    CheckedBatches, CheckedBlocks, Compute, Error, Gradients, Match, NearestWindow, Observer, Pairing, Pass,
    PassResults, Path, Problem, Ranked, Result, Scalar, SearchOptions, Series, SeriesBatch, Spec, Unobserved,
    WindowJoin,
};

use crate::group::Scratch;
use crate::lanes::{MOST_LANES, Register};
use crate::parallel;
use crate::schedule::Schedule;
use crate::threads::Threads;

/// A plan on registers `V`.
pub(crate) struct CpuPlan<V: Register> {
    pub(crate) token: V::Token,
    pub(crate) problem: Problem,
    pub(crate) threads: Threads,
    pub(crate) observer: Arc<dyn Observer>,
    /// One per thread of the pool.
    pub(crate) scratch: Vec<Mutex<Scratch<V>>>,
    results: Vec<V::Scalar>,
    pub(crate) passes: PassResults<V::Scalar>,
}

impl<V: Register> CpuPlan<V> {
    pub(crate) fn new(token: V::Token, problem: &Problem, threads: Threads) -> Result<Self> {
        let scratch = (0..threads.count()).map(|_| Mutex::new(Scratch::new())).collect();
        let count = problem.output_len();
        let results = dtw_core::reserved(count, || format!("the order of {count} distances"))?;
        Ok(Self {
            token,
            problem: problem.clone(),
            threads,
            observer: Arc::new(Unobserved),
            scratch,
            results,
            passes: PassResults::default(),
        })
    }
}

/// The memory of the pool's current thread.
pub(crate) fn own<V: Register>(scratch: &[Mutex<Scratch<V>>]) -> MutexGuard<'_, Scratch<V>> {
    held(&scratch[rayon::current_thread_index().unwrap_or(0)])
}

/// Runs `work(k)` for every `k < count` on at most `workers` threads of the current pool, each with memory of its own.
pub(crate) fn for_each<V: Register + Send>(
    scratch: &[Mutex<Scratch<V>>],
    workers: usize,
    count: usize,
    work: &(dyn Fn(usize, &mut Scratch<V>) -> Result<()> + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    parallel::each(workers, &|worker| {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return Ok(());
            }
            work(k, &mut held(&scratch[worker]))?;
        }
    })
}

/// The memory for work that the caller's thread does, which may be of another pool.
pub(crate) fn callers<V: Register>(scratch: &[Mutex<Scratch<V>>]) -> MutexGuard<'_, Scratch<V>> {
    held(&scratch[0])
}

/// What a lock holds. A panic in another call leaves nothing in the scratch that the next call reads before writing;
/// one in this call ends it.
pub(crate) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Most cells that the caller's thread sweeps by itself: some tens of microseconds, which it takes to wake another one.
const FEW_CELLS: usize = 1 << 16;

impl<V: Register + Send> CpuPlan<V>
where
    V::Scalar: Scalar,
{
    /// Distances of all scheduled pairs into `self.results`, in the schedule's order; infinite above a cutoff.
    fn values(
        &mut self,
        (spec, cutoff): (&Spec, Option<f64>),
        schedule: &Schedule,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
    ) -> Result<()> {
        let Self { token, threads, observer, scratch, results, .. } = self;
        let (token, scratch, observer) = (*token, &*scratch, &**observer);
        results.clear();
        results.resize(schedule.len(), V::Scalar::ZERO);
        let sweep = |group: usize, out: &mut [V::Scalar], scratch: &mut Scratch<V>| {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let mut lanes_x = [Series::univariate(&[]); MOST_LANES];
            let mut lanes_y = lanes_x;
            for l in 0..out.len() {
                let (i, j) = schedule.pair(group * V::LANES + l);
                (lanes_x[l], lanes_y[l]) = (x.get(i), y.get(j));
            }
            let (x, y) = (&lanes_x[..out.len()], &lanes_y[..out.len()]);
            match cutoff {
                None => scratch.distances(token, spec, x, y, out, observer),
                Some(cutoff) => scratch.distances_within(token, spec, x, y, out, cutoff, observer),
            }
        };
        let cells = x.max_length().saturating_mul(y.max_length()).saturating_mul(schedule.len());
        if schedule.len() <= V::LANES || cells <= FEW_CELLS {
            let mut scratch = callers(scratch);
            let mut groups = results.chunks_mut(V::LANES).enumerate();
            return groups.try_for_each(|(group, out)| sweep(group, out, &mut scratch));
        }
        threads.run(|| {
            parallel::each_chunk(results, V::LANES, &|group, out| sweep(group, out, &mut own(scratch)))
        })
    }

    /// Distances of one pairing into `out`, no derivative; of a divergence, the excess of Soft-DTW.
    pub(crate) fn pairing(
        &mut self,
        spec: &Spec,
        pairing: Pairing,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: &mut [V::Scalar],
    ) -> Result<()> {
        self.pairing_within((spec, None), pairing, x, y, out)
    }

    /// [`CpuPlan::pairing`], infinite above a cutoff.
    fn pairing_within(
        &mut self,
        (spec, cutoff): (&Spec, Option<f64>),
        pairing: Pairing,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: &mut [V::Scalar],
    ) -> Result<()> {
        let y = if pairing == Pairing::SelfSymmetric { x } else { y };
        let schedule = Schedule::new(pairing, x, y);
        self.values((spec, cutoff), &schedule, x, y)?;
        for (k, value) in self.results.iter().enumerate() {
            let (i, j) = schedule.pair(k);
            match pairing {
                Pairing::Zipped => out[i] = *value,
                Pairing::Cross => out[i * y.len() + j] = *value,
                Pairing::SelfSymmetric => {
                    out[i * x.len() + j] = *value;
                    out[j * x.len() + i] = *value;
                }
            }
        }
        Ok(())
    }

    /// One pass, derivatives and channels taken.
    fn pass(
        &mut self,
        spec: &Spec,
        pass: Pass,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: &mut [V::Scalar],
    ) -> Result<()> {
        if let Some((x, y)) = Derivatives::wanted(spec.measure.preparation(), x, y) {
            return self.pairing(spec, pass.pairing, &x.batch(), &y.batch(), out);
        }
        let Some(channel) = pass.channel else { return self.pairing(spec, pass.pairing, x, y, out) };
        let (x, y) = (x.channel(channel), y.channel(channel));
        if !pass.adds() {
            return self.pairing(spec, pass.pairing, &x.batch(), &y.batch(), out);
        }
        let mut own = vec![V::Scalar::ZERO; out.len()];
        self.pairing(spec, pass.pairing, &x.batch(), &y.batch(), &mut own)?;
        out.iter_mut().zip(&own).for_each(|(total, own)| *total = *total + *own);
        Ok(())
    }

    /// Distances of `x` crossed with `y` under a spec other than the problem's.
    pub(crate) fn cross(
        &mut self,
        spec: &Spec,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
        out: &mut [V::Scalar],
    ) -> Result<()> {
        self.pairing(spec, Pairing::Cross, x, y, out)
    }
}

impl<V: Register + Send + 'static> Compute<V::Scalar> for CpuPlan<V> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        let threads: u64 = (0..self.scratch.len()).map(|t| held(&self.scratch[t]).bytes()).sum();
        threads + self.passes.bytes() as u64 + (self.results.capacity() * size_of::<V::Scalar>()) as u64
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.observer = observer;
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, V::Scalar>, out: &mut [V::Scalar]) -> Result<()> {
        let problem = self.problem.clone();
        let mut results = std::mem::take(&mut self.passes);
        let CheckedBatches { x, y, .. } = pairs;
        let done = results.distances(&problem, problem.pairing(), &x, &y, out, |pass, x, y, out, _| {
            self.pass(problem.spec(), pass, x, y, out)
        });
        self.passes = results;
        done
    }

    fn distances_within(
        &mut self,
        pairs: CheckedBatches<'_, V::Scalar>,
        cutoff: f64,
        out: &mut [V::Scalar],
    ) -> Result<()> {
        if crate::within::is_bounded(self.problem.spec()) {
            let (spec, pairing) = (self.problem.spec().clone(), self.problem.pairing());
            return self.pairing_within((&spec, Some(cutoff)), pairing, &pairs.x, &pairs.y, out);
        }
        self.distances(pairs, out)?;
        cut_off(cutoff, out);
        Ok(())
    }

    fn gradients(
        &mut self,
        pairs: CheckedBatches<'_, V::Scalar>,
        out: Gradients<'_, V::Scalar>,
    ) -> Result<()> {
        self.all_gradients(&pairs.x, &pairs.y, out)
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, V::Scalar>) -> Result<Vec<V::Scalar>> {
        self.expected_alignment(pair.x.get(0), pair.y.get(0))
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, V::Scalar>) -> Result<Vec<Path<V::Scalar>>> {
        self.all_paths(&pairs.x, &pairs.y)
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, V::Scalar>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let CheckedBatches { x: queries, y: references, .. } = searched;
        match options.normalized_window {
            None => self.subsequence_matches(&queries, &references, options),
            Some(length) => self.window_matches(&queries, &references, options, length),
        }
    }

    fn nearest(
        &mut self,
        pairs: CheckedBatches<'_, V::Scalar>,
        k: usize,
    ) -> Result<Option<Ranked<V::Scalar>>> {
        self.pruned_nearest(&pairs.x, &pairs.y, k)
    }

    fn nearest_windows(
        &mut self,
        pair: CheckedBatches<'_, V::Scalar>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<V::Scalar>>>> {
        self.pruned_nearest_windows(pair.x.get(0), pair.y.get(0), join, some)
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        reference: &mut CheckedBlocks<'_, V::Scalar>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        match options.normalized_window {
            None => self.subsequence_matches_in_blocks(queries, reference, options),
            Some(length) => self.window_matches_in_blocks(queries, reference, options, length),
        }
    }
}
