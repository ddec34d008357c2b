//! Whether what is timed is right: values, gradients and paths against the CPU in `f64`, by other instructions where
//! the CPU itself is timed.
//!
//! All values are compared where the CPU needs [`MOST_CELLS`] or fewer for them, or where all are asked for. Of larger
//! work a random sample of pairs is, of as many cells; the mean of all values must then be the definition's.

use anyhow::{Context as _, Result, bail, ensure};
use dtw_core::{Backend, Dtype, Gradients, Pairing, Path, Problem, Scalar, SeriesBatch};
use dtw_cpu::{CpuBackend, Isa};

use crate::definition::{Definition, Task};
use crate::input::{self, batches};

/// Cells that the CPU computes to check one definition: seconds.
pub(crate) const MOST_CELLS: u64 = 1_000_000_000;

/// A pair of more cells is a matter of minutes: its value is the mean that the definition has.
const LONGEST_PAIR: u64 = 10_000_000_000;

/// Fewest pairs of a sample.
const FEWEST: u64 = 4;

/// A single value is not averaged over many: how many times more than the mean it may be off.
const OF_VALUES: f64 = 10.0;

/// How far a component of a gradient may be off, relative to the largest one: roundings of values reach its exponents.
const OF_GRADIENTS: f64 = 100.0;

pub(crate) struct Results<'a, T> {
    /// As [`dtw_core::Plan::distances`] orders them.
    pub(crate) values: &'a [T],
    /// With respect to `x` and to `y`.
    pub(crate) gradients: Option<[&'a [T]; 2]>,
    pub(crate) paths: Option<&'a [Path<T>]>,
}

pub(crate) struct Checker {
    reference: CpuBackend,
    most_cells: u64,
}

