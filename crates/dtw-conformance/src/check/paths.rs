//! Warping paths: identical to the oracle's where arithmetic is exact, else connected, inside the band and best.

use dtw_core::{Backend, Band, Dtype, Measure, Pairing, Path, Plan, Problem, Spec, Task};

use super::{Checked, Stop, prepared};
use crate::batch::{Batch, Element};
use crate::cases::Case;
use crate::oracle::band::Ends;
use crate::oracle::{Cells, Oracle, OracleError, Pair, lcss, path};
use crate::tolerance;

/// A memory limit that no table of [`MANY_CELLS`] fits, so that the linear-memory method must run.
const LITTLE_MEMORY_BYTES: u64 = 1 << 20;

/// Cells from which [`LITTLE_MEMORY_BYTES`] is too little for two bits each.
const MANY_CELLS: usize = 4 * LITTLE_MEMORY_BYTES as usize;

/// When a path must equal the oracle's, cell for cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Identity {
    /// In both precisions: every cost and sum is exact, so ties are the same ties everywhere.
    Exact,
    /// In double precision: no two paths are as close as rounding.
    Double,
    /// Not required: the measure has ties that rounding breaks (deletions that commute).
    NotRequired,
}

/// Checks the zipped pairs of one case.
pub fn check<T: Element>(case: &Case, identity: Identity, backend: &dyn Backend<T>) -> Checked {
    let (x, y) = (case.x.flat::<T>(), case.y.flat::<T>());
    let spec = case.spec.clone();
    let problem = Problem::of(spec, Pairing::Zipped, &x.batch()?, &y.batch()?)?;
    let mut plan = prepared(backend, &problem, Task::Paths)?;
    let run = |plan: &mut dyn Plan<T>| -> Checked<Vec<Path<T>>> { Ok(plan.paths(x.batch()?, y.batch()?)?) };
    let largest = (0..case.x.series.len()).map(|s| case.x.series[s].len() * case.y.series[s].len()).max();
    let is_large = largest.is_some_and(|cells| cells > MANY_CELLS);
    let got = run(plan.as_mut())?;
    if got.len() != case.x.series.len() {
        return Err(Stop::Failed(format!("expected {} paths, got {}", case.x.series.len(), got.len())));
    }
    let truths = (0..got.len())
        .map(|s| Truth::of(&case.spec, Batch::pair(&case.x, s, &case.y, s)))
        .collect::<Result<Vec<Truth<'_, T>>, OracleError>>()?;
    for (s, (got, truth)) in got.iter().zip(&truths).enumerate() {
        truth.judge(identity, got).map_err(|message| Stop::Failed(format!("pair {s}: {message}")))?;
    }
    if !is_large {
        plan.paths(x.changed().batch()?, y.batch()?)?;
    }
    if run(plan.as_mut())? != got {
        return Err(Stop::Failed("a later call of the same plan gives another path".to_owned()));
    }
    if is_large {
        let mut plan = prepared(backend, &problem.with_memory_limit(LITTLE_MEMORY_BYTES), Task::Paths)?;
        for (s, ((little, much), truth)) in run(plan.as_mut())?.iter().zip(&got).zip(&truths).enumerate() {
            truth
                .judge(identity, little)
                .map_err(|message| Stop::Failed(format!("pair {s}, little memory: {message}")))?;
            let close = tolerance::f32_floor((truth.pair.x.len() + truth.pair.y.len()) as f64);
            if (little.distance.wide() - much.distance.wide()).abs() > close * much.distance.wide().abs() {
                return Err(Stop::Failed(format!(
                    "pair {s}: distance {} in little memory, {} in much",
                    little.distance, much.distance
                )));
            }
        }
    }
    Ok(())
}

/// What the oracle knows of one pair.
pub struct Truth<'a, T> {
    spec: &'a Spec,
    pair: Pair<f64>,
    path: Vec<(usize, usize)>,
    distance: f64,
    plain: T,
}

impl<'a, T: Element> Truth<'a, T> {
    /// Asks the oracle.
    ///
    /// # Errors
    /// As the oracle's.
    pub fn of(spec: &'a Spec, pair: Pair<f64>) -> Result<Self, OracleError> {
        let path = spec.path(&pair)?;
        let distance = spec.distance(&pair)?;
        let plain = spec.distance(&pair.cast::<T>())?;
        Ok(Truth { spec, pair, path, distance, plain })
    }

    /// Judges one path.
    ///
    /// # Errors
    /// A message that says what is wrong with it.
    pub fn judge(&self, identity: Identity, got: &Path<T>) -> Result<(), String> {
        let Truth { spec, pair, path: expected, .. } = self;
        let measure = &spec.measure;
        let oracle = |error: OracleError| error.to_string();
        let must_equal = match identity {
            Identity::Exact => true,
            Identity::Double => T::DTYPE == Dtype::F64,
            Identity::NotRequired => false,
        };
        if must_equal && got.points != *expected {
            let at = got.points.iter().zip(expected).position(|(a, b)| a != b);
            let at = at.unwrap_or(got.points.len().min(expected.len()));
            return Err(format!(
                "paths part at position {at}: got {:?} of {}, expected {:?} of {}",
                got.points.get(at),
                got.points.len(),
                expected.get(at),
                expected.len()
            ));
        }
        let dropped = measure.preparation().dropped();
        let (n, m) = (pair.x.len() - dropped, pair.y.len() - dropped);
        let is_edit = path::price(measure, pair, &[]).is_none();
        path::check(&got.points, n, m, is_edit)?;
        let rows = spec.band.rows(n, m, Ends::Global).map_err(|error| error.to_string())?;
        let is_lcss = matches!(measure, Measure::Lcss { .. });
        // The band of lcss restricts matches, which its price counts.
        let outside = got.points.iter().find(|(i, j)| !rows[*i].contains(j));
        if let (Some((i, j)), false) = (outside, is_lcss) {
            return Err(format!("the path leaves the band in ({i}, {j})"));
        }

        let (truth, plain) = (self.distance, self.plain);
        let steps = (n + m) as f64;
        let scale = if is_lcss { 1.0 } else { truth.abs() };
        let allowed = tolerance::allowed(truth, plain, scale, steps);
        tolerance::within("distance of the path", got.distance.wide(), truth, allowed)?;
        // What the path really costs, in double precision: at most as much worse as values may be wrong.
        let matched = |epsilon: &f64| lcss::matches(&pair.x, &pair.y, *epsilon, &rows, &got.points) as f64;
        let cost = match (path::price(measure, pair, &got.points), measure) {
            (Some(cost), _) => cost,
            (None, Measure::Lcss { epsilon, output }) => lcss::value(matched(epsilon), *output, n, m),
            (None, measure) => {
                let corridor = Spec::new(*measure).with_band(corridor(&got.points, n));
                corridor.distance(pair).map_err(oracle)?
            }
        };
        // Choices made on values that are wrong by `allowed` cost at most twice that.
        tolerance::within("what the path costs", cost, truth, 2.0 * allowed)
    }
}

/// The narrowest band that holds a path and what leads to it along the border.
fn corridor(points: &[(usize, usize)], n: usize) -> Band {
    let ranges = (0..n).map(|i| {
        let columns: Vec<usize> = points.iter().filter(|point| point.0 == i).map(|point| point.1).collect();
        match (columns.first(), columns.last()) {
            (Some(_), Some(&end)) if i == 0 => 0..end + 1,
            (Some(&start), Some(&end)) => start..end + 1,
            _ => 0..1,
        }
    });
    Band::Ranges(ranges.collect())
}
