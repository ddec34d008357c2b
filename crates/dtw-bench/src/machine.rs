//! Where and from what a number comes: day, CPU, commit.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// The origin of a record.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    /// `2026-01-31`, UTC.
    pub(crate) date: String,
    /// What the CPU calls itself.
    pub(crate) cpu: String,
    /// Short hash, with `-dirty` if files differ from it.
    pub(crate) commit: String,
}

impl Origin {
    /// The origin of what is measured now.
    ///
    /// # Errors
    /// When the CPU's name or the commit cannot be found: a record without them is worthless.
    pub(crate) fn here() -> Result<Self> {
        Ok(Self { date: time::OffsetDateTime::now_utc().date().to_string(), cpu: cpu()?, commit: commit()? })
    }

    /// The CPU's name as a folder: lower case, words joined by `-`.
    pub(crate) fn device(&self) -> String {
        slug(&self.cpu)
    }
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

fn commit() -> Result<String> {
    let hash = output("git", &["rev-parse", "--short=12", "HEAD"])?;
    let changes = output("git", &["status", "--porcelain", "--untracked-files=no"])?;
    Ok(if changes.is_empty() { hash } else { format!("{hash}-dirty") })
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(crate::workspace())
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
}
