//! From datasets and options to calls of a device.
//!
//! [`Engine`] holds what every command needs: the device, the memory limit, Ctrl-C. Matrices are computed tile by tile
//! ([`Engine::tiles`]), so that the largest thing in memory besides the input is one tile.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use dtwave::learn::Context;
use dtwave::{
    Device, Explainer, Explanation, Float, Launch, Measure, Observer, OwnedBatch, Pairing, Problem,
    SeriesBatch, Session, Spec, Tile, TilePlan, normalize,
};

use crate::data::{Dataset, ReadOptions, Times, shown};
use crate::options::{Normalize, RunArgs};
use crate::output::{NpyElement, Target};
use crate::progress::Progress;
use crate::report;
use crate::signals::{Cancel, Listener};
use crate::words::count;

/// A number type that is computed on and stored.
pub(crate) trait Element: Float + NpyElement + serde::Serialize {}
impl Element for f32 {}
impl Element for f64 {}

/// Reads a file and says what it was understood to hold.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Dataset> {
    let dataset = Dataset::read(path, options)?;
    tell(path, &dataset);
    Ok(dataset)
}

/// Says what a file was understood to hold.
pub(crate) fn tell(path: &Path, dataset: &Dataset) {
    let shown = shown(path);
    report::note(&format!("read {shown}: {}", dataset.described()));
    dataset.notes.iter().for_each(|note| report::note(&format!("{shown}: {note}")));
    dataset.warnings.iter().for_each(|warning| report::warn(&format!("{shown}: {warning}")));
}

/// Takes an output before any work; says what the user should know about it.
pub(crate) fn take(path: &Path) -> Result<Target> {
    let target = Target::take(path)?;
    target.note().iter().for_each(|note| report::warn(note));
    Ok(target)
}

pub(crate) fn prepare(dataset: &mut Dataset, how: Normalize) {
    if how == Normalize::Z {
        let channels = dataset.channels;
        dataset.series.iter_mut().for_each(|values| normalize::z_normalize(values, channels));
    }
}

/// The computation on series whose files have timestamps: the stiffness of twed is per unit of time, and points are
/// counted.
///
/// |tᵢ − sⱼ| is the step times |i − j| where all series have their points at the same, equally spaced times; others are
/// refused for twed. No other measure looks at time.
pub(crate) fn timed(spec: Spec, inputs: &[(&Path, &Dataset)]) -> Result<Spec> {
    let Some((path, stamped)) = inputs.iter().find(|(_, dataset)| dataset.times != Times::None) else {
        return Ok(spec);
    };
    let Measure::Twed { nu, lambda, degree } = spec.measure else {
        tell_of_times(path, stamped, spec.key());
        return Ok(spec);
    };
    for (other, dataset) in inputs {
        match &dataset.times {
            Times::Irregular(place) => bail!(
                "{}: twed needs series with their points at the same, equally spaced times ({place}); --resample median spaces \
                 them equally",
                shown(other)
            ),
            times => ensure!(
                *times == stamped.times,
                "{} has other times than {}; twed needs the same start and spacing in both",
                shown(other),
                shown(path)
            ),
        }
    }
    let Times::Regular { step, .. } = stamped.times else { return Ok(spec) };
    report::note(&format!(
        "{}: the points are {step} apart, so that twed's nu of {nu} per unit of time is {} per point",
        shown(path),
        nu * step
    ));
    Ok(Spec { measure: Measure::Twed { nu: nu * step, lambda, degree }, ..spec })
}

/// Says that a measure does not look at a file's timestamps, if it has any.
pub(crate) fn tell_of_times(path: &Path, dataset: &Dataset, measure: &str) {
    if dataset.times != Times::None {
        let shown = shown(path);
        report::note(&format!(
            "{shown}: {measure} does not look at the timestamps; of the measures only twed does"
        ));
    }
}

