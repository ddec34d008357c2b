//! The rest of the contract: bad input is refused by name, progress adds up, cancellation is heard.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dtw_core::{
    Backend, Error, Gradients, LocalCost, Observer, Pairing, Problem, SearchOptions, Series, SeriesBatch,
    Spec, Task,
};

use super::{Checked, Stop, prepared, refused};
use crate::batch::{Batch, Element};
use crate::cases::series::{Kind, SplitMix, series};
use crate::cases::{Case, variants};
use crate::guard::Guarded;
use crate::trickle::Trickle;

/// The bad inputs [`bad_input`] knows.
pub const BAD_INPUTS: [&str; 13] = [
    "NaN in x",
    "infinity in y",
    "empty series in y",
    "output too short",
    "output too long",
    "more series than planned",
    "longer series than planned",
    "other channels than planned",
    "timestamps where none are used",
    "gradient of another size",
    "empty reference in blocks",
    "infinity in a block",
    "window longer than all blocks",
];

/// Checks that what has no meaning for a measure is refused as invalid, naming the measure, whatever the call:
/// gradients, alignments, paths and searches, with one channel and with two.
pub fn undefined<T: Element>(key: &str, backend: &dyn Backend<T>) -> Checked {
    let spec = &variants(key)[0];
    let values: Vec<T> = (0..24).map(|i| T::of(f64::from(i))).collect();
    for (channels, task) in [1, 2].into_iter().flat_map(|c| TASKS.map(|task| (c, task))) {
        let batch = SeriesBatch::equal(&values, 2, 12 / channels, channels)?;
        let problem = Problem::of(spec.clone(), Pairing::Zipped, &batch, &batch)?;
        if problem.admits(task).is_ok() {
            continue;
        }
        let what = format!("{task:?} of {channels} channels");
        let key = problem.spec().key();
        refused(backend.supports(&problem, task), &what, &[key])?;
        let mut plan = backend.plan(&problem)?;
        match task {
            Task::Gradients => {
                let (mut distances, mut grad_x) = (vec![T::zero(); 2], vec![T::zero(); 24]);
                let mut grad_y = grad_x.clone();
                let out = Gradients {
                    upstream: None,
                    distances: &mut distances,
                    grad_x: &mut grad_x,
                    grad_y: &mut grad_y,
                };
                refused(plan.gradients(batch, batch, out), &what, &[key])?;
            }
            Task::Alignment => refused(plan.alignment(batch.get(0), batch.get(1)), &what, &[key])?,
            Task::Paths => refused(plan.paths(batch, batch), &what, &[key])?,
            Task::Matches => {
                let options = SearchOptions::default().with_normalized_window(Some(4));
                refused(plan.matches(batch, batch, &options), &what, &[key])?;
            }
            Task::Distances => return Err(Stop::Failed(format!("{key} has no distances"))),
        }
    }
    Ok(())
}

/// All that a plan can be asked for.
const TASKS: [Task; 5] = [Task::Distances, Task::Gradients, Task::Alignment, Task::Paths, Task::Matches];

/// Three series of four points and their flat offsets.
const LENGTHS: [usize; 3] = [4, 4, 4];

