//! The digits of gradients of many channels, beside a loop whose costs and products are formed in the number type and
//! whose sums over paths lose nothing ([`gradients_of_exact_sums`]).

use dtw_core::{Backend, Dtype, Measure, Pairing, Problem, Task};

use super::gradients::{magnitudes, run};
use super::{Checked, Stop, prepared, soft};
use crate::accuracy::Accuracy;
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::band::Ends;
use crate::oracle::soft_dtw::gradients_of_exact_sums;
use crate::oracle::{Cells, Oracle, OracleError};
use crate::report::Details;
use crate::tolerance::{self, within};

/// How many times the loop's root mean square a single component may be off. Components of one gradient share the
/// errors of its weights, so those of two loops that are equally good are often several times apart.
const TAIL: f64 = 5.0;

/// How many times the root mean square a bound of single values is.
const BOUND_OVER_MEAN: f64 = 16.0;

/// Checks one pair under Soft-DTW. In single precision it says what the root mean square of each gradient's errors is,
/// as a multiple of the loop's; these multiples are judged on the whole.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked<Details> {
    let Measure::SoftDtw { gamma, cost } = case.spec.measure else {
        return Err(Stop::Failed(format!("{} is not judged so", case.spec.measure.key())));
    };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let problem = Problem::of(case.spec.clone(), Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Gradients)?;
    let got = run(plan.as_mut(), x.batch()?, y.batch()?, None)?;

    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let narrow = pair.cast::<T>();
    let (n, m) = (pair.x.len(), pair.y.len());
    let truth = case.spec.gradients(&pair)?;
    let rows = case.spec.band.rows(n, m, Ends::Global).map_err(OracleError::from)?;
    let plain = gradients_of_exact_sums(&narrow.x, &narrow.y, gamma, cost, &rows);
    let sizes = magnitudes(&case.spec, &pair)?;
    let unit = match T::DTYPE {
        Dtype::F64 => tolerance::F64_RELATIVE,
        Dtype::F32 => {
            let steps = (n + m) as f64;
            tolerance::f32_floor_of_weights(steps, soft::truth(&case.spec, &pair)?.scale / (gamma * steps))
        }
    };
    let mut accuracy = Accuracy::default();
    for (what, got, truth, plain, size) in [
        ("grad_x", &got.grad_x, truth.0, plain.0, sizes.x),
        ("grad_y", &got.grad_y, truth.1, plain.1, sizes.y),
    ] {
        let truth: Vec<f64> = truth.into_iter().flatten().collect();
        let errors =
            |of: Vec<f64>| -> Vec<f64> { of.iter().zip(&truth).map(|(a, b)| (a - b).abs()).collect() };
        let plain = errors(plain.into_iter().flatten().map(|value| value.wide()).collect());
        let own = errors(got.iter().map(|value| value.wide()).collect());
        let largest = size.iter().flatten().map(|size| size.weighted).fold(0.0, f64::max);
        let (usual, floor) = (root_mean_square(&plain), unit * largest);
        for (at, plain) in plain.iter().enumerate() {
            let allowed = tolerance::F32_FACTOR * plain + TAIL * usual + floor;
            within(&format!("{what}[{at}]"), got[at].wide(), truth[at], allowed)?;
        }
        if T::DTYPE == Dtype::F32 {
            let of_the_loop = usual + floor / BOUND_OVER_MEAN;
            let unit = f64::from(f32::EPSILON) / of_the_loop;
            accuracy.add(root_mean_square(&own) * unit, of_the_loop * unit);
        }
    }
    Ok(Details { refusals: 0, accuracy })
}

fn root_mean_square(errors: &[f64]) -> f64 {
    (errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64).sqrt()
}
