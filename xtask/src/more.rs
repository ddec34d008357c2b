//! `cargo xtask more` and `cargo xtask release-check`: what takes too long for every change, in parts.
//!
//! .ci/parts.toml says what the parts are and what they watch, .ci/passed.toml when each last passed.

mod parts;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use xshell::{Shell, cmd};

use crate::command::{root, shell, succeeds};
use parts::{Part, Parts};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Parts to run [default: all].
    #[arg(value_name = "PART")]
    parts: Vec<String>,
    /// List the parts and when they passed, and run none.
    #[arg(long)]
    list: bool,
}

/// Runs parts one after the other, also after one that fails.
pub(crate) fn more(options: &Options) -> Result<()> {
    let sh = shell()?;
    let mut parts = Parts::read(&sh)?;
    let chosen = parts.chosen(&options.parts)?;
    if options.list {
        return list(&sh, &parts).map(drop);
    }
    let (mut ended, mut failed) = (Vec::new(), Vec::new());
    for name in chosen {
        let part = &parts.all[&name];
        println!("\n=== {name}: {}", part.about);
        // What is noted is what was there when it began.
        let found = part.watched(&sh)?;
        let began = Instant::now();
        let result = install(&sh, part).and_then(|()| run(part));
        let seconds = began.elapsed().as_secs();
        match result {
            Ok(checks) => {
                ended.push(format!("{name}: passed, {checks} checks, {seconds} s"));
                if found.uncommitted.is_empty() {
                    parts.note(&sh, &name, &found, seconds, checks)?;
                } else {
                    println!("not noted, because these are not committed: {}", found.uncommitted.join(", "));
                }
            }
            Err(error) => {
                ended.push(format!("{name}: FAILED after {seconds} s: {error:#}"));
                failed.push(name);
            }
        }
        println!("=== {}", ended.last().expect("one ended"));
    }
    println!("\n{}", ended.join("\n"));
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Whether every part has passed since the files that it watches changed; an error names those that have not.
pub(crate) fn release_check() -> Result<()> {
    let sh = shell()?;
    let due = list(&sh, &Parts::read(&sh)?)?;
    ensure!(due.is_empty(), "{} parts are due: run `.ci/more {}`", due.len(), due.join(" "));
    println!("every part of .ci/more has passed since the files that it watches changed");
    Ok(())
}

/// Prints the parts and returns the names of those that are due.
fn list(sh: &Shell, parts: &Parts) -> Result<Vec<String>> {
    let mut due = Vec::new();
    for (name, part) in &parts.all {
        let state = parts.state(sh, name)?;
        println!("{name:<17} {}\n{:<17}   {state}", part.about, "");
        if state.is_due() {
            due.push(name.clone());
        }
    }
    Ok(due)
}

/// Installs what Debian's packages the part needs and the machine lacks. Elsewhere the part's own errors say what is
/// missing.
fn install(sh: &Shell, part: &Part) -> Result<()> {
    let is_missing = |package: &&String| !succeeds(cmd!(sh, "dpkg --status {package}"));
    let missing: Vec<&String> = part.packages.iter().filter(is_missing).collect();
    if missing.is_empty() || !succeeds(cmd!(sh, "dpkg --version")) {
        return Ok(());
    }
    cmd!(sh, "apt-get update").run()?;
    Ok(cmd!(sh, "apt-get install --yes --no-install-recommends {missing...}").run()?)
}

/// Runs a part and returns how many checks it says it made.
fn run(part: &Part) -> Result<u64> {
    // cargo-nextest says its counts on the error stream.
    let script = format!("exec 2>&1\n{}", part.run);
    let mut child = Command::new("bash")
        .args(["-euxo", "pipefail", "-c", &script])
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start bash")?;
    let mut checks = 0;
    for line in BufReader::new(child.stdout.take().context("bash has no output")?).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        println!("{line}");
        checks += counted(&line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("its commands failed ({status}): see above");
    }
    ensure!(checks > 0, "it made no check that could be counted");
    Ok(checks)
}

/// The checks that a line counts: tests and cases that passed, inputs that were tried, kernels that were compiled.
fn counted(line: &str) -> u64 {
    let before = |what: &str| line.split_once(what).and_then(|(before, _)| before.rsplit(' ').next());
    let after = line.strip_prefix("stat::number_of_executed_units:").map(str::trim);
    let number = before(" passed").or_else(|| before(" kernels on ")).or(after);
    number.and_then(|number| number.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_counted() {
        let lines = [
            ("test result: ok. 12 passed; 0 failed; 1 ignored", 12),
            ("     Summary [   1.2s] 34 tests run: 34 passed, 2 skipped", 34),
            ("8123 passed, 0 failed, 0 skipped", 8123),
            ("stat::number_of_executed_units: 8000", 8000),
            ("429 kernels on sm_90a; 3 others spill; all in report.csv", 429),
            ("all passed", 0),
            ("", 0),
        ];
        for (line, count) in lines {
            assert_eq!(counted(line), count, "{line}");
        }
    }
}