/// Checks that one kind of bad input is refused, with an error that names it, whatever the call.
///
/// # Panics
/// For a name that is not one of [`BAD_INPUTS`].
pub fn bad_input<T: Element>(kind: &str, spec: &Spec, backend: &dyn Backend<T>) -> Checked {
    let good: Vec<T> = (0..12).map(|i| T::of(f64::from(i))).collect();
    let batch = |values| SeriesBatch::equal(values, LENGTHS.len(), LENGTHS[0], 1);
    let spec = spec.clone();
    let planned = Problem::of(spec, Pairing::Zipped, &batch(&good)?, &batch(&good)?)?;
    let mut plan = prepared(backend, &planned, Task::Distances)?;
    let mut call = |x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>, len: usize, named: &[&str]| -> Checked {
        let mut out = Guarded::<T>::new(len);
        refused(plan.distances(x, y, out.output()), kind, named)
    };
    let with = |at: usize, value: f64| {
        let mut values = good.clone();
        values[at] = T::of(value);
        values
    };
    let longer: Vec<T> = vec![T::one(); 20];
    match kind {
        "NaN in x" => call(batch(&with(6, f64::NAN))?, batch(&good)?, 3, &["series 1", "x", "point 2"]),
        "infinity in y" => {
            call(batch(&good)?, batch(&with(11, f64::NEG_INFINITY))?, 3, &["series 2", "y", "point 3"])
        }
        "empty series in y" => {
            let offsets = [0, 4, 4, 8];
            let holed = SeriesBatch::ragged(&good[..8], &offsets, 1)?;
            call(batch(&good)?, holed, 3, &["series 1", "y", "empty"])
        }
        "output too short" => call(batch(&good)?, batch(&good)?, 2, &["3", "2"]),
        "output too long" => call(batch(&good)?, batch(&good)?, 4, &["3", "4"]),
        "more series than planned" => {
            let more = SeriesBatch::equal(&longer[..16], 4, 4, 1)?;
            call(more, more, 3, &["3", "4"])
        }
        "longer series than planned" => {
            let longer = SeriesBatch::equal(&longer[..15], 3, 5, 1)?;
            call(longer, batch(&good)?, 3, &["4", "5"])
        }
        "other channels than planned" => {
            let wide = SeriesBatch::equal(&good, 3, 2, 2)?;
            call(wide, wide, 3, &["channels"])
        }
        "timestamps where none are used" => {
            let timed = batch(&good)?.with_times(&good)?;
            call(timed, timed, 3, &["timestamps", "twed"])
        }
        "gradient of another size" => gradient_of_another_size(&good, backend),
        "empty reference in blocks" => in_blocks(kind, &good[..0], None, &["reference", "empty"], backend),
        "infinity in a block" => {
            in_blocks(kind, &with(9, f64::INFINITY), None, &["reference", "point 9"], backend)
        }
        "window longer than all blocks" => {
            in_blocks(kind, &good, Some(13), &["12 points", "window of 13"], backend)
        }
        other => panic!("no bad input is called {other:?}"),
    }
}

fn gradient_of_another_size<T: Element>(good: &[T], backend: &dyn Backend<T>) -> Checked {
    let batch = SeriesBatch::equal(good, LENGTHS.len(), LENGTHS[0], 1)?;
    let problem = Problem::of(Spec::soft_dtw(1.0), Pairing::Zipped, &batch, &batch)?;
    let mut plan = prepared(backend, &problem, Task::Gradients)?;
    for (distances, grad_x, grad_y, upstream) in
        [(2, 12, 12, 3), (3, 11, 12, 3), (3, 12, 13, 3), (3, 12, 12, 4)]
    {
        let mut guarded = [distances, grad_x, grad_y].map(Guarded::<T>::new);
        let [distances, grad_x, grad_y] = guarded.each_mut().map(Guarded::output);
        let upstream = vec![T::one(); upstream];
        let out = Gradients { upstream: Some(&upstream), distances, grad_x, grad_y };
        refused(plan.gradients(batch, batch, out), "an output or upstream gradient of another size", &[])?;
    }
    Ok(())
}

/// Checks that a search in a reference of these values, read in blocks, is refused.
fn in_blocks<T: Element>(
    kind: &str,
    reference: &[T],
    normalized_window: Option<usize>,
    named: &[&str],
    backend: &dyn Backend<T>,
) -> Checked {
    let spec = match normalized_window {
        Some(_) => Spec::dtw(),
        None => Spec::subsequence_dtw(LocalCost::SquaredEuclidean),
    };
    let query = [T::zero(), T::one()];
    let query = SeriesBatch::equal(&query, 1, 2, 1)?;
    let mut plan = prepared(backend, &Problem::of(spec, Pairing::Cross, &query, &query)?, Task::Matches)?;
    let options = SearchOptions::default().with_normalized_window(normalized_window);
    let mut blocks = Trickle::thirds(Series::univariate(reference));
    refused(plan.matches_in_blocks(query, &mut blocks, &options), kind, named)
}

