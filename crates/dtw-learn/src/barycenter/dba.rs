//! DTW barycenter averaging (DBA), and the same under other measures that have paths.
//!
//! ```text
//! repeat   path_s = best warping path of (c, x_s)                    for every series s
//!          c      = the points that suit these paths best            (`along.rs` has them for each measure)
//! ```
//!
//! Under dtw, ddtw, wdtw, wddtw and adtw, and of one channel under erp, neither step can raise the cost `Σ w_s · d(c,
//! x_s)`: the points are the best for fixed paths, and new paths are the best for fixed points. Under the others the
//! second step may; then the centre before it is the result. Petitjean, Ketterlin & Gançarski 2011,
//! 10.1016/j.patcog.2010.09.013; with another measure Holder, Guijo-Rubio & Bagnall 2023, 10.5220/0012164900003598.
//! Knows paths only through [`dtw_core::Plan::paths`], so a band applies as it does to the distance.

use dtw_core::derivative::Derivatives;
use dtw_core::measure::Preparation;
use dtw_core::{OwnedBatch, Result, Scalar, SeriesBatch, Spec, bail_invalid};

use super::along::{Given, Points};
use super::average::Barycenter;
use super::checks::{check_averageable, check_cost, check_tolerance, check_untimed};
use super::members::{Members, Pairs};
use super::options::BarycenterOptions;
use super::start;
use crate::Context;

/// The average of series along their warping paths: under dtw by DBA, under ddtw, wdtw, wddtw, adtw, erp, msm and twed
/// by the same rounds.
///
/// `x`: series of any lengths with the same channels. The centre has the length of the start. Under ddtw and wddtw its
/// level, which they do not see, is that of the start. Under msm each channel has an average of its own. Time per
/// iteration: one warping path per series. Memory: copies of the centre and paths for as many series as a quarter of
/// the limit holds, and the backend's scratch for paths; under erp, msm and twed also what is matched, some 16 bytes
/// per value of the series.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, bad series or timestamps, another measure, a dtw or ddtw whose cost is
/// not squared Euclidean, bad weights (wrong number, negative, not finite, all 0), a bad start, a band without a path,
/// or a distance, cost or average that is not finite; [`dtw_core::Error::Cancelled`]; what the backend returns.
pub fn dba<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &BarycenterOptions<'_, T>,
) -> Result<Barycenter<T>> {
    check_averageable(spec)?;
    let Some(given) = Given::under(&spec.measure) else {
        bail_invalid!("dba averages along warping paths, and {} has none", spec.measure.key());
    };
    check_untimed(&x)?;
    check_tolerance(options.tolerance)?;
    let members = Members::new(&x, options.weights)?;
    let center = start::values(options, context, spec, &members, x)?;
    let batch = members.batch(x);
    let rounds = Rounds { context, spec, given, members: &members, options };
    if !spec.measure.sums_channels() || x.channels() == 1 {
        return rounds.run(batch, center);
    }
    let own = |k: usize| -> Result<Barycenter<T>> {
        let one = |values: &[T]| values.iter().skip(k).step_by(x.channels()).copied().collect::<Vec<T>>();
        let mut channel = OwnedBatch::new(1)?;
        batch.iter().try_for_each(|series| channel.push(&one(series.values)).map(|_| ()))?;
        rounds.run(channel.batch(), one(&center))
    };
    Ok(together(&(0..x.channels()).map(own).collect::<Result<Vec<_>>>()?))
}

/// The averages of single channels as one: its cost is the sum of theirs. A channel that rests keeps its cost.
fn together<T: Scalar>(channels: &[Barycenter<T>]) -> Barycenter<T> {
    let rounds = channels.iter().map(|own| own.costs.len()).max().unwrap_or(0);
    let costs = (0..rounds).map(|round| {
        channels.iter().map(|own| own.costs.get(round).copied().unwrap_or_else(|| own.cost())).sum()
    });
    let length = channels.first().map_or(0, Barycenter::len);
    let points = (0..length).flat_map(|i| channels.iter().map(move |own| own.center[i]));
    Barycenter {
        center: points.collect(),
        channels: channels.len(),
        costs: costs.collect(),
        converged: channels.iter().all(|own| own.converged),
    }
}

/// What does not change from round to round.
struct Rounds<'r, 'b, T: Scalar> {
    context: &'r Context<'b, T>,
    spec: &'r Spec,
    given: Given,
    members: &'r Members<T>,
    options: &'r BarycenterOptions<'r, T>,
}

impl<T: Scalar> Rounds<'_, '_, T> {
    /// Rounds from this centre until the cost rests.
    fn run(&self, batch: SeriesBatch<'_, T>, mut center: Vec<T>) -> Result<Barycenter<T>> {
        let length = center.len() / batch.channels();
        let path_bytes = (length + batch.max_length()) * size_of::<(usize, usize)>();
        let mut pairs = Pairs::new(self.context, self.spec.clone(), batch, length, path_bytes as u64)?;
        let (mut cost, mut next) = self.align(&mut pairs, batch, &center)?;
        let mut costs = vec![cost];
        let mut converged = false;
        for _ in 0..self.options.max_iterations {
            if let Some(value) = next.iter().find(|value| !value.finite()) {
                bail_invalid!("the average has a value of {value}: scale or normalise the data");
            }
            let (next_cost, after) = self.align(&mut pairs, batch, &next)?;
            // At the fixed point rounding may raise the cost by an ulp: the centre before it is the result.
            if next_cost >= cost {
                converged = true;
                break;
            }
            let decrease = cost - next_cost;
            converged = decrease <= self.options.tolerance * cost;
            (center, next, cost) = (next, after, next_cost);
            costs.push(cost);
            if converged {
                break;
            }
        }
        Ok(Barycenter { center, channels: batch.channels(), costs, converged })
    }

    /// The cost of a centre, and the points that suit its paths best.
    fn align(
        &self,
        pairs: &mut Pairs<'_, '_, '_, T>,
        batch: SeriesBatch<'_, T>,
        center: &[T],
    ) -> Result<(f64, Vec<T>)> {
        let Members { weights, indices, .. } = self.members;
        let channels = batch.channels();
        let preparation = self.spec.measure.preparation();
        let length = center.len() / channels - preparation.dropped();
        let mut points = Points::new(self.given, length, channels);
        let mut cost = 0.0;
        pairs.for_each_chunk(center, |range, plan, copies, chunk| {
            let paths = plan.paths(copies, chunk)?;
            let derived = (preparation == Preparation::Derivative).then(|| Derivatives::of(&chunk));
            let chunk = derived.as_ref().map_or(chunk, Derivatives::batch);
            let mut values = Vec::new();
            for ((path, series), s) in paths.iter().zip(chunk.iter()).zip(range) {
                if !path.distance.finite() {
                    bail_invalid!(
                        "the distance of the centre and series {} is {}: scale or normalise the data",
                        indices[s],
                        path.distance
                    );
                }
                cost += weights[s] * path.distance.to_f64();
                values.clear();
                values.extend(series.values.iter().map(|value| value.to_f64()));
                points.take(&path.points, weights[s], (length, series.len()), |j| {
                    &values[j * channels..(j + 1) * channels]
                });
            }
            Ok(())
        })?;
        check_cost("the average's cost", cost)?;
        let center: Vec<f64> = center.iter().map(|value| value.to_f64()).collect();
        Ok((cost, points.center(&center, preparation).into_iter().map(T::from_f64).collect()))
    }
}
