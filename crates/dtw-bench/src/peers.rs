//! `dtw-bench peers`: the same task by us and by another library, in turn, one thread each.
//!
//! The task is the whole symmetric matrix of all pairs of a set of series, from arrays in memory to an array in memory:
//! ours is planned anew in every call. Every value is compared before its time counts. Runs alternate, so that a busy
//! machine slows both; the load average stands beside every number.

mod python;

use std::path::PathBuf;

use anyhow::{Result, bail};
use dtw_core::{Backend, Dtype, Pairing, Problem, Scalar, SeriesBatch, Spec};
use dtw_cpu::CpuBackend;

use crate::input;
use crate::machine::{self, Origin};
use crate::record;
use crate::timing::{Times, timed};

/// Options of `peers`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Rounds of DTW; the other library once and ours some times in each.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Rounds of Soft-DTW, which takes the other library long.
    #[arg(long, default_value_t = 3)]
    soft_rounds: usize,
    /// A Python that has the other libraries, instead of a new virtual environment.
    #[arg(long)]
    python: Option<PathBuf>,
    /// Write benchmarks/record/CPU/DATE-peers.csv.
    #[arg(long)]
    record: bool,
    /// Only comparisons whose name contains one of these.
    names: Vec<String>,
}

/// Our runs in each round; they are short.
const OURS_PER_ROUND: usize = 5;

const COLUMNS: [&str; 14] = [
    "isa",
    "work",
    "ours",
    "other",
    "rounds",
    "ours_median_secs",
    "other_median_secs",
    "ratio",
    "ratio_of_best",
    "target",
    "ours_gcups",
    "ours_spread",
    "other_spread",
    "load",
];

/// Whom we are compared with.
#[derive(Debug, Clone, Copy)]
enum Other {
    /// A task of the Python worker.
    Peer(&'static str),
    /// Ourselves on one thread.
    OneThread,
}

/// One comparison.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    name: &'static str,
    count: usize,
    length: usize,
    soft: bool,
    dtype: Dtype,
    threads: usize,
    other: Other,
    /// Times faster that we mean to be.
    target: f64,
}

const fn comparison(
    name: &'static str,
    (count, length): (usize, usize),
    soft: bool,
    dtype: Dtype,
    (threads, other): (usize, Other),
    target: f64,
) -> Comparison {
    Comparison { name, count, length, soft, dtype, threads, other, target }
}

/// Many short series.
const SHORT: (usize, usize) = (200, 96);
/// Few long ones.
const LONG: (usize, usize) = (40, 1024);
const TSDISTANCES: (usize, Other) = (1, Other::Peer("tsdistances_dtw"));
const TSLEARN: (usize, Other) = (1, Other::Peer("tslearn_soft_dtw"));
const TWO_THREADS: (usize, Other) = (2, Other::OneThread);

const COMPARISONS: [Comparison; 10] = [
    comparison("dtw_f64_200x96", SHORT, false, Dtype::F64, TSDISTANCES, 15.0),
    comparison("dtw_f64_40x1024", LONG, false, Dtype::F64, TSDISTANCES, 15.0),
    comparison("dtw_f32_200x96", SHORT, false, Dtype::F32, TSDISTANCES, 30.0),
    comparison("dtw_f32_40x1024", LONG, false, Dtype::F32, TSDISTANCES, 30.0),
    comparison("soft_dtw_f64_200x96", SHORT, true, Dtype::F64, TSLEARN, 40.0),
    comparison("soft_dtw_f64_40x1024", LONG, true, Dtype::F64, TSLEARN, 40.0),
    comparison("threads_dtw_f64_200x96", SHORT, false, Dtype::F64, TWO_THREADS, 1.8),
    comparison("threads_dtw_f64_40x1024", LONG, false, Dtype::F64, TWO_THREADS, 1.8),
    comparison("threads_dtw_f32_40x1024", LONG, false, Dtype::F32, TWO_THREADS, 1.8),
    comparison("threads_soft_dtw_f64_40x1024", LONG, true, Dtype::F64, TWO_THREADS, 1.8),
];

