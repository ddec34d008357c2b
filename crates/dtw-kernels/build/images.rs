//! The images of `cargo xtask kernels cuda` as Rust, for src/images.rs to include.

use std::fmt::Write as _;
use std::path::Path;

use crate::Result;
use crate::sources::{Headers, Unit, hash_of_unit};

/// The table of images, all of them or none: which kernel is needed is known only when a plan asks for it.
pub(crate) fn table(folder: &Path, units: &[Unit<'_>], headers: &Headers) -> Result<String> {
    let mut entries = String::new();
    let (mut missing, mut stale) = (0, 0);
    if cfg!(feature = "cuda") {
        let built = folder.join("built").join("cuda");
        // A folder is watched with all that is in it; cargo takes a missing one for changed every time.
        let watched = if built.is_dir() { &built } else { folder };
        println!("cargo::rerun-if-changed={}", watched.display());
        for unit in units {
            let image = built.join(format!("{}.fatbin.xz", unit.name));
            let stamp =
                std::fs::read_to_string(built.join(format!("{}.stamp", unit.name))).unwrap_or_default();
            let wanted = format!("sources {:016x}", hash_of_unit(unit, headers));
            if !image.is_file() || stamp.is_empty() {
                missing += 1;
            } else if stamp.lines().next() != Some(wanted.as_str()) {
                stale += 1;
            } else {
                let path = image.display().to_string();
                let _ = writeln!(entries, "({:?}, include_bytes!({path:?})),", unit.name);
            }
        }
    }
    let state = match (missing, stale) {
        _ if !cfg!(feature = "cuda") => "State::NotAsked",
        (0, 0) => "State::Built",
        (0, _) => "State::Stale",
        _ => "State::Missing",
    };
    if state != "State::Built" {
        entries.clear();
    }
    Ok(format!("static CUDA: &[(&str, &[u8])] = &[\n{entries}];\nconst CUDA_STATE: State = {state};\n"))
}
