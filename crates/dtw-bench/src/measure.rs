//! One definition on any backend, with series in host memory; and whether values are right.

use anyhow::{Context as _, Result, bail};
use dtw_core::{Backend, Dtype, Gradients, Pairing, Problem, Scalar, SeriesBatch};
use dtw_cpu::CpuBackend;

use crate::definition::{Definition, Task};
use crate::input;
use crate::timing::{Times, timed};

/// What one definition took.
pub(crate) struct Measured {
    /// Making the plan.
    pub(crate) plan_secs: f64,
    /// Every timed run.
    pub(crate) times: Times,
    /// Cells of the dynamic program in one run.
    pub(crate) cells: u64,
    /// Values of x.
    pub(crate) values: u64,
}

/// Runs that take longer than this are repeated [`FEW`] times only.
const LONG_SECS: f64 = 0.5;
/// Rounds of long runs.
const FEW: usize = 3;

/// How often work is repeated that took `secs` to warm up.
pub(crate) fn rounds_for(secs: f64, rounds: usize) -> usize {
    if secs > LONG_SECS { rounds.min(FEW) } else { rounds }
}

/// The generated series of both sides.
pub(crate) fn series<T: Scalar>(definition: &Definition) -> (Vec<T>, Vec<T>) {
    let Definition { count, length, channels, seed, .. } = *definition;
    let y = match definition.pairing() {
        Pairing::SelfSymmetric => 0,
        _ => definition.count_y() * definition.length_y() * channels,
    };
    (input::uniform(seed, count * length * channels), input::uniform(seed + 1, y))
}

/// Series of both sides as batches.
pub(crate) fn batches<'a, T: Scalar>(
    definition: &Definition,
    x: &'a [T],
    y: &'a [T],
) -> Result<(SeriesBatch<'a, T>, SeriesBatch<'a, T>)> {
    let x = SeriesBatch::equal(x, definition.count, definition.length, definition.channels)?;
    Ok(match definition.pairing() {
        Pairing::SelfSymmetric => (x, x),
        _ => (x, SeriesBatch::equal(y, definition.count_y(), definition.length_y(), definition.channels)?),
    })
}

/// Times a definition on `backend`, everything in host memory.
///
/// # Errors
/// When the backend cannot do it, fails, or computes a wrong value.
pub(crate) fn on_host<T: Scalar>(
    backend: &dyn Backend<T>,
    definition: &Definition,
    rounds: usize,
) -> Result<Measured> {
    let (values_x, values_y) = series::<T>(definition);
    let (x, y) = batches(definition, &values_x, &values_y)?;
    let problem = Problem::of(definition.spec()?, definition.pairing(), &x, &y)?;
    let cells = problem.cells(&x, &y)?;
    let (plan_secs, plan) = timed(|| backend.plan(&problem));
    let mut plan = plan?;
    let mut out = vec![T::ZERO; problem.output_len()];
    let mut grad_x = vec![T::ZERO; values_x.len()];
    let mut grad_y = vec![T::ZERO; values_y.len()];
    let mut work = |out: &mut [T]| -> dtw_core::Result<()> {
        match definition.task {
            Task::Distances | Task::Normalize => plan.distances(x, y, out),
            Task::Gradients => plan.gradients(
                x,
                y,
                Gradients { upstream: None, distances: out, grad_x: &mut grad_x, grad_y: &mut grad_y },
            ),
            Task::Paths => {
                for (out, path) in out.iter_mut().zip(plan.paths(x, y)?) {
                    *out = path.distance;
                }
                Ok(())
            }
        }
    };
    let (warm_secs, done) = timed(|| work(&mut out));
    done?;
    check_mean(definition, &out)?;
    let mut times = Times::default();
    for _ in 0..rounds_for(warm_secs, rounds) {
        let (secs, done) = timed(|| work(&mut out));
        done?;
        times.push(secs);
    }
    // Once more, so that what was timed last was right too.
    check_mean(definition, &out)?;
    Ok(Measured { plan_secs, times, cells, values: values_x.len() as u64 })
}

fn mean<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|value| value.to_f64()).sum::<f64>() / values.len() as f64
}

/// Compares the mean of `out` with the definition's.
///
/// # Errors
/// When it is wrong, or the definition has none.
pub(crate) fn check_mean<T: Scalar>(definition: &Definition, out: &[T]) -> Result<()> {
    let expected = definition.expected_mean.context("a definition without expected_mean")?;
    let tolerance = definition.tolerance(T::DTYPE);
    compare(definition, T::DTYPE, "the mean of the values", mean(out), expected, tolerance)
}

fn compare(
    definition: &Definition,
    dtype: Dtype,
    what: &str,
    got: f64,
    expected: f64,
    tolerance: f64,
) -> Result<()> {
    let error = (got - expected).abs() / expected.abs();
    // Not `error > tolerance`: NaN must fail.
    if error <= tolerance {
        return Ok(());
    }
    bail!(
        "{} in {dtype}: {what} is {got:.15e}, expected {expected:.15e} (error {error:.1e}, allowed {tolerance:.0e})",
        definition.name
    )
}

