//! `dtw-bench run | record | compare | expect`: how fast, and whether still right.
//!
//! A definition (`benchmarks/definitions/*.toml`) says what is computed on which generated series, and what comes out;
//! a wrong value fails the run and is never timed. Records (`benchmarks/record/DEVICE/DATE.csv`) name the day, the CPU,
//! the GPU and its driver or the instruction set and the threads, and the commit, so that a number can be traced to
//! what made it.

#![deny(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a command talks to its user")]

mod calls;
mod check;
mod compare;
mod definition;
#[cfg(feature = "oracle")]
mod expect;
mod folders;
#[cfg(any(feature = "cuda", feature = "hip"))]
mod gpu;
mod input;
mod machine;
mod measure;
#[cfg(feature = "gpu")]
mod measures;
mod record;
mod run;
mod table;
mod timing;
#[cfg(feature = "wgpu")]
mod wgpu;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Times dtwave on checked definitions.
#[derive(Parser)]
#[command(name = "cargo xtask bench", bin_name = "cargo xtask bench", max_term_width = 110)]
struct Options {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::Options,
}

#[derive(Subcommand)]
enum Command {
    /// Time the definitions of benchmarks/definitions (what happens without a command).
    Run(run::Options),
    /// Timings, written to benchmarks/record/DEVICE/DATE.csv.
    Record(run::Options),
    /// Compare two records row by row, or the last record of this machine with a run made now.
    Compare(compare::Options),
    /// Print what the oracles, or of large work the CPU backend, say the definitions' expected values are.
    #[cfg(feature = "oracle")]
    Expect(expect::Options),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match options.command {
        None => run::run(&options.run),
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Record(mut options)) => {
            options.record = true;
            run::run(&options)
        }
        Some(Command::Compare(options)) => compare::run(&options),
        #[cfg(feature = "oracle")]
        Some(Command::Expect(options)) => expect::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn options_are_consistent() {
        super::Options::command().debug_assert();
    }
}
