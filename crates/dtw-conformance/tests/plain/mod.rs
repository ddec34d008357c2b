//! A backend made of the oracles, run in the precision asked for: slow, and by definition right. The suite must pass
//! it, and must notice every fault planted in it. (Sums over all paths are run in doubles, in two parts: one loop
//! cannot keep their digits at a large γ.)

use std::sync::Arc;

use dtw_conformance::batch::{Element, pairs};
use dtw_conformance::check::soft::truth;
use dtw_conformance::expectations::INCOMPLETE;
use dtw_conformance::oracle::{Oracle, Pair, subsequence_dtw};
use dtw_core::measure::Paths;
use dtw_core::{
    Anchor, Backend, Band, Blocks as _, CheckedBatches, CheckedBlocks, Compute, Dtype, Error, Gradients,
    Match, Measure, Observer, Pairing, Path, Plan, Problem, Radius, Result, SearchOptions, Series,
    SeriesBatch, Spec, Task, Unobserved,
};

/// A way of being wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    LeavesTheLastUnwritten,
    RootOfTheDistance,
    IgnoresTheBand,
    ForgetsTheLastPair,
    IgnoresTimes,
    SlightlyOff,
    CancelsDigits,
    NegativeZero,
    DiffersFromCallToCall,
    DoesNotMirror,
    GradientWithoutUpstream,
    GradientOfTheOther,
    /// Gradients have a factor that is off by a thousandth, or by a hundredth where γ is small.
    GradientWithAFactor,
    PathPrefersLeft,
    PathSkipsACell,
    MatchStartsLate,
    MatchIgnoresExclusion,
    AcceptsMore,
    IgnoresCancellation,
    LosesProgress,
    SupportsThenRefuses,
    SupportsNothing,
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
pub(crate) struct Plain(pub(crate) Fault);

struct PlainPlan {
    fault: Fault,
    problem: Problem,
    observer: Arc<dyn Observer>,
    calls: usize,
    /// The values of the call before.
    last: Vec<f64>,
}

impl<T: Element> Backend<T> for Plain {
    fn name(&self) -> &'static str {
        if matches!(self.0, Fault::HasNoGap | Fault::HasAnotherGap) { INCOMPLETE } else { "plain" }
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        // What no backend could do is no gap.
        problem.admits(task)?;
        let refuses = match self.0 {
            Fault::SupportsNothing => true,
            Fault::RefusesChannels => problem.shape().channels > 1,
            Fault::HasAnotherGap => problem.shape().channels > 1 || task == Task::Gradients,
            Fault::RefusesBands => problem.spec().band != Band::Full,
            Fault::RefusesF64 => T::DTYPE == Dtype::F64,
            _ => false,
        };
        if refuses { Err(unsupported("this")) } else { Ok(()) }
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        if self.0 == Fault::SupportsThenRefuses {
            return Err(unsupported("this, after all"));
        }
        let mut shape = problem.shape();
        if self.0 == Fault::AcceptsMore {
            (shape.max_length_x, shape.max_length_y) = (shape.max_length_x + 1, shape.max_length_y + 1);
        }
        let limit = problem.memory_limit_bytes();
        let spec = match self.0 {
            Fault::WiderBand => with_radius(problem.spec(), |points| points + 1),
            Fault::NarrowerBand => with_radius(problem.spec(), |points| points.saturating_sub(1)),
            _ => problem.spec().clone(),
        };
        Ok(Box::new(PlainPlan {
            fault: self.0,
            problem: Problem::new(spec, problem.pairing(), shape)?.with_memory_limit(limit),
            observer: Arc::new(Unobserved),
            calls: 0,
            last: Vec::new(),
        }))
    }
}

fn unsupported(what: &str) -> Error {
    Error::Unsupported { backend: "plain", what: what.to_owned(), remedies: &[] }
}

