//! The kernels compiled for this CPU, and a table of them for src/host.rs to include.

use std::fmt::Write as _;
use std::path::Path;

use crate::Result;
use crate::sources::Unit;

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
    for name in ["fences", "waits", "contract"] {
        build.file(folder.join(format!("native/vendor/{name}.cpp")));
    }
    let (mut declarations, mut table) = (String::new(), String::new());
    for unit in units {
        let mut text = unit.prologue();
        for kernel in &unit.kernels {
            let symbol = &kernel.symbol;
            let _ = writeln!(text, "{}", kernel.source);
            let _ = writeln!(
                declarations,
                "fn {symbol}_host(params: *const u8, blocks: u32, warps: u32, seed: u32) -> bool;"
            );
            let _ = writeln!(table, "({symbol:?}, {symbol}_host),");
        }
        let path = out.join(format!("{}.cpp", unit.name));
        // Only if it differs, so that unchanged units keep their times.
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text.as_str()) {
            std::fs::write(&path, text)?;
        }
        build.file(path);
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
