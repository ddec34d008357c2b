//! L-BFGS: Liu & Nocedal 1989, 10.1007/BF01589116.
//!
//! The approximate Hessian is the `lbfgs` crate's. The line search is that of Lewis & Overton 2013
//! (10.1007/s10107-012-0514-2): bisection for the weak Wolfe conditions. It asks for nothing but values and slopes, so
//! it backs off from infinite values and from kinks.

use dtw_core::{Result, bail_invalid};

use super::step::{Evaluate, Evaluated, Step};

/// A step must lower the value by this share of what the slope at its start promises …
const DECREASE: f64 = 1e-4;
/// … and leave no more than this share of that slope.
const CURVATURE: f64 = 0.9;
/// Evaluations of one line search.
const MOST_TRIALS: usize = 30;

/// Steps along the negative gradient, as the curvature seen so far bends it.
#[derive(Debug)]
pub(super) struct Lbfgs {
    hessian: lbfgs::Lbfgs<f64>,
    /// The Hessian knows the latest position.
    informed: bool,
}

impl Lbfgs {
    /// An optimiser of `values` values, keeping `history` corrections.
    pub(super) fn new(values: usize, history: usize) -> Result<Self> {
        if history == 0 {
            bail_invalid!("L-BFGS needs a history of at least 1 correction, got 0");
        }
        // Any positive curvature counts, whatever the units of the series are.
        let hessian = lbfgs::Lbfgs::new(values, history).with_sy_epsilon(f64::MIN_POSITIVE);
        Ok(Self { hessian, informed: false })
    }
}

impl Step for Lbfgs {
    fn step(&mut self, from: &Evaluated, evaluate: &mut Evaluate<'_>) -> Result<Evaluated> {
        if !self.informed {
            self.hessian.update_hessian(&from.gradient, &from.position);
            self.informed = true;
        }
        let mut direction = from.gradient.clone();
        self.hessian.apply_hessian(&mut direction);
        direction.iter_mut().for_each(|v| *v = -*v);
        match search(from, &direction, evaluate)? {
            Some(found) => {
                self.hessian.update_hessian(&found.gradient, &found.position);
                Ok(found)
            }
            None => {
                self.hessian.reset();
                self.informed = false;
                Ok(from.clone())
            }
        }
    }

    /// A line search makes steps as long as they help.
    fn is_at_rest(&self) -> bool {
        true
    }
}

/// A lower point along `direction`; none if the line search finds none.
fn search(from: &Evaluated, direction: &[f64], evaluate: &mut Evaluate<'_>) -> Result<Option<Evaluated>> {
    let slope = dot(&from.gradient, direction);
    if !(slope < 0.0 && slope.is_finite()) {
        return Ok(None);
    }
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut length = 1.0;
    let mut lower = None;
    for _ in 0..MOST_TRIALS {
        let trial: Vec<f64> = from.position.iter().zip(direction).map(|(p, d)| p + length * d).collect();
        if trial == from.position {
            break;
        }
        let trial = evaluate(trial)?;
        if trial.value <= from.value + DECREASE * length * slope {
            let flat = dot(&trial.gradient, direction) >= CURVATURE * slope;
            low = length;
            lower = Some(trial);
            if flat {
                break;
            }
        } else {
            high = length;
        }
        length = if high.is_finite() { low + 0.5 * (high - low) } else { 2.0 * low };
    }
    // Where rounding hides the decrease that is asked for, the value may stay but not rise.
    Ok(lower.filter(|found: &Evaluated| found.value <= from.value))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
