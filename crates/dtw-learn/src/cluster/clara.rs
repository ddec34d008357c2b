//! CLARA: k-medoids of samples, judged by all series.
//!
//! ```text
//! repeat   medoids_r = FasterPAM of a sample that has the best medoids so far
//!          loss_r    = Σ_s min_i d(x_{m_i}, x_s)     over all series
//! result   the medoids of least loss
//! ```
//!
//! Kaufman & Rousseeuw 1990, 10.1002/9780470316801, chapter 3; with FasterPAM on the samples as Schubert & Rousseeuw
//! 2021, 10.1016/j.is.2021.101804, have it. No distance matrix but those of the samples is kept.

use dtw_core::{Pairing, Result, Scalar, SeriesBatch, Spec, bail_invalid};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::medoids::{ClaraOptions, KMedoids, KMedoidsOptions, negated, search};
use crate::Context;
use crate::barycenter::{check_cost, gather};
use crate::draw::draw;
use crate::nearest::nearest_of;
use crate::tiled::pairwise;

/// The best of what FasterPAM finds in each sample.
pub(super) fn clara<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &KMedoidsOptions,
    sampling: &ClaraOptions,
) -> Result<KMedoids> {
    x.check("x")?;
    let mut rng = ChaCha8Rng::seed_from_u64(sampling.seed);
    let mut best: Option<KMedoids> = None;
    for _ in 0..sampling.samples {
        context.check_cancelled()?;
        let mut drawn = draw(&mut rng, x.len(), sampling.sample_size, None)?;
        if let Some(best) = &best {
            drawn = with_medoids(drawn, &best.medoids);
        }
        let sample = gather(&x, &drawn)?;
        let sample = sample.batch();
        let matrix = negated(spec, pairwise(context, spec, Pairing::SelfSymmetric, sample, sample)?);
        let found = search(&matrix, &drawn, options, || context.check_cancelled())?;
        let medoids: Vec<usize> = found.medoids.iter().map(|m| drawn[*m]).collect();
        let centers = gather(&x, &medoids)?;
        let pair = |k: usize, s: usize| format!("series {} and {s}", medoids[k]);
        let nearest = nearest_of(context, spec, centers.batch(), x, 1, pair)?;
        let sign = if spec.measure.is_similarity() { -1.0 } else { 1.0 };
        let loss = nearest.all_distances().iter().map(|d| sign * d.to_f64()).sum();
        check_cost("the sum of the distances to the medoids", loss)?;
        if best.as_ref().is_none_or(|best| loss < best.loss) {
            best = Some(KMedoids { medoids, labels: nearest.all_indices().to_vec(), loss, ..found });
        }
    }
    let Some(best) = best else { bail_invalid!("CLARA needs at least 1 sample, got 0") };
    Ok(best)
}

/// A sample of the same size that has these series, in increasing order.
fn with_medoids(drawn: Vec<usize>, medoids: &[usize]) -> Vec<usize> {
    let size = drawn.len();
    // What they replace is spread over the sample, which is sorted.
    let others: Vec<usize> = drawn.into_iter().filter(|s| medoids.binary_search(s).is_err()).collect();
    let kept = size - medoids.len();
    let mut sample: Vec<usize> = (0..kept).map(|at| others[at * others.len() / kept]).collect();
    sample.extend(medoids);
    sample.sort_unstable();
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_takes_medoids_in_and_keeps_its_size() {
        assert_eq!(with_medoids(vec![1, 4, 6, 8], &[4, 7]), [1, 4, 6, 7]);
        assert_eq!(with_medoids(vec![1, 4], &[0, 9]), [0, 9]);
        assert_eq!(with_medoids(vec![0, 1, 2], &[1]), [0, 1, 2]);
    }
}
