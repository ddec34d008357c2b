//! The average under Soft-DTW or its divergence, by its gradient.
//!
//! ```text
//! soft_dtw             f(c) = Σ_s w_s · s(c, x_s)
//! soft_dtw_divergence  f(c) = Σ_s w_s · s(c, x_s)  −  ½ W · s(c, c)  −  ½ Σ_s w_s · s(x_s, x_s),      W = Σ_s w_s
//! ```
//!
//! Cuturi & Blondel 2017, arXiv 1703.01541, section 3; Blondel, Mensch & Vert 2021, arXiv 2010.08354. Under Soft-DTW
//! the average of equal series is smoother than they are; under the divergence it is that series. Its gradient is put
//! together here, so that s(c, c) is differentiated once per iteration. Its value is not: the three terms are as large
//! as γ times the logarithm of the number of paths, and the backend knows how to keep the digits of what they leave.
//!
//! A backend with memory of its own may take the series in once ([`dtw_core::Backend::weighted_total`]). It then puts
//! value and gradient together itself, and per step it is told the centre and gives back its value and gradient.

use dtw_core::{
    Gradients, Measure, Pairing, Plan, Problem, Result, Scalar, SeriesBatch, Shape, Spec, WeightedTotal,
    bail_invalid,
};

use super::average::Barycenter;
use super::checks::{check_averageable, check_cost, check_tolerance, check_untimed, cost_floor};
use super::descent::{Descent, Objective, minimize};
use super::members::{Members, Pairs, zipped};
use super::options::BarycenterOptions;
use super::start;
use crate::Context;

/// The average of series under Soft-DTW or the Soft-DTW divergence.
///
/// `x`: series of any lengths with the same channels. The centre has the length of the start. Time per iteration: one
/// value and gradient per series and trial step, mostly one trial. Memory: copies of the centre and gradients for as
/// many series as a quarter of the limit holds, and the backend's scratch for gradients. The optimiser works in `f64`
/// whatever `T` is.
///
/// A backend with memory of its own takes the series in once if they fit a quarter of the limit, with a copy of the
/// centre and gradients for each. A step then copies the centre there and, in `f64`, its value and gradient back.
/// Otherwise each step copies the series there, and values and gradients of all pairs back.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for no series, bad series or timestamps, another measure or local cost, bad weights
/// (wrong number, negative, not finite, all 0), a bad start, bad optimiser parameters, a band without a path, or a cost
/// that overflows; [`dtw_core::Error::Cancelled`]; what the backend returns.
pub fn soft_barycenter<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &BarycenterOptions<'_, T>,
) -> Result<Barycenter<T>> {
    let gamma = match spec.measure {
        Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => gamma,
        _ => bail_invalid!(
            "a Soft-DTW average is under soft_dtw or soft_dtw_divergence, got {}",
            spec.measure.key()
        ),
    };
    check_averageable(spec)?;
    check_untimed(&x)?;
    check_tolerance(options.tolerance)?;
    let members = Members::new(&x, options.weights)?;
    let start = start::values(options, context, spec, &members, x)?;

    let batch = members.batch(x);
    let length = start.len() / x.channels();
    let problem = zipped(spec, batch.len(), length, &batch)?;
    let soft = Spec { measure: Measure::soft_dtw(gamma), ..spec.clone() };
    let is_divergence = matches!(spec.measure, Measure::SoftDtwDivergence { .. });
    if is_divergence {
        // The band must leave the centre a path to itself too: told now rather than in the first iteration.
        soft.band.ranges(length, length, soft.anchor)?;
    }
    let total_weight = members.total_weight();
    // The cost is the mean per unit of weight, f(c) / W, so that step lengths do not depend on the number of series.
    let weights: Vec<f64> = members.weights.iter().map(|weight| weight / total_weight).collect();
    let cost = if let Some(total) = context.weighted_total(problem, batch, &weights)? {
        Cost::TakenIn(total)
    } else {
        let values = (length + batch.max_length()) * x.channels() + 1;
        let pairs = Pairs::new(context, soft.clone(), batch, length, (values * T::DTYPE.bytes()) as u64)?;
        let divergence = if is_divergence {
            let values = Pairs::new(context, spec.clone(), batch, length, T::DTYPE.bytes() as u64)?;
            Some(Divergence { values, own: OwnTerm::new(context, soft, x.channels(), length)? })
        } else {
            None
        };
        Cost::Zipped(Box::new(Zipped { pairs, divergence, weights: &weights }))
    };
    let descent = Descent {
        optimizer: options.optimizer,
        max_iterations: options.max_iterations,
        tolerance: options.tolerance,
        cost_floor: cost_floor(spec),
    };
    let found = minimize(cost, &start, &descent, || context.check_cancelled())?;
    let costs: Vec<f64> = found.values.into_iter().map(|value| value * total_weight).collect();
    costs.iter().try_for_each(|cost| check_cost("the average's cost", *cost))?;
    Ok(Barycenter { center: found.position, channels: x.channels(), costs, converged: found.converged })
}

