//! The kernels compiled for this CPU, and a table of them for src/host.rs to include.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use crate::Result;
use crate::sources::{TILES, Unit};

/// Source files that the units are put together in, beside that of the tiles. Half of the time of a unit goes to
/// headers that all of them include, so few large files take a third of the time of 187 units; eight keep the cores
/// busy. (Debian 12's g++, one core: 152 s for the units, 49 s for eight files and the tiles.)
const FILES: usize = 8;

/// Compiles every unit into a static library and returns the table of its functions.
pub(crate) fn compile(folder: &Path, out: &Path, units: &[Unit<'_>]) -> Result<String> {
    let lanes = if cfg!(feature = "host64") { "64" } else { "32" };
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .std("c++17")
        // Fixed: a debug build would take minutes to run, an optimised one minutes to compile.
        .opt_level(1)
        .debug(false)
        .warnings(false)
        .define("DTW_HOST", None)
        .define("DTW_LANES", lanes)
        // The device fuses where the source says fma, and nowhere else.
        .flag("-ffp-contract=off")
        .include(folder.join("native"));
    // Without this flag each `fma` is a call of the C library. Those calls took a tenth of the tests' time.
    #[cfg(target_arch = "x86_64")]
    if std::env::var("TARGET") == std::env::var("HOST") && std::arch::is_x86_feature_detected!("fma") {
        build.flag("-mfma");
    }
    for name in ["fences", "waits", "contract"] {
        build.file(folder.join(format!("native/vendor/{name}.cpp")));
    }
    for (name, text) in files(units) {
        let path = out.join(format!("{name}.cpp"));
        std::fs::write(&path, text)?;
        build.file(path);
    }
    let (mut declarations, mut table) = (String::new(), String::new());
    for kernel in units.iter().flat_map(|unit| &unit.kernels) {
        let symbol = &kernel.symbol;
        let _ = writeln!(
            declarations,
            "fn {symbol}_host(params: *const u8, blocks: u32, warps: u32, seed: u32) -> bool;"
        );
        let _ = writeln!(table, "({symbol:?}, {symbol}_host),");
    }
    // Miri calls no foreign function, and `cargo check` links none.
    println!("cargo::rerun-if-env-changed=DTWAVE_HOST_KERNELS");
    let skipped = std::env::var_os("DTWAVE_HOST_KERNELS").is_some_and(|value| value == "skip");
    if std::env::var_os("CARGO_CFG_MIRI").is_none() && !skipped {
        build.try_compile("dtw_kernels_host").map_err(|error| {
            format!(
                "the feature `host` of dtw-kernels needs a C++17 compiler (set CXX, or install g++ or clang): {error}"
            )
        })?;
    }
    Ok(format!(
        "// SAFETY: native/vendor/host.cuh defines functions of this type for the kernels of the units.\n\
         unsafe extern \"C\" {{\n{declarations}}}\nstatic KERNELS: &[(&str, Function)] = &[\n{table}];\n"
    ))
}

/// The source files: their names and texts. Neighbours in the table share a file, about as many kernels in each.
fn files(units: &[Unit<'_>]) -> Vec<(String, String)> {
    let (tiles, sweeps): (Vec<_>, Vec<_>) =
        units.iter().partition(|unit| unit.includes.iter().any(|name| name == TILES));
    let mut files = vec![("tiles".to_owned(), tiles)];
    let most = sweeps.iter().map(|unit| unit.kernels.len()).sum::<usize>().div_ceil(FILES);
    let (mut file, mut kernels) = (Vec::new(), 0);
    for unit in sweeps {
        kernels += unit.kernels.len();
        file.push(unit);
        if kernels >= most {
            files.push((format!("sweeps_{}", files.len()), std::mem::take(&mut file)));
            kernels = 0;
        }
    }
    files.push((format!("sweeps_{}", files.len()), file));
    files.into_iter().map(|(name, units)| (name, text(&units))).collect()
}

/// The text of a file of these units.
fn text(units: &[&Unit<'_>]) -> String {
    let includes: BTreeSet<&String> = units.iter().flat_map(|unit| &unit.includes).collect();
    let includes = includes.into_iter().map(|name| format!("#include \"{name}\"\n"));
    let kernels = units.iter().flat_map(|unit| &unit.kernels).map(|kernel| format!("{}\n", kernel.source));
    includes.chain(kernels).collect()
}
