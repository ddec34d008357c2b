//! The other libraries: a virtual environment with pinned versions, and a worker process that calls them.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::folders;

/// A Python with the pinned libraries: the one given, or a virtual environment under the target folder, made on first
/// use and again when the pins change.
///
/// # Errors
/// When there is no `python3`, or pip cannot install the libraries.
pub(super) fn interpreter(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_path_buf());
    }
    let requirements = folders::benchmarks().join("peers").join("requirements.txt");
    let pins = std::fs::read_to_string(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| folders::workspace().join("target"), PathBuf::from);
    let folder = target.join("bench-peers");
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == pins) {
        return Ok(python);
    }
    println!("installing the other libraries into {}", folder.display());
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    succeed(&mut venv, "python3 -m venv (is Python 3 with its venv module installed?)")?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(&requirements);
    succeed(&mut pip, "pip install")?;
    std::fs::write(&installed, pins).with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(python)
}

fn succeed(command: &mut Command, name: &str) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    Ok(())
}

/// The worker process; see `benchmarks/peers/worker.py` for what is said.
pub(super) struct Worker {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    /// Starts it, every library held to one thread.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn start(python: &Path) -> Result<Self> {
        let mut command = Command::new(python);
        command.arg(folders::benchmarks().join("peers").join("worker.py"));
        for name in [
            "OMP_NUM_THREADS",
            "OPENBLAS_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMBA_NUM_THREADS",
            "RAYON_NUM_THREADS",
        ] {
            command.env(name, "1");
        }
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = spawned.with_context(|| format!("cannot start {}", python.display()))?;
        let commands = child.stdin.take().expect("the worker's input is piped");
        let answers = BufReader::new(child.stdout.take().expect("the worker's output is piped"));
        Ok(Self { child, commands, answers })
    }

    fn ask(&mut self, fields: &[&str]) -> Result<String> {
        let said = writeln!(self.commands, "{}", fields.join("\t"));
        said.and_then(|()| self.commands.flush()).context("the Python worker has ended")?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.answers.read_line(&mut line)? == 0 {
                bail!("the Python worker ended at {:?}", fields.join(" "));
            }
            if let Some(answer) = line.strip_prefix("=> ") {
                return Ok(answer.trim().to_owned());
            }
        }
    }

    /// Names and versions of the libraries.
    pub(super) fn versions(&mut self) -> Result<String> {
        self.ask(&["versions"])
    }

    /// Hands it `count` series of equal length.
    pub(super) fn load(&mut self, values: &[f64], count: usize) -> Result<()> {
        let file = scratch("series");
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
        let length = (values.len() / count).to_string();
        self.ask(&["load", &file.display().to_string(), &count.to_string(), &length])?;
        Ok(std::fs::remove_file(file)?)
    }

    /// Seconds of one run of a task on the series.
    pub(super) fn time(&mut self, task: &str) -> Result<f64> {
        let answer = self.ask(&["time", task])?;
        answer.parse().with_context(|| format!("expected seconds from the Python worker, got {answer:?}"))
    }

    /// The matrix that the last task returned.
    pub(super) fn matrix(&mut self) -> Result<Vec<f64>> {
        let file = scratch("matrix");
        self.ask(&["save", &file.display().to_string()])?;
        let bytes = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        std::fs::remove_file(file)?;
        Ok(bytes.chunks_exact(8).map(|b| f64::from_ne_bytes(b.try_into().expect("8 bytes"))).collect())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It waits for commands only, so nothing is lost; failing to end it is no reason to fail.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dtw-bench-{}-{name}.bin", std::process::id()))
}