/// Refuses files that were resampled to other spacings.
pub(crate) fn same_spacing(a: (&Path, &Dataset), b: (&Path, &Dataset)) -> Result<()> {
    if let (Times::Regular { step: one, .. }, Times::Regular { step: other, .. }) = (&a.1.times, &b.1.times) {
        ensure!(
            one == other,
            "the median spacing of {} is {one}, that of {} is {other}; give both one step, as --resample {one}",
            shown(a.0),
            shown(b.0)
        );
    }
    Ok(())
}

pub(crate) fn same_channels(a: (&Path, usize), b: (&Path, usize)) -> Result<()> {
    ensure!(
        a.1 == b.1,
        "{} has {} and {} has {}; they must be equal",
        shown(a.0),
        count(a.1, "channel"),
        shown(b.0),
        b.1
    );
    Ok(())
}

pub(crate) fn long_enough(path: &Path, dataset: &Dataset, spec: &Spec) -> Result<()> {
    let least = spec.measure.min_length();
    if let Some(short) = (0..dataset.len()).find(|index| dataset.length(*index) < least) {
        bail!(
            "{}: series {short} has {}; {} needs at least {least} points",
            shown(path),
            count(dataset.length(short), "point"),
            spec.key()
        );
    }
    Ok(())
}

/// The series of `dataset` at `indices` as a device takes them; a value that `T` cannot hold is refused.
pub(crate) fn batch_of<T: Element>(
    dataset: &Dataset,
    indices: impl IntoIterator<Item = usize>,
) -> Result<OwnedBatch<T>> {
    let mut batch = OwnedBatch::new(dataset.channels)?;
    let mut converted = Vec::new();
    for index in indices {
        converted.clear();
        let values = &dataset.series[index];
        convert(values, &mut converted)
            .map_err(|at| too_large::<T>(&dataset.name, index, at / dataset.channels, values[at]))?;
        batch.push(&converted)?;
    }
    Ok(batch)
}

/// Appends values as `T`, or says which of them is the first that it cannot hold.
pub(crate) fn convert<T: Element>(values: &[f64], to: &mut Vec<T>) -> Result<(), usize> {
    let before = to.len();
    to.extend(values.iter().map(|value| T::from_f64(*value)));
    let added = &to[before..];
    // Without a way out of the loop, it takes several values at a time.
    if added.iter().fold(true, |all, number| all & number.finite()) {
        return Ok(());
    }
    let at = added.iter().position(|number| !number.finite()).expect("one of them is not");
    to.truncate(before + at);
    Err(at)
}

pub(crate) fn too_large<T: Element>(name: &str, series: usize, position: usize, value: f64) -> anyhow::Error {
    anyhow!("{name}: series {series}, position {position}: {value:?} is too large for {}", T::DTYPE)
}

pub(crate) fn batch<T: Element>(dataset: &Dataset) -> Result<OwnedBatch<T>> {
    batch_of(dataset, 0..dataset.len())
}

pub(crate) struct Engine {
    pub(crate) device: Device,
    pub(crate) memory_limit_bytes: u64,
    pub(crate) cancel: Cancel,
    explaining: Option<Explaining>,
    proposals: Arc<Proposals>,
}

/// Queries of searches in half precision: those whose matches were confirmed, and those that were searched whole.
#[derive(Debug, Default)]
struct Proposals {
    confirmed: AtomicU64,
    whole: AtomicU64,
}

/// What `--explain` hears, told when the command ends.
struct Explaining {
    explainer: Arc<Explainer>,
    start: Instant,
}

impl Drop for Explaining {
    fn drop(&mut self) {
        let seconds = Some(self.start.elapsed().as_secs_f64());
        let explanation = Explanation { seconds, ..self.explainer.explanation() };
        explanation.to_string().lines().for_each(report::explain);
    }
}

/// Passes a device's progress to the bar, and Ctrl-C to the device; lives as long as a computation.
struct Watch {
    progress: Arc<Progress>,
    listener: Option<Listener>,
    explainer: Option<Arc<Explainer>>,
    proposals: Arc<Proposals>,
}