/// What the divergence needs beside Soft-DTW's gradients.
struct Divergence<'c, 'b, 'm, T: Scalar> {
    values: Pairs<'c, 'b, 'm, T>,
    own: OwnTerm<T>,
}

/// The term of the divergence that compares the centre with itself.
struct OwnTerm<T> {
    /// The plan of the centre zipped with itself.
    plan: Box<dyn Plan<T>>,
    channels: usize,
}

impl<T: Scalar> OwnTerm<T> {
    fn new(context: &Context<'_, T>, soft: Spec, channels: usize, length: usize) -> Result<Self> {
        let shape = Shape { n_x: 1, n_y: 1, max_length_x: length, max_length_y: length, channels };
        let plan = context.plan(Problem::new(soft, Pairing::Zipped, shape)?, 0)?;
        Ok(Self { plan, channels })
    }

    /// Adds the gradient of −½ s(c, c).
    fn add(&mut self, center: &[T], gradient: &mut [f64]) -> Result<()> {
        let batch = SeriesBatch::equal(center, 1, center.len() / self.channels, self.channels)?;
        let mut value = [T::ZERO];
        let mut left = vec![T::ZERO; center.len()];
        let mut right = left.clone();
        let out = Gradients { upstream: None, distances: &mut value, grad_x: &mut left, grad_y: &mut right };
        self.plan.gradients(batch, batch, out)?;
        for ((sum, left), right) in gradient.iter_mut().zip(&left).zip(&right) {
            *sum -= 0.5 * (left.to_f64() + right.to_f64());
        }
        Ok(())
    }
}

/// The weighted total of the centre's values.
enum Cost<'c, 'b, 'm, T: Scalar> {
    TakenIn(Box<dyn WeightedTotal<T>>),
    Zipped(Box<Zipped<'c, 'b, 'm, T>>),
}

impl<T: Scalar> Objective<T> for Cost<'_, '_, '_, T> {
    fn value_and_gradient(&mut self, center: &[T]) -> Result<(f64, Vec<f64>)> {
        let mut gradient = vec![0.0; center.len()];
        let value = match self {
            Self::TakenIn(total) => total.value_and_gradient(center, &mut gradient)?,
            Self::Zipped(zipped) => zipped.value_and_gradient(center, &mut gradient)?,
        };
        Ok((value, gradient))
    }
}

/// The pairs of the centre with each series, in chunks.
struct Zipped<'c, 'b, 'm, T: Scalar> {
    pairs: Pairs<'c, 'b, 'm, T>,
    divergence: Option<Divergence<'c, 'b, 'm, T>>,
    weights: &'m [f64],
}

impl<T: Scalar> Zipped<'_, '_, '_, T> {
    /// The value; `gradient` is added to.
    fn value_and_gradient(&mut self, center: &[T], gradient: &mut [f64]) -> Result<f64> {
        let mut value = 0.0;
        let weights = self.weights;
        self.pairs.for_each_chunk(center, |range, plan, copies, chunk| {
            let mut distances = vec![T::ZERO; range.len()];
            let mut grad_x = vec![T::ZERO; copies.values().len()];
            let mut grad_y = vec![T::ZERO; chunk.values().len()];
            let out = Gradients {
                upstream: None,
                distances: &mut distances,
                grad_x: &mut grad_x,
                grad_y: &mut grad_y,
            };
            plan.gradients(copies, chunk, out)?;
            for ((weight, distance), own) in
                weights[range].iter().zip(&distances).zip(grad_x.chunks_exact(gradient.len()))
            {
                value += weight * distance.to_f64();
                for (sum, own) in gradient.iter_mut().zip(own) {
                    *sum += weight * own.to_f64();
                }
            }
            Ok(())
        })?;
        if let Some(divergence) = &mut self.divergence {
            divergence.own.add(center, gradient)?;
            value = 0.0;
            divergence.values.for_each_chunk(center, |range, plan, copies, chunk| {
                let mut distances = vec![T::ZERO; range.len()];
                plan.distances(copies, chunk, &mut distances)?;
                let weighted = weights[range].iter().zip(&distances);
                value += weighted.map(|(weight, distance)| weight * distance.to_f64()).sum::<f64>();
                Ok(())
            })?;
        }
        Ok(value)
    }
}
