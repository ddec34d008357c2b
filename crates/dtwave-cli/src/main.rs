//! The `dtwave` command.
#![forbid(unsafe_code)]

mod data;
mod ecg;
mod generate;
mod output;
mod progress;

fn main() {}
