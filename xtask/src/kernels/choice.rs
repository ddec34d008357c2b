//! Which kernels are compiled, where their images go, and what is reported of them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};
use dtw_kernels::catalog::{self, Unit};

use crate::command::root;

/// What to compile, and how much at once.
#[derive(clap::Args)]
pub(super) struct Choice {
    /// Units compiled at the same time [default: one per core].
    #[arg(long, value_name = "N")]
    pub(super) jobs: Option<std::num::NonZeroUsize>,
    /// Only units whose name contains this. The others must have been built before, or nothing is embedded.
    #[arg(long, value_name = "TEXT")]
    pub(super) only: Option<String>,
    /// Only every N-th unit, as a check: images go to target/kernels, and nothing embeds them. Each commit begins with
    /// another unit, and so does each of AMD's chips. Units with products of matrices are always among NVIDIA's.
    #[arg(long, value_name = "N", conflicts_with = "list")]
    pub(super) sample: Option<std::num::NonZeroUsize>,
    /// List the kernels and build nothing.
    #[arg(long)]
    pub(super) list: bool,
    /// Write registers and spills of every kernel here too, as CSV.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

impl Choice {
    /// The units to compile; `None` if they were only to be listed.
    pub(super) fn units(&self) -> Result<Option<Vec<&'static Unit>>> {
        let selected = |unit: &&Unit| self.only.as_ref().is_none_or(|text| unit.name.contains(text.as_str()));
        let units: Vec<&Unit> = catalog::source_units().iter().filter(selected).collect();
        if units.is_empty() {
            bail!(
                "no unit has {:?} in its name; `--list` shows them all",
                self.only.as_deref().unwrap_or("")
            );
        }
        if self.list {
            list(&units);
            return Ok(None);
        }
        Ok(Some(units))
    }

    /// Every N-th of the units if a sample is asked for, and all of them otherwise. `turn` says where it begins: the
    /// samples of N turns have every unit once. Of fewer than N units each sample has one. Units named in `always` are
    /// in every sample.
    pub(super) fn sample(&self, units: &[&'static Unit], turn: usize, always: &[&str]) -> Vec<&'static Unit> {
        let step = self.sample.map_or(1, Into::into);
        let first = turn % step.min(units.len());
        let is_chosen =
            |at: usize, unit: &Unit| at % step == first % step && at >= first || always.contains(&unit.name);
        units.iter().enumerate().filter(|(at, unit)| is_chosen(*at, unit)).map(|(_, unit)| *unit).collect()
    }

    /// A turn that each commit has of its own; 0 where there is no repository.
    pub(super) fn turn_of_commit() -> usize {
        let commit =
            Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).current_dir(root()).output();
        let digits = commit.ok().and_then(|output| String::from_utf8(output.stdout).ok());
        digits.and_then(|digits| usize::from_str_radix(digits.trim().get(..7)?, 16).ok()).unwrap_or(0)
    }

    /// Where images go: what is embedded, or, for a sample, a folder that no build looks at.
    pub(super) fn folder(&self, device: &str) -> PathBuf {
        if self.sample.is_some() { root().join("target/kernels").join(device) } else { folder(device) }
    }

    pub(super) fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, Into::into), Into::into)
    }
}

/// Where the images are that are embedded.
pub(super) fn folder(device: &str) -> PathBuf {
    root().join("crates/dtw-kernels/built").join(device)
}

fn list(units: &[&Unit]) {
    for unit in units {
        println!("{}", unit.name);
        for kernel in catalog::kernels().iter().filter(|kernel| kernel.unit == unit.name) {
            println!("    {}{}", kernel.symbol, if kernel.no_spills { "  (no spills)" } else { "" });
        }
    }
    let kernels =
        catalog::kernels().iter().filter(|kernel| units.iter().any(|unit| unit.name == kernel.unit));
    println!("{} kernels in {} units", kernels.count(), units.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn sample(n: usize, units: &[&'static Unit], turn: usize) -> Vec<&'static str> {
        let sample = std::num::NonZeroUsize::new(n);
        let choice = Choice { jobs: None, only: None, sample, list: false, report: None };
        choice.sample(units, turn, &[]).iter().map(|unit| unit.name).collect()
    }

    #[test]
    fn samples_of_all_turns_are_every_unit_once() {
        let units: Vec<&Unit> = catalog::source_units().iter().collect();
        let mut all: Vec<&str> = units.iter().map(|unit| unit.name).collect();
        assert_eq!(sample(0, &units, 3), all, "no sample");
        assert_eq!(sample(6, &units, 2), all.iter().copied().skip(2).step_by(6).collect::<Vec<_>>());
        let mut of_turns: Vec<&str> = (0..6).flat_map(|turn| sample(6, &units, turn)).collect();
        of_turns.sort_unstable();
        all.sort_unstable();
        assert_eq!(of_turns, all);
    }

    #[test]
    fn no_sample_is_empty() {
        let units: Vec<&Unit> = catalog::source_units().iter().take(2).collect();
        assert!((0..6).all(|turn| sample(6, &units, turn).len() == 1));
    }
}
