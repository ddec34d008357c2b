//! The steps of a descent.
//!
//! L-BFGS and Adam are the `ganesh` crate's; of the well-kept optimisers it is the one that has both. Its algorithms
//! are stepped from here rather than run by its driver, because its closing summary holds a dense covariance matrix
//! (`values²` numbers), and so that one stopping rule and one cancellation check serve both. The optimiser's position
//! is `f64`; the function is evaluated at that position rounded to `T`.

use std::cell::RefCell;

use dtw_core::{Error, Result, Scalar, bail_invalid};
use ganesh::Vector;
use ganesh::algorithms::gradient::{Adam, AdamConfig, GradientStatus, LBFGSB, LBFGSBConfig, LBFGSBErrorMode};
use ganesh::traits::{Algorithm, CostFunction, Gradient};

use super::{Descent, Minimum, Objective};
use crate::barycenter::Optimizer;

/// Adam's cost may pause at a turning point; it must rest this many steps in a row.
const ADAM_PATIENCE: usize = 5;
/// L-BFGS answers a failed line search by forgetting its history; the next step is down the gradient itself.
const LBFGS_PATIENCE: usize = 2;

/// The function as `ganesh` asks for it: value and gradient apart, at the same position one after the other.
struct Evaluated<T, O> {
    state: RefCell<State<O>>,
    scalar: std::marker::PhantomData<fn() -> T>,
}

struct State<O> {
    objective: O,
    /// Position, value and gradient of the latest evaluation.
    latest: Option<(Vec<f64>, f64, Vec<f64>)>,
}

impl<T: Scalar, O: Objective<T>> Evaluated<T, O> {
    fn at<R>(&self, position: &Vector, read: impl FnOnce(f64, &[f64]) -> R) -> Result<R> {
        let mut state = self.state.borrow_mut();
        let position = position.to_vec();
        if state.latest.as_ref().is_none_or(|(known, ..)| *known != position) {
            let rounded: Vec<T> = position.iter().map(|v| T::from_f64(*v)).collect();
            let (value, gradient) = if rounded.iter().all(|v| v.finite()) {
                state.objective.value_and_gradient(&rounded)?
            } else {
                // A step out of the type's range: a line search backs off from an infinite value.
                (f64::INFINITY, vec![0.0; position.len()])
            };
            let value = if value.is_nan() { f64::INFINITY } else { value };
            state.latest = Some((position, value, gradient));
        }
        let (_, value, gradient) = state.latest.as_ref().expect("evaluated above");
        Ok(read(*value, gradient))
    }
}

type Provider = ganesh::NalgebraProvider;

impl<T: Scalar, O: Objective<T>> CostFunction<f64, Provider, (), Error> for Evaluated<T, O> {
    fn evaluate(&self, position: &Vector, _: &()) -> Result<f64> {
        self.at(position, |value, _| value)
    }
}

impl<T: Scalar, O: Objective<T>> Gradient<f64, Provider, (), Error> for Evaluated<T, O> {
    fn gradient(&self, position: &Vector, _: &()) -> Result<Vector> {
        self.at(position, |_, gradient| gradient.into())
    }
    fn evaluate_with_gradient(&self, position: &Vector, _: &()) -> Result<(f64, Vector)> {
        self.at(position, |value, gradient| (value, gradient.into()))
    }
}

/// Minimises `objective` from `start`; `check` is asked before every iteration and its error ends the search.
pub(in crate::barycenter) fn minimize<T: Scalar>(
    objective: impl Objective<T>,
    start: &[T],
    descent: &Descent,
    check: impl Fn() -> Result<()>,
) -> Result<Minimum<T>> {
    let refuse = |error: ganesh::error::GaneshError| Error::invalid(error.to_string());
    let problem = Evaluated {
        state: RefCell::new(State { objective, latest: None }),
        scalar: std::marker::PhantomData,
    };
    match descent.optimizer {
        Optimizer::Lbfgs { history } => {
            if history == 0 {
                bail_invalid!("L-BFGS needs a history of at least 1 correction, got 0");
            }
            let config: LBFGSBConfig = LBFGSBConfig::default()
                .with_memory_limit(history)
                .map_err(refuse)?
                .with_error_mode(LBFGSBErrorMode::Skip);
            drive(LBFGSB::default(), &config, &problem, start, descent, LBFGS_PATIENCE, check)
        }
        Optimizer::Adam { learning_rate } => {
            if !learning_rate.is_finite() || learning_rate <= 0.0 {
                bail_invalid!("Adam needs a finite learning rate > 0, got {learning_rate}");
            }
            let config = AdamConfig::default().with_alpha(learning_rate).map_err(refuse)?;
            drive(Adam::default(), &config, &problem, start, descent, ADAM_PATIENCE, check)
        }
    }
}

fn drive<T, O, A>(
    mut algorithm: A,
    config: &A::Config,
    problem: &Evaluated<T, O>,
    start: &[T],
    descent: &Descent,
    patience: usize,
    check: impl Fn() -> Result<()>,
) -> Result<Minimum<T>>
where
    T: Scalar,
    O: Objective<T>,
    A: Algorithm<Evaluated<T, O>, GradientStatus, (), Error, Init = Vector>,
{
    let mut status = GradientStatus::default();
    let init: Vector = start.iter().map(|v| v.to_f64()).collect::<Vec<_>>().into();
    check()?;
    algorithm.initialize(problem, &mut status, &(), &init, config)?;
    if !status.fx.is_finite() {
        bail_invalid!("the cost of the starting centre overflows {}: scale the series down", T::DTYPE);
    }
    let mut values = vec![status.fx];
    let mut best = (status.fx, status.x.clone());
    let mut resting = 0;
    for iteration in 0..descent.max_iterations {
        check()?;
        let before = status.fx;
        algorithm.step(iteration, problem, &mut status, &(), config)?;
        if !status.fx.is_finite() {
            bail_invalid!(
                "the cost overflows {} in iteration {}: lower the learning rate or scale the series down",
                T::DTYPE,
                iteration + 1
            );
        }
        values.push(status.fx);
        if status.fx < best.0 {
            best = (status.fx, status.x.clone());
        }
        let scale = before.abs().max(status.fx.abs()).max(descent.cost_floor);
        let still = (before - status.fx).abs() <= descent.tolerance * scale;
        resting = if still { resting + 1 } else { 0 };
        if resting >= patience {
            return Ok(minimum(&best.1, values, true));
        }
    }
    Ok(minimum(&best.1, values, false))
}

fn minimum<T: Scalar>(position: &Vector, values: Vec<f64>, converged: bool) -> Minimum<T> {
    Minimum { position: position.to_vec().into_iter().map(T::from_f64).collect(), values, converged }
}