impl Observer for Watch {
    fn advance(&self, cells: u64) {
        self.progress.advance(cells);
        self.explainer.iter().for_each(|explainer| explainer.advance(cells));
    }

    fn cancelled(&self) -> bool {
        self.listener.as_ref().is_some_and(Listener::is_raised)
    }

    fn explains(&self) -> bool {
        self.explainer.is_some()
    }

    fn launched(&self, launch: &Launch<'_>) {
        self.explainer.iter().for_each(|explainer| explainer.launched(launch));
    }

    fn proposed(&self, query: usize, reference: usize, is_confirmed: bool) {
        let Proposals { confirmed, whole } = &*self.proposals;
        (if is_confirmed { confirmed } else { whole }).fetch_add(1, Ordering::Relaxed);
        self.explainer.iter().for_each(|explainer| explainer.proposed(query, reference, is_confirmed));
    }

    fn lost(&self, device: &str, why: &dtwave::Error) {
        report::warn(&format!(
            "{device} failed, and the other devices go on: {}",
            why.told(report::in_command)
        ));
    }

    fn computed(&self, scratch_bytes: u64, allowed_bytes: u64) {
        self.explainer.iter().for_each(|explainer| explainer.computed(scratch_bytes, allowed_bytes));
    }
}

impl Engine {
    pub(crate) fn new(run: &RunArgs, cancel: &Cancel) -> Result<Self> {
        ensure!(
            run.threads.is_none()
                || run.backend.split(',').any(|name| ["auto", "cpu"].contains(&name.trim())),
            "--threads is for the CPU; leave it out with --backend {}",
            run.backend
        );
        Ok(Engine {
            device: Device::named(&run.backend, run.threads.unwrap_or(0))?,
            memory_limit_bytes: run.memory_limit.0,
            cancel: cancel.clone(),
            explaining: run.explain.then(|| Explaining { explainer: Arc::default(), start: Instant::now() }),
            proposals: Arc::default(),
        })
    }

    /// Of searches in half precision so far: queries whose matches were confirmed, and those that were searched whole.
    pub(crate) fn proposals(&self) -> (u64, u64) {
        let Proposals { confirmed, whole } = &*self.proposals;
        (confirmed.load(Ordering::Relaxed), whole.load(Ordering::Relaxed))
    }

    pub(crate) fn observer(&self, progress: &Arc<Progress>) -> Arc<dyn Observer> {
        self.watch(progress, Some(self.cancel.listener()))
    }

    /// Does not listen for Ctrl-C: a search that reads as it goes has nothing to keep, and may be waiting for its
    /// input, so it is ended at once.
    pub(crate) fn deaf_observer(&self, progress: &Arc<Progress>) -> Arc<dyn Observer> {
        self.watch(progress, None)
    }

    fn watch(&self, progress: &Arc<Progress>, listener: Option<Listener>) -> Arc<dyn Observer> {
        let explainer = self.explaining.as_ref().map(|explaining| Arc::clone(&explaining.explainer));
        let proposals = Arc::clone(&self.proposals);
        Arc::new(Watch { progress: Arc::clone(progress), listener, explainer, proposals })
    }

    pub(crate) fn session(&self, spec: &Spec, progress: &Arc<Progress>) -> Session {
        Session::new(spec.clone())
            .on(self.device.clone())
            .memory_limit(self.memory_limit_bytes)
            .observer(self.observer(progress))
    }

