//! k-means++ seeding.
//!
//! ```text
//! first centre uniformly;   each next one x_s with probability  ∝  min over centres c so far of  dtw(c, x_s)
//! ```
//!
//! Arthur & Vassilvitskii 2007 (SODA '07, p. 1027): squared distances, which DTW of squared Euclidean cost is.
//! Soft-DTW values can be negative and are no weights, so DTW, its limit for γ → 0, seeds them too.

use dtw_core::{Error, Measure, Pairing, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::Rng;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;

use crate::Context;
use crate::tiled::for_each_finite_tile;

/// Indices of `clusters` different series to start from. The spec gives the band. Time: `clusters · n` sweeps.
pub(super) fn kmeans_plus_plus<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    clusters: usize,
    rng: &mut impl Rng,
) -> Result<Vec<usize>> {
    let seeding = Spec { measure: Measure::DTW, ..spec.clone() };
    let mut chosen = vec![rng.random_range(0..x.len())];
    let mut nearest = vec![f64::INFINITY; x.len()];
    while chosen.len() < clusters {
        let latest = chosen[chosen.len() - 1];
        let center = x.slice(latest..latest + 1);
        let pair = |_, s| format!("series {latest} and {s}");
        for_each_finite_tile(context, &seeding, Pairing::Cross, center, x, pair, |tile, values| {
            for (nearest, value) in nearest[tile.columns.clone()].iter_mut().zip(values) {
                *nearest = nearest.min(value.to_f64());
            }
            Ok(())
        })?;
        // Exactly: under a band, or where a difference underflows, zero is not certain.
        nearest[latest] = 0.0;
        if !nearest.iter().sum::<f64>().is_finite() {
            bail_invalid!(
                "the sum of the distances from the first centres overflows f64: scale or normalise the data"
            );
        }
        let next = if nearest.iter().any(|d| *d > 0.0) {
            WeightedIndex::new(&nearest)
                .map_err(|error| Error::invalid(format!("the series' distances are no weights: {error}")))?
                .sample(rng)
        } else {
            // All others equal a centre: any that is not one will do.
            let free: Vec<usize> = (0..x.len()).filter(|s| !chosen.contains(s)).collect();
            free[rng.random_range(0..free.len())]
        };
        chosen.push(next);
    }
    Ok(chosen)
}