impl Checker {
    /// For results of a GPU. `all`: however long it takes.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_gpu(all: bool) -> Self {
        Self::new(CpuBackend::new(), all)
    }

    /// For results of the CPU: by its narrowest instructions, so that the same code is not compared with itself.
    pub(crate) fn of_cpu(all: bool) -> Self {
        let isas = Isa::available();
        Self::new(CpuBackend::new().with_isa(isas[isas.len() - 1]), all)
    }

    fn new(reference: CpuBackend, all: bool) -> Self {
        Self { reference, most_cells: if all { u64::MAX } else { MOST_CELLS } }
    }

    /// Checks the results of a definition and says what of them.
    pub(crate) fn check<T: Scalar>(
        &self,
        definition: &Definition,
        x: &[T],
        y: &[T],
        results: &Results<'_, T>,
    ) -> Result<String> {
        if definition.expected_mean.is_some() {
            check_mean(definition, results.values)?;
        }
        let (n, m) = (definition.length as u64, definition.length_y() as u64);
        if n * m > LONGEST_PAIR && n * m > self.most_cells {
            let pair = format!("{}: a pair of {n} x {m} points takes minutes to check", definition.name);
            ensure!(definition.expected_mean.is_some(), "{pair}: give expected_mean");
            return Ok("the mean".to_owned());
        }
        let (x, y) = (wide(x), wide(if definition.pairing() == Pairing::SelfSymmetric { x } else { y }));
        let (batch_x, batch_y) = batches(definition, &x, &y)?;
        let problem = Problem::of(definition.spec()?, definition.pairing(), &batch_x, &batch_y)?;
        let cells = problem.cells(&batch_x, &batch_y)?;
        if definition.task == Task::Gradients {
            return self.gradients(definition, &problem, batch_x, batch_y, results);
        }
        let checked = if cells <= self.most_cells {
            self.all_values(definition, &problem, batch_x, batch_y, results.values)?
        } else {
            ensure!(
                definition.expected_mean.is_some(),
                "{}: {cells} cells, of which a sample is checked: give expected_mean too",
                definition.name
            );
            self.sample(definition, &x, &y, cells, results.values)?
        };
        match results.paths {
            None => Ok(checked),
            Some(paths) => self.paths(definition, &problem, batch_x, batch_y, paths),
        }
    }

    fn all_values<T: Scalar>(
        &self,
        definition: &Definition,
        problem: &Problem,
        x: SeriesBatch<'_, f64>,
        y: SeriesBatch<'_, f64>,
        values: &[T],
    ) -> Result<String> {
        let mut expected = vec![0.0; problem.output_len()];
        Backend::<f64>::plan(&self.reference, problem)?.distances(x, y, &mut expected)?;
        let columns = definition.count_y();
        for (at, (got, expected)) in values.iter().zip(&expected).enumerate() {
            let pair = match definition.pairing() {
                Pairing::Zipped => (at, at),
                _ => (at / columns, at % columns),
            };
            value(definition, pair, *got, *expected)?;
        }
        ensure!(values.len() == expected.len(), "{}: {} values", definition.name, values.len());
        Ok(format!("all {} values", values.len()))
    }

    /// Random pairs, the first and the last, as one zipped problem.
    fn sample<T: Scalar>(
        &self,
        definition: &Definition,
        x: &[f64],
        y: &[f64],
        cells: u64,
        values: &[T],
    ) -> Result<String> {
        let total = values.len() as u64;
        // Half of the pairs of a symmetric matrix were computed.
        let computed = if definition.pairing() == Pairing::SelfSymmetric { total / 2 } else { total };
        let of_a_pair = (cells / computed.max(1)).max(1);
        let count = (self.most_cells / of_a_pair).clamp(FEWEST.min(total), total) as usize;
        let mut places = input::places(definition.seed, count, values.len());
        (places[0], places[count - 1]) = (0, values.len() - 1);
        let columns = definition.count_y();
        let pair = |at: usize| match definition.pairing() {
            Pairing::Zipped => (at, at),
            _ => (at / columns, at % columns),
        };
        let gather = |values: &[f64], length: usize, series: &dyn Fn(usize) -> usize| -> Vec<f64> {
            let width = length * definition.channels;
            places.iter().flat_map(|at| values[series(*at) * width..][..width].iter().copied()).collect()
        };
        let (n, m) = (definition.length, definition.length_y());
        let (x, y) = (gather(x, n, &|at| pair(at).0), gather(y, m, &|at| pair(at).1));
        let x = SeriesBatch::equal(&x, count, n, definition.channels)?;
        let y = SeriesBatch::equal(&y, count, m, definition.channels)?;
        let problem = Problem::of(definition.spec()?, Pairing::Zipped, &x, &y)?;
        let mut expected = vec![0.0; count];
        Backend::<f64>::plan(&self.reference, &problem)?.distances(x, y, &mut expected)?;
        for (at, expected) in places.iter().zip(expected) {
            value(definition, pair(*at), values[*at], expected)?;
        }
        Ok(format!("{count} of {total} values, the mean of all"))
    }

    fn gradients<T: Scalar>(
        &self,
        definition: &Definition,
        problem: &Problem,
        x: SeriesBatch<'_, f64>,
        y: SeriesBatch<'_, f64>,
        results: &Results<'_, T>,
    ) -> Result<String> {
        let mut expected = vec![0.0; problem.output_len()];
        let (mut grad_x, mut grad_y) = (vec![0.0; x.values().len()], vec![0.0; y.values().len()]);
        let out =
            Gradients { upstream: None, distances: &mut expected, grad_x: &mut grad_x, grad_y: &mut grad_y };
        Backend::<f64>::plan(&self.reference, problem)?.gradients(x, y, out)?;
        for (at, (got, expected)) in results.values.iter().zip(&expected).enumerate() {
            value(definition, (at, at), *got, *expected)?;
        }
        let gradients = results.gradients.context("gradients were asked for")?;
        for (name, got, expected) in [("x", gradients[0], &grad_x), ("y", gradients[1], &grad_y)] {
            ensure!(got.len() == expected.len(), "{}: {} slopes of {name}", definition.name, got.len());
            let largest = expected.iter().fold(0.0, |largest: f64, slope| largest.max(slope.abs()));
            let allowed = OF_GRADIENTS * definition.tolerance(T::DTYPE) * largest;
            for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
                let error = (got.to_f64() - expected).abs();
                // Not `error > allowed`: NaN must fail.
                let is_right = error <= allowed;
                ensure!(
                    is_right,
                    "{} in {}: component {at} of the gradient of {name} is {got}, expected {expected} (error {error:.1e}, \
                     allowed {allowed:.1e})",
                    definition.name,
                    T::DTYPE
                );
            }
        }
        Ok(format!("all {} values and gradients", results.values.len()))
    }

    /// Checks z-normalised series: every one of 10⁸ values or fewer, else one in so many and the last.
    #[cfg(any(feature = "cuda", feature = "hip"))]
    pub(crate) fn normalized<T: Scalar>(
        &self,
        definition: &Definition,
        x: &[T],
        values: &[T],
    ) -> Result<String> {
        const MOST_VALUES: usize = 100_000_000;
        let (count, length) = (definition.count, definition.length);
        let every = if self.most_cells == u64::MAX { 1 } else { x.len().div_ceil(MOST_VALUES) };
        let allowed = definition.tolerance(T::DTYPE);
        let mut checked = 0;
        for series in (0..count).step_by(every).chain([count - 1]) {
            let place = series * length..(series + 1) * length;
            let mut expected = wide(&x[place.clone()]);
            dtw_core::normalize::z_normalize(&mut expected, 1);
            for (got, expected) in values[place].iter().zip(expected) {
                let error = (got.to_f64() - expected).abs();
                // Not `error > allowed`: NaN must fail.
                let is_right = error <= allowed;
                ensure!(
                    is_right,
                    "{}: series {series} is off by {error:.1e}, allowed {allowed:.0e}",
                    definition.name
                );
            }
            checked += 1;
        }
        Ok(if every == 1 { format!("all {count} series") } else { format!("{checked} of {count} series") })
    }

    /// In `f64` the same points; in `f32` points that cost what the best path does.
    fn paths<T: Scalar>(
        &self,
        definition: &Definition,
        problem: &Problem,
        x: SeriesBatch<'_, f64>,
        y: SeriesBatch<'_, f64>,
        paths: &[Path<T>],
    ) -> Result<String> {
        let expected = Backend::<f64>::plan(&self.reference, problem)?.paths(x, y)?;
        ensure!(paths.len() == expected.len(), "{}: {} paths", definition.name, paths.len());
        for (s, (got, expected)) in paths.iter().zip(&expected).enumerate() {
            let name = &definition.name;
            if T::DTYPE == Dtype::F64 {
                ensure!(got.points == expected.points, "{name}: path {s} is another than the CPU's");
                continue;
            }
            let is_connected = got.points.first() == Some(&(0, 0))
                && got.points.last() == Some(&(x.length(s) - 1, y.length(s) - 1))
                && got.points.windows(2).all(|step| {
                    let (down, right) =
                        (step[1].0.wrapping_sub(step[0].0), step[1].1.wrapping_sub(step[0].1));
                    down <= 1 && right <= 1 && down + right > 0
                });
            ensure!(is_connected, "{name}: path {s} does not lead from corner to corner");
            let (x, y) = (x.get(s), y.get(s));
            let squared =
                |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
            let cost: f64 = got.points.iter().map(|&(i, j)| squared(x.point(i), y.point(j))).sum();
            let (allowed, best) = (OF_VALUES * definition.tolerance(T::DTYPE), expected.distance);
            let is_best = cost <= best * (1.0 + allowed);
            ensure!(is_best, "{name}: path {s} costs {cost}, the best {best}");
        }
        Ok(format!("all {} values and paths", paths.len()))
    }
}

