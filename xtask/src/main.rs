//! Developer commands: `cargo xtask test | ci | fmt | tidy | elsewhere | sanitize | fuzz | mutants | more |
//! release-check | kernels | conformance | bench | python | docs | web | wheel | stubs | new-measure | dist`.
//!
//! This crate only starts other commands, reads source files and writes those that a table makes. Of the project's
//! crates it depends on dtw-core (for the tables of measures and backends) and dtw-kernels (for the list of kernels)
//! alone, so that it is ready in seconds; what needs the library (conformance, benchmarks) is run as a command of its
//! own.

#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a command talks to its user")]

mod command;
mod dist;
mod docs;
mod elsewhere;
mod format;
mod fuzz;
mod kernels;
mod more;
mod mutants;
mod new_measure;
mod python;
mod sanitize;
mod test;
mod tidy;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use dtw_core::BackendKind;
use xshell::{Shell, cmd};

/// Developer commands of dtwave.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", max_term_width = 110)]
struct Options {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the tests: unit, integration and documentation tests of every crate.
    ///
    /// Leaves out what repeats others, and says how much; `--all` runs everything. Uses cargo-nextest where it is
    /// installed and plain `cargo test` elsewhere; says which.
    Test(test::Options),
    /// Everything a change must pass: format, clippy, documentation, tidy and all tests.
    Ci {
        /// Leave out the tests.
        #[arg(long)]
        no_test: bool,
    },
    /// Format all Rust code: what `cargo fmt` finds, and the modules that the table of measures declares.
    Fmt,
    /// Check the invariants of ARCHITECTURE.md: dependencies, file sizes, documents, records.
    Tidy,
    /// Compile for other machines and for the oldest Rust that is promised, and run what an emulator can run.
    Elsewhere {
        /// Which.
        #[arg(required = true, value_enum)]
        places: Vec<elsewhere::Place>,
    },
    /// Run tests under AddressSanitizer, UndefinedBehaviorSanitizer, ThreadSanitizer or Miri.
    Sanitize(sanitize::Options),
    /// Search for inputs on which a reader panics, hangs or takes too much memory.
    ///
    /// libFuzzer tries what its coverage leads it to. The targets are in fuzz/targets; a failing input is written to
    /// fuzz/artifacts. Needs a C++ compiler.
    Fuzz(fuzz::Options),
    /// Plant faults one at a time and list those that no test notices (hours).
    ///
    /// Needs cargo-mutants; its reports go to target/mutants. Fails where fewer than 92 % are noticed.
    Mutants(mutants::Options),
    /// Run what takes too long for every change, or some of its parts: `.ci/more`.
    ///
    /// `.ci/parts.toml` says what the parts do. Those that pass are noted in `.ci/passed.toml`.
    More(more::Options),
    /// Name the parts of `.ci/more` that have not passed since the files that they watch changed; an error if any has
    /// not.
    ReleaseCheck,
    /// Compile the kernels of a device, for the next build to embed.
    Kernels {
        #[command(subcommand)]
        device: kernels::Target,
    },
    /// Judge a backend by the conformance suite, and by golden files if given.
    ///
    /// The last line is `N passed, N failed, N skipped`; the exit status is not zero if anything failed.
    Conformance {
        /// Options of the suite's command: `--backend cpu`, `--cases FILE.json`, `--dtype f32|f64`,
        /// `--section NAME`; `--help` lists them.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Time dtwave on the definitions in benchmarks/.
    ///
    /// Measured values are checked before they are reported; records go to benchmarks/record/.
    Bench {
        /// `run [NAMES]` prints a table, `record` writes it down too, `compare [--records OLD.csv NEW.csv]` says what
        /// got slower; `--backend cuda` measures a GPU. `--help` lists the rest.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTIONS")]
        options: Vec<String>,
    },
    /// Build the Python package into target/python, run its tests and check its types.
    ///
    /// Makes a virtual environment with maturin, NumPy, matplotlib, pytest and mypy there; needs Python 3.10 or newer.
    Python(python::Options),
    /// Build the documentation site into target/docs, with the output of every example; warnings are errors.
    ///
    /// Installs Sphinx, PyTorch and the libraries that pages compare with into target/python (6 GB, once).
    Docs,
    /// Build the page that searches an electrocardiogram on the visitor's GPU, into target/web/page.
    ///
    /// The library is compiled to WebAssembly and needs no server but one for files. Its tests run in a browser.
    Web(web::Options),
    /// Build the wheel of the Python package into target/wheels, with the CUDA kernels where they are compiled.
    Wheel,
    /// Write what the table of measures makes: Python's classes, the site's list of them, README's table.
    Stubs,
    /// Write the files of a new measure, to be filled in: copies of those of a measure that is there.
    NewMeasure {
        /// What it is called everywhere, as `soft_dtw`.
        key: String,
    },
    /// Gather what a GPU machine without Rust needs: programs, tests, benchmarks and a script, in one folder.
    ///
    /// Builds dtwave, dtw-bench and conformance with the CUDA backend, and the test executables of dtw-cuda (with a
    /// nextest archive where cargo-nextest is installed). `./run.sh` in the folder runs conformance, tests and
    /// benchmarks; `./run.sh help` says more. Needs `cargo xtask kernels cuda` first.
    Dist(dist::Options),
}

fn main() -> ExitCode {
    let done = match Options::parse().task {
        Task::Test(options) => test::test(&options),
        Task::Ci { no_test } => ci(no_test),
        Task::Fmt => format::format(&[]),
        Task::Tidy => tidy::tidy(),
        Task::Sanitize(options) => sanitize::sanitize(&options),
        Task::More(options) => more::more(&options),
        Task::ReleaseCheck => more::release_check(),
        Task::Fuzz(options) => fuzz::fuzz(&options),
        Task::Mutants(options) => mutants::mutants(&options),
        Task::Python(options) => python::python(&options),
        Task::Docs => docs::docs(),
        Task::Web(options) => web::web(&options),
        Task::Wheel => python::wheel(),
        Task::Stubs => python::stubs(),
        Task::NewMeasure { key } => new_measure::new_measure(&key),
        Task::Dist(options) => dist::dist(&options),
        Task::Elsewhere { places } => elsewhere::elsewhere(&places),
        Task::Kernels { device } => kernels::kernels(&device),
        Task::Conformance { options } => conformance(&options),
        Task::Bench { options } => bench(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether options name a backend.
fn names(options: &[String], backend: &str) -> bool {
    options.iter().any(|option| option.strip_prefix("--backend=").unwrap_or(option) == backend)
}

// These two run where the user stands, so that relative paths in options mean what they say.

fn conformance(options: &[String]) -> anyhow::Result<()> {
    let all = [BackendKind::names(), vec!["host"]].concat();
    let named = all.into_iter().find(|name| names(options, name)).unwrap_or("cpu");
    let run = ["run", "--release", "-p", "dtw-conformance", "--bin", "conformance"];
    let sh = Shell::new()?;
    Ok(cmd!(sh, "cargo {run...} --features cli,{named} -- {options...}").quiet().run()?)
}

fn bench(options: &[String]) -> anyhow::Result<()> {
    let mut gpus = BackendKind::of_gpus().iter().map(|kind| kind.name);
    let features = gpus.find(|name| names(options, name)).unwrap_or_default();
    let sh = Shell::new()?;
    Ok(cmd!(sh, "cargo run --release -p dtw-bench --features {features} -- {options...}").quiet().run()?)
}

fn ci(no_test: bool) -> anyhow::Result<()> {
    format::format(&["--check"])?;
    tidy::tidy()?;
    let sh = command::shell()?;
    // Nobody runs the kernels of these builds.
    sh.set_var("DTWAVE_HOST_KERNELS", "skip");
    cmd!(sh, "cargo clippy --workspace --all-targets --all-features -- --deny warnings").run()?;
    cmd!(sh, "cargo doc --workspace --no-deps --all-features")
        .env("RUSTDOCFLAGS", "--deny warnings")
        .run()?;
    if no_test { Ok(()) } else { test::test(&test::Options::default()) }
}
