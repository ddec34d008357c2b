//! k-means with elastic averages.
//!
//! ```text
//! repeat   label_s  = argmin_k d(center_k, x_s)                of equal ones the smaller k
//!          center_k = average of {x_s : label_s = k}           barycenter, from the former centre
//! inertia  = Σ_s w_s · d(center_label_s, x_s)
//! ```
//!
//! With mini-batches ([`KMeansOptions::batch_size`]), see `minibatch`.
//!
//! MacQueen 1967; with DBA Petitjean et al. 2011, 10.1016/j.patcog.2010.09.013; with Soft-DTW Cuturi & Blondel 2017,
//! arXiv 1703.01541. Neither step raises the inertia under DTW; under Soft-DTW the same holds of its own inertia.

use dtw_core::{Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::checks::{check_clusters, check_restarts};
use super::rounds::{Data, KMeans, KMeansOptions};
use super::{minibatch, rounds};
use crate::Context;
use crate::barycenter::{Members, check_averageable, check_tolerance, check_untimed};
use crate::nearest::{Neighbors, nearest, nearest_of};

/// The nearest centre of each series of `x`, with its distance: [`nearest`] with k = 1.
///
/// # Errors
/// As [`nearest`].
pub fn assign<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    centers: SeriesBatch<'_, T>,
    x: SeriesBatch<'_, T>,
) -> Result<Neighbors<T>> {
    nearest(context, spec, centers, x, 1)
}

/// Clusters series round averages under DTW, Soft-DTW or its divergence.
///
/// `x`: series of any lengths with the same channels. Starts are seeded by k-means++, a sweep per cluster and series
/// ([`KMeansOptions::sample_size`]). A cluster left empty takes the series whose weighted distance from its own centre
/// is greatest. Time per round: `clusters · n` sweeps and one average per cluster, whose iterations are a path or
/// gradient per series; with mini-batches that of a batch, and `clusters · n` sweeps at the end. Memory: a copy of the
/// series, and what the averages need.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, 0 clusters or more than series (of positive weight), 0 restarts or
/// iterations, a bad tolerance, bad weights (as for [`crate::barycenter()`]), a sample of fewer series than clusters, a
/// batch of none, a measure without an average, bad series or timestamps, or a distance, average or inertia that is not
/// finite; [`dtw_core::Error::Cancelled`]; what the backend returns.
pub fn kmeans<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMeansOptions<'_>,
) -> Result<KMeans<T>> {
    check_averageable(spec)?;
    check_clusters(options.clusters, x.len())?;
    check_restarts(options.restarts)?;
    check_untimed(&x)?;
    check_tolerance(options.tolerance)?;
    if options.max_iterations == 0 {
        bail_invalid!("k-means needs at least 1 iteration to label the series, got 0");
    }
    if options.batch_size == Some(0) {
        bail_invalid!("a mini-batch needs at least 1 series, got 0");
    }
    if options.sample_size < options.clusters {
        bail_invalid!(
            "the sample that starts are drawn from must have at least as many series as clusters ({}), got {}",
            options.clusters,
            options.sample_size
        );
    }
    let members = Members::new(&x, options.weights)?;
    if options.clusters > members.indices.len() {
        bail_invalid!(
            "{} clusters were asked for, but only {} series have a weight above 0",
            options.clusters,
            members.indices.len()
        );
    }
    let data = Data { x: members.batch(x), weights: &members.weights, indices: &members.indices };
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut best = start(context, spec, &data, options, &mut rng)?;
    for _ in 1..options.restarts {
        let other = start(context, spec, &data, options, &mut rng)?;
        if other.inertia < best.inertia {
            best = other;
        }
    }
    if members.indices.len() < x.len() { with_weightless(context, spec, x, &members, best) } else { Ok(best) }
}

fn start<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    options: &KMeansOptions<'_>,
    rng: &mut impl Rng,
) -> Result<KMeans<T>> {
    match options.batch_size {
        None => rounds::start(context, spec, data, options, rng),
        Some(size) => minibatch::start(context, spec, data, options, size, rng),
    }
}

/// Clusters of the members, and the nearest ones of the series that have no weight.
fn with_weightless<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    members: &Members<T>,
    found: KMeans<T>,
) -> Result<KMeans<T>> {
    let pair = |k, s| format!("the centre of cluster {k} and series {s}");
    let all = nearest_of(context, spec, found.centers.batch(), x, 1, pair)?;
    let (mut labels, mut distances) = (all.all_indices().to_vec(), all.all_distances().to_vec());
    for (s, (label, distance)) in members.indices.iter().zip(found.labels.iter().zip(&found.distances)) {
        (labels[*s], distances[*s]) = (*label, *distance);
    }
    Ok(KMeans { labels, distances, ..found })
}
