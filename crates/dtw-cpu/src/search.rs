//! Finding queries in long references by subsequence DTW: pairs on threads, references block by block.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dtw_core::{Band, Blocks, Match, Result, SearchOptions, Series, SeriesBatch};
use rayon::prelude::*;

use crate::group::Scratch;
use crate::lanes::Register;
use crate::plan::{CpuPlan, own};
use crate::scan::{Cut, Demand, Scan};

/// Runs `work(k)` for every `k < count` on at most `workers` threads of the current pool, each with memory of its own.
fn for_each<V: Register + Send>(
    scratch: &[Mutex<Scratch<V>>],
    workers: usize,
    count: usize,
    work: impl Fn(usize, &mut Scratch<V>) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    (0..workers).into_par_iter().with_max_len(1).try_for_each(|_| {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= count {
                return Ok(());
            }
            work(k, &mut own(scratch))?;
        }
    })
}

/// What the lock of a search holds; a panic elsewhere ends the call.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<V: Register + Send + 'static> CpuPlan<V> {
    /// Free start and end: the last row of the sweep holds every candidate.
    pub(crate) fn subsequence_matches(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        references: &SeriesBatch<'_, V::Scalar>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let Self { token, threads, observer, scratch, problem, .. } = self;
        let (token, scratch, observer, spec) = (*token, &*scratch, &**observer, problem.spec());
        let pairs = queries.len() * references.len();
        let workers = threads.count();
        let (rows, channels) = (queries.max_length(), queries.channels());
        let demand = Demand { rows, channels, searches: pairs, begun: workers.min(pairs), copies: 0 };
        let cut = Cut::new::<V::Scalar>(&demand, workers, problem.memory_limit_bytes())?;
        let found: Vec<_> = (0..pairs).map(|_| Mutex::default()).collect();
        threads.run(|| {
            for_each(scratch, cut.workers, pairs, |k, scratch| {
                let (x, y) = (queries.get(k / references.len()), references.get(k % references.len()));
                // A band is that of the whole grid.
                let points = if spec.band == Band::Full { cut.points } else { y.len() };
                let mut scan = Scan::new(options, &Cut { points, ..cut });
                for values in y.values.chunks(points * channels) {
                    let block = Series { values, ..y };
                    scan.next::<V>((token, scratch), spec, x, block, observer)?;
                }
                *held(&found[k]) = scan.finish();
                Ok(())
            })
        })?;
        Ok(found.into_iter().map(|hits| hits.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
    }

    /// The same in a reference that is read once: each block is searched for all queries while the next one is read.
    pub(crate) fn subsequence_matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        reference: &mut dyn Blocks<V::Scalar>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let Self { token, threads, observer, scratch, problem, .. } = self;
        let (token, scratch, observer, spec) = (*token, &*scratch, &**observer, problem.spec());
        let (rows, channels, count) = (queries.max_length(), queries.channels(), queries.len());
        let demand = Demand { rows, channels, searches: count, begun: count, copies: 2 };
        let cut = Cut::new::<V::Scalar>(&demand, threads.count(), problem.memory_limit_bytes())?;
        let scans: Vec<_> = (0..count).map(|_| Mutex::new(Scan::new(options, &cut))).collect();
        let (mut block, mut coming) = (Vec::new(), Vec::new());
        reference.read(cut.points, &mut block)?;
        while !block.is_empty() {
            let series = Series { values: &block, channels, times: None };
            let search = || {
                for_each(scratch, cut.workers, count, |q, scratch| {
                    held(&scans[q]).next::<V>((token, scratch), spec, queries.get(q), series, observer)
                })
            };
            coming.clear();
            threads.run_beside(search, || reference.read(cut.points, &mut coming))?;
            std::mem::swap(&mut block, &mut coming);
        }
        let scans = scans.into_iter().map(|scan| scan.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(scans.map(Scan::finish).collect())
    }
}
