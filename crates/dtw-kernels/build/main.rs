//! Expands permutations.toml into the table of kernels, gathers the images that were built, and compiles the host's
//! kernels.

#![expect(clippy::print_stdout, reason = "a build script talks to cargo on its output")]

mod expand;
#[cfg(feature = "host")]
mod host;
mod images;
#[path = "../src/kind.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the library, which uses all of it")]
mod kind;
mod params;
mod permutations;
mod sources;
mod table;
mod tuning;

use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    for input in ["build", "native", "src/kind.rs", "src/hip_chips.rs", "tuning", "permutations.toml"] {
        println!("cargo::rerun-if-changed={input}");
    }
    let permutations = permutations::read(&folder.join("permutations.toml"))?;
    let tunings = tuning::read(&folder.join("tuning"))?;
    // One source for all chips: the bounds are of the chip that the kernels were shaped on.
    let shaped_on = tunings.get("sm90").ok_or("tuning/sm90.toml is missing")?;
    let kernels = expand::kernels(&permutations, shaped_on)?;
    let headers = sources::Headers::read(&folder.join("native"))?;
    let units = sources::units(&kernels, &headers)?;

    write(&out, "table.rs", &table::table(&permutations, &units, &headers))?;
    write(&out, "params.rs", &params::text(&folder.join("native"))?)?;
    write(&out, "tuning.rs", &tuning::table(&tunings, &permutations)?)?;
    write(&out, "images.rs", &images::table(&folder, &units, &headers)?)?;
    #[cfg(feature = "host")]
    write(&out, "host.rs", &host::compile(&folder, &out, &units)?)?;
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()).into())
}
