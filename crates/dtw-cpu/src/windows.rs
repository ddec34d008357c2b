//! Finding queries in long references by z-normalised windows: pruned ([`crate::pruned`]) where there are bounds, else
//! a batch of windows at a time, for all queries.

use std::sync::Arc;

use dtw_core::{
    Blocks, Error, Match, OwnedBatch, Result, Scalar, SearchOptions, Selection, SeriesBatch, WindowSearch,
    Windows, normalize, search_each,
};

use crate::lanes::Register;
use crate::parallel;
use crate::plan::CpuPlan;
use crate::pruned::Pruned;

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
        search_each(queries.len(), references, |reference| {
            self.window_matches_in_blocks(queries, reference, options, length)
        })
    }

    /// The matches of windows in a reference that is read once.
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        reference: &mut dyn Blocks<V::Scalar>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let spec = self.problem.spec().clone();
        let channels = queries.channels();
        let mut normalized = OwnedBatch::new(channels)?;
        for query in queries.iter() {
            normalized.push(query.values)?;
        }
        for q in 0..normalized.len() {
            normalize::z_normalize(normalized.series_mut(q), channels);
        }
        let normalized = normalized.batch();

        let limit = self.problem.memory_limit_bytes();
        let share = limit / 2;
        let hits_bytes = (limit - share) / queries.len().max(1) as u64;
        let selections =
            queries.iter().map(|_| Selection::new(options, hits_bytes).within(limit)).collect::<Vec<_>>();
        let observer = Arc::clone(&self.observer);
        if let Some(mut pruned) = Pruned::new(self, &spec, &normalized, options, length, share)? {
            let search = WindowSearch { length, channels, most: pruned.most(), selections };
            return search.run(reference, &*observer, |windows, offer| pruned.block(self, windows, offer));
        }

        // A window brings its points, normalised and as they are, and a cost of each query, twice.
        let window = ((length * channels + channels + 2 * queries.len()) * size_of::<V::Scalar>()) as u64;
        let tail = (length * channels * size_of::<V::Scalar>()) as u64;
        if window + tail > share {
            return Err(Error::OutOfMemory {
                what: format!("one window of {length} points for {} queries", queries.len()),
                requested_bytes: 2 * (window + tail),
                available_bytes: limit,
            });
        }
        let most = usize::try_from((share - tail) / window).unwrap_or(WINDOWS).min(WINDOWS);
        let search = WindowSearch { length, channels, most, selections };
        let (mut normal, mut costs) = (Vec::new(), Vec::new());
        search.run(reference, &*observer, |Windows { count, points, .. }, offer| {
            normal.clear();
            for w in 0..count {
                normal.extend_from_slice(&points[w * channels..(w + length) * channels]);
            }
            self.threads.run(|| {
                parallel::each_chunk(&mut normal, length * channels, &|_, window| {
                    normalize::z_normalize(window, channels);
                    Ok(())
                })
            })?;
            let batch = SeriesBatch::equal(&normal, count, length, channels)?;
            costs.clear();
            costs.resize(queries.len() * count, V::Scalar::ZERO);
            self.cross(&spec, &normalized, &batch, &mut costs)?;
            costs.chunks(count).enumerate().try_for_each(|(q, costs)| offer(q, 0, costs))
        })
    }
}
