//! How far a backend may be from the truth, and why.
//!
//! The truth is a double-precision oracle. An error is measured against a *scale*: the size of what was added up,
//! which for signed or cancelling results is larger than the result itself.
//!
//! - `f64`: [`F64_RELATIVE`] of the scale.
//! - `f32`: [`F32_FACTOR`] times the error of a plain single-precision loop on the same input, plus a few units in the
//!   last place, [`f32_floor`], without which a loop that happens to be exact would forbid any other order of
//!   operations. On the whole, over the values of a section, errors are held to [`F32_FACTOR`] times the loop's without
//!   such an allowance: [`accuracy`](crate::accuracy).

use dtw_core::{Band, Dtype, Measure, Spec};

use crate::batch::Element;
use crate::oracle::path_count::log_paths;
use crate::oracle::{Cells, Ends, Oracle, OracleError, Pair};

/// Largest error in double precision, relative to the scale.
pub const F64_RELATIVE: f64 = 1e-9;

/// How many times the error of the plain loop a single-precision backend may make.
pub const F32_FACTOR: f64 = 2.0;

/// Terms in an exponent of a Soft-DTW weight beside the values.
const ARRIVALS: f64 = 3.0;

/// Roundings in one step of a path: a difference, its power, a weight or a sum over channels, the addition.
const ROUNDINGS_PER_STEP: f64 = 4.0;

/// Units in the last place of the scale that a value may be off though the plain loop is exact: a final operation or
/// two, a square root, one factor.
const F32_ULPS: f64 = 4.0;

/// Such units for each square root of a step: where one of two loops fuses operations or adds in another order, they
/// part like random walks.
const F32_ULPS_PER_ROOT_STEP: f64 = 0.125;

/// What a value along a path of `n + m` steps may be off though the plain loop is exact, relative to the scale.
pub fn f32_floor(steps: f64) -> f64 {
    f64::from(f32::EPSILON) * (F32_ULPS + F32_ULPS_PER_ROOT_STEP * steps.sqrt())
}

/// [`f32_floor`] for a value judged by its excess alone: at every step the sum of weights is multiplied by a weight,
/// and both are rounded, while what the costs add to it may be small.
pub fn f32_floor_of_excess(steps: f64) -> f64 {
    f32_floor(4.0 * steps)
}

/// What a weight of an alignment may be off, relatively, though the plain loop is exact: it is a product of an
/// exponential for each step, of `exponent` in the mean. Costs are formed forwards and again backwards, each is
/// rounded, and what that takes from the exponents adds up like a random walk.
pub fn f32_floor_of_weights(steps: f64, exponent: f64) -> f64 {
    f64::from(f32::EPSILON) * (F32_ULPS + (ROUNDINGS_PER_STEP * steps).sqrt() * (1.0 + exponent / 8.0))
}

/// The size of what is added up to reach `truth` on this pair.
///
/// # Errors
/// As the oracle's.
pub fn scale(spec: &Spec, pair: &Pair<f64>, truth: f64) -> Result<f64, OracleError> {
    // What a soft minimum can take away, in units of γ: the logarithm of the number of paths. And 1, because weights
    // are formed as exponentials: of one path alone, what was rounded there is γ times as large in the value.
    let soft = |n: usize, m: usize| -> Result<f64, OracleError> {
        Ok(1.0 + log_paths(&spec.band.rows(n, m, Ends::Global)?, m))
    };
    let (n, m) = (pair.x.len(), pair.y.len());
    Ok(match spec.measure {
        Measure::SoftDtw { gamma, .. } => truth.abs() + gamma * soft(n, m)?,
        Measure::SoftDtwDivergence { gamma, cost } => {
            let soft_dtw = Spec { measure: Measure::SoftDtw { gamma, cost }, ..spec.clone() };
            let mut sum = 0.0;
            for (a, b) in [(&pair.x, &pair.y), (&pair.x, &pair.x), (&pair.y, &pair.y)] {
                let pair = Pair::new(a.clone(), b.clone());
                sum += soft_dtw.distance(&pair)?.abs() + gamma * soft(a.len(), b.len())?;
            }
            sum
        }
        Measure::LogGak { .. } => truth.abs() + soft(n, m)?,
        // 1 − L/min(n, m) is rounded where it is formed.
        Measure::Lcss { .. } => 1.0,
        _ => truth.abs(),
    })
}

