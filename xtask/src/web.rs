//! `cargo xtask web`: builds the page of examples/web, serves it, and tests it in a browser.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

use crate::command::{cargo, needs, program, root, rustup};

const TARGET: &str = "wasm32-unknown-unknown";

#[derive(Args)]
pub(crate) struct Options {
    /// Open the page in a headless Chromium, where WebGPU computes in software, and compare its numbers with the
    /// processor's. Needs Node.js and Chromium (another one than `chromium` is named by CHROMIUM).
    #[arg(long)]
    test: bool,

    /// With --test: also write pictures of the page into this folder
    #[arg(long, value_name = "FOLDER", requires = "test")]
    pictures: Option<String>,

    /// Serve the page on localhost until interrupted. Needs Node.js.
    #[arg(long, conflicts_with = "test")]
    serve: bool,

    /// With --serve: the port
    #[arg(long, value_name = "PORT", requires = "serve", default_value_t = 8080)]
    port: u16,
}

/// Builds the page, and does what else is asked for.
pub(crate) fn web(options: &Options) -> Result<()> {
    rustup(&["target", "add", TARGET])?;
    let built = root().join("target/web");
    let page = built.join("page");
    let workspace =
        ["--locked", "--manifest-path", "examples/web/Cargo.toml", "--target-dir", "target/web/build"];
    cargo(&["build", "--release", "--target", TARGET, "-p", "dtwave-web"], &[])
        .arguments(&workspace)
        .env("RUSTFLAGS", "-C target-feature=+simd128")
        .run()?;
    // Nothing of an earlier build stays.
    if page.exists() {
        fs::remove_dir_all(&page).with_context(|| format!("cannot delete {}", page.display()))?;
    }
    fs::create_dir_all(&page).with_context(|| format!("cannot make {}", page.display()))?;
    let module = built.join("build").join(TARGET).join("release/dtwave_web.wasm");
    cargo(&["run", "-p", "bundle"], &[])
        .arguments(&workspace)
        .arguments(&["--", &text(&module), &text(&page), "dtwave"])
        .run()?;
    let sources = root().join("examples/web/page");
    for entry in fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))? {
        let from = entry?.path();
        let to = page.join(from.file_name().unwrap_or_default());
        fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
    }
    println!("{}: serve it with `cargo xtask web --serve`", page.display());
    if options.serve || options.test {
        needs("node", "nodejs")?;
    }
    if options.serve {
        program("node", &["examples/web/serve.mjs", &text(&page), &options.port.to_string()]).run()?;
    }
    if options.test {
        let mut arguments = vec!["examples/web/test.mjs".to_owned(), text(&page)];
        arguments.extend(options.pictures.clone());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        program("node", &arguments).run()?;
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
