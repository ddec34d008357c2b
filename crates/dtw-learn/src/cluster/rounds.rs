//! k-means: what it is asked, what it finds, and its rounds over all series.

use dtw_core::{OwnedBatch, Pairing, Problem, Result, Scalar, Series, SeriesBatch, Spec, bail_invalid};
use rand::Rng;

use super::seeding::seeds;
use crate::Context;
use crate::barycenter::{BarycenterOptions, Optimizer, Start, barycenter, check_cost, cost_floor, gather};
use crate::nearest::nearest_of;

/// How [`super::kmeans`] searches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct KMeansOptions<'a> {
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
    /// Seed of the starts and of mini-batches (ChaCha8).
    pub seed: u64,
    /// One weight per series, finite and ≥ 0, not all 0; `None` is all ones. Series of weight 0 get labels,
    /// and change
    /// nothing.
    pub weights: Option<&'a [f64]>,
    /// Of how many series, at most, each start is drawn by k-means++: at least as many as clusters. Of more,
    /// so many are
    /// drawn uniformly first.
    pub sample_size: usize,
    /// Series of a mini-batch, at least 1: a round then looks at so many series that it draws. `None`: at all.
    pub batch_size: Option<usize>,
}

impl<'a> KMeansOptions<'a> {
    /// This many clusters, 3 starts, 50 rounds, tolerance 1e-6, 10 iterations per average, L-BFGS, seed 0; all
    /// series, each of weight 1.
    pub fn new(clusters: usize) -> Self {
        Self {
            clusters,
            restarts: 3,
            max_iterations: 50,
            tolerance: 1e-6,
            center_iterations: 10,
            optimizer: Optimizer::default(),
            seed: 0,
            weights: None,
            sample_size: usize::MAX,
            batch_size: None,
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
        /// Options with one weight per series.
        with_weights(weights: Option<&'a [f64]>);
        /// Options with starts drawn of at most so many series.
        with_sample_size(sample_size: usize);
        /// Options with mini-batches of so many series.
        with_batch_size(batch_size: Option<usize>);
    }
}

/// Clusters round averages.
#[derive(Debug, Clone, PartialEq)]
pub struct KMeans<T> {
    /// The centres, one series per cluster, of the lengths of the series they started from.
    pub centers: OwnedBatch<T>,
    /// Cluster of each series, `[n_x]`. Every cluster has at least one (of positive weight).
    pub labels: Vec<usize>,
    /// Distance of each series from its cluster's centre, `[n_x]`.
    pub distances: Vec<T>,
    /// Sum of [`KMeans::distances`], each times its series' weight.
    pub inertia: f64,
    /// Rounds (or mini-batches) done in the start that won.
    pub iterations: usize,
    /// Whether the inertia (of mini-batches their running mean) stopped falling before the rounds ran out.
    pub converged: bool,
}

/// Series with positive weights, and the indices that users know them by.
#[derive(Clone, Copy)]
pub(super) struct Data<'d, T> {
    pub(super) x: SeriesBatch<'d, T>,
    pub(super) weights: &'d [f64],
    pub(super) indices: &'d [usize],
}

/// One start: seeded, then rounds until the inertia rests.
pub(super) fn start<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    options: &KMeansOptions<'_>,
    rng: &mut impl Rng,
) -> Result<KMeans<T>> {
    let mut current = label(context, spec, data, seeded(context, spec, data, options, rng)?)?;
    current.iterations = 1;
    for iteration in 2..=options.max_iterations {
        context.check_cancelled()?;
        let centers = update(context, spec, data, &current, options)?;
        let next = label(context, spec, data, centers)?;
        let decrease = current.inertia - next.inertia;
        let scale = current.inertia.abs().max(cost_floor(spec) * data.weights.iter().sum::<f64>());
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

/// The centres that a start is seeded with.
pub(super) fn seeded<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    options: &KMeansOptions<'_>,
    rng: &mut impl Rng,
) -> Result<OwnedBatch<T>> {
    let size = (options.clusters, options.sample_size);
    gather(&data.x, &seeds(context, spec, data.x, data.weights, size, rng)?)
}

/// Each series to its nearest centre; an empty cluster gets the series that adds most to the inertia.
pub(super) fn label<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    mut centers: OwnedBatch<T>,
) -> Result<KMeans<T>> {
    let Data { x, weights, indices } = *data;
    let pair = |k, s: usize| format!("the centre of cluster {k} and series {}", indices[s]);
    let found = nearest_of(context, spec, centers.batch(), x, 1, pair)?;
    let mut labels = found.all_indices().to_vec();
    let mut distances = found.all_distances().to_vec();
    let mut sizes = vec![0_usize; centers.len()];
    labels.iter().for_each(|k| sizes[*k] += 1);
    while let Some(empty) = sizes.iter().position(|size| *size == 0) {
        // There are at least as many series as clusters, so an empty one leaves another with two.
        let mut furthest: Option<usize> = None;
        for s in (0..x.len()).filter(|s| sizes[labels[*s]] > 1) {
            let cost = |s: usize| weights[s] * distances[s].to_f64();
            if furthest.is_none_or(|f| cost(s) > cost(f)) {
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
    let inertia: f64 = distances.iter().zip(weights).map(|(d, weight)| weight * d.to_f64()).sum();
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
    data: &Data<'_, T>,
    current: &KMeans<T>,
    options: &KMeansOptions<'_>,
) -> Result<OwnedBatch<T>> {
    let mut centers = OwnedBatch::new(data.x.channels())?;
    for (k, center) in current.centers.batch().iter().enumerate() {
        let members: Vec<usize> = (0..data.x.len()).filter(|s| current.labels[*s] == k).collect();
        centers.push(&average(context, spec, data, center, &members, options)?)?;
    }
    Ok(centers)
}

/// The average of these series, sought from `center`.
pub(super) fn average<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    center: Series<'_, T>,
    members: &[usize],
    options: &KMeansOptions<'_>,
) -> Result<Vec<T>> {
    let weights: Vec<f64> = members.iter().map(|s| data.weights[*s]).collect();
    let average = BarycenterOptions {
        weights: Some(&weights),
        start: Start::Series(center),
        optimizer: options.optimizer,
        max_iterations: options.center_iterations,
        tolerance: options.tolerance,
        ..BarycenterOptions::default()
    };
    Ok(barycenter(context, spec, gather(&data.x, members)?.batch(), &average)?.center)
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
        let data = Data { x: x.batch(), weights: &[1.0; 4], indices: &[0, 1, 2, 3] };
        let found = label(&Context::new(&backend), &Spec::dtw(), &data, points(&[0.0, 90.0, 80.0])).unwrap();
        assert_eq!((found.labels, found.distances), (vec![0, 0, 1, 2], vec![0.0, 1.0, 0.0, 0.0]));
        assert_eq!((found.centers, found.inertia), (points(&[0.0, 5.0, 2.0]), 1.0));
        // What counts most is furthest.
        let data = Data { x: x.batch(), weights: &[1.0, 30.0, 1.0, 1.0], indices: &[0, 1, 2, 3] };
        let found = label(&Context::new(&backend), &Spec::dtw(), &data, points(&[0.0, 90.0, 80.0])).unwrap();
        assert_eq!((found.labels, found.inertia), (vec![0, 1, 2, 0], 4.0));
    }
}
