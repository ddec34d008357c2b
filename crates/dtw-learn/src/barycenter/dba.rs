//! DTW barycenter averaging (DBA).
//!
//! ```text
//! repeat   path_s = best warping path of (c, x_s)                    for every series s
//!          c_i    = Σ_s w_s Σ_{(i,j) ∈ path_s} x_s[j]  /  Σ_s w_s · |{(i,j) ∈ path_s}|
//! ```
//!
//! Neither step can raise the cost `Σ w_s · dtw(c, x_s)`: the mean is the best point for fixed paths, and new paths
//! are the best for fixed points. Petitjean, Ketterlin & Gançarski 2011, 10.1016/j.patcog.2010.09.013. Knows paths
//! only through [`dtw_core::Plan::paths`], so a band applies as it does to the distance.

use dtw_core::{Measure, Result, Scalar, SeriesBatch, Spec, bail_invalid};

use super::average::Barycenter;
use super::checks::{check_averageable, check_cost, check_tolerance, check_untimed};
use super::members::{Members, Pairs};
use super::options::BarycenterOptions;
use super::start;
use crate::Context;

/// The average of series under DTW by DBA.
///
/// `x`: series of any lengths with the same channels. The centre has the length of the start. Time per iteration: one
/// warping path per series. Memory: copies of the centre and paths for as many series as a quarter of the limit holds,
/// and the backend's scratch for paths.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, bad series or timestamps, a measure other than DTW with squared
/// Euclidean cost, bad weights (wrong number, negative, not finite, all 0), a bad start, a band without a path,
/// or a distance, cost or average that is not finite; [`dtw_core::Error::Cancelled`]; what the backend returns.
pub fn dba<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &BarycenterOptions<'_, T>,
) -> Result<Barycenter<T>> {
    if !matches!(spec.measure, Measure::Dtw { .. }) {
        bail_invalid!("dba averages under dtw, got {}", spec.measure.key());
    }
    check_averageable(spec)?;
    check_untimed(&x)?;
    check_tolerance(options.tolerance)?;
    let members = Members::new(&x, options.weights)?;
    let mut center = start::values(options, context, spec, &members, x)?;

    let batch = members.batch(x);
    let length = center.len() / x.channels();
    let path_bytes = (length + batch.max_length()) * size_of::<(usize, usize)>();
    let mut pairs = Pairs::new(context, spec.clone(), batch, length, path_bytes as u64)?;
    let (mut cost, mut next) = align(&mut pairs, &members, batch, &center)?;
    let mut costs = vec![cost];
    let mut converged = false;
    for _ in 0..options.max_iterations {
        if let Some(value) = next.iter().find(|value| !value.finite()) {
            bail_invalid!("the average has a value of {value}: scale or normalise the data");
        }
        let (next_cost, after) = align(&mut pairs, &members, batch, &next)?;
        // At the fixed point rounding may raise the cost by an ulp: the centre before it is the result.
        if next_cost >= cost {
            converged = true;
            break;
        }
        let decrease = cost - next_cost;
        converged = decrease <= options.tolerance * cost;
        (center, next, cost) = (next, after, next_cost);
        costs.push(cost);
        if converged {
            break;
        }
    }
    Ok(Barycenter { center, channels: x.channels(), costs, converged })
}

/// The cost of a centre, and the mean of what its points are matched with.
fn align<T: Scalar>(
    pairs: &mut Pairs<'_, '_, '_, T>,
    members: &Members<T>,
    batch: SeriesBatch<'_, T>,
    center: &[T],
) -> Result<(f64, Vec<T>)> {
    let channels = batch.channels();
    let mut sums = vec![0.0; center.len()];
    let mut matched = vec![0.0; center.len() / channels];
    let mut cost = 0.0;
    pairs.for_each_chunk(center, |range, plan, copies, chunk| {
        for ((path, series), s) in plan.paths(copies, chunk)?.iter().zip(chunk.iter()).zip(range) {
            let weight = members.weights[s];
            if !path.distance.finite() {
                bail_invalid!(
                    "the distance of the centre and series {} is {}: scale or normalise the data",
                    members.indices[s],
                    path.distance
                );
            }
            cost += weight * path.distance.to_f64();
            for &(i, j) in &path.points {
                matched[i] += weight;
                for (sum, value) in sums[i * channels..].iter_mut().zip(series.point(j)) {
                    *sum += weight * value.to_f64();
                }
            }
        }
        Ok(())
    })?;
    check_cost("the average's cost", cost)?;
    let means = sums.chunks_exact(channels).zip(&matched);
    Ok((cost, means.flat_map(|(sum, matched)| sum.iter().map(move |s| T::from_f64(s / matched))).collect()))
}
