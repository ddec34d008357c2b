//! k-means++ seeding.
//!
//! ```text
//! first centre x_s with probability ∝ w_s;   each next one  ∝  w_s · min over centres c so far of  dtw(c, x_s)
//! ```
//!
//! Arthur & Vassilvitskii 2007 (SODA '07, p. 1027): squared distances, which DTW of squared Euclidean cost is.
//! Soft-DTW values can be negative and are no weights, so DTW, its limit for γ → 0, seeds them too.

use dtw_core::{Error, Measure, Pairing, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::Rng;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;

use crate::Context;
use crate::barycenter::gather;
use crate::draw::draw;
use crate::tiled::for_each_finite_tile;

/// Indices of `clusters` different series to start from, of at most `sample_size` series that are drawn first; each
/// counts by its weight. The spec gives the band. Time: a sweep per cluster and series (of the sample).
pub(super) fn seeds<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    weights: &[f64],
    (clusters, sample_size): (usize, usize),
    rng: &mut impl Rng,
) -> Result<Vec<usize>> {
    if sample_size >= x.len() {
        return kmeans_plus_plus(context, spec, x, weights, clusters, rng);
    }
    let drawn = draw(rng, x.len(), sample_size, None)?;
    let weights: Vec<f64> = drawn.iter().map(|s| weights[*s]).collect();
    let chosen = kmeans_plus_plus(context, spec, gather(&x, &drawn)?.batch(), &weights, clusters, rng)?;
    Ok(chosen.into_iter().map(|s| drawn[s]).collect())
}

fn kmeans_plus_plus<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    weights: &[f64],
    clusters: usize,
    rng: &mut impl Rng,
) -> Result<Vec<usize>> {
    let seeding = Spec { measure: Measure::DTW, ..spec.clone() };
    let by_weight = |shares: &[f64], rng: &mut _| -> Result<usize> {
        let index = WeightedIndex::new(shares)
            .map_err(|error| Error::invalid(format!("the series' distances are no weights: {error}")))?;
        Ok(index.sample(rng))
    };
    let even = weights.iter().all(|weight| *weight == weights[0]);
    let first = if even { rng.random_range(0..x.len()) } else { by_weight(weights, rng)? };
    let mut chosen = vec![first];
    let mut nearest = vec![f64::INFINITY; x.len()];
    while chosen.len() < clusters {
        let latest = chosen[chosen.len() - 1];
        let center = x.slice(latest..latest + 1);
        let pair = |_, s| format!("series {latest} and {s}");
        for_each_finite_tile(context, &seeding, Pairing::Cross, center, x, &pair, &mut |tile, values| {
            for (nearest, value) in nearest[tile.columns.clone()].iter_mut().zip(values) {
                *nearest = nearest.min(value.to_f64());
            }
            Ok(())
        })?;
        // Exactly: under a band, or where a difference underflows, zero is not certain.
        nearest[latest] = 0.0;
        let shares: Vec<f64> = nearest.iter().zip(weights).map(|(d, weight)| weight * d).collect();
        if !shares.iter().sum::<f64>().is_finite() {
            bail_invalid!(
                "the sum of the distances from the first centres overflows f64: scale or normalise the data"
            );
        }
        let next = if shares.iter().any(|share| *share > 0.0) {
            by_weight(&shares, rng)?
        } else {
            // All others equal a centre: any that is not one will do.
            let free: Vec<usize> = (0..x.len()).filter(|s| !chosen.contains(s)).collect();
            free[rng.random_range(0..free.len())]
        };
        chosen.push(next);
    }
    Ok(chosen)
}