/// The spec in a band with another radius.
fn with_radius(spec: &Spec, change: fn(usize) -> usize) -> Spec {
    let changed = |radius: Radius| match radius {
        Radius::Points(points) => Radius::Points(change(points)),
        fraction @ Radius::Fraction(_) => fraction,
    };
    spec.clone().with_band(match spec.band {
        Band::SakoeChiba { radius } => Band::SakoeChiba { radius: changed(radius) },
        Band::Slanted { radius } => Band::Slanted { radius: changed(radius) },
        ref other => other.clone(),
    })
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

fn points<T: Element>(series: Series<'_, T>) -> Vec<Vec<T>> {
    (0..series.len()).map(|i| series.point(i).to_vec()).collect()
}

/// The value, by the parts of it that cancel where the measure has such.
fn distance<T: Element>(fault: Fault, spec: &Spec, pair: &Pair<T>) -> Result<T> {
    if spec.kind().paths == Paths::Best || fault == Fault::CancelsDigits {
        return spec.distance(pair).map_err(invalid);
    }
    let value = truth(spec, &pair.cast::<f64>()).map_err(invalid)?.value;
    // Parts that overflow in doubles, too, have no difference: a cost beyond the type is infinite.
    let value = if value.is_nan() { T::infinity() } else { T::of(value) };
    Ok(if fault == Fault::NegativeZero && value == T::zero() { -T::zero() } else { value })
}

fn invalid(error: impl std::fmt::Display) -> Error {
    Error::invalid(error.to_string())
}

impl PlainPlan {
    /// Spoils an output that is right. `is_ragged`: of series of different lengths.
    fn spoil<T: Element>(&mut self, out: &mut [T], is_ragged: bool) {
        let off = match self.fault {
            Fault::OffByTenBillionths => 1e-8,
            Fault::OffByEightUlps => 8.0 * T::epsilon().wide(),
            _ => 0.0,
        };
        if off != 0.0 {
            out.iter_mut().for_each(|value| *value = *value * T::of(1.0 + off));
        }
        match self.fault {
            Fault::WritesBefore => overrun(out, -1),
            Fault::WritesBehind => overrun(out, out.len() as isize),
            Fault::OneWrongPair if is_ragged && out.len() > 3 => out[2] = out[2] * T::of(1.0 + 1e-5),
            Fault::StaleValue => {
                let right = out.iter().map(|value| value.wide()).collect();
                if self.last.len() == out.len() {
                    out[out.len() / 2] = T::of(self.last[out.len() / 2]);
                }
                self.last = right;
            }
            _ => {}
        }
    }

    /// Spoils what is not written to the caller's memory.
    fn spoil_own<T: Element>(&mut self, values: &mut [T], is_ragged: bool) {
        if !matches!(self.fault, Fault::WritesBefore | Fault::WritesBehind) && !values.is_empty() {
            self.spoil(values, is_ragged);
        }
    }

    fn pair<T: Element>(&self, x: Series<'_, T>, y: Series<'_, T>) -> Pair<T> {
        let times = |series: Series<'_, T>| {
            series.times.filter(|_| self.fault != Fault::IgnoresTimes).map(<[T]>::to_vec)
        };
        Pair { x: points(x), y: points(y), tx: times(x), ty: times(y) }
    }

    /// What is computed.
    fn spec(&self) -> Spec {
        let ignored = self.fault == Fault::IgnoresTheBand;
        let spec = self.problem.spec().clone();
        if ignored { spec.with_band(Band::Full) } else { spec }
    }

    /// The best matches of one query in one reference.
    fn hits<T: Element>(
        &self,
        query: Series<'_, T>,
        reference: Series<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Match<T>>> {
        let asked = self.spec();
        let exclusion = if self.fault == Fault::MatchIgnoresExclusion { 0 } else { options.exclusion };
        let mut pair = self.pair(query, reference);
        let is_backwards = self.fault == Fault::OtherTies;
        if is_backwards {
            pair.x.reverse();
            pair.y.reverse();
        }
        let last = pair.y.len() - 1;
        let found = match (options.normalized_window, asked.measure) {
            (Some(length), Measure::Dtw { cost }) if asked.anchor == Anchor::Global => {
                let costs = subsequence_dtw::window_costs(&pair.x, &pair.y, cost, &asked.band, length);
                let costs = costs.map_err(invalid)?;
                subsequence_dtw::window_matches(&costs, length, options.top_k, exclusion)
            }
            _ => asked.matches(&pair, options.top_k, exclusion).map_err(invalid)?,
        };
        let late = usize::from(self.fault == Fault::MatchStartsLate);
        let moved = |hit: subsequence_dtw::Match<T>| {
            let (start, end) =
                if is_backwards { (last - hit.end, last - hit.start) } else { (hit.start, hit.end) };
            Match { distance: hit.cost, start: (start + late).min(end), end }
        };
        let most = options.threshold.unwrap_or(f64::INFINITY);
        let found = found.into_iter().filter(|hit| hit.cost.wide() <= most);
        Ok(found.map(moved).collect())
    }

    fn cells(&self, n: usize, m: usize) -> Result<u64> {
        let spec = self.problem.spec();
        let (n, m) = (spec.measure.swept_length(n), spec.measure.swept_length(m));
        let matrices =
            if matches!(spec.measure, Measure::Msm { .. }) { self.problem.shape().channels } else { 1 };
        Ok(spec.band.ranges(n, m, spec.anchor)?.cells() * matrices as u64)
    }
}

impl<T: Element> Compute<T> for PlainPlan {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    fn scratch_bytes(&self) -> u64 {
        0
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.observer = observer;
    }

    fn distances(&mut self, given: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()> {
        let CheckedBatches { x, y, .. } = given;
        self.calls += 1;
        let pairing = self.problem.pairing();
        let asked = self.spec();
        if matches!(asked.measure, Measure::SoftDtwDivergence { .. }) {
            let sides = if pairing == Pairing::SelfSymmetric { &[x][..] } else { &[x, y][..] };
            for side in sides {
                for s in 0..side.len() {
                    self.observer.advance(self.cells(side.length(s), side.length(s))?);
                }
            }
        }
        let mut done: Vec<T> = Vec::new();
        for (s, t) in pairs(pairing, x.len(), y.len()) {
            if self.observer.cancelled() && self.fault != Fault::IgnoresCancellation {
                return Err(Error::Cancelled);
            }
            if pairing == Pairing::SelfSymmetric && s > t && self.fault != Fault::DoesNotMirror {
                done.push(done[t * x.len() + s]);
                continue;
            }
            let pair = self.pair(x.get(s), y.get(t));
            let mut value = distance(self.fault, &asked, &pair)?;
            if self.fault == Fault::DoesNotMirror && s > t {
                value = value * (T::one() + T::epsilon());
            }
            if self.fault == Fault::RootOfTheDistance {
                value = T::of(value.wide().abs().sqrt());
            }
            if self.fault == Fault::SlightlyOff {
                value = value * T::of(1.0001);
            }
            if self.fault == Fault::DiffersFromCallToCall && self.calls.is_multiple_of(2) {
                value = value * (T::one() + T::epsilon());
            }
            done.push(value);
            if self.fault != Fault::LosesProgress || done.len() > 1 {
                self.observer.advance(self.cells(x.length(s), y.length(t))?);
            }
        }
        if self.fault == Fault::ForgetsTheLastPair && done.len() > 1 {
            let last = done.len() - 1;
            done[last] = done[last - 1];
        }
        let written = if self.fault == Fault::LeavesTheLastUnwritten { done.len() - 1 } else { done.len() };
        out[..written].copy_from_slice(&done[..written]);
        self.spoil(out, is_ragged(&x));
        Ok(())
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()> {
        let CheckedBatches { x, y, .. } = pairs;
        let asked = self.spec();
        let (mut at_x, mut at_y) = (0, 0);
        for s in 0..x.len() {
            let pair = self.pair(x.get(s), y.get(s));
            out.distances[s] = distance(self.fault, &asked, &pair)?;
            let factor = match out.upstream {
                Some(upstream) if self.fault != Fault::GradientWithoutUpstream => upstream[s],
                _ => T::one(),
            };
            let (mut grad_x, mut grad_y) = asked.gradients(&pair.cast::<f64>()).map_err(invalid)?;
            if self.fault == Fault::GradientOfTheOther {
                grad_y.iter_mut().flatten().for_each(|slope| *slope = -*slope);
            }
            if let (Fault::GradientWithAFactor, Measure::SoftDtw { gamma, .. }) = (self.fault, asked.measure)
            {
                let off = if gamma < 1.0 { 1.01 } else { 1.001 };
                grad_x.iter_mut().chain(&mut grad_y).flatten().for_each(|slope| *slope *= off);
            }
            for slope in grad_x.into_iter().flatten() {
                out.grad_x[at_x] = factor * T::of(slope);
                at_x += 1;
            }
            for slope in grad_y.into_iter().flatten() {
                out.grad_y[at_y] = factor * T::of(slope);
                at_y += 1;
            }
        }
        self.spoil(out.grad_y, is_ragged(&x));
        Ok(())
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>> {
        let pair = self.pair(pair.x.get(0), pair.y.get(0));
        let alignment = self.spec().alignment(&pair).map_err(invalid)?;
        let mut alignment: Vec<T> = alignment.into_iter().flatten().collect();
        self.spoil_own(&mut alignment, false);
        Ok(alignment)
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>> {
        let CheckedBatches { x, y, .. } = pairs;
        let asked = self.spec();
        let one = |s: usize| {
            let pair = self.pair(x.get(s), y.get(s));
            let mut points = asked.path(&pair).map_err(invalid)?;
            if self.fault == Fault::PathPrefersLeft {
                // The transposed problem breaks ties the other way round.
                let across =
                    Pair { x: pair.y.clone(), y: pair.x.clone(), tx: pair.ty.clone(), ty: pair.tx.clone() };
                points = asked.path(&across).map_err(invalid)?.into_iter().map(|(j, i)| (i, j)).collect();
            }
            if self.fault == Fault::PathSkipsACell && points.len() > 2 {
                points.remove(1);
            }
            Ok(Path { distance: asked.distance(&pair).map_err(invalid)?, points })
        };
        let mut paths: Vec<Path<T>> = (0..x.len()).map(one).collect::<Result<_>>()?;
        let mut distances: Vec<T> = paths.iter().map(|path| path.distance).collect();
        self.spoil_own(&mut distances, is_ragged(&x));
        paths.iter_mut().zip(distances).for_each(|(path, distance)| path.distance = distance);
        Ok(paths)
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let CheckedBatches { x: queries, y: references, .. } = searched;
        let pairs = pairs(self.problem.pairing(), queries.len(), references.len()).into_iter();
        let hits = pairs.map(|(s, t)| self.hits(queries.get(s), references.get(t), options));
        let mut found = hits.collect::<Result<Vec<Vec<Match<T>>>>>()?;
        for hits in &mut found {
            let mut costs: Vec<T> = hits.iter().map(|hit| hit.distance).collect();
            self.spoil_own(&mut costs, false);
            hits.iter_mut().zip(costs).for_each(|(hit, cost)| hit.distance = cost);
        }
        Ok(found)
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let (mut values, mut before) = (Vec::new(), None);
        while before != Some(values.len()) {
            before = Some(values.len());
            reference.read(100, &mut values)?;
        }
        let whole = Series { values: &values, channels: queries.channels(), times: None };
        let mut found =
            queries.iter().map(|query| self.hits(query, whole, options)).collect::<Result<Vec<_>>>()?;
        if reference.is_followed() {
            for (query, hits) in found.iter_mut().enumerate() {
                hits.sort_by_key(|hit| hit.end);
                reference.settled(query, &std::mem::take(hits))?;
            }
        }
        Ok(found)
    }
}
