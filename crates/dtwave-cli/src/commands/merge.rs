//! `dtwave merge MATRIX`: the matrix of its shards.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

use super::common::Format;
use crate::engine;
use crate::matrix::Shards;
use crate::progress::Progress;
use crate::report;
use crate::signals::Cancel;

/// Put the shards of a matrix together, which `dtwave pairwise` computed
#[derive(Debug, Args)]
#[command(after_help = "\
Finds FILE.shard-1-of-N and the others beside FILE. They must all be there, finished, and of the same inputs and options; \
their checksums are compared. On the CPU, the result has the bytes of one run without shards. If the run is \
interrupted, the same command continues it.

Examples:
  dtwave merge distances.npy
  dtwave merge distances.npy --remove")]
pub(crate) struct MergeArgs {
    /// The matrix: the name that the shards were given, a .npy file
    #[arg(value_name = "FILE")]
    out: PathBuf,

    /// Delete the shards once the matrix is written
    #[arg(long)]
    remove: bool,
}

pub(super) fn run(args: &MergeArgs, cancel: &Cancel) -> Result<()> {
    let shown = args.out.display();
    let name = args.out.to_string_lossy();
    if let Some((matrix, _)) = name.rsplit_once(".npy.shard-") {
        bail!("{shown} is a shard; name the matrix: dtwave merge {matrix}.npy")
    }
    Format::of(&args.out, &[Format::Npy])?;
    let shards = Shards::find(&args.out)?;
    let target = engine::take(&args.out)?;
    let progress = Progress::of_amount("merge", shards.value_bytes());
    cancel.keeps("; the same command continues".to_owned());
    let advance = |bytes| progress.advance(bytes);
    let notes = match shards.job().element_bytes {
        4 => shards.merge::<f32>(target, advance)?,
        _ => shards.merge::<f64>(target, advance)?,
    };
    drop(progress);
    cancel.keeps(format!("; the distances are in {shown}"));
    notes.iter().for_each(|note| report::warn(note));
    let ([n, m], count) = (shards.job().shape, shards.count());
    let removed = if args.remove {
        shards.remove()?;
        "which are deleted"
    } else {
        "which may be deleted now, as --remove does"
    };
    report::print_line(&format!("{n} × {m} distances in {shown}, of {count} shards, {removed}"))
}