/// Checks that the measures which are not symmetric refuse to be mirrored.
pub fn asymmetric_is_not_mirrored<T: Element>(backend: &dyn Backend<T>) -> Checked {
    let values: Vec<T> = (0..12).map(|i| T::of(f64::from(i * i))).collect();
    let batch = SeriesBatch::equal(&values, 3, 4, 1)?;
    let subsequence = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let lopsided = Spec::dtw().with_band(dtw_core::Band::Ranges(vec![0..4; 4]));
    for (what, spec) in
        [("mirroring a subsequence search", subsequence), ("mirroring explicit ranges", lopsided)]
    {
        let Ok(problem) = Problem::of(spec, Pairing::SelfSymmetric, &batch, &batch) else { continue };
        let mut plan = prepared(backend, &problem, Task::Distances)?;
        let mut out = Guarded::<T>::new(problem.output_len());
        refused(plan.distances(batch, batch, out.output()), what, &[])?;
    }
    Ok(())
}

/// Counts cells; cancels when told to.
#[derive(Default)]
struct Counter {
    cells: AtomicU64,
    cancel: AtomicBool,
}

impl Observer for Counter {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Checks that progress adds up to [`Problem::cells`], that cancelling ends a call with [`Error::Cancelled`], and that
/// the plan works as before afterwards.
pub fn progress_and_cancellation<T: Element>(
    spec: &Spec,
    pairing: Pairing,
    backend: &dyn Backend<T>,
) -> Checked {
    let mut random = SplitMix::new(99);
    let mut batch = || {
        let one = |s: usize| series(Kind::Eighths, 32 + 7 * s, 2, &mut random);
        Batch::new((0..9).map(one).collect())
    };
    let case = Case { name: "progress".to_owned(), spec: spec.clone(), pairing, x: batch(), y: batch() };
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let (x, mut y) = (x.batch()?, y.batch()?);
    if pairing == Pairing::SelfSymmetric {
        y = x;
    }
    let problem = Problem::of(case.spec.clone(), pairing, &x, &y)?;
    let mut plan = prepared(backend, &problem, Task::Distances)?;
    let mut before = Guarded::<T>::new(problem.output_len());
    plan.distances(x, y, before.output())?;

    let counter = Arc::new(Counter::default());
    plan.observe(counter.clone());
    let mut watched = Guarded::<T>::new(problem.output_len());
    plan.distances(x, y, watched.output())?;
    let (total, counted) = (problem.cells(&x, &y)?, counter.cells.load(Ordering::Relaxed));
    if counted != total {
        return Err(Stop::Failed(format!("progress adds up to {counted} of {total} cells")));
    }

    counter.cancel.store(true, Ordering::Relaxed);
    let mut cancelled = Guarded::<T>::new(problem.output_len());
    match plan.distances(x, y, cancelled.output()) {
        Err(Error::Cancelled) => {}
        other => return Err(Stop::Failed(format!("expected a cancelled call, got {other:?}"))),
    }
    counter.cancel.store(false, Ordering::Relaxed);
    let mut after = Guarded::<T>::new(problem.output_len());
    plan.distances(x, y, after.output())?;
    let (before, after) = (before.checked("before")?, after.checked("after")?);
    if super::bits(before) != super::bits(after)
        || super::bits(before) != super::bits(watched.checked("watched")?)
    {
        return Err(Stop::Failed("the plan gives other bits after a cancelled call".to_owned()));
    }
    Ok(())
}