/// Cells that the CPU is asked for at most to check one pair: seconds.
#[cfg(feature = "cuda")]
const CHECKED_CELLS: u64 = 10_000_000_000;

/// Compares the values of a few pairs, first, last and between, with the CPU's in f64.
///
/// # Errors
/// When one is wrong, or a pair is too long to be checked so: then the definition needs `expected_mean`.
#[cfg(feature = "cuda")]
pub(crate) fn check_pairs<T: Scalar>(definition: &Definition, x: &[T], y: &[T], out: &[T]) -> Result<()> {
    let (n, m, channels) = (definition.length, definition.length_y(), definition.channels);
    if n as u64 * m as u64 > CHECKED_CELLS {
        bail!("{}: a pair of {n} x {m} points takes minutes to check: give expected_mean", definition.name);
    }
    let (rows, columns) = (definition.count, definition.count_y());
    let y = if definition.pairing() == Pairing::SelfSymmetric { x } else { y };
    let pairs = match definition.pairing() {
        Pairing::Zipped => vec![(0, 0), (rows / 2, rows / 2), (rows - 1, rows - 1)],
        _ => vec![(0, columns - 1), (rows / 2, columns / 3), (rows - 1, 0), (rows - 1, columns - 1)],
    };
    let backend = CpuBackend::new();
    for (i, j) in pairs {
        let wide = |values: &[T], s: usize, length: usize| -> Vec<f64> {
            values[s * length * channels..][..length * channels].iter().map(|v| v.to_f64()).collect()
        };
        let (a, b) = (wide(x, i, n), wide(y, j, m));
        let (a, b) = (SeriesBatch::equal(&a, 1, n, channels)?, SeriesBatch::equal(&b, 1, m, channels)?);
        let problem = Problem::of(definition.spec()?, Pairing::Cross, &a, &b)?;
        let mut expected = [0.0_f64];
        Backend::<f64>::plan(&backend, &problem)?.distances(a, b, &mut expected)?;
        let at = if definition.pairing() == Pairing::Zipped { i } else { i * columns + j };
        if i == j && definition.pairing() == Pairing::SelfSymmetric && expected[0] == 0.0 {
            anyhow::ensure!(out[at].to_f64() == 0.0, "{}: a series is not at 0 from itself", definition.name);
            continue;
        }
        // A single value is not averaged over many, hence ten times what a mean may be off.
        let tolerance = 10.0 * definition.tolerance(T::DTYPE);
        let what = format!("the value of pair ({i}, {j})");
        compare(definition, T::DTYPE, &what, out[at].to_f64(), expected[0], tolerance)?;
    }
    Ok(())
}

/// Times a definition on the CPU.
///
/// # Errors
/// As [`on_host`].
pub(crate) fn on_cpu(
    backend: &CpuBackend,
    definition: &Definition,
    dtype: Dtype,
    rounds: usize,
) -> Result<Measured> {
    match dtype {
        Dtype::F64 => on_host::<f64>(backend, definition, rounds),
        Dtype::F32 => on_host::<f32>(backend, definition, rounds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(expected_mean: f64) -> Definition {
        let text = format!(
            "name = \"a\"\nmeasure = \"dtw\"\npairs = \"cross\"\ncount = 3\nlength = 5\nexpected_mean = {expected_mean:?}\n"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn a_wrong_value_is_not_timed() {
        let backend = CpuBackend::with_threads(1);
        let error =
            on_host::<f64>(&backend, &definition(1.0), 1).err().expect("the value is wrong").to_string();
        assert!(error.contains("expected 1.000"), "{error}");
        let right: f64 = error.split(&[' ', ','][..]).find_map(|word| word.parse().ok()).unwrap();
        let measured = on_host::<f64>(&backend, &definition(right), 2).unwrap();
        assert_eq!((measured.times.len(), measured.cells), (2, 9 * 25));
    }

    #[test]
    fn nan_is_wrong() {
        assert!(check_mean(&definition(1.0), &[f64::NAN]).is_err());
        assert!(check_mean(&definition(1.0), &[1.0_f64]).is_ok());
    }

    #[test]
    fn long_work_is_repeated_less() {
        assert_eq!((rounds_for(0.1, 20), rounds_for(0.6, 20), rounds_for(0.6, 1)), (20, 3, 1));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn single_pairs_are_checked() {
        let definition = definition(1.0);
        let (x, y) = series::<f64>(&definition);
        let (a, b) = batches(&definition, &x, &y).unwrap();
        let problem = Problem::of(definition.spec().unwrap(), Pairing::Cross, &a, &b).unwrap();
        let mut out = vec![0.0; 9];
        Backend::<f64>::plan(&CpuBackend::with_threads(1), &problem)
            .unwrap()
            .distances(a, b, &mut out)
            .unwrap();
        assert!(check_pairs(&definition, &x, &y, &out).is_ok());
        out[8] += 1e-3;
        let error = check_pairs(&definition, &x, &y, &out).unwrap_err().to_string();
        assert!(error.contains("pair (2, 2)"), "{error}");
    }
}
