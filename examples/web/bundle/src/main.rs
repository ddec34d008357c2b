//! Writes the JavaScript that loads a WebAssembly module: `bundle MODULE.wasm FOLDER NAME`.
//!
//! This is what the `wasm-bindgen` command does. As a program of this workspace it has the version of the library that
//! the module was compiled with, and nobody has to install it.

#![forbid(unsafe_code)]

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        anyhow::bail!("usage: bundle MODULE.wasm FOLDER NAME");
    };
    Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(false)
        .generate(folder)
        .with_context(|| format!("cannot bundle {module}"))
}
