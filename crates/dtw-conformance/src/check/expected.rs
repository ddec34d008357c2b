//! Golden cases: a backend against the numbers of a file.

use dtw_core::{Backend, Dtype, Measure, Pairing, Problem, SearchOptions, SeriesBatch, Task};

use super::{Checked, Stop, gradients, paths, prepared};
use crate::batch::{Batch, Element};
use crate::expectations::weight_error;
use crate::golden::Case;
use crate::guard::Guarded;
use crate::oracle::{Oracle, Pair};
use crate::tolerance::{self, F64_RELATIVE, alignment_condition, within};

/// Checks everything one golden case expects.
///
/// In `f32` the file's numbers are still the truth: rounding the input is part of the plain loop's error. They must
/// then agree with the oracle, because a wrong number would count as an error of the plain loop and excuse anything.
pub fn check<T: Element>(case: &Case, backend: &dyn Backend<T>) -> Checked {
    let side = |series: &[Vec<f64>], times: &Option<Vec<f64>>| Batch {
        series: vec![series.to_vec()],
        times: times.clone().map(|times| vec![times]),
    };
    let (x, y) = (side(&case.pair.x, &case.pair.tx), side(&case.pair.y, &case.pair.ty));
    let (x, y) = (x.flat::<T>(), y.flat::<T>());
    let spec = case.spec.clone();
    let problem = Problem::of(spec, Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let checked =
        Checking { case, backend, problem, x: x.batch()?, y: y.batch()?, narrow: case.pair.cast::<T>() };
    checked.distance()?;
    checked.gradients()?;
    checked.path()?;
    checked.occurrence()
}

struct Checking<'a, T: Element> {
    case: &'a Case,
    backend: &'a dyn Backend<T>,
    problem: Problem,
    x: SeriesBatch<'a, T>,
    y: SeriesBatch<'a, T>,
    narrow: Pair<T>,
}