/// Times, compares, prints; writes a record if asked. A target missed is said, not an error: it depends on the machine.
///
/// # Errors
/// When values differ, the other libraries cannot be installed, or a file cannot be written.
pub(crate) fn run(options: &Options) -> Result<()> {
    if options.rounds == 0 || options.soft_rounds == 0 {
        bail!("--rounds and --soft-rounds must be at least 1");
    }
    let wanted = |c: &&Comparison| {
        options.names.is_empty() || options.names.iter().any(|name| c.name.contains(name.as_str()))
    };
    let comparisons: Vec<&Comparison> = COMPARISONS.iter().filter(wanted).collect();
    if comparisons.is_empty() {
        let all: Vec<&str> = COMPARISONS.iter().map(|c| c.name).collect();
        bail!("no comparison's name contains {}; there are {}", options.names.join(" or "), all.join(", "));
    }
    let origin = Origin::here()?;
    let mut worker = python::Worker::start(&python::interpreter(options.python.as_deref())?)?;
    let versions = worker.versions()?;
    println!("{}, commit {}; {versions}", origin.cpu, origin.commit);
    println!(
        "{:30} {:>11} {:>11} {:>8} {:>8} {:>8} {:>7} {:>11} {:>6}",
        "work", "ours ms", "other ms", "ratio", "of best", "target", "GCUPS", "spread", "load"
    );
    let mut rows = Vec::new();
    for comparison in comparisons {
        let measured = match comparison.dtype {
            Dtype::F64 => compare::<f64>(comparison, options, &mut worker)?,
            Dtype::F32 => compare::<f32>(comparison, options, &mut worker)?,
        };
        rows.push(report(comparison, &measured, &versions));
    }
    if options.record {
        println!("recorded in {}", record::append(&origin, "-peers", &COLUMNS, &rows)?.display());
    }
    Ok(())
}

/// What both took.
struct Measured {
    ours: Times,
    other: Times,
    cells: u64,
    isa: &'static str,
}

fn compare<T>(comparison: &Comparison, options: &Options, worker: &mut python::Worker) -> Result<Measured>
where
    T: Scalar + dtw_cpu::Element,
{
    let Comparison { count, length, .. } = *comparison;
    // Exact in f32 too, so that all compute with the same numbers.
    let wide = input::uniform::<f64>(96, count * length);
    let values: Vec<T> = wide.iter().map(|value| T::from_f64(*value)).collect();
    let x = SeriesBatch::equal(&values, count, length, 1)?;
    let spec = if comparison.soft { Spec::soft_dtw(1.0) } else { Spec::dtw() };
    let problem = Problem::of(spec, Pairing::SelfSymmetric, &x, &x)?;
    let ours_on = |backend: &CpuBackend| -> Result<Vec<T>> {
        let mut out = vec![T::ZERO; problem.output_len()];
        Backend::<T>::plan(backend, &problem)?.distances(x, x, &mut out)?;
        Ok(out)
    };
    let (backend, one) = (CpuBackend::with_threads(comparison.threads), CpuBackend::with_threads(1));
    let run_other = |worker: &mut python::Worker| -> Result<f64> {
        match comparison.other {
            Other::Peer(task) => worker.time(task),
            Other::OneThread => {
                let (secs, out) = timed(|| ours_on(&one));
                out.map(|_| secs)
            }
        }
    };
    worker.load(&wide, count)?;
    // Warm up both, and compare every value.
    let mine = ours_on(&backend)?;
    run_other(worker)?;
    match comparison.other {
        Other::Peer(_) => agree(comparison, count, &mine, &worker.matrix()?)?,
        Other::OneThread => {
            if mine != ours_on(&one)? {
                bail!("{}: two threads and one give different bits", comparison.name);
            }
        }
    }
    let rounds = if comparison.soft { options.soft_rounds } else { options.rounds };
    let (mut ours, mut other) = (Times::default(), Times::default());
    for _ in 0..rounds {
        let mut own = Times::default();
        match comparison.other {
            Other::Peer(_) => other.push(run_other(worker)?),
            Other::OneThread => {
                let mut times = Times::default();
                for _ in 0..OURS_PER_ROUND {
                    times.push(run_other(worker)?);
                }
                other.push(times.median());
            }
        }
        for _ in 0..OURS_PER_ROUND {
            let (secs, out) = timed(|| ours_on(&backend));
            out?;
            own.push(secs);
        }
        ours.push(own.median());
    }
    Ok(Measured { ours, other, cells: problem.cells(&x, &x)?, isa: backend.isa().name() })
}

