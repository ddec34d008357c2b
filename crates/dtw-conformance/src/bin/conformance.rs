//! `conformance --backend NAME [--cases FILE]… [--dtype f32|f64] [--section NAME]… [--only REGEX]
//! [--seed N|fresh] [--digest] [--devices N]`: judges a backend.
//!
//! Prints the seed of the random cases, a line per section, every failure, and last `N passed, N failed, N skipped`.
//! Ends with 0 only if something passed and nothing failed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Parser;
use dtw_conformance::digest::{Digest, Digesting};
use dtw_conformance::report::Report;
use dtw_conformance::seed;
use dtw_conformance::suite::{Judged, SECTIONS, run_checks_from, run_file};
use dtw_core::{Backend, BackendKind, Dtype};
use dtw_multi::{Member, Several};
use regex::Regex;

/// Judge a backend by the conformance suite.
#[derive(Parser)]
#[command(version, about)]
struct Options {
    /// The backend, as far as built in: one of dtwave's, or host (the kernels of GPUs on the processor).
    #[arg(long, default_value = "cpu")]
    backend: String,
    /// Also run the cases of this file (JSON, golden format). May be given more than once.
    #[arg(long, value_name = "FILE.json")]
    cases: Vec<PathBuf>,
    /// f32 or f64; both unless given.
    #[arg(long)]
    dtype: Option<Dtype>,
    /// Run this section only. May be given more than once; `none` runs no section, only the files.
    #[arg(long)]
    section: Vec<String>,
    /// Run only the checks whose name this regular expression finds, as `msm.*band`. A name is the section and the
    /// case, as failures show it.
    #[arg(long, value_name = "REGEX")]
    only: Option<Regex>,
    /// Compute distances and matches by this kind of sweep alone, of the kernels of cuda, hip and host: general,
    /// strips, narrow, wide, diagonal, soft, soft_diagonal, few, priced or block. What it cannot do is skipped, with
    /// the kinds that can.
    #[arg(long, value_name = "KIND")]
    kernel: Option<String>,
    /// Seed of the random cases: a number, or `fresh` for one that no run had before. Without it the variable
    /// DTWAVE_SEED decides, and without that the cases are the same every time.
    #[arg(long, value_name = "N|fresh", value_parser = |text: &str| seed::parse(Some(text)))]
    seed: Option<u64>,
    /// Judge this many devices as one, each of them the backend's only one, and divide every call among them.
    #[arg(long, value_name = "N")]
    devices: Option<usize>,
    /// Also print a digest of all results of each section and file: builds that compute the same bits print the same.
    #[arg(long)]
    digest: bool,
}

impl Options {
    fn seed(&self) -> anyhow::Result<u64> {
        self.seed.map_or_else(|| seed::in_environment().map_err(anyhow::Error::msg), Ok)
    }

    fn sections(&self) -> anyhow::Result<Vec<&'static str>> {
        if self.section.is_empty() {
            return Ok(SECTIONS.to_vec());
        }
        let asked = self.section.iter().filter(|name| *name != "none");
        asked
            .map(|name| {
                let known = SECTIONS.iter().find(|section| *section == name);
                known
                    .copied()
                    .with_context(|| format!("no section {name:?}; there are: {}", SECTIONS.join(", ")))
            })
            .collect()
    }
}

