//! A backend that is right but for one fault: it hands everything to the plain one and spoils what goes in or comes
//! out.

use std::sync::Arc;

use dtw_conformance::batch::Element;
use dtw_conformance::expectations::INCOMPLETE;
use dtw_core::{
    Backend, Band, CheckedBatches, CheckedBlocks, Compute, Dtype, Error, Gradients, Match, Observer, Path,
    Plan, Problem, Radius, Result, SearchOptions, SeriesBatch, Spec, Task,
};

use crate::plain::{self, Plain};

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Planted {
    /// It supports one channel only.
    RefusesChannels,
    /// It supports no bands.
    RefusesBands,
    /// It supports one of the two number types only.
    RefusesF64,
    /// It goes by the name of a backend with a gap, and has none.
    HasNoGap,
    /// It goes by the name of a backend with a gap, and has another one too.
    HasAnotherGap,
    /// It writes one value before every output.
    WritesBefore,
    /// It writes one value behind every output.
    WritesBehind,
    /// Every value is off by one part in 10⁸.
    OffByTenBillionths,
    /// Every value is off by eight units in the last place.
    OffByEightUlps,
    /// Bands are wider than asked for by one point.
    WiderBand,
    /// Bands are narrower than asked for by one point.
    NarrowerBand,
    /// Another of the matches that cost the same is preferred.
    OtherTies,
    /// One value in the middle is not written, but for the first call: it keeps what the call before left there.
    StaleValue,
    /// In ragged batches, the third value is wrong.
    OneWrongPair,
}

/// The backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faulty(pub(crate) Planted);

const PLAIN: Plain = Plain(plain::Fault::None);

struct FaultyPlan<T> {
    planted: Planted,
    inner: Box<dyn Plan<T>>,
    last: Option<Vec<T>>,
}

impl Faulty {
    fn refuses(self, problem: &Problem, is_f64: bool) -> bool {
        match self.0 {
            Planted::RefusesChannels | Planted::HasAnotherGap => problem.shape().channels > 1,
            Planted::RefusesBands => problem.spec().band != Band::Full,
            Planted::RefusesF64 => is_f64,
            _ => false,
        }
    }
}

/// The problem in a band with another radius.
fn with_radius(problem: &Problem, change: fn(usize) -> usize) -> Result<Problem> {
    let changed = |radius: Radius| match radius {
        Radius::Points(points) => Radius::Points(change(points)),
        fraction @ Radius::Fraction(_) => fraction,
    };
    let Spec { measure, band, anchor } = problem.spec().clone();
    let band = match band {
        Band::SakoeChiba { radius } => Band::SakoeChiba { radius: changed(radius) },
        Band::Slanted { radius } => Band::Slanted { radius: changed(radius) },
        other => other,
    };
    let spec = Spec { measure, band, anchor };
    Problem::new(spec, problem.pairing(), problem.shape())
}

impl<T: Element> Backend<T> for Faulty {
    fn name(&self) -> &'static str {
        if matches!(self.0, Planted::HasNoGap | Planted::HasAnotherGap) { INCOMPLETE } else { "faulty" }
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        // What no backend could do is no gap.
        problem.admits(task)?;
        let listed = self.0 == Planted::HasAnotherGap && task == Task::Gradients;
        if listed || self.refuses(problem, T::DTYPE == Dtype::F64) {
            return Err(Error::Unsupported { backend: "faulty", what: "this".to_owned(), remedies: &[] });
        }
        Backend::<T>::supports(&PLAIN, problem, task)
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        let problem = match self.0 {
            Planted::WiderBand => with_radius(problem, |points| points + 1)?,
            Planted::NarrowerBand => with_radius(problem, |points| points.saturating_sub(1))?,
            _ => problem.clone(),
        };
        Ok(Box::new(FaultyPlan { planted: self.0, inner: Backend::<T>::plan(&PLAIN, &problem)?, last: None }))
    }
}