/// Every value of the two matrices, within the rounding of the less precise.
fn agree<T: Scalar>(comparison: &Comparison, count: usize, ours: &[T], other: &[f64]) -> Result<()> {
    if ours.len() != other.len() {
        bail!("{}: we return {} values, the other {}", comparison.name, ours.len(), other.len());
    }
    let tolerance = match comparison.dtype {
        Dtype::F64 => 1e-9,
        Dtype::F32 => 1e-5,
    };
    for (k, (a, b)) in ours.iter().zip(other).enumerate() {
        let error = (a.to_f64() - b).abs();
        // Not `error > …`: NaN must fail.
        let close = error <= tolerance * b.abs().max(1.0);
        if !close {
            bail!("{}: pair ({}, {}): we return {a}, the other {b}", comparison.name, k / count, k % count);
        }
    }
    Ok(())
}

fn report(comparison: &Comparison, measured: &Measured, versions: &str) -> Vec<String> {
    let (ours, other) = (&measured.ours, &measured.other);
    let ratio = other.median() / ours.median();
    let ratio_of_best = other.best() / ours.best();
    let gcups = measured.cells as f64 / ours.median() / 1e9;
    let load = machine::load().map_or_else(|| "unknown".to_owned(), |load| load.to_string());
    println!(
        "{:30} {:>11.3} {:>11.1} {:>7.1}x {:>7.1}x {:>7.1}x {gcups:>7.2} {:>4.0}% {:>4.0}% {load:>6}{}",
        comparison.name,
        ours.median() * 1e3,
        other.median() * 1e3,
        ratio,
        ratio_of_best,
        comparison.target,
        ours.spread() * 1e2,
        other.spread() * 1e2,
        if ratio < comparison.target { "  below the target" } else { "" }
    );
    let peer = match comparison.other {
        Other::Peer(task) => {
            let library = task.split('_').next().unwrap_or_default();
            versions.split(", ").find(|v| v.starts_with(library)).unwrap_or(task).to_owned()
        }
        Other::OneThread => "dtwave on 1 thread".to_owned(),
    };
    vec![
        measured.isa.to_owned(),
        comparison.name.to_owned(),
        format!("dtwave on {} thread{}", comparison.threads, if comparison.threads == 1 { "" } else { "s" }),
        peer,
        other.len().to_string(),
        format!("{:.4e}", ours.median()),
        format!("{:.4e}", other.median()),
        format!("{ratio:.2}"),
        format!("{ratio_of_best:.2}"),
        format!("{:.1}", comparison.target),
        format!("{gcups:.3}"),
        format!("{:.2}", ours.spread()),
        format!("{:.2}", other.spread()),
        load,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_are_an_error() {
        let comparison = &COMPARISONS[0];
        assert!(agree(comparison, 2, &[0.0, 1.0, 1.0, 0.0], &[0.0, 1.0, 1.0 + 1e-12, 0.0]).is_ok());
        let error = agree(comparison, 2, &[0.0, 1.0, 1.0, 0.0], &[0.0, 1.0, 1.1, 0.0]).unwrap_err();
        assert!(error.to_string().contains("pair (1, 0)"), "{error}");
        assert!(agree(comparison, 1, &[f64::NAN], &[0.0]).is_err());
        assert!(agree(comparison, 1, &[0.0], &[0.0, 0.0]).is_err());
    }
}
