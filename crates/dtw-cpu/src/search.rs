//! Finding queries in long references: subsequence DTW, and z-normalised windows.

use dtw_core::{Match, Result, Scalar, SearchOptions, Series, SeriesBatch, bail_invalid, normalize};
use rayon::prelude::*;

use crate::lanes::Register;
use crate::plan::{CpuPlan, own};

/// Windows normalised and compared at a time.
const WINDOWS: usize = 2048;

/// The best matches by repeated argmin: equal costs by smaller end, ends within `exclusion` of a hit's end left out.
/// O(candidates · hits).
pub(crate) fn top_k<T: Scalar>(
    mut costs: Vec<T>,
    options: &SearchOptions,
    start: impl Fn(usize) -> (usize, usize),
) -> Vec<Match<T>> {
    let mut hits = Vec::new();
    while hits.len() < options.top_k {
        let best = (0..costs.len()).fold(None, |best: Option<usize>, k| match best {
            Some(b) if costs[b] <= costs[k] => best,
            _ if costs[k] < T::INFINITY => Some(k),
            _ => best,
        });
        let Some(best) = best else { break };
        let (first, last) = start(best);
        hits.push(Match { distance: costs[best], start: first, end: last });
        let from = best.saturating_sub(options.exclusion);
        let to = best.saturating_add(options.exclusion).min(costs.len() - 1);
        costs[from..=to].fill(T::INFINITY);
    }
    hits
}

impl<V: Register + Send + 'static> CpuPlan<V> {
    /// Free start and end: the last row of the sweep holds every candidate.
    pub(crate) fn subsequence_matches(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        references: &SeriesBatch<'_, V::Scalar>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let Self { token, pool, observer, scratch, problem, .. } = self;
        let (token, scratch, observer, spec) = (*token, &*scratch, &**observer, problem.spec());
        let pairs = queries.len() * references.len();
        pool.install(|| {
            (0..pairs)
                .into_par_iter()
                .map(|k| {
                    let (x, y) = (queries.get(k / references.len()), references.get(k % references.len()));
                    let mut scratch = own(scratch);
                    scratch.single(token, spec, x, y, observer)?;
                    let m = y.len();
                    let (totals, starts) = scratch.strips.edge.split_at(m + 1);
                    Ok(top_k(totals[1..].to_vec(), options, |j| (starts[j + 1].to_index(), j)))
                })
                .collect()
        })
    }

    /// Every window of `length` points, normalised, against the normalised query.
    pub(crate) fn window_matches(
        &mut self,
        queries: &SeriesBatch<'_, V::Scalar>,
        references: &SeriesBatch<'_, V::Scalar>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<V::Scalar>>>> {
        let spec = self.problem.spec().clone();
        if !matches!(spec.measure, dtw_core::Measure::Dtw { .. }) {
            return Err(self.unsupported("a search by normalised windows with a measure other than dtw"));
        }
        if length == 0 {
            bail_invalid!("a window needs at least one point, got 0");
        }
        let channels = queries.channels();
        let mut found = Vec::new();
        for query in queries.iter() {
            let mut normalized = query.values.to_vec();
            normalize::z_normalize(&mut normalized, channels);
            let query = SeriesBatch::single(Series { values: &normalized, channels, times: None });
            for (r, reference) in references.iter().enumerate() {
                if reference.len() < length {
                    bail_invalid!(
                        "reference {r} has {} points, fewer than a window of {length}",
                        reference.len()
                    );
                }
                let windows = reference.len() - length + 1;
                let mut costs = vec![V::Scalar::ZERO; windows];
                let mut buffer = Vec::new();
                for first in (0..windows).step_by(WINDOWS) {
                    let count = WINDOWS.min(windows - first);
                    buffer.clear();
                    for w in first..first + count {
                        buffer.extend_from_slice(&reference.values[w * channels..(w + length) * channels]);
                    }
                    self.pool.install(|| {
                        buffer
                            .par_chunks_mut(length * channels)
                            .for_each(|window| normalize::z_normalize(window, channels));
                    });
                    let batch = SeriesBatch::equal(&buffer, count, length, channels)?;
                    self.cross(&spec, &query, &batch, &mut costs[first..first + count])?;
                }
                found.push(top_k(costs, options, |w| (w, w + length - 1)));
            }
        }
        Ok(found)
    }
}
