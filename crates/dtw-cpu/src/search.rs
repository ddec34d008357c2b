//! Finding queries in long references by subsequence DTW: pairs on threads, references block by block.

use std::sync::{Mutex, PoisonError};

use dtw_core::{Band, Blocks, Match, Result, SearchOptions, Series, SeriesBatch};

use crate::lanes::Register;
use crate::plan::{CpuPlan, for_each, held};
use crate::scan::{Cut, Demand, Scan};
use crate::stretches::{COPIES, stretches};

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
        // Where there are fewer pairs than threads, each has all of them.
        let is_shared = pairs < workers && spec.band == Band::Full;
        let (searches, begun, copies) =
            if is_shared { (workers, 1, COPIES) } else { (pairs, workers.min(pairs), 0) };
        let demand = Demand { rows, channels, searches, begun, copies };
        let cut = Cut::new::<V::Scalar>(&demand, workers, problem.memory_limit_bytes())?;
        if is_shared {
            let search = |k: usize| {
                let (x, y) = (queries.get(k / references.len()), references.get(k % references.len()));
                let mut scan = Scan::new(options, &cut);
                let at_once = cut.points.saturating_mul(stretches(cut.workers, x.len(), y.len()));
                for values in y.values.chunks(at_once.saturating_mul(channels)) {
                    let block = Series { values, ..y };
                    scan.next_on_threads::<V>((token, scratch), cut.workers, spec, x, block, observer)?;
                }
                Ok(scan.finish())
            };
            return threads.run(|| (0..pairs).map(search).collect());
        }
        let found: Vec<_> = (0..pairs).map(|_| Mutex::default()).collect();
        threads.run(|| {
            for_each(scratch, cut.workers, pairs, &|k, scratch| {
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
        // Where there are fewer queries than threads, each has all of them.
        let is_shared = count < threads.count();
        let (searches, copies) = if is_shared { (threads.count(), 2 + COPIES) } else { (count, 2) };
        let demand = Demand { rows, channels, searches, begun: count, copies };
        let cut = Cut::new::<V::Scalar>(&demand, threads.count(), problem.memory_limit_bytes())?;
        let shortest = (0..count).map(|q| queries.length(q)).min().unwrap_or(1);
        let at_once = if is_shared {
            cut.points.saturating_mul(stretches(cut.workers, shortest, usize::MAX))
        } else {
            cut.points
        };
        let scans: Vec<_> = (0..count).map(|_| Mutex::new(Scan::new(options, &cut))).collect();
        let (mut block, mut coming) = (Vec::new(), Vec::new());
        reference.read(at_once, &mut block)?;
        while !block.is_empty() {
            let series = Series { values: &block, channels, times: None };
            let search = || {
                if is_shared {
                    return scans.iter().enumerate().try_for_each(|(q, scan)| {
                        let (query, workers) = (queries.get(q), cut.workers);
                        held(scan).next_on_threads::<V>(
                            (token, scratch),
                            workers,
                            spec,
                            query,
                            series,
                            observer,
                        )
                    });
                }
                for_each(scratch, cut.workers, count, &|q, scratch| {
                    held(&scans[q]).next::<V>((token, scratch), spec, queries.get(q), series, observer)
                })
            };
            coming.clear();
            if reference.is_followed() {
                threads.run(search)?;
                for (query, scan) in scans.iter().enumerate() {
                    held(scan).selection.tell(reference, query, 1)?;
                }
                reference.read(at_once, &mut coming)?;
            } else {
                threads.run_beside(search, || reference.read(at_once, &mut coming))?;
            }
            std::mem::swap(&mut block, &mut coming);
        }
        let scans = scans.into_iter().map(|scan| scan.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(scans.map(Scan::finish).collect())
    }
}
