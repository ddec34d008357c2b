//! k-medoids on any measure.
//!
//! ```text
//! medoids  =  argmin over k series m_1 … m_k of   Σ_s min_i d(x_{m_i}, x_s)
//! ```
//!
//! Needs dissimilarities alone: no average, no triangle inequality, no sign. Similarities are negated first. The
//! search is FasterPAM (Schubert & Rousseeuw 2021, 10.1016/j.is.2021.101804) on the whole distance matrix, written
//! here because the crate of its authors is under the GPL, which this project's licences do not admit.

use dtw_core::{Error, Observer, Pairing, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::checks::{check_clusters, check_restarts};
use super::fasterpam::Search;
use crate::Context;
use crate::tiled::pairwise;

/// Which medoids the search starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MedoidStart {
    /// PAM's BUILD: one medoid after the other, each the one that lowers the loss most. O(n²·k), nothing random.
    #[default]
    Build,
    /// Uniformly drawn medoids, several times; the result of least loss is returned.
    Random {
        /// Independent starts, at least 1.
        restarts: usize,
        /// Seed of the draws (ChaCha8).
        seed: u64,
    },
}

/// How [`kmedoids`] searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KMedoidsOptions {
    /// Number of clusters, from 1 to the number of series.
    pub clusters: usize,
    /// Where the search starts.
    pub start: MedoidStart,
    /// Most passes over all candidates per start.
    pub max_iterations: usize,
}

impl KMedoidsOptions {
    /// This many clusters from BUILD, at most 100 passes.
    pub fn new(clusters: usize) -> Self {
        Self { clusters, start: MedoidStart::Build, max_iterations: 100 }
    }

    chosen! {
        /// Options with this start.
        with_start(start: MedoidStart);
        /// Options with at most this many passes per start.
        with_max_iterations(max_iterations: usize);
    }
}

/// Clusters round members.
#[derive(Debug, Clone, PartialEq)]
pub struct KMedoids {
    /// Index of each cluster's medoid, `[k]`, increasing.
    pub medoids: Vec<usize>,
    /// Cluster of each series, `[n]`: its nearest medoid, of equal ones the first.
    pub labels: Vec<usize>,
    /// Sum of all series' dissimilarities to their medoid; for a similarity, minus the sum of similarities.
    pub loss: f64,
    /// Passes over all candidates in the start that won.
    pub iterations: usize,
    /// Whether no swap of a medoid with another series lowers the loss any more.
    pub converged: bool,
}

/// Clusters series round members on any measure.
///
/// Time: n(n + 1)/2 sweeps, then O(n²) per pass. Memory: the distance matrix.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, 0 clusters or more than series, 0 restarts, bad series or parameters,
/// or distances that are not finite or whose sums are not; [`dtw_core::Error::OutOfMemory`] when the matrix does not
/// fit the context's memory limit; otherwise as [`pairwise`].
pub fn kmedoids<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMedoidsOptions,
) -> Result<KMedoids> {
    check(options, x.len())?;
    let mut matrix = pairwise(context, spec, Pairing::SelfSymmetric, x, x)?;
    if spec.measure.is_similarity() {
        matrix.iter_mut().for_each(|value| *value = T::ZERO - *value);
    }
    search(&matrix, x.len(), options, || context.check_cancelled())
}

/// Medoids of a given matrix of dissimilarities, `[n, n]` row-major: entry `[c, s]` is the dissimilarity of series
/// `s` to the candidate medoid `c`. Need not be symmetric, zero on the diagonal, or positive. The observer is asked
/// before each pass.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when the matrix is not `n × n` or has an entry or a sum that is not finite, for 0
/// clusters or more than `n`, or 0 restarts; [`dtw_core::Error::Cancelled`].
pub fn kmedoids_of_matrix<T: Scalar>(
    dissimilarities: &[T],
    n: usize,
    options: &KMedoidsOptions,
    observer: &dyn Observer,
) -> Result<KMedoids> {
    if n.checked_mul(n) != Some(dissimilarities.len()) {
        bail_invalid!(
            "a matrix of {n} x {n} dissimilarities was expected, got {} values",
            dissimilarities.len()
        );
    }
    check(options, n)?;
    search(dissimilarities, n, options, || if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) })
}

fn check(options: &KMedoidsOptions, n: usize) -> Result<()> {
    check_clusters(options.clusters, n)?;
    match options.start {
        MedoidStart::Build => Ok(()),
        MedoidStart::Random { restarts, .. } => check_restarts(restarts),
    }
}

fn search<T: Scalar>(
    matrix: &[T],
    n: usize,
    options: &KMedoidsOptions,
    check: impl Fn() -> Result<()>,
) -> Result<KMedoids> {
    if let Some(at) = matrix.iter().position(|v| !v.finite()) {
        bail_invalid!(
            "the dissimilarity of series {} to series {} is {}: k-medoids needs finite ones",
            at % n,
            at / n,
            matrix[at]
        );
    }
    // Losses are sums along the rows, and their differences decide: beyond the range one medoid is as good as another.
    for (medoid, row) in matrix.chunks_exact(n).enumerate() {
        let sum: f64 = row.iter().map(|value| value.to_f64().abs()).sum();
        if !(4.0 * sum).is_finite() {
            bail_invalid!(
                "the dissimilarities to series {medoid} add up beyond f64: scale or normalise the data"
            );
        }
    }
    let run = |medoids: Vec<usize>| -> Result<KMedoids> {
        let mut search = Search::new(matrix, n, medoids);
        let (mut iterations, mut converged) = (0, false);
        while iterations < options.max_iterations && !converged {
            check()?;
            converged = !search.pass();
            iterations += 1;
        }
        let (medoids, labels, loss) = search.finish();
        Ok(KMedoids { medoids, labels, loss, iterations, converged })
    };
    match options.start {
        MedoidStart::Build => run(Search::build(matrix, n, options.clusters)),
        MedoidStart::Random { restarts, seed } => {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut draw = || rand::seq::index::sample(&mut rng, n, options.clusters).into_vec();
            let mut best = run(draw())?;
            for _ in 1..restarts {
                let other = run(draw())?;
                if other.loss < best.loss {
                    best = other;
                }
            }
            Ok(best)
        }
    }
}