impl<T: Element> Checking<'_, T> {
    fn steps(&self) -> f64 {
        (self.case.pair.x.len() + self.case.pair.y.len()) as f64
    }

    fn within(&self, what: &str, got: T, truth: f64, plain: T, scale: f64, more: f64) -> Checked {
        let allowed = tolerance::allowed(truth, plain, scale, self.steps()) + more;
        Ok(tolerance::within(what, got.wide(), truth, allowed)?)
    }

    fn distance(&self) -> Checked {
        let Case { spec, pair, expected, .. } = self.case;
        let Some(truth) = expected.distance else { return Ok(()) };
        let plain = spec.distance(&self.narrow)?;
        let scale = tolerance::scale(spec, pair, truth)?;
        within("the oracle, by this file", spec.distance(pair)?, truth, F64_RELATIVE * scale)?;
        let mut out = Guarded::<T>::new(1);
        prepared(self.backend, &self.problem, Task::Distances)?.distances(self.x, self.y, out.output())?;
        let coarse = tolerance::of_weights::<T>(spec, pair, weight_error(self.backend.name()));
        self.within("distance", out.checked("out")?[0], truth, plain, scale, coarse)
    }

    fn gradients(&self) -> Checked {
        let Case { spec, pair, expected, .. } = self.case;
        if expected.grad_x.is_none() && expected.grad_y.is_none() {
            return Ok(());
        }
        let mut plan = prepared(self.backend, &self.problem, Task::Gradients)?;
        let got = gradients::run(plan.as_mut(), self.x, self.y, None)?;
        let (oracle_x, oracle_y) = spec.gradients(pair)?;
        let (plain_x, plain_y) = spec.gradients(&self.narrow)?;
        let value = spec.distance(pair)?;
        // Weights are shares of 1, so however uncertain they are, a gradient stays of its own order.
        let conditions = match spec.measure {
            Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => {
                let largest = tolerance::scale(spec, pair, value)?;
                let double = alignment_condition::<f64>(largest, gamma, self.steps());
                (double.min(1.0), alignment_condition::<T>(largest, gamma, self.steps()).min(1.0))
            }
            _ => (0.0, 0.0),
        };
        for (what, truth, got, plain, oracle) in [
            ("grad_x", &expected.grad_x, got.grad_x, plain_x, oracle_x),
            ("grad_y", &expected.grad_y, got.grad_y, plain_y, oracle_y),
        ] {
            let Some(truth) = truth else { continue };
            let truth: Vec<f64> = truth.iter().flatten().copied().collect();
            if truth.len() != got.len() {
                let (expected, got) = (truth.len(), got.len());
                return Err(Stop::Failed(format!("{what}: expected {expected} values, got {got}")));
            }
            // Terms that cancel within one component are no larger than the largest component.
            let scale = truth.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
            for (at, oracle) in oracle.into_iter().flatten().enumerate() {
                let what = format!("the oracle, by this file, {what}[{at}]");
                within(&what, oracle, truth[at], (F64_RELATIVE + conditions.0) * scale)?;
            }
            for (at, plain) in plain.into_iter().flatten().enumerate() {
                let what = format!("{what}[{at}]");
                self.within(&what, got[at], truth[at], plain, scale, conditions.1 * scale)?;
            }
        }
        Ok(())
    }

    fn path(&self) -> Checked {
        let Case { spec, pair, expected, .. } = self.case;
        let Some(points) = &expected.path else { return Ok(()) };
        let oracle = spec.path(pair)?;
        if &oracle != points {
            return Err(Stop::Failed(format!("path: the file expects {points:?}, the oracle {oracle:?}")));
        }
        let found = prepared(self.backend, &self.problem, Task::Paths)?.paths(self.x, self.y)?;
        let [found] = &found[..] else {
            return Err(Stop::Failed(format!("expected one path, got {}", found.len())));
        };
        if &found.points == points {
            return Ok(());
        }
        if T::DTYPE == Dtype::F64 {
            return Err(Stop::Failed(format!("path: got {:?}, expected {points:?}", found.points)));
        }
        // Rounding the input to single precision may tip the balance between two near-equal paths.
        let truth = paths::Truth::of(spec, pair.clone())?;
        Ok(truth.judge(paths::Identity::NotRequired, found)?)
    }

    fn occurrence(&self) -> Checked {
        let Case { spec, pair, expected, .. } = self.case;
        if expected.start.is_none() && expected.end.is_none() {
            return Ok(());
        }
        let right = |got: usize, wanted: Option<usize>| wanted.is_none_or(|wanted| wanted == got);
        let oracle = spec.matches(pair, 1, 0)?[0];
        if !(right(oracle.start, expected.start) && right(oracle.end, expected.end)) {
            return Err(Stop::Failed(format!(
                "the file expects {:?}..={:?}, the oracle {}..={}",
                expected.start, expected.end, oracle.start, oracle.end
            )));
        }
        let mut plan = prepared(self.backend, &self.problem, Task::Matches)?;
        let found = plan.matches(self.x, self.y, &SearchOptions::default())?;
        let Some(hit) = found.first().and_then(|hits| hits.first()) else {
            return Err(Stop::Failed("no match was found".to_owned()));
        };
        if right(hit.start, expected.start) && right(hit.end, expected.end) {
            return Ok(());
        }
        let message =
            format!("got {}..={}, expected {:?}..={:?}", hit.start, hit.end, expected.start, expected.end);
        if T::DTYPE == Dtype::F64 {
            return Err(Stop::Failed(message));
        }
        // As for paths: another place will do if it costs the same within the tolerance.
        let costs = spec.end_costs(pair)?;
        let plain = spec.end_costs(&self.narrow)?;
        let best = costs.iter().copied().fold(f64::INFINITY, f64::min);
        let other = costs.get(hit.end).copied().unwrap_or(f64::INFINITY);
        let plain = plain.get(hit.end).copied().unwrap_or(T::infinity());
        self.within(&message, T::of(other), best, plain, best.abs(), 0.0)
    }
}
