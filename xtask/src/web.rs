//! `cargo xtask web`: builds the page of examples/web, serves it, and tests it in a browser.

use anyhow::Result;
use clap::Args;
use xshell::cmd;

use crate::command::{add_target, needs, shell};

const TARGET: &str = "wasm32-unknown-unknown";

/// Where the page is built.
const PAGE: &str = "target/web/page";

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
    let sh = shell()?;
    add_target(&sh, TARGET)?;
    let workspace =
        ["--locked", "--manifest-path", "examples/web/Cargo.toml", "--target-dir", "target/web/build"];
    cmd!(sh, "cargo build --release --target {TARGET} -p dtwave-web {workspace...}")
        .env("RUSTFLAGS", "-C target-feature=+simd128")
        .run()?;
    // Nothing of an earlier build stays.
    sh.remove_path(PAGE)?;
    sh.create_dir(PAGE)?;
    let module = format!("target/web/build/{TARGET}/release/dtwave_web.wasm");
    cmd!(sh, "cargo run -p bundle {workspace...} -- {module} {PAGE} dtwave").run()?;
    for file in sh.read_dir("examples/web/page")? {
        sh.copy_file(file, PAGE)?;
    }
    println!("{PAGE}: serve it with `cargo xtask web --serve`");
    if options.serve || options.test {
        needs(&sh, "node", "Debian: nodejs")?;
    }
    if options.serve {
        let port = options.port.to_string();
        cmd!(sh, "node examples/web/serve.mjs {PAGE} {port}").run()?;
    }
    if options.test {
        let pictures = &options.pictures;
        cmd!(sh, "node examples/web/test.mjs {PAGE} {pictures...}").run()?;
    }
    Ok(())
}