    pub(crate) fn context<T: Element>(&self, progress: &Arc<Progress>) -> Context<'_, T> {
        Context::new(self.device.backend::<T>())
            .with_memory_limit(self.memory_limit_bytes)
            .with_observer(self.observer(progress))
    }

    /// The cells of all pairs; an error where a pair has no path or the series do not suit the measure.
    pub(crate) fn cells<T: Element>(
        &self,
        spec: &Spec,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<u64> {
        let problem = Problem::of(spec.clone(), pairing, x, y)?;
        problem.check_input(x, y)?;
        Ok(problem.cells(x, y)?)
    }

    /// How a matrix is cut: by memory, and so that a tile stays a matter of seconds. What the device does not compute
    /// is refused here, before there is a file.
    pub(crate) fn cut<T: Element>(&self, matrix: &Matrix<'_, T>) -> Result<Cut> {
        let Matrix { spec, pairing, x, y, .. } = matrix;
        let session =
            Session::new((*spec).clone()).on(self.device.clone()).memory_limit(self.memory_limit_bytes);
        session.supports(*pairing, x, y)?;
        let plan = session.tile_plan(*pairing, x, y).context("--memory-limit is too small")?;
        let share = 0..plan.len();
        Ok(Cut { plan, share })
    }

    /// Computes the whole matrix into `values`.
    pub(crate) fn whole<T: Element>(
        &self,
        matrix: &Matrix<'_, T>,
        progress: &Arc<Progress>,
        values: &mut [T],
    ) -> Result<()> {
        let Matrix { spec, pairing, x, y, cutoff } = matrix;
        let session = self.session(spec, progress).cutoff(*cutoff);
        Ok(session.distances_into(*pairing, x, y, values)?)
    }

    /// Computes the tiles of `cut` that are not in `done`, in order, and hands each to `sink`, row-major. Returns the
    /// number of grid cells that `done` spared.
    pub(crate) fn tiles<T: Element>(
        &self,
        matrix: &Matrix<'_, T>,
        Cut { plan, share }: &Cut,
        progress: &Arc<Progress>,
        done: &HashSet<usize>,
        sink: impl FnMut(&Tile, &[T]) -> Result<()>,
    ) -> Result<u64> {
        let Matrix { spec, x, y, cutoff, .. } = matrix;
        let mut spared = 0;
        for tile in plan.tiles().filter(|tile| done.contains(&tile.index)) {
            let (rows, columns) = (x.slice(tile.rows.clone()), y.slice(tile.columns.clone()));
            let problem = Problem::of((*spec).clone(), tile.pairing, &rows, &columns)?;
            let cells = problem.cells(&rows, &columns)?;
            progress.skip(cells);
            spared += cells;
        }
        let session = self.session(spec, progress).cutoff(*cutoff);
        let skips = |tile: &Tile| done.contains(&tile.index) || !share.contains(&tile.index);
        session.tiled(plan, x, y, skips, sink)?;
        Ok(spared)
    }
}

/// How a matrix is cut, and which tiles of it a run computes.
pub(crate) struct Cut {
    pub(crate) plan: TilePlan,
    pub(crate) share: Range<usize>,
}

impl Cut {
    /// The tiles of the share.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = Tile> {
        self.plan.tiles().skip(self.share.start).take(self.share.len())
    }
}

pub(crate) struct Matrix<'a, T> {
    pub(crate) spec: &'a Spec,
    pub(crate) pairing: Pairing,
    pub(crate) x: SeriesBatch<'a, T>,
    pub(crate) y: SeriesBatch<'a, T>,
    /// Larger distances, before any root, are infinite.
    pub(crate) cutoff: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_copy_ragged_series_in_order() {
        let mut dataset = Dataset::univariate("d".into(), vec![vec![1., 2., 3., 4.], vec![5., 6.]]);
        dataset.channels = 2;
        let whole = batch::<f32>(&dataset).unwrap();
        assert_eq!((whole.batch().len(), whole.batch().channels()), (2, 2));
        assert_eq!(whole.batch().get(0).values, [1., 2., 3., 4.]);
        assert_eq!(whole.batch().get(1).values, [5., 6.]);
        let picked = batch_of::<f64>(&dataset, [1, 1]).unwrap();
        assert!(picked.batch().is_equal_length());
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let dataset = Dataset::univariate("d".into(), vec![vec![0.0], vec![1.0, 1e300]]);
        let error = batch::<f32>(&dataset).err().unwrap().to_string();
        assert!(error.contains("series 1, position 1") && error.contains("too large for f32"), "{error}");
        assert!(batch::<f64>(&dataset).is_ok());
    }
}
