//! `cargo xtask mutants`: whether tests notice faults that a program plants, one at a time.
//!
//! cargo-mutants changes a function of a crate (a comparison, an operator, a constant result), runs the tests of that
//! crate, and takes the change back; mutmut does so with the Python package. What no test notices is listed. Each
//! mutant is compiled, so a crate takes hours on two cores: `--shard` takes a part of its mutants, spread evenly.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use xshell::{Shell, cmd};

use crate::command::{root, shell, succeeds};
use crate::python;

/// The crates that are plain logic. The others are sweeps: the conformance suite judges those, and plants faults of
/// its own (`every_fault_is_noticed`).
const CRATES: &[&str] = &["dtw-core", "dtw-plan", "dtw-learn", "dtwave", "dtwave-files", "dtwave-results"];
/// The crates whose tests write to `/dev/null` and `/dev/full`. With a fault in how it tells a device from a file, a
/// mutant puts a file in their place, for every program of the machine, if it may: as root it may.
const WRITE_TO_DEVICES: &[&str] = &["dtwave-results", "dtwave-cli"];
/// The share of mutants that tests have to notice, in percent.
const LEAST: f64 = 92.0;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Crates to plant faults in [default: those without sweeps]
    #[arg(value_name = "CRATE")]
    crates: Vec<String>,
    /// The Python package instead
    #[arg(long, conflicts_with = "crates")]
    python: bool,
    /// Only mutants K, K + N, K + 2 N … of each crate, K from 0 to N - 1
    #[arg(long, value_name = "K/N", conflicts_with = "python")]
    shard: Option<String>,
}

/// Plants faults, lists those that no test noticed, and fails where they are too many.
pub(crate) fn mutants(options: &Options) -> Result<()> {
    let sh = shell()?;
    if options.python {
        return python(&sh);
    }
    ensure!(
        succeeds(cmd!(sh, "cargo mutants --version")),
        "cargo-mutants is missing: cargo install --locked cargo-mutants"
    );
    let named: Vec<&str> = options.crates.iter().map(String::as_str).collect();
    let crates = if named.is_empty() { CRATES } else { &named };
    if let Some(name) = crates.iter().find(|name| WRITE_TO_DEVICES.contains(name)) {
        ensure!(
            !is_root(&sh),
            "a mutant of {name} may replace /dev/null, to which its tests write: run it as a user who may not write to \
             /dev, not as root, or name other crates"
        );
    }
    let mut counts = BTreeMap::new();
    for name in crates {
        let output = root().join("target/mutants").join(name);
        sh.create_dir(&output)?;
        let shard = options.shard.iter().flat_map(|shard| ["--shard", shard, "--sharding", "round-robin"]);
        // A status other than 0 says that mutants were missed: the outcomes say which.
        cmd!(sh, "cargo mutants --package {name} --output {output} --no-shuffle --colors never {shard...}")
            .ignore_status()
            .run()?;
        let path = output.join("mutants.out/outcomes.json");
        let outcomes = sh.read_file(&path).with_context(|| format!("cargo-mutants left no {path:?}"))?;
        counts.insert(*name, serde_json::from_str::<Counts>(&outcomes)?);
    }
    for (name, found) in &counts {
        println!("{name}: {found}");
    }
    let few: Vec<_> =
        counts.iter().filter(|(_, found)| found.share() < LEAST).map(|(name, _)| *name).collect();
    ensure!(few.is_empty(), "tests notice fewer than {LEAST} % of the mutants of {}", few.join(", "));
    Ok(())
}

/// Whether this user may replace devices; `false` where there are no such users.
fn is_root(sh: &Shell) -> bool {
    cmd!(sh, "id -u").quiet().ignore_stderr().read().is_ok_and(|id| id == "0")
}

/// How many mutants tests noticed, as cargo-mutants counts them. A mutant that does not compile is none.
#[derive(Deserialize)]
struct Counts {
    caught: u32,
    missed: u32,
    timeout: u32,
    unviable: u32,
}

impl Counts {
    fn share(&self) -> f64 {
        let noticed = f64::from(self.caught + self.timeout);
        100.0 * noticed / (noticed + f64::from(self.missed)).max(1.0)
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caught, missed, timeout, unviable } = self;
        write!(f, "{:.1} % of mutants noticed: ", self.share())?;
        write!(
            f,
            "{caught} by a test, {timeout} by their time, {missed} by nothing; {unviable} do not compile"
        )
    }
}

/// Mutants of python/dtwave, in a copy of it below target.
fn python(sh: &Shell) -> Result<()> {
    python::develop(sh, true)?;
    let python = python::environment(sh)?;
    let requirements = "python/tests/requirements.txt";
    cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check mutmut>=3.3,<4 -r {requirements}")
        .run()?;
    let copy = root().join("target/mutants/python");
    sh.remove_path(&copy)?;
    sh.create_dir(&copy)?;
    cmd!(sh, "cp -r python/dtwave python/tests pyproject.toml {copy}").run()?;
    sh.change_dir(&copy);
    cmd!(sh, "{python} -m mutmut run").run()?;
    Ok(cmd!(sh, "{python} -m mutmut results").run()?)
}
