//! k-means by mini-batches.
//!
//! ```text
//! repeat   draw b series;  label each by its nearest centre;  for every cluster k that some have:
//!          W_k     ←  W_k + W           W: the weight of these series of cluster k;  W_k: of all so far
//!          center_k ←  center_k + W / W_k · (average_k − center_k)        average_k: theirs, sought from center_k
//! ```
//!
//! Sculley 2010, 10.1145/1772690.1772862, whose steps of one series at a time add up to this where the average is the
//! mean. An elastic average has the length of the centre that it is sought from, so that the step goes point by point.

use dtw_core::{OwnedBatch, Result, Scalar, Spec};
use rand::Rng;

use super::rounds::{Data, KMeans, KMeansOptions, average, label, seeded};
use crate::Context;
use crate::barycenter::{check_cost, gather};
use crate::draw::draw;
use crate::nearest::nearest_of;

/// Batches in a row that may gain nothing.
const PATIENCE: usize = 10;

/// One start: seeded, then a batch after the other until their running mean of the inertia rests; then all series get
/// their labels.
pub(super) fn start<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    data: &Data<'_, T>,
    options: &KMeansOptions<'_>,
    batch_size: usize,
    rng: &mut impl Rng,
) -> Result<KMeans<T>> {
    let n = data.x.len();
    let mut centers = seeded(context, spec, data, options, rng)?;
    let mut totals = vec![0.0; options.clusters];
    let mut trend = Trend::new((2.0 * batch_size as f64 / (n as f64 + 1.0)).min(1.0), options.tolerance);
    let (mut iterations, mut converged) = (0, false);
    while iterations < options.max_iterations && !converged {
        context.check_cancelled()?;
        let drawn = draw(rng, n, batch_size, None)?;
        let part = gather(&data.x, &drawn)?;
        let pair = |k, s: usize| format!("the centre of cluster {k} and series {}", data.indices[drawn[s]]);
        let found = nearest_of(context, spec, centers.batch(), part.batch(), 1, pair)?;
        let mut moved = OwnedBatch::new(data.x.channels())?;
        for (k, center) in centers.batch().iter().enumerate() {
            let labelled = drawn.iter().zip(found.all_indices()).filter(|(_, label)| **label == k);
            let members: Vec<usize> = labelled.map(|(s, _)| *s).collect();
            if members.is_empty() {
                moved.push(center.values)?;
                continue;
            }
            let weight: f64 = members.iter().map(|s| data.weights[*s]).sum();
            totals[k] += weight;
            let share = weight / totals[k];
            let average = average(context, spec, data, center, &members, options)?;
            let step = |(c, a): (&T, &T)| T::from_f64(c.to_f64() + share * (a.to_f64() - c.to_f64()));
            moved.push(&center.values.iter().zip(&average).map(step).collect::<Vec<T>>())?;
        }
        centers = moved;
        let costs = drawn.iter().zip(found.all_distances()).map(|(s, d)| data.weights[*s] * d.to_f64());
        let mean = costs.sum::<f64>() / drawn.iter().map(|s| data.weights[*s]).sum::<f64>();
        check_cost("the inertia of a mini-batch", mean)?;
        converged = trend.rests(mean);
        iterations += 1;
    }
    Ok(KMeans { iterations, converged, ..label(context, spec, data, centers)? })
}

/// The running mean of a series of costs, and for how long it has not fallen.
struct Trend {
    share: f64,
    tolerance: f64,
    mean: Option<f64>,
    least: f64,
    since: usize,
}

impl Trend {
    /// The newest cost has this share of the mean.
    fn new(share: f64, tolerance: f64) -> Self {
        Self { share, tolerance, mean: None, least: f64::INFINITY, since: 0 }
    }

    /// Takes the next cost: whether the mean has not fallen, beyond the tolerance, for [`PATIENCE`] costs.
    fn rests(&mut self, cost: f64) -> bool {
        let mean = self.mean.map_or(cost, |mean| mean + self.share * (cost - mean));
        self.mean = Some(mean);
        if self.least == f64::INFINITY || self.least - mean > self.tolerance * self.least.abs() {
            (self.least, self.since) = (mean, 0);
        } else {
            self.since += 1;
        }
        self.since >= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_rest_when_their_running_mean_has_not_fallen_for_ten() {
        let mut trend = Trend::new(0.5, 0.01);
        assert!((0..20).all(|k| !trend.rests(100.0 - f64::from(k))));
        let rest: Vec<bool> = (0..30).map(|_| trend.rests(81.0)).collect();
        let first = rest.iter().position(|rests| *rests).unwrap();
        assert!((10..20).contains(&first) && rest[first..].iter().all(|rests| *rests), "{rest:?}");
    }
}