/// The largest error allowed for one value.
///
/// Every step may also lose what is smaller than the smallest normal number: devices flush such numbers to zero.
pub fn allowed<T: Element>(truth: f64, plain: T, scale: f64, steps: f64) -> f64 {
    let underflow = steps * T::min_positive_value().wide();
    underflow
        + match T::DTYPE {
            Dtype::F64 => F64_RELATIVE * scale,
            Dtype::F32 => F32_FACTOR * (plain.wide() - truth).abs() + f32_floor(steps) * scale,
        }
}

/// What a backend that forms Soft-DTW's weights with a relative error of `weight_error` may add to a value: γ times as
/// much for every cell of the longest path, because equal weights are rounded the same way.
pub fn of_weights<T: Element>(spec: &Spec, pair: &Pair<f64>, weight_error: f64) -> f64 {
    if T::DTYPE == Dtype::F64 || spec.band != Band::Full || pair.x[0].len() > 1 {
        return 0.0;
    }
    let cells = (pair.x.len() + pair.y.len() - 1) as f64;
    match spec.measure {
        Measure::SoftDtw { gamma, .. } => weight_error * gamma * cells,
        // The cost of x with y, and half of each with itself.
        Measure::SoftDtwDivergence { gamma, .. } => weight_error * gamma * 2.0 * cells,
        _ => 0.0,
    }
}

/// Compares one value with the truth. NaN is never within any tolerance.
///
/// # Errors
/// A message with the value, the truth, the error and what was allowed.
pub fn within(what: &str, got: f64, truth: f64, allowed: f64) -> Result<(), String> {
    let error = (got - truth).abs();
    if error <= allowed {
        return Ok(());
    }
    Err(format!("{what}: got {got:e}, expected {truth:e}, error {error:.1e}, allowed {allowed:.1e}"))
}

/// How uncertain the weights of a Soft-DTW alignment are, relatively, in the precision of `T`.
///
/// A weight is `exp` of differences of accumulated values divided by γ, so the roundings of values up to `largest`
/// reach its exponent multiplied by `1/γ`. No algorithm that forms the values can do better, the oracle included.
pub fn alignment_condition<T: Element>(largest: f64, gamma: f64, steps: f64) -> f64 {
    let exponent = T::epsilon().wide() * (ROUNDINGS_PER_STEP * steps).sqrt() * (largest / gamma + ARRIVALS);
    exponent.exp_m1()
}

/// The share of an alignment that cannot be told from none, in the precision of `T`: a weight is a product of many
/// exponentials, which implementations cut off at different depths.
pub fn negligible_weight<T: Element>() -> f64 {
    T::epsilon().wide() * T::epsilon().wide()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_and_infinity_are_never_within() {
        assert!(within("x", 1.0, 1.0, 0.0).is_ok());
        assert!(within("x", 1.0 + 1e-8, 1.0, 1e-9).is_err());
        assert!(within("x", f64::NAN, 1.0, 1.0).is_err());
        assert!(within("x", f64::INFINITY, 1.0, 1e300).is_err());
        assert!(within("x", 1.0, 1.0, f64::NAN).is_err());
    }

    #[test]
    fn single_precision_is_measured_by_the_plain_loop() {
        let truth = 1.0;
        let plain = 1.0f32 + 8.0 * f32::EPSILON;
        let limit = allowed::<f32>(truth, plain, truth, 4.0);
        let epsilon = f64::from(f32::EPSILON);
        assert!((limit - (16.0 + 4.25) * epsilon).abs() < 0.01 * epsilon);
        assert_eq!(allowed::<f64>(truth, 0.5, truth, 4.0), F64_RELATIVE);
    }
}
