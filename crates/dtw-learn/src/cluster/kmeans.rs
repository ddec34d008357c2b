//! k-means with elastic averages.
//!
//! ```text
//! repeat   label_s  = argmin_k d(center_k, x_s)                of equal ones the smaller k
//!          center_k = average of {x_s : label_s = k}           barycenter, from the former centre
//! inertia  = Σ_s d(center_label_s, x_s)
//! ```
//!
//! MacQueen 1967; with DBA Petitjean et al. 2011, 10.1016/j.patcog.2010.09.013; with Soft-DTW Cuturi & Blondel 2017,
//! arXiv 1703.01541. Neither step raises the inertia under DTW; under Soft-DTW the same holds of its own inertia.

use dtw_core::{OwnedBatch, Pairing, Problem, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::checks::{check_clusters, check_restarts};
use super::seeding::kmeans_plus_plus;
use crate::Context;
use crate::barycenter::{
    BarycenterOptions, Optimizer, Start, barycenter, check_averageable, check_cost, check_tolerance,
    check_untimed, cost_floor, gather,
};
use crate::nearest::{Neighbors, nearest, nearest_of};

/// How [`kmeans`] searches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KMeansOptions {
    /// Number of clusters, from 1 to the number of series.
    pub clusters: usize,
    /// Independent starts, at least 1; the one of least inertia is returned.
    pub restarts: usize,
    /// Most rounds of labelling and averaging per start, at least 1.
    pub max_iterations: usize,
    /// Converged when a round lowers the inertia by no more than this fraction of it; ≥ 0.
    pub tolerance: f64,
    /// Most iterations of each average per round.
    pub center_iterations: usize,
    /// How the averages are minimised where there is a gradient.
    pub optimizer: Optimizer,
    /// Seed of the starts (ChaCha8).
    pub seed: u64,
}

impl KMeansOptions {
    /// This many clusters, 3 starts, 50 rounds, tolerance 1e-6, 10 iterations per average, L-BFGS, seed 0.
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            restarts: 3,
            max_iterations: 50,
            tolerance: 1e-6,
            center_iterations: 10,
            optimizer: Optimizer::default(),
            seed: 0,
        }
    }

    chosen! {
        /// Options with this many starts.
        with_restarts(restarts: usize);
        /// Options with at most this many rounds per start.
        with_max_iterations(max_iterations: usize);
        /// Options that stop when a round lowers the inertia by no more than this fraction.
        with_tolerance(tolerance: f64);
        /// Options with at most this many iterations of each average per round.
        with_center_iterations(center_iterations: usize);
        /// Options with this way to minimise averages.
        with_optimizer(optimizer: Optimizer);
        /// Options with starts drawn from this seed.
        with_seed(seed: u64);
    }
}

/// Clusters round averages.
#[derive(Debug, Clone, PartialEq)]
pub struct KMeans<T> {
    /// The centres, one series per cluster, of the lengths of the series they started from.
    pub centers: OwnedBatch<T>,
    /// Cluster of each series, `[n_x]`. Every cluster has at least one.
    pub labels: Vec<usize>,
    /// Distance of each series from its cluster's centre, `[n_x]`.
    pub distances: Vec<T>,
    /// Sum of [`KMeans::distances`].
    pub inertia: f64,
    /// Rounds done in the start that won.
    pub iterations: usize,
    /// Whether the inertia stopped falling (within the tolerance) before the rounds ran out.
    pub converged: bool,
}

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
/// `x`: series of any lengths with the same channels. Starts are seeded by k-means++. A cluster left empty takes the
/// series furthest from its own centre. Time per round: `clusters · n` sweeps and one average per cluster. Memory: a
/// copy of the series, and what the averages need.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, 0 clusters or more than series, 0 restarts or iterations, a bad
/// tolerance, a measure without an average, bad series or timestamps, or a distance, average or inertia that is not
/// finite; [`dtw_core::Error::Cancelled`]; what the backend returns.
pub fn kmeans<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMeansOptions,
) -> Result<KMeans<T>> {
    check_averageable(spec)?;
    check_clusters(options.clusters, x.len())?;
    check_restarts(options.restarts)?;
    check_untimed(&x)?;
    check_tolerance(options.tolerance)?;
    if options.max_iterations == 0 {
        bail_invalid!("k-means needs at least 1 iteration to label the series, got 0");
    }
    x.check("x")?;
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut best = start(context, spec, x, options, &mut rng)?;
    for _ in 1..options.restarts {
        let other = start(context, spec, x, options, &mut rng)?;
        if other.inertia < best.inertia {
            best = other;
        }
    }
    Ok(best)
}