fn wide<T: Scalar>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

fn value<T: Scalar>(definition: &Definition, pair: (usize, usize), got: T, expected: f64) -> Result<()> {
    let tolerance = OF_VALUES * definition.tolerance(T::DTYPE);
    compare(definition, T::DTYPE, &format!("the value of pair {pair:?}"), got.to_f64(), expected, tolerance)
}

/// Compares the mean of `out` with the definition's.
pub(crate) fn check_mean<T: Scalar>(definition: &Definition, out: &[T]) -> Result<()> {
    let expected = definition.expected_mean.context("a definition without expected_mean")?;
    let mean = out.iter().map(|value| value.to_f64()).sum::<f64>() / out.len() as f64;
    compare(definition, T::DTYPE, "the mean of the values", mean, expected, definition.tolerance(T::DTYPE))
}

fn compare(
    definition: &Definition,
    dtype: Dtype,
    what: &str,
    got: f64,
    expected: f64,
    tolerance: f64,
) -> Result<()> {
    let error = (got - expected).abs();
    // Not `error > …`: NaN must fail. A series is at 0 from itself exactly.
    if error <= tolerance * expected.abs() {
        return Ok(());
    }
    bail!(
        "{} in {dtype}: {what} is {got:.15e}, expected {expected:.15e} (error {:.1e}, allowed {tolerance:.0e}, relative)",
        definition.name,
        error / expected.abs()
    )
}

/// Whether later runs gave the same bits as the one that was checked.
pub(crate) fn same_bits<T: Scalar>(definition: &Definition, first: &[T], last: &[T]) -> Result<()> {
    let differs = first.iter().zip(last).position(|(a, b)| a.to_f64().to_bits() != b.to_f64().to_bits());
    match differs {
        None => Ok(()),
        Some(at) => bail!(
            "{} in {}: value {at} was {} at first, {} in the last run",
            definition.name,
            T::DTYPE,
            first[at],
            last[at]
        ),
    }
}

#[cfg(test)]
mod tests;
