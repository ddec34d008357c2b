//! Minimising a differentiable function of a series: what is asked for, what is found, and one stopping rule for all
//! optimisers. Positions are `f64`; the function is evaluated at the position rounded to its own type.

mod adam;
mod lbfgs;
mod step;

use dtw_core::{Result, Scalar, bail_invalid};

use self::adam::Adam;
use self::lbfgs::Lbfgs;
use self::step::{Evaluated, Step};
use super::options::Optimizer;

/// Adam's cost may pause at a turning point; it must rest this many steps in a row.
const ADAM_PATIENCE: usize = 5;
/// L-BFGS answers a failed line search by forgetting its history; the next step is down the gradient itself.
const LBFGS_PATIENCE: usize = 2;

/// A change is taken relative to no less than this share of the value at the start.
const OF_START: f64 = 1e-6;

pub(super) trait Objective<T> {
    /// Value and gradient, the gradient laid out as the position.
    fn value_and_gradient(&mut self, position: &[T]) -> Result<(f64, Vec<f64>)>;
}

pub(super) struct Descent {
    pub(super) optimizer: Optimizer,
    pub(super) max_iterations: usize,
    /// Relative change of the value that counts as none.
    pub(super) tolerance: f64,
    /// The change is taken relative to the value or to this, whichever is larger in magnitude.
    pub(super) cost_floor: f64,
}

pub(super) struct Minimum<T> {
    /// The best position seen.
    pub(super) position: Vec<T>,
    /// Values at the start and after each iteration.
    pub(super) values: Vec<f64>,
    pub(super) converged: bool,
}

/// Minimises `objective` from `start`; `check` is asked before every iteration and its error ends the search.
pub(super) fn minimize<T: Scalar>(
    mut objective: impl Objective<T>,
    start: &[T],
    descent: &Descent,
    check: impl Fn() -> Result<()>,
) -> Result<Minimum<T>> {
    let (mut optimizer, patience): (Box<dyn Step>, _) = match descent.optimizer {
        Optimizer::Lbfgs { history } => (Box::new(Lbfgs::new(start.len(), history)?), LBFGS_PATIENCE),
        Optimizer::Adam { learning_rate } => {
            (Box::new(Adam::new(start.len(), learning_rate)?), ADAM_PATIENCE)
        }
    };
    let mut evaluate = |position: Vec<f64>| {
        let rounded: Vec<T> = position.iter().map(|v| T::from_f64(*v)).collect();
        let (value, gradient) = if rounded.iter().all(|v| v.finite()) {
            objective.value_and_gradient(&rounded)?
        } else {
            (f64::INFINITY, vec![0.0; position.len()])
        };
        Ok(Evaluated { position, value: if value.is_nan() { f64::INFINITY } else { value }, gradient })
    };
    check()?;
    let mut now = evaluate(start.iter().map(|v| v.to_f64()).collect())?;
    if !now.value.is_finite() {
        bail_invalid!("the cost of the starting centre overflows {}: scale the series down", T::DTYPE);
    }
    // A value that falls to 0 rests at some point.
    let least_scale = OF_START * now.value.abs();
    let mut values = vec![now.value];
    let mut best = now.clone();
    let mut resting = 0;
    let mut converged = false;
    for iteration in 1..=descent.max_iterations {
        check()?;
        let next = optimizer.step(&now, &mut evaluate)?;
        if !next.value.is_finite() {
            bail_invalid!(
                "the cost overflows {} in iteration {iteration}: lower the learning rate or scale the series down",
                T::DTYPE
            );
        }
        let scale = now.value.abs().max(next.value.abs()).max(descent.cost_floor).max(least_scale);
        let still = optimizer.is_at_rest() && (now.value - next.value).abs() <= descent.tolerance * scale;
        values.push(next.value);
        if next.value < best.value {
            best = next.clone();
        }
        now = next;
        resting = if still { resting + 1 } else { 0 };
        if resting >= patience {
            converged = true;
            break;
        }
    }
    let position = best.position.into_iter().map(T::from_f64).collect();
    Ok(Minimum { position, values, converged })
}
