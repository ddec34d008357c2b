//! Where and from what a number comes: day, CPU, commit.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::folders;

#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// `2026-01-31`, UTC.
    pub(crate) date: String,
    /// What the CPU calls itself.
    pub(crate) cpu: String,
    /// Short hash, with `-dirty` if files differ from it.
    pub(crate) commit: String,
    pub(crate) gpu: Option<Gpu>,
}

/// A GPU and what drives it.
#[derive(Debug, Clone)]
pub(crate) struct Gpu {
    pub(crate) name: String,
    #[cfg(feature = "gpu")]
    pub(crate) driver: String,
}

impl Origin {
    pub(crate) fn here() -> Result<Self> {
        Ok(Self {
            date: time::OffsetDateTime::now_utc().date().to_string(),
            cpu: cpu()?,
            commit: commit()?,
            gpu: None,
        })
    }

    /// The name of what is measured as a folder: lower case, words joined by `-`.
    pub(crate) fn device(&self) -> String {
        slug(self.gpu.as_ref().map_or(&self.cpu, |gpu| &gpu.name))
    }
}

#[cfg(feature = "cuda")]
pub(crate) fn nvidia_driver() -> Result<String> {
    if let Some(version) =
        std::fs::read_to_string("/proc/driver/nvidia/version").ok().as_deref().and_then(version_of)
    {
        return Ok(version);
    }
    output("nvidia-smi", &["--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]).context(
        "the version of the driver is neither in /proc/driver/nvidia/version nor known to nvidia-smi",
    )
}

/// The version in Linux's `/proc/driver/nvidia/version`: the first word that is numbers with dots.
#[cfg(any(feature = "cuda", test))]
fn version_of(text: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.split('.').all(|part| part.parse::<u32>().is_ok());
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

/// Processes that want to run, averaged over the last minute; above the number of cores, timings are noise. `None`
/// where the system does not say.
pub(crate) fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn slug(name: &str) -> String {
    let kept = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let words: Vec<&str> =
        kept.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.join("-")
}

fn cpu() -> Result<String> {
    if let Ok(text) = std::fs::read_to_string("/proc/cpuinfo") {
        return cpu_of(&text).context("/proc/cpuinfo names no CPU");
    }
    if cfg!(target_os = "macos") {
        return output("sysctl", &["-n", "machdep.cpu.brand_string"]);
    }
    std::env::var("PROCESSOR_IDENTIFIER").context("the system does not name its CPU")
}

/// The name in Linux's `/proc/cpuinfo`, with family and model where the name alone says little.
fn cpu_of(text: &str) -> Option<String> {
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let name = field("model name").or_else(|| field("CPU part").map(|part| format!("ARM part {part}")))?;
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => Some(format!("{name} (family {family} model {model})")),
        _ => Some(name),
    }
}

/// The commit that this program was built from: the variable `DTWAVE_COMMIT` where there is no checkout, else git's.
fn commit() -> Result<String> {
    if let Ok(commit) = std::env::var("DTWAVE_COMMIT")
        && !commit.is_empty()
    {
        return Ok(commit);
    }
    let hash = output("git", &["rev-parse", "--short=12", "HEAD"])
        .context("outside a checkout, set DTWAVE_COMMIT to the commit that this program was built from")?;
    let changes = output("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Ok(if changes.is_empty() { hash } else { format!("{hash}-dirty") })
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(if folders::workspace().is_dir() { folders::workspace() } else { ".".into() })
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    if !output.status.success() {
        bail!("{program} {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_names() {
        let x86 =
            "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Some(R) Xeon(R) CPU @ 2 GHz\n";
        let name = cpu_of(x86).unwrap();
        assert_eq!(name, "Some(R) Xeon(R) CPU @ 2 GHz (family 6 model 143)");
        assert_eq!(slug(&name), "some-xeon-cpu-2-ghz-family-6-model-143");
        assert_eq!(cpu_of("CPU part\t: 0xd0c\n").unwrap(), "ARM part 0xd0c");
        assert_eq!(cpu_of(""), None);
    }

    #[test]
    fn driver_versions() {
        let text = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Jan  1 2026\nGCC version: 12.3.0\n";
        assert_eq!(version_of(text).as_deref(), Some("580.159.04"));
        assert_eq!(version_of("NVRM version: unknown\nGCC version: 12.3.0\n"), None);
    }
}
