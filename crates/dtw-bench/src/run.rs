//! `dtw-bench run | record`: every definition, on this machine's CPU or GPU.

use anyhow::{Result, bail, ensure};
use dtw_core::{BackendKind, Dtype, Error};
use dtw_cpu::CpuBackend;
use dtwave::Device;

use crate::calls;
use crate::check::Checker;
use crate::definition::{Definition, read};
use crate::folders;
#[cfg(any(feature = "cuda", feature = "hip"))]
use crate::gpu::Gpu;
use crate::machine::{self, Origin};
use crate::measure::on_cpu;
#[cfg(feature = "gpu")]
use crate::measures::Measures;
use crate::record;
use crate::table::{Row, heading};

/// Options of `run` and `record`. No group of their own: `compare` has them beside its own of the same name.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Only definitions whose name contains one of these.
    names: Vec<String>,
    /// What computes: the CPU, or a GPU where the program was built with the backend's feature.
    #[arg(long, value_parser = BackendKind::names(), default_value = "cpu")]
    pub(crate) backend: String,
    /// The GPU, in the driver's order.
    #[arg(long, default_value_t = 0)]
    device: usize,
    /// Compute distances and matches by this kind of sweep alone, of the kernels of cuda and hip: general, strips,
    /// narrow, wide, diagonal, soft, soft_diagonal, few, priced or block. What it cannot do is left out, with the kinds
    /// that can.
    #[arg(long, value_name = "KIND")]
    kernel: Option<String>,
    /// Numbers of threads of the CPU; may be given more than once. 0 is one per core.
    #[arg(long, default_values_t = [1])]
    threads: Vec<usize>,
    /// Timed runs of each, after one to warm up; at most 3 of work that takes longer than half a second [default: 9 on
    /// the CPU, 20 on a GPU].
    #[arg(long)]
    rounds: Option<usize>,
    /// Write benchmarks/record/DEVICE/DATE.csv.
    #[arg(long)]
    pub(crate) record: bool,
    /// Compare every value with the CPU's, however long that takes; else of large work a sample and the mean of all.
    #[arg(long)]
    check_all: bool,
}

pub(crate) struct Ran {
    pub(crate) origin: Origin,
    pub(crate) header: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
    /// What failed or came out wrong; it has no row.
    pub(crate) failures: Vec<String>,
}

impl Ran {
    pub(crate) fn all_right(&self) -> Result<()> {
        ensure!(self.failures.is_empty(), "{} failed:\n{}", self.failures.len(), self.failures.join("\n"));
        Ok(())
    }
}

/// Times and prints; writes a record if asked.
pub(crate) fn run(options: &Options) -> Result<()> {
    let ran = measure(options)?;
    if options.record {
        let file = record::append(&ran.origin, ran.header, &ran.rows)?;
        println!("recorded in {}", file.display());
    }
    ran.all_right()
}

pub(crate) fn measure(options: &Options) -> Result<Ran> {
    let mut all = read(&folders::benchmarks().join("definitions"))?;
    let is_chosen = |definition: &Definition| {
        options.names.is_empty() || options.names.iter().any(|name| definition.name.contains(name))
    };
    // A call as people make it has the kernels that it gets.
    let is_forced = options.kernel.is_some();
    all.retain(|definition| {
        is_chosen(definition)
            && definition.is_for(&options.backend)
            && !(is_forced && definition.call.is_some())
    });
    if all.is_empty() {
        bail!("no definition for {} has a name with {}", options.backend, options.names.join(" or "));
    }
    all.iter().try_for_each(Definition::check_expectation)?;
    if options.rounds == Some(0) {
        bail!("--rounds must be at least 1");
    }
    if is_forced && options.record {
        bail!("--kernel is for a look: a record has the times of the kernels that are chosen");
    }
    if is_forced && matches!(options.backend.as_str(), "cpu" | "wgpu") {
        bail!("--kernel is for the kernels of cuda and hip, not {}", options.backend);
    }
    (computer(&options.backend)?.run)(options, &all)
}

/// Where the numbers of such a run come from.
pub(crate) fn origin(options: &Options) -> Result<Origin> {
    (computer(&options.backend)?.origin)(options)
}

/// What runs definitions.
struct Computer {
    run: fn(&Options, &[Definition]) -> Result<Ran>,
    origin: fn(&Options) -> Result<Origin>,
}

/// The backend of this name, as far as it is in this build.
fn computer(backend: &str) -> Result<Computer> {
    Ok(match backend {
        "cpu" => Computer { run: cpu, origin: |_| Origin::here() },
        #[cfg(feature = "cuda")]
        "cuda" => gpu::<Gpu<dtw_cuda::Cuda>>(),
        #[cfg(feature = "hip")]
        "hip" => gpu::<Gpu<dtw_hip::Hip>>(),
        #[cfg(feature = "wgpu")]
        "wgpu" => gpu::<crate::wgpu::Gpu>(),
        _ => bail!("this dtw-bench was built without {backend}: build it with `--features {backend}`"),
    })
}