impl<T: Element> FaultyPlan<T> {
    /// Spoils an output that is right. `is_ragged`: of series of different lengths.
    fn spoil(&mut self, out: &mut [T], is_ragged: bool) {
        let off = match self.planted {
            Planted::OffByTenBillionths => 1e-8,
            Planted::OffByEightUlps => 8.0 * T::epsilon().wide(),
            _ => 0.0,
        };
        if off != 0.0 {
            out.iter_mut().for_each(|value| *value = *value * T::of(1.0 + off));
        }
        match self.planted {
            Planted::WritesBefore => overrun(out, -1),
            Planted::WritesBehind => overrun(out, out.len() as isize),
            Planted::OneWrongPair if is_ragged && out.len() > 3 => out[2] = out[2] * T::of(1.0 + 1e-5),
            Planted::StaleValue => {
                let right = out.to_vec();
                if let Some(last) = self.last.as_ref().filter(|last| last.len() == out.len()) {
                    out[out.len() / 2] = last[out.len() / 2];
                }
                self.last = Some(right);
            }
            _ => {}
        }
    }
}

/// Writes a number `at` places from the start of `out`, beyond one of its ends.
#[expect(unsafe_code, reason = "safe code cannot plant an overrun")]
fn overrun<T: Element>(out: &mut [T], at: isize) {
    // SAFETY: the suite's outputs lie between guard zones of 67 values in one allocation, which nobody reads or writes
    // during the call, and 0 is a value of every number type.
    unsafe { out.as_mut_ptr().offset(at).write(T::zero()) }
}

fn is_ragged<T: Element>(x: &SeriesBatch<'_, T>) -> bool {
    (0..x.len()).any(|s| x.length(s) != x.length(0))
}

/// Matches as if read from their ends.
fn backwards<T: Element>(series: &SeriesBatch<'_, T>) -> Vec<T> {
    let one = |s: usize| {
        let series = series.get(s);
        (0..series.len()).rev().flat_map(|i| series.point(i).to_vec()).collect::<Vec<T>>()
    };
    (0..series.len()).flat_map(one).collect()
}

impl<T: Element> Compute<T> for FaultyPlan<T> {
    fn problem(&self) -> &Problem {
        self.inner.problem()
    }

    fn scratch_bytes(&self) -> u64 {
        self.inner.scratch_bytes()
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.inner.observe(observer);
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        self.inner.distances(x, y, out)?;
        self.spoil(out, is_ragged(&x));
        Ok(())
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        let Gradients { upstream, distances, grad_x, grad_y } = out;
        let inner =
            Gradients { upstream, distances: &mut *distances, grad_x: &mut *grad_x, grad_y: &mut *grad_y };
        self.inner.gradients(x, y, inner)?;
        self.spoil(grad_y, is_ragged(&x));
        Ok(())
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>> {
        let mut alignment = self.inner.alignment(pair.x.get(0), pair.y.get(0))?;
        if !matches!(self.planted, Planted::WritesBefore | Planted::WritesBehind) {
            self.spoil(&mut alignment, false);
        }
        Ok(alignment)
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>> {
        let CheckedBatches { x, y, .. } = pairs;
        let mut paths = self.inner.paths(x, y)?;
        let mut distances: Vec<T> = paths.iter().map(|path| path.distance).collect();
        if !matches!(self.planted, Planted::WritesBefore | Planted::WritesBehind) {
            self.spoil(&mut distances, is_ragged(&x));
        }
        for (path, distance) in paths.iter_mut().zip(distances) {
            path.distance = distance;
        }
        Ok(paths)
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        self.inner.matches_in_blocks(*queries, reference, options)
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let CheckedBatches { x: queries, y: references, .. } = searched;
        if self.planted == Planted::OtherTies && queries.len() == 1 && references.len() == 1 {
            let (query, reference) = (backwards(&queries), backwards(&references));
            let query = SeriesBatch::equal(&query, 1, queries.length(0), queries.channels())?;
            let reference = SeriesBatch::equal(&reference, 1, references.length(0), references.channels())?;
            let last = references.length(0) - 1;
            let mut found = self.inner.matches(query, reference, options)?;
            for hit in found.iter_mut().flatten() {
                (hit.start, hit.end) = (last - hit.end, last - hit.start);
            }
            return Ok(found);
        }
        let mut found = self.inner.matches(queries, references, options)?;
        for hits in &mut found {
            let mut costs: Vec<T> = hits.iter().map(|hit| hit.distance).collect();
            if !costs.is_empty() && !matches!(self.planted, Planted::WritesBefore | Planted::WritesBehind) {
                self.spoil(&mut costs, false);
            }
            hits.iter_mut().zip(costs).for_each(|(hit, cost)| hit.distance = cost);
        }
        Ok(found)
    }
}
