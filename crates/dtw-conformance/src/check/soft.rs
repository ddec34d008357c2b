//! The digits of measures that sum over all paths, at any γ: values against the two parts of
//! [`soft_excess`], measured by the size of these parts.

use dtw_core::{Backend, Dtype, Gradients, Problem, Task};

use super::{Checked, Stop, prepared};
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::soft_excess::{self, Parts};
use crate::oracle::{Ends, Measure, OracleError, Pair};
use crate::tolerance;
use crate::translate;

/// The true value and the size of what it is made of.
struct Truth {
    value: f64,
    scale: f64,
}

fn truth(case: &Case, pair: &Pair<f64>) -> Result<Truth, OracleError> {
    let (x, y) = (&pair.x, &pair.y);
    let rows = |n, m| case.band.rows(n, m, Ends::Global);
    let soft = |x: &[Vec<f64>], y: &[Vec<f64>], gamma| -> Result<Parts, OracleError> {
        Ok(soft_excess::soft_dtw(x, y, gamma, &rows(x.len(), y.len())?))
    };
    Ok(match case.measure {
        Measure::SoftDtw { gamma } => {
            let Parts { excess, log_paths } = soft(x, y, gamma)?;
            Truth { value: excess - gamma * log_paths, scale: excess + gamma * log_paths }
        }
        Measure::LogGak { sigma } => {
            let Parts { excess, log_paths } = soft_excess::log_gak(x, y, sigma, &rows(x.len(), y.len())?);
            Truth { value: log_paths - excess, scale: log_paths + excess }
        }
        Measure::SoftDtwDivergence { gamma } => {
            let (both, own_x, own_y) = (soft(x, y, gamma)?, soft(x, x, gamma)?, soft(y, y, gamma)?);
            let own = |part: fn(&Parts) -> f64| 0.5 * (part(&own_x) + part(&own_y));
            let paths = gamma * (both.log_paths - own(|p| p.log_paths));
            let own = own(|p| p.excess);
            Truth { value: both.excess - own - paths, scale: both.excess + own + paths.abs() }
        }
        _ => return Err(OracleError::Undefined { measure: case.measure.key(), what: "excess" }),
    })
}

/// Checks the only pair of a case: its distance, and that of the gradients where the backend has them.
///
/// # Errors
/// [`Stop`] unless both are right.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let (n, m) = (pair.x.len(), pair.y.len());
    let truth = truth(case, &pair)?;
    // The plain loop counts as much as it is worth; of a divergence at large γ that is nothing.
    let plain = case.measure.distance(&pair.cast::<T>(), &case.band)?.wide();
    let steps = (n + m) as f64;
    let allowed = steps * T::min_positive_value().wide()
        + match T::DTYPE {
            Dtype::F64 => tolerance::F64_RELATIVE * truth.scale,
            Dtype::F32 => {
                let plain = match case.measure {
                    Measure::SoftDtwDivergence { .. } => 0.0,
                    _ => tolerance::F32_FACTOR * (plain - truth.value).abs(),
                };
                plain + tolerance::f32_floor(steps) * truth.scale
            }
        };
    let judge = |what: &str, got: T| -> Checked {
        if got.wide() == 0.0 && got.wide().is_sign_negative() {
            return Err(Stop::Failed(format!("{what}: −0")));
        }
        tolerance::within(what, got.wide(), truth.value, allowed).map_err(Stop::Failed)
    };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (x.batch()?, y.batch()?);
    let problem = Problem::of(translate::spec(&case.measure, &case.band), case.pairing, &x, &y)?;
    let mut out = [T::zero()];
    prepared(backend, &problem, Task::Distances)?.distances(x, y, &mut out)?;
    judge("distance", out[0])?;
    if matches!(case.measure, Measure::LogGak { .. }) {
        return Ok(());
    }
    let mut plan = match prepared(backend, &problem, Task::Gradients) {
        // A gap that expectations.rs lists: values are all that there is.
        Err(Stop::Unsupported(_)) => return Ok(()),
        plan => plan?,
    };
    let (mut grad_x, mut grad_y) = (vec![T::zero(); x.values().len()], vec![T::zero(); y.values().len()]);
    plan.gradients(
        x,
        y,
        Gradients { upstream: None, distances: &mut out, grad_x: &mut grad_x, grad_y: &mut grad_y },
    )?;
    judge("distance of the gradients", out[0])
}
