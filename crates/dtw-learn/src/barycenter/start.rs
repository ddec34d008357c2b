//! Where the search for an average starts: the medoid (of a sample, where there are many series), the mean, or a given
//! series.

use dtw_core::{Pairing, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::checks::check_cost;
use super::members::{Members, gather};
use super::options::{BarycenterOptions, Start};
use crate::Context;
use crate::draw::draw;
use crate::tiled::for_each_finite_tile;

/// The series of least weighted total distance to all others, itself included.
///
/// ```text
/// medoid  =  argmin_i  Σ_j w_j · d(x_i, x_j)         of equal ones the smaller i; argmax for similarities
/// ```
///
/// `weights` as in [`super::BarycenterOptions::weights`]; series of weight 0 are not candidates. Any measure with a
/// global anchor. Time: n(n + 1)/2 sweeps. Memory: one tile.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, bad series or parameters, or weights that are too few, too many,
/// negative, not finite or all 0, or for a distance or total that is not finite; otherwise as
/// [`crate::for_each_tile`].
pub fn medoid<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    weights: Option<&[f64]>,
) -> Result<usize> {
    let members = Members::new(&x, weights)?;
    let batch = members.batch(x);
    Ok(members.indices[medoid_of(context, spec, batch, &members.weights, &members.indices)?])
}

/// The position of the medoid of `batch`, whose series have these weights, and these indices for the user.
fn medoid_of<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    batch: SeriesBatch<'_, T>,
    weights: &[f64],
    indices: &[usize],
) -> Result<usize> {
    let sign = if spec.measure.is_similarity() { -1.0 } else { 1.0 };
    let mut totals = vec![0.0; batch.len()];
    let pair = |i: usize, j: usize| format!("series {} and {}", indices[i], indices[j]);
    for_each_finite_tile(context, spec, Pairing::SelfSymmetric, batch, batch, &pair, &mut |tile, values| {
        let mirrored = tile.is_mirrored(Pairing::SelfSymmetric);
        for (i, row) in tile.rows.clone().zip(values.chunks_exact(tile.columns.len())) {
            for (j, value) in tile.columns.clone().zip(row) {
                let value = sign * value.to_f64();
                totals[i] += weights[j] * value;
                if mirrored {
                    totals[j] += weights[i] * value;
                }
            }
        }
        Ok(())
    })?;
    let mut best = 0;
    for (i, total) in totals.iter().enumerate() {
        if *total < totals[best] {
            best = i;
        }
    }
    check_cost("the medoid's total distance", totals[best])?;
    Ok(best)
}

/// The position among the members of the medoid of at most `sample_size` of them.
fn medoid_of_sample<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    members: &Members<T>,
    x: SeriesBatch<'_, T>,
    (sample_size, seed): (usize, u64),
) -> Result<usize> {
    if sample_size == 0 {
        bail_invalid!("the sample whose medoid is the start needs at least 1 series, got 0");
    }
    let batch = members.batch(x);
    if batch.len() <= sample_size {
        return medoid_of(context, spec, batch, &members.weights, &members.indices);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let drawn = draw(&mut rng, batch.len(), sample_size, Some(&members.weights))?;
    let of_drawn: Vec<usize> = drawn.iter().map(|s| members.indices[*s]).collect();
    let weights: Vec<f64> = drawn.iter().map(|s| members.weights[*s]).collect();
    Ok(drawn[medoid_of(context, spec, gather(&batch, &drawn)?.batch(), &weights, &of_drawn)?])
}

/// The values of the starting centre, `[length, channels]`.
pub(super) fn values<T: Scalar>(
    options: &BarycenterOptions<'_, T>,
    context: &Context<'_, T>,
    spec: &Spec,
    members: &Members<T>,
    x: SeriesBatch<'_, T>,
) -> Result<Vec<T>> {
    let batch = members.batch(x);
    match options.start {
        Start::Medoid => {
            let sample = (options.sample_size, options.seed);
            Ok(batch.get(medoid_of_sample(context, spec, members, x, sample)?).values.to_vec())
        }
        Start::Mean => mean(members, &batch),
        Start::Series(series) => {
            if series.channels != x.channels() {
                bail_invalid!(
                    "the starting centre has {} channels, the series have {}",
                    series.channels,
                    x.channels()
                );
            }
            if series.values.len() != series.len() * series.channels {
                bail_invalid!(
                    "the starting centre's {} values are not whole points of {} channels",
                    series.values.len(),
                    series.channels
                );
            }
            SeriesBatch::single(series).check("start")?;
            Ok(series.values.to_vec())
        }
    }
}

fn mean<T: Scalar>(members: &Members<T>, batch: &SeriesBatch<'_, T>) -> Result<Vec<T>> {
    let length = batch.length(0);
    if let Some(s) = (0..batch.len()).find(|s| batch.length(*s) != length) {
        bail_invalid!(
            "a mean needs series of equal length, but series {} has {length} points and series {} has {}: start from the medoid",
            members.indices[0],
            members.indices[s],
            batch.length(s)
        );
    }
    let total = members.total_weight();
    let mut sums = vec![0.0; length * batch.channels()];
    for (series, weight) in batch.iter().zip(&members.weights) {
        for (sum, value) in sums.iter_mut().zip(series.values) {
            *sum += weight / total * value.to_f64();
        }
    }
    Ok(sums.into_iter().map(T::from_f64).collect())
}
