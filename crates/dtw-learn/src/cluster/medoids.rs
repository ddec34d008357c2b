//! k-medoids: what it is asked, what it finds, and the search of one matrix.

use dtw_core::{Result, Scalar, Spec, bail_invalid};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::checks::{check_clusters, check_restarts};
use super::fasterpam::Search;

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

/// How [`super::kmedoids()`] searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KMedoidsOptions {
    /// Number of clusters, from 1 to the number of series.
    pub clusters: usize,
    /// Where the search starts.
    pub start: MedoidStart,
    /// Most passes over all candidates per start.
    pub max_iterations: usize,
    /// What is searched.
    pub method: MedoidMethod,
}

/// What [`super::kmedoids()`] searches for medoids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MedoidMethod {
    /// The distance matrix of all series, by FasterPAM.
    #[default]
    FasterPam,
    /// Samples, each by FasterPAM; their best medoids serve all series. Memory in proportion to the series.
    Clara(ClaraOptions),
}

impl KMedoidsOptions {
    /// This many clusters from BUILD, at most 100 passes.
    pub fn new(clusters: usize) -> Self {
        Self { clusters, start: MedoidStart::Build, max_iterations: 100, method: MedoidMethod::FasterPam }
    }

    chosen! {
        /// Options with this start.
        with_start(start: MedoidStart);
        /// Options with at most this many passes per start.
        with_max_iterations(max_iterations: usize);
        /// Options with this method.
        with_method(method: MedoidMethod);
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

/// How CLARA samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaraOptions {
    /// Samples, at least 1.
    pub samples: usize,
    /// Series of a sample, at least as many as clusters; all of them where there are no more.
    pub sample_size: usize,
    /// Seed of the samples (ChaCha8).
    pub seed: u64,
}

impl ClaraOptions {
    /// 10 samples of 80 + 4k series, seed 0.
    pub fn new(clusters: usize) -> Self {
        Self { samples: 10, sample_size: clusters.saturating_mul(4).saturating_add(80), seed: 0 }
    }

    chosen! {
        /// Options with so many samples.
        with_samples(samples: usize);
        /// Options with samples of so many series.
        with_sample_size(sample_size: usize);
        /// Options with samples drawn from this seed.
        with_seed(seed: u64);
    }
}

/// Dissimilarities of the distances of the spec.
pub(super) fn negated<T: Scalar>(spec: &Spec, mut matrix: Vec<T>) -> Vec<T> {
    if spec.measure.is_similarity() {
        matrix.iter_mut().for_each(|value| *value = T::ZERO - *value);
    }
    matrix
}

fn check_sampling(sampling: &ClaraOptions, clusters: usize) -> Result<()> {
    if sampling.samples == 0 {
        bail_invalid!("CLARA needs at least 1 sample, got 0");
    }
    if sampling.sample_size < clusters {
        bail_invalid!(
            "a sample of CLARA needs at least as many series as there are clusters ({clusters}), got {}",
            sampling.sample_size
        );
    }
    Ok(())
}

pub(super) fn check(options: &KMedoidsOptions, n: usize) -> Result<()> {
    check_clusters(options.clusters, n)?;
    if let MedoidMethod::Clara(sampling) = &options.method {
        check_sampling(sampling, options.clusters)?;
    }
    match options.start {
        MedoidStart::Build => Ok(()),
        MedoidStart::Random { restarts, .. } => check_restarts(restarts),
    }
}

/// FasterPAM on the matrix of the series with these indices.
pub(super) fn search<T: Scalar>(
    matrix: &[T],
    indices: &[usize],
    options: &KMedoidsOptions,
    check: impl Fn() -> Result<()>,
) -> Result<KMedoids> {
    let n = indices.len();
    if let Some(at) = matrix.iter().position(|v| !v.finite()) {
        bail_invalid!(
            "the dissimilarity of series {} to series {} is {}: k-medoids needs finite ones",
            indices[at % n],
            indices[at / n],
            matrix[at]
        );
    }
    // Losses are sums along the rows, and their differences decide: beyond the range one medoid is as good as another.
    for (medoid, row) in matrix.chunks_exact(n).enumerate() {
        let sum: f64 = row.iter().map(|value| value.to_f64().abs()).sum();
        if !(4.0 * sum).is_finite() {
            bail_invalid!(
                "the dissimilarities to series {} add up beyond f64: scale or normalise the data",
                indices[medoid]
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
