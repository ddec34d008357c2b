//! The Soft-DTW alignment matrix against the oracle.

use dtw_core::{Backend, Measure, Pairing, Problem, Task};

use super::{Checked, Stop, bits, prepared};
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::Oracle;
use crate::tolerance::{self, alignment_condition};

/// Checks the first pair of a Soft-DTW case.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let Measure::SoftDtw { gamma, .. } = case.spec.measure else {
        return Err(Stop::Failed(format!("{} has no alignment matrix", case.spec.key())));
    };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let spec = case.spec.clone();
    let problem = Problem::of(spec, Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Alignment)?;
    let got = plan.alignment(x.batch()?.get(0), y.batch()?.get(0))?;

    let pair = Batch::pair(&case.x, 0, &case.y, 0);
    let (n, m) = (pair.x.len(), pair.y.len());
    if got.len() != n * m {
        return Err(Stop::Failed(format!("expected {n}·{m} values, got {}", got.len())));
    }
    let steps = (n + m) as f64;
    let value = case.spec.distance(&pair)?;
    let scale = tolerance::scale(&case.spec, &pair, value)?;
    let condition = alignment_condition::<T>(scale, gamma, steps);
    let truth = case.spec.alignment(&pair)?;
    let plain = case.spec.alignment(&pair.cast::<T>())?;
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
