//! The digits of measures that sum over all paths, at any γ: values against the two parts of
//! [`soft_excess`], measured by the size of these parts.

use dtw_core::{Backend, Dtype, Measure, Pairing, Problem, Spec, Task};

use super::distances::mirrored;
use super::{Checked, Stop, gradients, prepared};
use crate::batch::{Batch, Element, pairs};
use crate::cases::Case;
use crate::expectations::weight_error;
use crate::oracle::local::Real;
use crate::oracle::soft_excess::{self, Parts};
use crate::oracle::{Cells, Ends, OracleError, Pair};
use crate::tolerance;

/// A value and the size of what it is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The value.
    pub value: f64,
    /// The sum of its parts.
    pub scale: f64,
}

/// The answer for one pair, for a measure that sums over all paths; with its excesses formed in `F`.
///
/// # Errors
/// As the oracle's; and for other measures.
pub fn truth<F: Real>(spec: &Spec, pair: &Pair<F>) -> Result<Truth, OracleError> {
    let (x, y) = (&pair.x, &pair.y);
    let rows = |n, m| spec.band.rows(n, m, Ends::Global);
    let soft = |x: &[Vec<F>], y: &[Vec<F>], (gamma, cost)| -> Result<Parts, OracleError> {
        Ok(soft_excess::soft_dtw(x, y, gamma, cost, &rows(x.len(), y.len())?))
    };
    Ok(match spec.measure {
        Measure::SoftDtw { gamma, cost } => {
            let Parts { excess, log_paths } = soft(x, y, (gamma, cost))?;
            Truth { value: excess - gamma * log_paths, scale: excess + gamma * log_paths }
        }
        Measure::LogGak { sigma } => {
            let Parts { excess, log_paths } = soft_excess::log_gak(x, y, sigma, &rows(x.len(), y.len())?);
            Truth { value: log_paths - excess, scale: log_paths + excess }
        }
        Measure::SoftDtwDivergence { gamma, cost } => {
            let smooth = (gamma, cost);
            let (both, own_x, own_y) = (soft(x, y, smooth)?, soft(x, x, smooth)?, soft(y, y, smooth)?);
            let own = |part: fn(&Parts) -> f64| 0.5 * (part(&own_x) + part(&own_y));
            let paths = gamma * (both.log_paths - own(|p| p.log_paths));
            let own = own(|p| p.excess);
            Truth { value: both.excess - own - paths, scale: both.excess + own + paths.abs() }
        }
        _ => return Err(OracleError::Undefined { measure: spec.key(), what: "excess" }),
    })
}

/// What one value has to be.
struct Expected {
    what: String,
    truth: f64,
    allowed: f64,
}

impl Expected {
    fn of<T: Element>(case: &Case, (s, t): (usize, usize), weight_error: f64) -> Result<Self, OracleError> {
        let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
        let pair = Batch::pair(&case.x, s, y, t);
        let (n, m) = (pair.x.len(), pair.y.len());
        let Truth { value, scale } = truth(&case.spec, &pair)?;
        let steps = (n + m) as f64;
        let rounded = match T::DTYPE {
            Dtype::F64 => tolerance::F64_RELATIVE * scale,
            Dtype::F32 => {
                // The plain loop that loses nothing at a large γ.
                let plain = truth(&case.spec, &pair.cast::<T>())?.value;
                // Equal weights are off alike, in a sweep whose values are kept where the scale is γ times the root of
                // the steps.
                let weights = tolerance::of_weights::<T>(&case.spec, &pair, weight_error);
                tolerance::F32_FACTOR * (plain - value).abs()
                    + tolerance::f32_floor_of_excess(steps) * scale
                    + weights.min(weight_error * steps.sqrt() * scale)
            }
        };
        Ok(Self {
            what: format!("x[{s}] ({n} points) with y[{t}] ({m} points)"),
            truth: value,
            // A cell may lose what is below the least normal number, if that is flushed to zero.
            allowed: rounded + steps * T::min_positive_value().wide(),
        })
    }

    fn judge<T: Element>(&self, from: &str, got: T) -> Checked {
        let what = format!("{from}{}", self.what);
        if got.wide() == 0.0 && got.wide().is_sign_negative() {
            return Err(Stop::Failed(format!("{what}: −0")));
        }
        tolerance::within(&what, got.wide(), self.truth, self.allowed).map_err(Stop::Failed)
    }
}

/// Checks a case: its distances, and of zipped pairs those of the gradients, where the measure and the backend have
/// them.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let is_own = case.pairing == Pairing::SelfSymmetric;
    let columns = if is_own { case.x.series.len() } else { case.y.series.len() };
    let expected: Vec<Expected> = pairs(case.pairing, case.x.series.len(), columns)
        .into_iter()
        .map(|pair| Expected::of::<T>(case, pair, weight_error(backend.name())))
        .collect::<Result<_, _>>()?;
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (x.batch()?, y.batch()?);
    let other = if is_own { &x } else { &y };
    let problem = Problem::of(case.spec.clone(), case.pairing, &x, other)?;
    let mut out = vec![T::nan(); problem.output_len()];
    prepared(backend, &problem, Task::Distances)?.distances(x, y, &mut out)?;
    expected.iter().zip(&out).try_for_each(|(expected, got)| expected.judge("", *got))?;
    if is_own {
        mirrored(&out, columns)?;
    }
    if matches!(case.spec.measure, Measure::LogGak { .. }) || case.pairing != Pairing::Zipped {
        return Ok(());
    }
    let mut plan = match prepared(backend, &problem, Task::Gradients) {
        // A gap that expectations.rs lists: values are all that there is.
        Err(Stop::Unsupported(_)) => return Ok(()),
        plan => plan?,
    };
    let got = gradients::run(plan.as_mut(), x, y, None)?.distances;
    expected.iter().zip(&got).try_for_each(|(expected, got)| expected.judge("gradients of ", *got))
}
