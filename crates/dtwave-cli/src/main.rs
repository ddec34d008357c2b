//! The `dtwave` command.
#![forbid(unsafe_code)]

mod data;
mod ecg;
mod generate;
mod matrix;
mod options;
mod output;
mod plot;
mod progress;

fn main() {}
