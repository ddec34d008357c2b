//! Finding queries in long references by z-normalised windows: a batch of windows at a time, for all queries.

use dtw_core::{
    Blocks, Error, InMemory, Match, OwnedBatch, Result, Scalar, SearchOptions, Selection, SeriesBatch,
    bail_invalid, normalize,
};
use rayon::prelude::*;

use crate::lanes::Register;
use crate::plan::CpuPlan;

/// Windows normalised and compared at a time, where memory allows.
const WINDOWS: usize = 2048;

impl<V: Register + Send + 'static> CpuPlan<V> {
    /// Every window of `length` points, normalised, against the normalised queries.
    pub(crate) fn window_matches(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        references: &SeriesBatch<'_, V::Scalar>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        options.check_windows(references)?;
        let mut found = vec![Vec::new(); queries.len() * references.len()];
        for (r, reference) in references.iter().enumerate() {
            let mut reference = InMemory::new(reference);
            let hits = self.window_matches_in_blocks(queries, &mut reference, options, length)?;
            for (q, hits) in hits.into_iter().enumerate() {
                found[q * references.len() + r] = hits;
            }
        }
        Ok(found)
    }

    /// The same in a reference that is read once.
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        reference: &mut dyn Blocks<V::Scalar>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let spec = self.problem.spec().clone();
        if !SearchOptions::suits(&spec.measure) {
            return Err(self.unsupported("a search by normalised windows with a measure other than dtw"));
        }
        let channels = queries.channels();
        let mut normalized = OwnedBatch::new(channels)?;
        for query in queries.iter() {
            normalized.push(query.values)?;
        }
        for q in 0..normalized.len() {
            normalize::z_normalize(normalized.series_mut(q), channels);
        }
        let normalized = normalized.batch();

        // A window brings its points, normalised and as they are, and a cost of each query, twice.
        let limit = self.problem.memory_limit_bytes();
        let window = ((length * channels + channels + 2 * queries.len()) * size_of::<V::Scalar>()) as u64;
        let tail = (length * channels * size_of::<V::Scalar>()) as u64;
        let share = limit / 2;
        if window + tail > share {
            return Err(Error::OutOfMemory {
                what: format!("one window of {length} points for {} queries", queries.len()),
                requested_bytes: 2 * (window + tail),
                available_bytes: limit,
            });
        }
        let most = usize::try_from((share - tail) / window).unwrap_or(WINDOWS).min(WINDOWS);
        let hits_bytes = (limit - share) / queries.len().max(1) as u64;
        let mut selections: Vec<_> =
            queries.iter().map(|_| Selection::new(options, hits_bytes).within(limit)).collect();
        // The points of the next windows: what the last ones have in common with them, and new ones.
        let (mut points, mut coming, mut windows) = (Vec::new(), Vec::new(), Vec::new());
        let mut costs = Vec::new();
        let mut done = 0;
        loop {
            if self.observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let missing = most + length - 1 - points.len() / channels;
            reference.read_checked(missing, done, &mut coming)?;
            if coming.is_empty() {
                break;
            }
            done += coming.len() / channels;
            points.extend_from_slice(&coming);
            let count = (points.len() / channels + 1).saturating_sub(length);
            if count == 0 {
                continue;
            }
            windows.clear();
            for w in 0..count {
                windows.extend_from_slice(&points[w * channels..(w + length) * channels]);
            }
            self.threads.run(|| {
                windows
                    .par_chunks_mut(length * channels)
                    .for_each(|window| normalize::z_normalize(window, channels));
            });
            let batch = SeriesBatch::equal(&windows, count, length, channels)?;
            costs.clear();
            costs.resize(queries.len() * count, V::Scalar::ZERO);
            self.cross(&spec, &normalized, &batch, &mut costs)?;
            let first = done - points.len() / channels;
            for (selection, costs) in selections.iter_mut().zip(costs.chunks(count)) {
                selection.offer(costs, |w| first + w)?;
            }
            points.drain(..count * channels);
        }
        if done < length {
            bail_invalid!("the reference has {done} points, fewer than a window of {length}");
        }
        // A selection calls a window's first point its end.
        let whole = |hit: Match<V::Scalar>| Match { end: hit.end + length - 1, ..hit };
        Ok(selections.into_iter().map(|s| s.finish().into_iter().map(whole).collect()).collect())
    }
}