#[cfg(feature = "gpu")]
fn gpu<G: Measures>() -> Computer {
    let origin =
        |options: &Options| Ok(Origin { gpu: Some(G::open(options.device)?.about()?), ..Origin::here()? });
    Computer { run: on_gpu::<G>, origin }
}

fn cpu(options: &Options, all: &[Definition]) -> Result<Ran> {
    let origin = Origin::here()?;
    println!("{}, commit {}", origin.cpu, origin.commit);
    println!("{}", heading());
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    let checker = Checker::of_cpu(options.check_all);
    for &threads in &options.threads {
        let backend = CpuBackend::with_threads(threads);
        let device = Device::cpu_with_threads(threads)?;
        failures.extend(for_each(all, |definition, dtype| {
            let rounds = options.rounds.unwrap_or(9);
            let measured = match definition.call {
                None => on_cpu(&backend, definition, dtype, rounds, &checker)?,
                Some(call) => calls::on_device(&device, call, definition, dtype, rounds, &checker)?,
            };
            let data = format!("{} threads", backend.threads());
            let row = Row { definition, dtype, data: &data, measured: &measured };
            println!("{row}");
            let load = machine::load().map_or_else(|| "unknown".to_owned(), |load| load.to_string());
            rows.push(row.of_cpu(backend.isa().name(), backend.threads(), &load));
            Ok(())
        }));
    }
    Ok(Ran { origin, header: Row::CPU_COLUMNS, rows, failures })
}

#[cfg(feature = "gpu")]
fn on_gpu<G: Measures>(options: &Options, all: &[Definition]) -> Result<Ran> {
    let gpu = G::open(options.device)?.forcing(options.kernel.as_deref())?;
    let device = G::device(options.device)?;
    let origin = Origin { gpu: Some(gpu.about()?), ..Origin::here()? };
    if let Some(gpu) = &origin.gpu {
        println!("{}, driver {}, commit {}", gpu.name, gpu.driver, origin.commit);
    }
    println!("{}", heading());
    let mut rows = Vec::new();
    let checker = Checker::of_gpu(options.check_all);
    let failures = for_each(all, |definition, dtype| {
        let rounds = options.rounds.unwrap_or(20);
        let measured = match definition.call {
            None => gpu.measure(definition, dtype, rounds, &checker)?,
            Some(call) => calls::on_device(&device, call, definition, dtype, rounds, &checker)?,
        };
        let row = Row { definition, dtype, data: gpu.data(definition)?.name(), measured: &measured };
        println!("{row}");
        rows.extend(origin.gpu.as_ref().map(|gpu| row.of_gpu(gpu)));
        Ok(())
    });
    Ok(Ran { origin, header: Row::GPU_COLUMNS, rows, failures })
}

/// Does something for every definition in every precision and returns what failed; what the backend cannot do is said
/// and left out.
fn for_each(all: &[Definition], mut work: impl FnMut(&Definition, Dtype) -> Result<()>) -> Vec<String> {
    let mut failures = Vec::new();
    for definition in all {
        for dtype in [Dtype::F64, Dtype::F32].into_iter().filter(|dtype| definition.has(*dtype)) {
            let Err(error) = work(definition, dtype) else { continue };
            if let Some(Error::Unsupported { .. }) = error.downcast_ref() {
                println!("{:32} {dtype:>4} left out: {error}", definition.name);
            } else {
                println!("{:32} {dtype:>4} FAILED: {error:#}", definition.name);
                failures.push(format!("{} {dtype}: {error:#}", definition.name));
            }
        }
    }
    failures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_does_not_stop_the_rest() {
        let definition = |name: &str| -> Definition {
            let text = format!(
                "name = {name:?}\nmeasure = \"dtw\"\npairs = \"cross\"\ncount = 1\nlength = 1\ndtypes = [\"f64\"]\n"
            );
            toml::from_str(&text).unwrap()
        };
        let mut seen = Vec::new();
        let failures = for_each(&["a", "b", "c"].map(definition), |definition, _| {
            seen.push(definition.name.clone());
            match definition.name.as_str() {
                "a" => bail!("wrong"),
                "b" => Err(Error::Unsupported { backend: "x", what: "this".into(), remedies: &[] }.into()),
                _ => Ok(()),
            }
        });
        assert_eq!((seen.len(), &*failures), (3, &["a f64: wrong".to_owned()][..]));
    }
}
