//! What all commands that compute do before and after their own work.
//!
//! Such a command takes its outputs ([`Output`], [`plot::take`](crate::plot::take)), checks that they replace no input
//! ([`check_files`]) and makes a [`Setup`] of its measure and device. It reads its inputs ([`pick()`] takes one series
//! of a file), lets the setup check them ([`Setup::fit`]), and computes. Then it writes its outputs, answers
//! ([`Setup::answer`]), and draws ([`Setup::draw`]).

mod centers;
mod channel;
mod describe;
mod inputs;
mod output;
mod pick;
mod setup;

pub(super) use centers::write_centers;
pub(super) use channel::{Channel, grouped};
pub(super) use describe::{band_text, parameters};
pub(super) use inputs::Inputs;
pub(super) use output::{Format, Output, check_files, written};
pub(super) use pick::pick;
pub(super) use setup::Setup;