fn main() -> ExitCode {
    match judged(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether something passed and nothing failed.
fn judged(options: &Options) -> anyhow::Result<bool> {
    let wanted = |dtype| options.dtype.is_none_or(|only| only == dtype);
    // First of all: without the backend there is nothing else to say.
    let of_f64 = wanted(Dtype::F64).then(|| backend_f64(options)).transpose()?;
    let of_f32 = wanted(Dtype::F32).then(|| backend_f32(options)).transpose()?;
    let mut out = std::io::stdout().lock();
    let mut whole = Report::default();
    writeln!(out, "seed {0} (again with --seed {0})", options.seed()?)?;
    if let Some(backend) = of_f64 {
        whole.absorb(judge(options, divided(options, backend)?.as_ref(), &mut out)?);
    }
    if let Some(backend) = of_f32 {
        whole.absorb(judge(options, divided(options, backend)?.as_ref(), &mut out)?);
    }
    writeln!(out, "{whole}")?;
    Ok(whole.is_success())
}

/// The backend, or several of it as one.
fn divided<T: Judged>(
    options: &Options,
    backend: Box<dyn Backend<T>>,
) -> anyhow::Result<Box<dyn Backend<T>>> {
    let Some(devices) = options.devices else { return Ok(backend) };
    let backend: Arc<dyn Backend<T>> = Arc::from(backend);
    let member =
        |device| Member { name: format!("{}:{device}", options.backend), backend: Arc::clone(&backend) };
    Ok(Box::new(Several::new((0..devices).map(member).collect())?.with_least_cells(0)))
}

#[cfg(any(feature = "cuda", feature = "hip", feature = "host"))]
use dtw_native::FORCED;
/// No backend of this build has kinds of sweeps to force.
#[cfg(not(any(feature = "cuda", feature = "hip", feature = "host")))]
const FORCED: &str = "";

/// The kind of sweep that is forced.
#[cfg(any(feature = "cuda", feature = "hip", feature = "host"))]
fn kind(options: &Options) -> anyhow::Result<Option<dtw_native::SweepKind>> {
    options.kernel.as_deref().map(|name| name.parse().map_err(anyhow::Error::msg)).transpose()
}

/// Makes the function that finds a backend for a number type.
macro_rules! backend {
    ($name:ident, $number:ty) => {
        fn $name(options: &Options) -> anyhow::Result<Box<dyn Backend<$number>>> {
            match options.backend.as_str() {
                name @ ("cpu" | "wgpu") if options.kernel.is_some() => {
                    bail!("--kernel is for the kernels of cuda, hip and host, not {name}")
                }
                #[cfg(feature = "cpu")]
                "cpu" => Ok(Box::new(dtw_cpu::CpuBackend::new())),
                #[cfg(feature = "cuda")]
                "cuda" => Ok(Box::new(dtw_cuda::CudaBackend::new()?.forcing(kind(options)?).eager(true))),
                #[cfg(feature = "hip")]
                "hip" => Ok(Box::new(dtw_hip::HipBackend::new()?.forcing(kind(options)?).eager(true))),
                #[cfg(feature = "host")]
                "host" => {
                    let backend = dtw_native::NativeBackend::new(dtw_native::HostMachine::new(1 << 32));
                    Ok(Box::new(backend.forcing(kind(options)?).eager(true)))
                }
                #[cfg(feature = "wgpu")]
                "wgpu" => Ok(Box::new(dtw_wgpu::WgpuBackend::new()?)),
                other => bail!(
                    "this build has no backend {other:?}; with the cargo feature of its name it has host or {}",
                    BackendKind::names().join(" or ")
                ),
            }
        }
    };
}
backend!(backend_f32, f32);
backend!(backend_f64, f64);

fn judge<T: Judged>(
    options: &Options,
    backend: &dyn Backend<T>,
    out: &mut impl Write,
) -> anyhow::Result<Report> {
    let mut whole = Report::default();
    let digest = Digest::default();
    let digesting = Digesting { backend, digest: digest.clone() };
    let backend = if options.digest { &digesting } else { backend };
    let chosen = |name: &str| options.only.as_ref().is_none_or(|only| only.is_match(name));
    let mut said = |what: &str, mut report: Report| -> std::io::Result<()> {
        report.skip_failures(|reason| options.kernel.is_some() && reason.contains(FORCED));
        // A section of which nothing was chosen is not worth a line.
        if options.only.is_some() && report.passed + report.failed.len() + report.skipped.len() == 0 {
            return Ok(());
        }
        print(out, &format!("{} {} {what}", backend.name(), T::DTYPE), &report)?;
        if options.digest {
            writeln!(out, "  digest {digest}")?;
            digest.reset();
        }
        whole.absorb(report);
        Ok(())
    };
    for section in options.sections()? {
        said(section, run_checks_from(options.seed()?, section, &chosen, backend))?;
    }
    for path in &options.cases {
        let report =
            run_file(path, &chosen, backend).with_context(|| format!("cannot run {}", path.display()))?;
        said(&path.display().to_string(), report)?;
    }
    Ok(whole)
}

fn print(out: &mut impl Write, what: &str, report: &Report) -> std::io::Result<()> {
    writeln!(out, "{what}: {report}{}", details(report))?;
    for note in &report.failed {
        writeln!(out, "  FAILED {}: {}", note.case, note.reason)?;
    }
    let mut reasons: Vec<&str> = report.skipped.iter().map(|note| note.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        writeln!(out, "  skipped: {reason}")?;
    }
    out.flush()
}

/// What a section's values have to say: refusals among what passed, errors on the whole.
fn details(report: &Report) -> String {
    let mut details = Vec::new();
    if report.details.refusals > 0 {
        details.push(format!("{} by refusing a band without a path", report.details.refusals));
    }
    if let Some((own, plain)) = report.details.accuracy.root_mean_squares() {
        details.push(format!("root mean square error {own:.2} ulp, a plain loop's {plain:.2}"));
    }
    if details.is_empty() { String::new() } else { format!(" ({})", details.join("; ")) }
}