/// One start: seeded, then rounds until the inertia rests.
fn start<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMeansOptions,
    rng: &mut impl Rng,
) -> Result<KMeans<T>> {
    let seeds = kmeans_plus_plus(context, spec, x, options.clusters, rng)?;
    let mut current = label(context, spec, x, gather(&x, &seeds)?)?;
    current.iterations = 1;
    for iteration in 2..=options.max_iterations {
        context.check_cancelled()?;
        let centers = update(context, spec, x, &current, options)?;
        let next = label(context, spec, x, centers)?;
        let decrease = current.inertia - next.inertia;
        let scale = current.inertia.abs().max(cost_floor(spec) * x.len() as f64);
        let converged = decrease <= options.tolerance * scale;
        // A round that gains nothing (rounding, or a series moved into an empty cluster) is not taken.
        if decrease > 0.0 {
            current = next;
        }
        (current.iterations, current.converged) = (iteration, converged);
        if converged {
            break;
        }
    }
    Ok(current)
}

/// Each series to its nearest centre; an empty cluster gets the series furthest from its own.
fn label<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    mut centers: OwnedBatch<T>,
) -> Result<KMeans<T>> {
    let pair = |k, s| format!("the centre of cluster {k} and series {s}");
    let found = nearest_of(context, spec, centers.batch(), x, 1, pair)?;
    let mut labels = found.all_indices().to_vec();
    let mut distances = found.all_distances().to_vec();
    let mut sizes = vec![0_usize; centers.len()];
    labels.iter().for_each(|k| sizes[*k] += 1);
    while let Some(empty) = sizes.iter().position(|size| *size == 0) {
        // There are at least as many series as clusters, so an empty one leaves another with two.
        let mut furthest: Option<usize> = None;
        for s in (0..x.len()).filter(|s| sizes[labels[*s]] > 1) {
            if furthest.is_none_or(|f| distances[s] > distances[f]) {
                furthest = Some(s);
            }
        }
        let Some(s) = furthest else {
            bail_invalid!("no series is left for cluster {empty}");
        };
        sizes[labels[s]] -= 1;
        sizes[empty] += 1;
        labels[s] = empty;
        let moved = x.slice(s..s + 1);
        let problem = Problem::of(spec.clone(), Pairing::Zipped, &moved, &moved)?;
        context.plan(problem, 0)?.distances(moved, moved, &mut distances[s..=s])?;
        centers = with_series(&centers, empty, x.get(s).values)?;
    }
    let inertia: f64 = distances.iter().map(|d| d.to_f64()).sum();
    check_cost("the inertia", inertia)?;
    Ok(KMeans { centers, labels, distances, inertia, iterations: 0, converged: false })
}

fn with_series<T: Scalar>(centers: &OwnedBatch<T>, k: usize, values: &[T]) -> Result<OwnedBatch<T>> {
    let mut changed = OwnedBatch::new(centers.channels())?;
    for (index, center) in centers.batch().iter().enumerate() {
        changed.push(if index == k { values } else { center.values })?;
    }
    Ok(changed)
}

/// The average of each cluster, sought from its former centre.
fn update<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    current: &KMeans<T>,
    options: &KMeansOptions,
) -> Result<OwnedBatch<T>> {
    let mut centers = OwnedBatch::new(x.channels())?;
    for (k, center) in current.centers.batch().iter().enumerate() {
        let indices: Vec<usize> = (0..x.len()).filter(|s| current.labels[*s] == k).collect();
        let average = BarycenterOptions {
            weights: None,
            start: Start::Series(center),
            optimizer: options.optimizer,
            max_iterations: options.center_iterations,
            tolerance: options.tolerance,
        };
        let members = gather(&x, &indices)?;
        centers.push(&barycenter(context, spec, members.batch(), &average)?.center)?;
    }
    Ok(centers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series of one point.
    fn points(values: &[f64]) -> OwnedBatch<f64> {
        let mut batch = OwnedBatch::new(1).unwrap();
        values.iter().for_each(|value| batch.push(&[*value]).unwrap());
        batch
    }

    #[test]
    fn an_empty_cluster_takes_the_series_furthest_from_its_centre() {
        let backend = dtw_cpu::CpuBackend::with_threads(1);
        let x = points(&[0.0, 1.0, 5.0, 2.0]);
        let found =
            label(&Context::new(&backend), &Spec::dtw(), x.batch(), points(&[0.0, 90.0, 80.0])).unwrap();
        assert_eq!((found.labels, found.distances), (vec![0, 0, 1, 2], vec![0.0, 1.0, 0.0, 0.0]));
        assert_eq!((found.centers, found.inertia), (points(&[0.0, 5.0, 2.0]), 1.0));
    }
}
