//! Images for AMD's GPUs, with clang.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use dtw_kernels::catalog::{self, Unit, Vendor};
use dtw_kernels::images::HIP_CHIPS;

use super::build::{Assembly, Compiler, Images, Plan, build_and_report, version_of};
use super::choice::Choice;
use super::loops;
use super::report::{Columns, Usage, number_before};

/// The oldest clang with all that the kernels want.
const LEAST_CLANG: u32 = 19;
/// The newest that is looked for by a name with its number.
const NEWEST_CLANG: u32 = 24;

/// What clang says of a kernel, and the words before each number.
const COLUMNS: Columns = Columns {
    names: &["vgprs", "agprs", "sgprs", "local_bytes", "scratch_bytes", "spilled_vgprs", "waves"],
    spills: &["scratch_bytes", "spilled_vgprs"],
};
const SAID: [&str; 7] = [
    " VGPRs: ",
    " AGPRs: ",
    "SGPRs: ",
    " LDS Size [bytes/block]: ",
    " ScratchSize [bytes/lane]: ",
    " VGPRs Spill: ",
    " Occupancy [waves/SIMD]: ",
];

/// Flags for every chip. `-mcumode`: the waves of a block share one compute unit, as on older chips. Version 4 of code
/// objects is what every runtime from ROCm 4.2 on loads.
const FLAGS: &[&str] = &[
    "-x",
    "hip",
    "-nogpuinc",
    "-nogpulib",
    "--cuda-device-only",
    "--no-gpu-bundle-output",
    "-mcumode",
    "-mcode-object-version=4",
    "-O3",
    "-std=c++17",
    "-fuse-cuid=none",
    "-Wno-cuda-compat",
    // Loops that are to be unrolled in part, and need not be.
    "-Wno-pass-failed",
    // Those that are to be unrolled as a whole have up to 64 x 8 cells: otherwise the arrays that they go through would
    // lie in scratch memory, 388 to 516 bytes a lane in searches of 48 to 64 columns.
    "-mllvm",
    "-pragma-unroll-threshold=200000",
    "-Rpass-analysis=kernel-resource-usage",
];

/// Kernels whose shifts between lanes are looked at: instructions, one of which must be there. Through local memory
/// a shift would take several times as long.
const SHIFTS: (&str, &[&str]) = ("dtw_f32_one_8", &["wave_shr:1", "v_permlanex16_b32"]);

#[derive(clap::Args)]
pub(crate) struct Hip {
    #[command(flatten)]
    choice: Choice,
    /// Only code for this chip, such as gfx942; may be repeated [default: gfx906, gfx90a, gfx942, gfx1030, gfx1100,
    /// gfx1201].
    #[arg(long, value_name = "CHIP")]
    arch: Vec<String>,
    /// Compile every tenth unit a second time and compare the bytes.
    #[arg(long)]
    compare: bool,
}

/// Code objects of one chip.
const IMAGES: Images = Images { vendor: Vendor::Hip, extension: "hsaco" };

pub(super) fn build(options: &Hip) -> Result<()> {
    if let Some(chip) = options.arch.iter().find(|chip| !HIP_CHIPS.contains(&chip.as_str())) {
        bail!("--arch takes one of {}, not {chip:?}", HIP_CHIPS.join(", "));
    }
    let Some(units) = options.choice.units()? else { return Ok(()) };
    let (path, version) = find()?;
    println!("clang {version} at {}", path.display());
    let is_wanted = |chip: &str| options.arch.is_empty() || options.arch.iter().any(|arch| arch == chip);
    let looked_at = units.iter().copied().find(|unit| unit.name == SHIFTS.0);
    let mut reports = String::new();
    for (turn, chip) in HIP_CHIPS.iter().enumerate().filter(|(_, chip)| is_wanted(chip)) {
        println!("{chip}");
        let mut units = options.choice.sample(&units, Choice::turn_of_commit() + turn, &[]);
        // Every chip's shifts are looked at, whatever the sample.
        if let Some(unit) = looked_at.filter(|unit| units.iter().all(|other| other.name != unit.name)) {
            units.push(unit);
        }
        let own = format!("--offload-arch={chip}");
        let compiler = Compiler {
            name: "clang",
            path: path.clone(),
            version: version.clone(),
            flags: FLAGS.iter().copied().chain([own.as_str()]).map(str::to_owned).collect(),
            images: IMAGES,
            chip: (*chip).to_owned(),
            columns: COLUMNS,
            is_judged: false,
            usage: parse,
            is_usage,
            assembly: Some(Assembly { flags: assembler_flags(chip), judge: look_at_loops }),
        };
        let folder = options.choice.folder("hip").join(chip);
        let plan = Plan { compiler: &compiler, folder: &folder, jobs: options.choice.jobs() };
        build_and_report(&plan, &units)?;
        if options.compare {
            plan.compare(&units.iter().copied().step_by(10).collect::<Vec<_>>())?;
        }
        if let Some(unit) = looked_at {
            look_at_shifts(&compiler, unit, &folder)?;
        }
        reports += &std::fs::read_to_string(folder.join("report.csv"))?;
    }
    if let Some(copy) = &options.choice.report {
        std::fs::write(copy, reports).with_context(|| format!("cannot write {}", copy.display()))?;
    }
    Ok(())
}

