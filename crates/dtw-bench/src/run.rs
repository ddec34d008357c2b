//! `dtw-bench run`: every definition, on this machine.

use anyhow::{Result, bail};
use dtw_core::{Backend, Dtype, Gradients, Pairing, Problem, Scalar, SeriesBatch};
use dtw_cpu::CpuBackend;

use crate::definition::{Definition, Task, read};
use crate::input;
use crate::machine::{self, Origin};
use crate::record;
use crate::timing::{Times, timed};

/// Options of `run`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only definitions whose name contains one of these.
    names: Vec<String>,
    /// Numbers of threads; may be given more than once. 0 is one per core.
    #[arg(long, default_values_t = [1])]
    threads: Vec<usize>,
    /// Timed runs of each, after one to warm up.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Write benchmarks/record/CPU/DATE.csv.
    #[arg(long)]
    record: bool,
}

const COLUMNS: [&str; 12] = [
    "isa",
    "threads",
    "work",
    "measure",
    "task",
    "dtype",
    "rounds",
    "plan_secs",
    "median_secs",
    "best_secs",
    "mcups",
    "load",
];

/// Times and prints; writes a record if asked.
///
/// # Errors
/// When a value is wrong, nothing is called so, or a file cannot be read or written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut all = read(&crate::benchmarks().join("definitions"))?;
    if !options.names.is_empty() {
        all.retain(|definition| options.names.iter().any(|name| definition.name.contains(name)));
    }
    if all.is_empty() {
        bail!("no definition's name contains {}", options.names.join(" or "));
    }
    if options.rounds == 0 {
        bail!("--rounds must be at least 1");
    }
    let origin = Origin::here()?;
    println!("{}, commit {}", origin.cpu, origin.commit);
    println!(
        "{:24} {:>5} {:>7} {:>12} {:>12} {:>10}",
        "work", "dtype", "threads", "median ms", "best ms", "MCUPS"
    );
    let mut rows = Vec::new();
    for &threads in &options.threads {
        let backend = CpuBackend::with_threads(threads);
        for definition in &all {
            for dtype in [Dtype::F64, Dtype::F32].into_iter().filter(|dtype| definition.has(*dtype)) {
                let measured = match dtype {
                    Dtype::F64 => measure::<f64>(&backend, definition, options.rounds)?,
                    Dtype::F32 => measure::<f32>(&backend, definition, options.rounds)?,
                };
                let (median, best) = (measured.times.median(), measured.times.best());
                let mcups = measured.cells as f64 / median / 1e6;
                println!(
                    "{:24} {dtype:>5} {:>7} {:>12.3} {:>12.3} {:>10.0}",
                    definition.name,
                    backend.threads(),
                    median * 1e3,
                    best * 1e3,
                    mcups
                );
                rows.push(vec![
                    backend.isa().name().to_owned(),
                    backend.threads().to_string(),
                    definition.name.clone(),
                    definition.measure.clone(),
                    definition.task.name().to_owned(),
                    dtype.to_string(),
                    measured.times.len().to_string(),
                    format!("{:.3e}", measured.plan_secs),
                    format!("{median:.4e}"),
                    format!("{best:.4e}"),
                    format!("{mcups:.1}"),
                    machine::load().map_or_else(|| "unknown".to_owned(), |load| load.to_string()),
                ]);
            }
        }
    }
    if options.record {
        println!("recorded in {}", record::append(&origin, "", &COLUMNS, &rows)?.display());
    }
    Ok(())
}

/// What one definition took.
struct Measured {
    plan_secs: f64,
    times: Times,
    cells: u64,
}

fn measure<T>(backend: &CpuBackend, definition: &Definition, rounds: usize) -> Result<Measured>
where
    T: Scalar + dtw_cpu::Element,
{
    let Definition { count, length, channels, seed, .. } = *definition;
    let values = |seed, length| -> Vec<T> {
        input::uniform(seed, count * length * channels).into_iter().map(T::from_f64).collect()
    };
    let (values_x, values_y) = (values(seed, length), values(seed + 1, definition.length_y()));
    let x = SeriesBatch::equal(&values_x, count, length, channels)?;
    let y = match definition.pairing() {
        Pairing::SelfSymmetric => x,
        _ => SeriesBatch::equal(&values_y, count, definition.length_y(), channels)?,
    };
    let problem = Problem::of(definition.spec()?, definition.pairing(), &x, &y)?;
    let cells = problem.cells(&x, &y)?;
    let (plan_secs, plan) = timed(|| Backend::<T>::plan(backend, &problem));
    let mut plan = plan?;
    let mut out = vec![T::ZERO; problem.output_len()];
    let mut grad_x = vec![T::ZERO; values_x.len()];
    let mut grad_y = vec![T::ZERO; values_y.len()];
    let mut work = |out: &mut [T]| -> dtw_core::Result<()> {
        match definition.task {
            Task::Distances => plan.distances(x, y, out),
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
    work(&mut out)?;
    check(definition, T::DTYPE, mean(&out))?;
    let mut times = Times::default();
    for _ in 0..rounds {
        let (secs, done) = timed(|| work(&mut out));
        done?;
        times.push(secs);
    }
    // Once more, so that what was timed last was right too.
    check(definition, T::DTYPE, mean(&out))?;
    Ok(Measured { plan_secs, times, cells })
}

fn mean<T: Scalar>(values: &[T]) -> f64 {
    values.iter().map(|value| value.to_f64()).sum::<f64>() / values.len() as f64
}

fn check(definition: &Definition, dtype: Dtype, mean: f64) -> Result<()> {
    let (expected, tolerance) = (definition.expected_mean, definition.tolerance(dtype));
    let error = (mean - expected).abs() / expected.abs();
    // Not `error > tolerance`: NaN must fail.
    if error <= tolerance {
        return Ok(());
    }
    bail!(
        "{} in {dtype}: the mean of the values is {mean:.15e}, expected {expected:.15e} (error {error:.1e}, allowed {tolerance:.0e})",
        definition.name
    )
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
            measure::<f64>(&backend, &definition(1.0), 1).err().expect("the value is wrong").to_string();
        assert!(error.contains("expected 1.000"), "{error}");
        let right: f64 = error.split(&[' ', ','][..]).find_map(|word| word.parse().ok()).unwrap();
        let measured = measure::<f64>(&backend, &definition(right), 2).unwrap();
        assert_eq!((measured.times.len(), measured.cells), (2, 9 * 25));
    }

    #[test]
    fn nan_is_wrong() {
        assert!(check(&definition(1.0), Dtype::F64, f64::NAN).is_err());
    }
}
