//! The `dtwave` command: elastic distances between time series from files to files.
//!
//! `data` reads, `options` understands the command line, `engine` calls a backend, `commands` holds one file per
//! command, `matrix` and `output` write, `plot` draws, `report` speaks.
#![forbid(unsafe_code)]

mod commands;
mod data;
mod ecg;
mod engine;
mod generate;
mod matrix;
mod options;
mod output;
mod plot;
mod progress;
mod report;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match commands::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::fail(&error),
    }
}
