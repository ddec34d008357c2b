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

use super::clara::clara;
use super::medoids::{KMedoids, KMedoidsOptions, MedoidMethod, check, negated, search};
use crate::Context;
use crate::tiled::pairwise;

/// Clusters series round members on any measure.
///
/// Time: n(n + 1)/2 sweeps, then O(n²) per pass. Memory: the distance matrix. With [`MedoidMethod::Clara`], per
/// sample of s series: s(s + 1)/2 sweeps and a search of these, and k·n sweeps; memory: the matrix of a sample, and
/// O(n).
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, 0 clusters or more than series, 0 restarts, bad series or parameters,
/// a sample of fewer series than clusters, or distances that are not finite or whose sums are not;
/// [`dtw_core::Error::OutOfMemory`] when the matrix does not
/// fit the context's memory limit; otherwise as [`pairwise`].
pub fn kmedoids<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMedoidsOptions,
) -> Result<KMedoids> {
    check(options, x.len())?;
    if let MedoidMethod::Clara(sampling) = &options.method {
        return clara(context, spec, x, options, sampling);
    }
    let matrix = pairwise(context, spec, Pairing::SelfSymmetric, x, x).map_err(|error| match error {
        Error::OutOfMemory { what, requested_bytes, available_bytes } if what.contains("distance matrix") => {
            let what = format!("{what} (the method \"clara\" needs none)");
            Error::OutOfMemory { what, requested_bytes, available_bytes }
        }
        other => other,
    })?;
    let all: Vec<usize> = (0..x.len()).collect();
    search(&negated(spec, matrix), &all, options, || context.check_cancelled())
}

/// Medoids of a given matrix of dissimilarities, `[n, n]` row-major: entry `[c, s]` is the dissimilarity of series
/// `s` to the candidate medoid `c`. Need not be symmetric, zero on the diagonal, or positive. The observer is asked
/// before each pass.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when the matrix is not `n × n` or has an entry or a sum that is not finite, for 0
/// clusters or more than `n`, 0 restarts, or [`MedoidMethod::Clara`]; [`dtw_core::Error::Cancelled`].
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
    if options.method != MedoidMethod::FasterPam {
        bail_invalid!(
            "CLARA does without a matrix: give it the series, or search the matrix that is there whole"
        );
    }
    let all: Vec<usize> = (0..n).collect();
    search(
        dissimilarities,
        &all,
        options,
        || if observer.cancelled() { Err(Error::Cancelled) } else { Ok(()) },
    )
}
