//! The `dtwave` command: elastic distances between time series from files to files.
//!
//! `dtwave-files` reads files and `dtwave-results` writes them. `options` understands the command line, `commands` has
//! one file per command, `engine` calls a backend, `plot` draws, `report` prints results and messages (with `words`,
//! `json` and `stdout`), and `signals` handles Ctrl-C.
#![deny(unsafe_code)]

mod commands;
mod ecg;
mod engine;
mod generate;
mod json;
mod options;
mod plot;
mod progress;
mod report;
mod signals;
mod stdout;
mod words;

use std::process::ExitCode;

use dtwave_files as data;
use dtwave_results as output;
use dtwave_results::matrix;

fn main() -> ExitCode {
    if let Err(error) = stdout::check() {
        return report::fail(&error, None);
    }
    let cli = match commands::Cli::read() {
        Ok(cli) => cli,
        Err(error) => return report::usage(&error),
    };
    let cancel = match signals::Cancel::listen() {
        Ok(cancel) => cancel,
        Err(error) => return report::fail(&error, None),
    };
    match cli.run(&cancel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report::fail(&error, cancel.is_raised().then(|| cancel.status())),
    }
}
