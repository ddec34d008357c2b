//! Images for NVIDIA GPUs, with nvcc.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::Vendor;

use super::build::{Compiler, Images, Plan, build_and_report};
use super::choice::Choice;
use super::nvcc;
use super::report::{Columns, Usage, number_before};
use crate::command::root;

/// Architectures that the sources are compiled for, and what is made of each: code for chips, and the PTX that newer
/// chips translate for themselves when a program first runs there. Each architecture takes as long as the machine code
/// of two chips, and sm_89 gets the same code from compute_80 as from compute_89.
const CODE: &[(&str, &str)] = &[("compute_90a", "sm_90a"), ("compute_80", "[sm_80,sm_89,compute_80]")];
/// Units with products of matrices, the most intricate code of all, which AMD's chips do not have.
const MATRIX_UNITS: &[&str] = &["dtw_priced_f64_many", "soft_dtw_tiles_f32_many"];
/// The chip that is judged.
const CHIP: &str = "sm_90a";

const COLUMNS: Columns = Columns {
    names: &["registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes"],
    spills: &["spill_store_bytes", "spill_load_bytes"],
};

#[derive(clap::Args)]
pub(crate) struct Cuda {
    #[command(flatten)]
    choice: Choice,
    /// Only code for this chip, such as sm_90a; may be repeated [default: sm_90a, sm_80, sm_89, and PTX for newer
    /// ones].
    #[arg(long, value_name = "CHIP")]
    arch: Vec<String>,
    /// Folder for the compiler if one must be installed [default: target/cuda-compiler of the workspace].
    #[arg(long, value_name = "DIR")]
    compiler: Option<PathBuf>,
}

/// Images with code for several chips.
pub(super) const IMAGES: Images = Images { vendor: Vendor::Cuda, extension: "fatbin" };

pub(super) fn build(options: &Cuda) -> Result<()> {
    let Some(units) = options.choice.units()? else { return Ok(()) };
    let flags = flags(&options.arch)?;
    let venv = options.compiler.clone().unwrap_or_else(|| root().join("target/cuda-compiler"));
    let (path, version) = nvcc::find_or_install(&venv)?;
    println!("nvcc {version} at {}", path.display());
    let chip = options.arch.first().map_or(CHIP, String::as_str).to_owned();
    let compiler = Compiler {
        name: "nvcc",
        path,
        version,
        flags,
        images: IMAGES,
        chip,
        columns: COLUMNS,
        is_judged: true,
        usage: |said, _| parse(said),
        is_usage,
        assembly: None,
    };
    let folder = options.choice.folder("cuda");
    let plan = Plan { compiler: &compiler, folder: &folder, jobs: options.choice.jobs() };
    let built =
        build_and_report(&plan, &options.choice.sample(&units, Choice::turn_of_commit(), MATRIX_UNITS));
    if let Some(copy) = &options.choice.report {
        std::fs::copy(folder.join("report.csv"), copy)
            .with_context(|| format!("cannot write {}", copy.display()))?;
    }
    built
}

/// Whether a line of nvcc's is about what kernels take.
fn is_usage(line: &str) -> bool {
    line.starts_with("ptxas info") || line.contains("bytes stack frame")
}

/// Every flag that changes the code.
fn flags(chips: &[String]) -> Result<Vec<String>> {
    // nvcc would compress the PTX alone, and images are compressed as a whole.
    let always = ["-fatbin", "-std=c++17", "-O3", "-Xptxas", "-v", "--compress-mode=none"];
    let mut flags: Vec<String> = always.map(String::from).to_vec();
    flags.push("-Wno-deprecated-gpu-targets".to_owned());
    let code = |chip: &str| {
        let number = chip.strip_prefix("sm_").filter(|n| n.starts_with(|c: char| c.is_ascii_digit()));
        match number {
            Some(number) => Ok(format!("-gencode=arch=compute_{number},code={chip}")),
            None => bail!("--arch takes a chip such as sm_90a, not {chip:?}"),
        }
    };
    if chips.is_empty() {
        flags.extend(CODE.iter().map(|(arch, made)| format!("-gencode=arch={arch},code={made}")));
    }
    for chip in chips {
        flags.push(code(chip)?);
    }
    Ok(flags)
}

/// Reads what `ptxas -v` prints.
fn parse(text: &str) -> Vec<Usage> {
    let mut all: Vec<Usage> = Vec::new();
    for line in text.lines() {
        if line.contains("Compiling entry function") {
            let names: Vec<&str> = line.split('\'').collect();
            if let [_, symbol, _, chip, ..] = names[..] {
                all.push(Usage { chip: chip.to_owned(), symbol: symbol.to_owned(), numbers: vec![0; 4] });
            }
        }
        let Some(last) = all.last_mut() else { continue };
        if let Some(stack) = number_before(line, "bytes stack frame") {
            last.numbers[1] = stack;
            last.numbers[2] = number_before(line, "bytes spill stores").unwrap_or_default();
            last.numbers[3] = number_before(line, "bytes spill loads").unwrap_or_default();
        }
        if let Some(registers) = line.contains("Used ").then(|| number_before(line, "registers")).flatten() {
            last.numbers[0] = registers;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'dtw_a' for 'sm_90a'
ptxas info    : Function properties for dtw_a
    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 40 registers, used 0 barriers, 16 bytes cumulative stack size
ptxas info    : Compiling entry function 'dtw_b' for 'sm_80'
ptxas info    : Function properties for dtw_b
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers, 776 bytes cmem[0]
";

    #[test]
    fn usage_is_read() {
        assert_eq!(Usage::to_lines(&parse(SAID)), "sm_90a,dtw_a,40,16,12,8\nsm_80,dtw_b,255,0,0,0\n");
        assert!(SAID.lines().all(is_usage));
    }

    #[test]
    fn chips_become_flags() {
        let all = flags(&[]).unwrap();
        assert!(all.contains(&"-gencode=arch=compute_90a,code=sm_90a".to_owned()), "{all:?}");
        assert!(
            all.contains(&"-gencode=arch=compute_80,code=[sm_80,sm_89,compute_80]".to_owned()),
            "{all:?}"
        );
        let one = flags(&["sm_80".to_owned()]).unwrap();
        assert_eq!(one.iter().filter(|flag| flag.starts_with("-gencode")).count(), 1);
        assert!(flags(&["90a".to_owned()]).unwrap_err().to_string().contains("sm_90a"));
    }
}
