//! What half precision must not change: paths, matches, gradients. And whether it changes anything.

use dtw_core::{Backend, Gradients, Plan, Precision, Problem, SearchOptions, Task};

use super::distances::Call;
use super::{Checked, Stop, bits, prepared};
use crate::batch::Element;
use crate::cases::Case;
use crate::guard::Guarded;
use crate::translate;

/// Checks that what is not a distance has the same bits in half precision as in full.
///
/// # Errors
/// [`Stop`] unless it has.
pub fn task_is_full<T: Element>(task: Task, case: &Case, backend: &dyn Backend<T>) -> Checked {
    let (flat_x, flat_y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, y) = (flat_x.batch()?, flat_y.batch()?);
    let problem = Problem::of(translate::spec(&case.measure, &case.band), case.pairing, &x, &y)?;
    let run = |precision: Precision| -> Checked<Vec<u64>> {
        let mut plan = prepared(backend, &problem.clone().with_precision(precision), task)?;
        let mut got = Vec::new();
        match task {
            Task::Distances => return Err(Stop::Failed("distances may be half".to_owned())),
            Task::Gradients => {
                let mut outputs = [x.len(), x.values().len(), y.values().len()].map(Guarded::<T>::new);
                let [distances, grad_x, grad_y] = outputs.each_mut().map(Guarded::output);
                plan.gradients(x, y, Gradients { upstream: None, distances, grad_x, grad_y })?;
                for output in &outputs {
                    got.extend(bits(output.checked("gradients")?));
                }
                got.extend(bits(&plan.alignment(x.get(0), y.get(0))?));
            }
            Task::Paths => {
                for path in plan.paths(x, y)? {
                    got.extend(bits(&[path.distance]));
                    got.extend(path.points.iter().flat_map(|&(i, j)| [i as u64, j as u64]));
                }
            }
            Task::Matches => {
                let options = SearchOptions { top_k: 3, exclusion: 5, normalized_window: None };
                for hit in plan.matches(x, y, &options)?.into_iter().flatten() {
                    got.extend(bits(&[hit.distance]));
                    got.extend([hit.start as u64, hit.end as u64]);
                }
            }
        }
        Ok(got)
    };
    if run(Precision::Half)? != run(Precision::Full)? {
        return Err(Stop::Failed("differs from full precision".to_owned()));
    }
    Ok(())
}

/// Checks that in one case at least half precision gives other bits than full.
///
/// # Errors
/// [`Stop`] unless one does.
pub fn is_noticed<'a, T: Element>(
    cases: impl IntoIterator<Item = (&'a Case, Call)>,
    backend: &dyn Backend<T>,
) -> Checked {
    for (case, call) in cases {
        let (flat_x, flat_y) = (case.x.flat::<T>(), case.y.flat::<T>());
        let (x, y) = (flat_x.batch()?, flat_y.batch()?);
        let problem = Problem::of(translate::spec(&case.measure, &case.band), case.pairing, &x, &y)?
            .with_memory_limit(call.memory_limit_bytes);
        let run = |precision: Precision| -> Checked<Vec<u64>> {
            let problem = problem.clone().with_precision(precision);
            let mut plan: Box<dyn Plan<T>> = prepared(backend, &problem, Task::Distances)?;
            let mut out = Guarded::new(problem.output_len());
            plan.distances(x, y, out.output())?;
            Ok(bits(out.checked("out")?))
        };
        if run(Precision::Half)? != run(Precision::Full)? {
            return Ok(());
        }
    }
    Err(Stop::Failed("no value differs from full precision".to_owned()))
}
