//! Values at the edges of the number type: never NaN, infinite only near its end, and refused only where costs divided
//! by γ would leave it.

use dtw_core::{Backend, Dtype, Error, LocalCost, Measure, Problem, Task};

use super::{Checked, Stop, gradients, prepared, refused, soft};
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::{Cells, Ends, Oracle, OracleError, Pair};
use crate::tolerance;

/// What is near the end of the range: sums of some hundred costs may overflow there by the order they are added in.
const NEAR: f64 = 1e-4;

/// Checks the distance of a case of one pair.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (x.batch()?, y.batch()?);
    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let problem = Problem::of(case.spec.clone(), case.pairing, &x, &y)?;
    // A band that leaves no path is another section's.
    if case.spec.band.rows(pair.x.len(), pair.y.len(), Ends::Global).is_err() {
        return Ok(());
    }
    let mut plan = prepared(backend, &problem, Task::Distances)?;
    let mut out = [T::nan()];
    let largest = T::max_value().wide();
    let dearest = dearest_cost(&case.spec.measure, &pair);
    let steps = (pair.x.len() + pair.y.len()) as f64;
    let divisor = divisor(&case.spec.measure);
    // The largest logarithm, a 512th of the range in base 2.
    let logarithm = divisor.map(|(_, divisor)| dearest * steps / divisor / (largest / 739.0));
    let computed = plan.distances(x, y, &mut out);
    if let (Err(Error::Invalid(_)), Some((name, divisor))) = (&computed, divisor) {
        let is_rate = divisor > 1.4 / largest && divisor < 1.5 / T::min_positive_value().wide();
        if is_rate && logarithm.is_some_and(|logarithm| logarithm < 0.9) {
            return Err(Stop::Failed(format!("refused without need: {computed:?}")));
        }
        return refused(computed, "this parameter", &[name, "too"]);
    }
    computed?;
    let (got, truth) = (out[0].wide(), expected::<T>(case, &pair)?);
    let Expected { value, plain, scale } = truth;
    // Squares may overflow before the root is taken of them.
    let has_root = cost_of(&case.spec.measure) == LocalCost::Euclidean;
    let end = if has_root { largest.sqrt() } else { largest };
    // A cost that overflows is infinite, even where its product with a weight or its share of a logarithm would not be.
    // A plain loop says whether a path avoids such cells.
    let may_overflow = scale.is_nan()
        || scale >= NEAR * end
        || (dearest >= largest && (plain.is_infinite() || divisor.is_some()))
        || divisor.is_some_and(|(_, divisor)| scale / divisor > NEAR * largest / 739.0);
    if got.is_nan() || (got.is_infinite() && !may_overflow) {
        return Err(Stop::Failed(format!("got {got:e}, expected {value:e}")));
    }
    if may_overflow {
        return Ok(());
    }
    let plain = if plain.is_finite() { plain } else { value };
    let rounded = match T::DTYPE {
        Dtype::F64 => tolerance::F64_RELATIVE * scale,
        Dtype::F32 => {
            tolerance::F32_FACTOR * (plain - value).abs() + tolerance::f32_floor_of_excess(steps) * scale
        }
    };
    // A cell may lose what is below the least normal number, and so may its weight, or its cost as a share of γ.
    let lost = match case.spec.measure {
        Measure::Wdtw { .. } | Measure::Wddtw { .. } => 2.0 + dearest,
        Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => 2.0 + gamma,
        _ => 2.0,
    };
    let faint = T::min_positive_value().wide() * steps * lost;
    tolerance::within("the pair", got, value, rounded + faint).map_err(Stop::Failed)?;
    match case.spec.measure {
        Measure::SoftDtw { .. } | Measure::SoftDtwDivergence { .. } => moved_together(case, backend),
        _ => Ok(()),
    }
}

/// Checks that gradients are finite, and that moving both series by the same changes nothing. (Of a divergence the
/// terms cancel, and so this says little of it.)
fn moved_together<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (x.batch()?, y.batch()?);
    let problem = Problem::of(case.spec.clone(), case.pairing, &x, &y)?;
    let mut plan = match prepared(backend, &problem, Task::Gradients) {
        // A gap that expectations.rs lists: values are all that there is.
        Err(Stop::Unsupported(_)) => return Ok(()),
        plan => plan?,
    };
    let got = gradients::run(plan.as_mut(), x, y, None)?;
    let (mut sum, mut size) = (0.0, 0.0);
    for slope in got.grad_x.iter().chain(&got.grad_y).map(|slope| slope.wide()) {
        (sum, size) = (sum + slope, size + slope.abs());
    }
    let count = (got.grad_x.len() + got.grad_y.len()) as f64;
    if !size.is_finite() {
        return Err(Stop::Failed(format!("slopes that are no numbers: {:?}, {:?}", got.grad_x, got.grad_y)));
    }
    if matches!(case.spec.measure, Measure::SoftDtwDivergence { .. }) {
        return Ok(());
    }
    // Shares are rounded in each cell.
    let allowed = 100.0 * count * T::epsilon().wide() * size + count * T::min_positive_value().wide();
    tolerance::within("the sum of all slopes", sum, 0.0, allowed).map_err(Stop::Failed)
}

/// The truth, a plain loop in the type, and the size of what is added up.
struct Expected {
    value: f64,
    plain: f64,
    scale: f64,
}

fn expected<T: Element>(case: &Case, pair: &Pair<f64>) -> Result<Expected, OracleError> {
    let cast = pair.cast::<T>();
    if divisor(&case.spec.measure).is_some() {
        let soft::Truth { value, scale } = soft::truth(&case.spec, pair)?;
        return Ok(Expected { value, plain: soft::truth(&case.spec, &cast)?.value, scale });
    }
    let value = case.spec.distance(pair)?;
    Ok(Expected { value, plain: case.spec.distance(&cast)?.wide(), scale: value.abs() })
}

/// The parameter that costs are divided by: its name, and what they are divided by.
fn divisor(measure: &Measure) -> Option<(&'static str, f64)> {
    match *measure {
        Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => Some(("gamma", gamma)),
        Measure::LogGak { sigma } => Some(("sigma", 2.0 * sigma * sigma)),
        _ => None,
    }
}

/// Twice the largest value.
fn pair_range(pair: &Pair<f64>) -> f64 {
    2.0 * pair.x.iter().chain(&pair.y).flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// A bound for the cost of a cell.
fn dearest_cost(measure: &Measure, pair: &Pair<f64>) -> f64 {
    let (apart, channels) = (pair_range(pair), pair.x[0].len() as f64);
    match cost_of(measure) {
        LocalCost::SquaredEuclidean => channels * apart * apart,
        LocalCost::Euclidean => channels.sqrt() * apart,
        LocalCost::Manhattan => channels * apart,
    }
}

fn cost_of(measure: &Measure) -> LocalCost {
    match *measure {
        Measure::Dtw { cost }
        | Measure::Ddtw { cost }
        | Measure::SoftDtw { cost, .. }
        | Measure::SoftDtwDivergence { cost, .. } => cost,
        Measure::Frechet => LocalCost::Euclidean,
        _ => LocalCost::SquaredEuclidean,
    }
}
