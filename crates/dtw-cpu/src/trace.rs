//! Warping paths of many pairs: one pair per thread at a time.

use dtw_core::derivative::Derivatives;
use dtw_core::recurrence::{One, dispatch};
use dtw_core::{Anchor, Error, Path, Result, Scalar, SeriesBatch, Unobserved, bail_invalid};
use rayon::prelude::*;

use crate::lanes::Register;
use crate::line::Strided;
use crate::path::TracePair;
use crate::plan::{CpuPlan, own};

impl<V: Register + Send + 'static> CpuPlan<V> {
    /// Best paths of zipped pairs.
    pub(crate) fn all_paths(
        &mut self,
        x: &SeriesBatch<'_, V::Scalar>,
        y: &SeriesBatch<'_, V::Scalar>,
    ) -> Result<Vec<Path<V::Scalar>>> {
        let spec = self.problem.spec();
        if !spec.measure.has_path(x.channels()) {
            return Err(self.unsupported(&crate::no_path(spec, x.channels())));
        }
        if x.len() != y.len() {
            bail_invalid!("paths are found for zipped pairs: x has {} series, y has {}", x.len(), y.len());
        }
        let derived = spec.measure.is_derivative().then(|| (Derivatives::of(x), Derivatives::of(y)));
        let (x, y) = match &derived {
            Some((x, y)) => (x.batch(), y.batch()),
            None => (*x, *y),
        };
        let threads = self.pool.current_num_threads().min(x.len().max(1)) as u64;
        let memory_limit_bytes = self.problem.memory_limit_bytes() / threads;
        let (token, scratch, observer) = (self.token, &self.scratch, &*self.observer);
        self.pool.install(|| {
            (0..x.len())
                .into_par_iter()
                .map(|s| {
                    if observer.cancelled() {
                        return Err(Error::Cancelled);
                    }
                    let (x, y) = (x.get(s), y.get(s));
                    let mut scratch = own(scratch);
                    let ranges = spec.band.ranges(x.len(), y.len(), spec.anchor)?;
                    crate::span::check_band::<V>(&ranges)?;
                    let mut end = y.len() - 1;
                    if spec.anchor == Anchor::Subsequence {
                        scratch.single(token, spec, x, y, &Unobserved)?;
                        let totals = &scratch.strips.edge[1..=y.len()];
                        let least = |a: usize, b: usize| if totals[b] < totals[a] { b } else { a };
                        let best = (0..y.len()).reduce(least);
                        end = best.filter(|best| totals[*best] < V::Scalar::INFINITY).unwrap_or(end);
                    } else {
                        scratch.pair.x.fill(x, false);
                        scratch.pair.y.fill(y, true);
                    }
                    let pair = &scratch.pair;
                    let trace =
                        TracePair::<V> { token, pair, ranges: &ranges, end, memory_limit_bytes, observer };
                    let any = V::splat(token, V::Scalar::ZERO);
                    if x.channels == 1 {
                        dispatch::<V, One<V>, _>(spec, any, trace)
                    } else {
                        dispatch::<V, Strided<'_, V>, _>(spec, any, trace)
                    }
                })
                .collect()
        })
    }
}
