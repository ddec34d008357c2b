//! `dtw-bench run | record`: every definition, on this machine's CPU or GPU.

use anyhow::{Result, bail};
use dtw_core::{Dtype, Error};
use dtw_cpu::CpuBackend;

use crate::definition::{Definition, read};
use crate::machine::{self, Origin};
use crate::measure::{Measured, on_cpu};
use crate::record;
use crate::table::{Row, heading};

/// Options of `run` and `record`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// Only definitions whose name contains one of these.
    names: Vec<String>,
    /// What computes: cpu, or cuda where the program was built with that feature.
    #[arg(long, value_parser = ["cpu", "cuda"], default_value = "cpu")]
    pub(crate) backend: String,
    /// The GPU, in the driver's order.
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Numbers of threads of the CPU; may be given more than once. 0 is one per core.
    #[arg(long, default_values_t = [1])]
    threads: Vec<usize>,
    /// Timed runs of each, after one to warm up; at most 3 of work that takes longer than half a second [default: 9 on the
    /// CPU, 20 on a GPU].
    #[arg(long)]
    rounds: Option<usize>,
    /// Write benchmarks/record/DEVICE/DATE.csv.
    #[arg(long)]
    pub(crate) record: bool,
}

/// What a run brought.
pub(crate) struct Ran {
    pub(crate) origin: Origin,
    pub(crate) header: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

/// Times and prints; writes a record if asked.
///
/// # Errors
/// When a value is wrong, nothing is called so, or a file cannot be read or written.
pub(crate) fn run(options: &Options) -> Result<()> {
    let ran = measure(options)?;
    if options.record {
        let file = record::append(&ran.origin, "", ran.header, &ran.rows)?;
        println!("recorded in {}", file.display());
    }
    Ok(())
}

/// Times and prints.
///
/// # Errors
/// As [`run`].
pub(crate) fn measure(options: &Options) -> Result<Ran> {
    let mut all = read(&crate::benchmarks().join("definitions"))?;
    let is_chosen = |definition: &Definition| {
        options.names.is_empty() || options.names.iter().any(|name| definition.name.contains(name))
    };
    all.retain(|definition| is_chosen(definition) && definition.is_for(&options.backend));
    if all.is_empty() {
        bail!("no definition for {} has a name with {}", options.backend, options.names.join(" or "));
    }
    if options.rounds == Some(0) {
        bail!("--rounds must be at least 1");
    }
    match options.backend.as_str() {
        "cuda" => gpu(options, &all),
        _ => cpu(options, &all),
    }
}

fn cpu(options: &Options, all: &[Definition]) -> Result<Ran> {
    let origin = Origin::here()?;
    println!("{}, commit {}", origin.cpu, origin.commit);
    println!("{}", heading());
    let mut rows = Vec::new();
    for &threads in &options.threads {
        let backend = CpuBackend::with_threads(threads);
        for_each(all, |definition, dtype| {
            let measured = on_cpu(&backend, definition, dtype, options.rounds.unwrap_or(9))?;
            let data = format!("{} threads", backend.threads());
            let row = Row { definition, dtype, data: &data, measured: &measured };
            println!("{row}");
            let load = machine::load().map_or_else(|| "unknown".to_owned(), |load| load.to_string());
            rows.push(row.of_cpu(backend.isa().name(), backend.threads(), &load));
            Ok(measured)
        })?;
    }
    Ok(Ran { origin, header: Row::CPU_COLUMNS, rows })
}

#[cfg(feature = "cuda")]
fn gpu(options: &Options, all: &[Definition]) -> Result<Ran> {
    let gpu = crate::cuda::Gpu::new(options.device)?;
    let origin = Origin { gpu: Some(gpu.about()?), ..Origin::here()? };
    if let Some(gpu) = &origin.gpu {
        println!("{}, driver {}, commit {}", gpu.name, gpu.driver, origin.commit);
    }
    println!("{}", heading());
    let mut rows = Vec::new();
    for_each(all, |definition, dtype| {
        let measured = gpu.measure(definition, dtype, options.rounds.unwrap_or(20))?;
        let row = Row { definition, dtype, data: definition.data.name(), measured: &measured };
        println!("{row}");
        rows.extend(origin.gpu.as_ref().map(|gpu| row.of_gpu(gpu)));
        Ok(measured)
    })?;
    Ok(Ran { origin, header: Row::GPU_COLUMNS, rows })
}

#[cfg(not(feature = "cuda"))]
fn gpu(_: &Options, _: &[Definition]) -> Result<Ran> {
    bail!("this dtw-bench was built without CUDA: build it with `--features cuda`")
}

/// Does something for every definition in every precision; what the backend cannot do is said and left out.
fn for_each(all: &[Definition], mut work: impl FnMut(&Definition, Dtype) -> Result<Measured>) -> Result<()> {
    for definition in all {
        for dtype in [Dtype::F64, Dtype::F32].into_iter().filter(|dtype| definition.has(*dtype)) {
            if let Err(error) = work(definition, dtype) {
                match error.downcast_ref::<Error>() {
                    Some(Error::Unsupported { .. }) => {
                        println!("{:32} {dtype:>4} left out: {error}", definition.name);
                    }
                    _ => return Err(error),
                }
            }
        }
    }
    Ok(())
}