/// Whether a line of clang's is about what kernels take.
fn is_usage(line: &str) -> bool {
    line.contains("[-Rpass-analysis=kernel-resource-usage]")
}

/// How clang makes an image of assembly for a chip.
fn assembler_flags(chip: &str) -> Vec<String> {
    let flags = ["-x", "assembler", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-mcode-object-version=4"];
    flags.into_iter().map(str::to_owned).chain([format!("-mcpu={chip}")]).collect()
}

/// An error if lanes of a kernel may part where they take tickets, in waves of two groups.
fn look_at_loops(unit: &Unit, assembly: &str) -> Result<()> {
    if !assembly.contains(".wavefront_size: 64") {
        return Ok(());
    }
    let seen = loops::with_tickets(assembly)?;
    let unseen = catalog::kernels()
        .iter()
        .find(|kernel| kernel.unit == unit.name && kernel.takes_tickets() && !seen.contains(kernel.symbol));
    match unseen {
        Some(kernel) => bail!("no loop was found in which {} takes tickets", kernel.symbol),
        None => Ok(()),
    }
}

/// An error unless lanes of a kernel hand numbers on by instructions that are meant for it.
fn look_at_shifts(clang: &Compiler, unit: &Unit, folder: &Path) -> Result<()> {
    let source = folder.join(format!("{}.cu", unit.name));
    let output = clang.command(&source).args(["-S", "-o", "-"]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.is_empty() {
        bail!("clang gave no assembly of {} ({})", unit.name, output.status);
    }
    let count =
        |words: &[&str]| text.lines().filter(|line| words.iter().any(|word| line.contains(word))).count();
    let (shifts, detours) = (count(SHIFTS.1), count(&["ds_bpermute_b32"]));
    println!("{}: {shifts} shifts by DPP, {detours} exchanges through local memory", unit.name);
    if shifts == 0 {
        bail!("lanes of {} hand nothing on by {}", unit.name, SHIFTS.1.join(" or "));
    }
    Ok(())
}

/// A clang that is new enough, and its version.
fn find() -> Result<(PathBuf, String)> {
    let advice = format!(
        "install clang {LEAST_CLANG} or newer and lld (Debian: apt-get install --no-install-recommends \
         clang-{LEAST_CLANG} lld-{LEAST_CLANG}), or let CLANG say where it is"
    );
    if let Some(named) = std::env::var_os("CLANG") {
        // Somebody who names a compiler wants that one and no other.
        return ask(Path::new(&named)).with_context(|| format!("CLANG is {}", Path::new(&named).display()));
    }
    let numbered = (LEAST_CLANG..=NEWEST_CLANG).rev().map(|number| format!("clang++-{number}"));
    let mut reasons = Vec::new();
    for name in std::iter::once("clang++".to_owned()).chain(numbered) {
        match ask(Path::new(&name)) {
            Ok(found) => return Ok(found),
            Err(reason) => reasons.push(reason),
        }
    }
    // That of the plain name says most: a clang that is too old, or none.
    let reason = reasons.into_iter().next().expect("a name was tried");
    Err(reason.context(advice))
}

/// The clang of this name, if it is new enough.
fn ask(path: &Path) -> Result<(PathBuf, String)> {
    let version = version_of(path, "clang version ")?;
    let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    if major < LEAST_CLANG {
        bail!("{} is clang {version}, the kernels need {LEAST_CLANG}", path.display());
    }
    Ok((path.to_owned(), version))
}

/// Reads the remarks about kernels' resources.
fn parse(text: &str, chip: &str) -> Vec<Usage> {
    let mut all: Vec<Usage> = Vec::new();
    for line in text.lines().filter(|line| is_usage(line)) {
        if let Some((_, name)) = line.split_once("Function Name: ") {
            let symbol = name.split_whitespace().next().unwrap_or_default().to_owned();
            all.push(Usage { chip: chip.to_owned(), symbol, numbers: vec![0; SAID.len()] });
        }
        let Some(last) = all.last_mut() else { continue };
        for (number, words) in last.numbers.iter_mut().zip(SAID) {
            let found = line.split_once(words).map(|(_, rest)| rest);
            if let Some(found) = found.and_then(|rest| number_before(rest, " [")) {
                *number = found;
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
dtw.cu:4:1: remark: Function Name: dtw_a [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     SGPRs: 106 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     VGPRs: 83 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     AGPRs: 7 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     ScratchSize [bytes/lane]: 16 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     Occupancy [waves/SIMD]: 5 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     SGPRs Spill: 12 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     VGPRs Spill: 3 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:4:1: remark:     LDS Size [bytes/block]: 4 [-Rpass-analysis=kernel-resource-usage]
dtw.cu:5:1: remark: Function Name: dtw_b [-Rpass-analysis=kernel-resource-usage]
dtw.cu:5:1: remark:     TotalSGPRs: 40 [-Rpass-analysis=kernel-resource-usage]
";

    #[test]
    fn usage_is_read() {
        assert_eq!(
            Usage::to_lines(&parse(SAID, "gfx942")),
            "gfx942,dtw_a,83,7,106,4,16,3,5\ngfx942,dtw_b,0,0,40,0,0,0,0\n"
        );
        assert!(SAID.lines().all(is_usage));
        assert!(!is_usage("dtw.cu:4:1: error: no such thing"));
    }
}
