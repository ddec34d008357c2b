//! The Soft-DTW alignment matrix against the oracle.

use dtw_core::{Backend, Pairing, Problem, Task};

use super::{Checked, Stop, bits, prepared};
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::Measure;
use crate::tolerance::{self, alignment_condition};
use crate::translate;

/// Checks the first pair of a Soft-DTW case.
///
/// # Errors
/// [`Stop`] unless everything holds.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let Measure::SoftDtw { gamma } = case.measure else {
        return Err(Stop::Failed(format!("{} has no alignment matrix", case.measure.key())));
    };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let spec = translate::spec(&case.measure, &case.band);
    let problem = Problem::of(spec, Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Alignment)?;
    let got = plan.alignment(x.batch()?.get(0), y.batch()?.get(0))?;

    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let (n, m) = (pair.x.len(), pair.y.len());
    if got.len() != n * m {
        return Err(Stop::Failed(format!("expected {n}·{m} values, got {}", got.len())));
    }
    let steps = (n + m) as f64;
    let value = case.measure.distance(&pair, &case.band)?;
    let scale = tolerance::scale(&case.measure, &pair, &case.band, value)?;
    let condition = alignment_condition::<T>(scale, gamma, steps);
    let truth = case.measure.alignment(&pair, &case.band)?;
    let plain = case.measure.alignment(&pair.cast::<T>(), &case.band)?;
    for i in 0..n {
        for j in 0..m {
            // A weight is a share of 1, whatever the uncertainty of its exponent.
            let uncertain = (condition * truth[i][j]).min(1.0);
            let allowed = tolerance::allowed(truth[i][j], plain[i][j], 1.0, steps) + uncertain;
            let what = format!("E({i}, {j})");
            tolerance::within(&what, got[i * m + j].wide(), truth[i][j], allowed)?;
        }
    }
    plan.alignment(x.changed().batch()?.get(0), y.batch()?.get(0))?;
    if bits(&plan.alignment(x.batch()?.get(0), y.batch()?.get(0))?) != bits(&got) {
        return Err(Stop::Failed("the plan gives other bits after a call with another series".to_owned()));
    }
    Ok(())
}
