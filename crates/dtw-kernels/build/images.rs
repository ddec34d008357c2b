//! What `cargo xtask kernels cuda` and `cargo xtask kernels hip` have built, as Rust, for src/images.rs to include.

use std::fmt::Write as _;
use std::path::Path;

use crate::Result;
use crate::sources::{Headers, Unit, hash_of_unit};

/// Chips of AMD's that get images; src/images.rs says more.
#[path = "../src/hip_chips.rs"]
#[allow(unreachable_pub, reason = "shared with the library")]
mod hip_chips;

/// The images in one folder: all of them or none, because which kernel is needed is known only when a plan asks for it.
struct Images {
    /// Lines of a table of units and their images.
    entries: String,
    state: &'static str,
}

/// The tables of images.
pub(crate) fn table(folder: &Path, units: &[Unit<'_>], headers: &Headers) -> Result<String> {
    let built = folder.join("built");
    let mut text = String::new();
    let cuda = if cfg!(feature = "cuda") {
        images(folder, &built.join("cuda"), ("cuda", "fatbin.xz"), units, headers)
    } else {
        Images::not_asked()
    };
    let _ = writeln!(text, "static CUDA: &[Packed] = &[\n{}];", cuda.entries);
    let _ = writeln!(text, "const CUDA_STATE: State = State::{};", cuda.state);
    let mut chips = String::new();
    // Chips whose images are all here are of use without the others.
    let mut state = if cfg!(feature = "hip") { "Missing" } else { "NotAsked" };
    for chip in hip_chips::HIP_CHIPS.iter().filter(|_| cfg!(feature = "hip")) {
        let of_chip = images(folder, &built.join("hip").join(chip), ("hip", "hsaco.xz"), units, headers);
        match of_chip.state {
            "Built" => {
                state = "Built";
                let _ = writeln!(chips, "({chip:?}, &[\n{}]),", of_chip.entries);
            }
            "Stale" if state == "Missing" => state = "Stale",
            _ => {}
        }
    }
    let _ = writeln!(text, "static HIP: &[(&str, &[Packed])] = &[\n{chips}];");
    let _ = writeln!(text, "const HIP_STATE: State = State::{state};");
    Ok(text)
}

impl Images {
    fn not_asked() -> Self {
        Self { entries: String::new(), state: "NotAsked" }
    }
}

fn images(
    package: &Path,
    folder: &Path,
    (vendor, ending): (&str, &str),
    units: &[Unit<'_>],
    headers: &Headers,
) -> Images {
    // A folder is watched with all that is in it; cargo takes a missing one for changed every time.
    let watched = if folder.is_dir() { folder } else { package };
    println!("cargo::rerun-if-changed={}", watched.display());
    let mut entries = String::new();
    let (mut missing, mut stale) = (0, 0);
    for unit in units {
        let image = folder.join(format!("{}.{ending}", unit.name));
        let stamp = std::fs::read_to_string(folder.join(format!("{}.stamp", unit.name))).unwrap_or_default();
        let wanted = format!("sources {:016x}", hash_of_unit(unit, headers, vendor));
        if !image.is_file() || stamp.is_empty() {
            missing += 1;
        } else if stamp.lines().next() != Some(wanted.as_str()) {
            stale += 1;
        } else {
            let path = image.display().to_string();
            let _ = writeln!(entries, "({:?}, include_bytes!({path:?})),", unit.name);
        }
    }
    match (missing, stale) {
        (0, 0) => Images { entries, state: "Built" },
        (0, _) => Images { entries: String::new(), state: "Stale" },
        _ => Images { entries: String::new(), state: "Missing" },
    }
}
