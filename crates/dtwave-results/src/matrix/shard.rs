//! A shard of a matrix: some of its tiles, in a file of its own beside the matrix.
//!
//! Shards share no file, because network file systems have no locks that all machines obey. While it is computed,
//! `<out>.shard-3-of-16.partial` has the values and `<out>.shard-3-of-16.progress` says which, as of a matrix. Only its
//! own tiles take space. Finished, it is one file (`seal.rs`).

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};

use super::blocked::Blocked;
use super::identity::{Difference, Identity};
use super::journal::Journal;
use super::open::{Files, Opened, beside, judged};
use super::seal::{Seal, Sealed, header};
use super::tile::Tile;
use super::values::Layout;
use super::writer::MatrixWriter;
use crate::{NpyElement, Target, explain};

/// Which of how many shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    count: usize,
    number: usize,
}

impl Part {
    /// Most shards of a matrix.
    pub const MOST: usize = 1_000_000;

    /// Shard `number`, from 1 on, of `count`.
    pub fn new(number: usize, count: usize) -> Option<Self> {
        ((1..=count).contains(&number) && count <= Self::MOST).then_some(Self { count, number })
    }

    /// Its number, from 1 on.
    pub fn number(self) -> usize {
        self.number
    }

    /// How many shards there are.
    pub fn count(self) -> usize {
        self.count
    }

    /// The file of this shard of the matrix at `out`.
    pub fn file(self, out: &Path) -> PathBuf {
        beside(out, &format!(".shard-{}-of-{}", self.number, self.count))
    }
}

/// `3/16`, as on the command line.
impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/');
        let part = numbers.and_then(|(number, count)| Part::new(number.parse().ok()?, count.parse().ok()?));
        part.ok_or_else(|| {
            format!(
                "expected which shard of how many, as 3/16, the first being 1 and at most {} in all, got '{text}'",
                Self::MOST
            )
        })
    }
}

/// Opens a shard of the matrix of `job` for writing, and continues one that is unfinished; `target` is [`Part::file`].
///
/// `tiles` are its tiles, in an order that is the same every time. All shards of a matrix, one behind the other, must
/// have the tiles of the matrix row by row, those of a symmetric one from the diagonal on.
///
/// # Errors
/// Where files of another job have its names, where a finished shard is damaged, and where files cannot be read or
/// written.
pub fn open_shard<T: NpyElement>(
    target: Target,
    job: &Identity,
    part: Part,
    tiles: Vec<Tile>,
) -> Result<Opened<T>> {
    assert_eq!(job.element_bytes, T::BYTES, "the identity must name the element type");
    let out = target.file()?.to_path_buf();
    let header = header(job, part.number, part.count)?;
    let value_bytes = tiles.iter().map(|tile| tile.len() as u64 * T::BYTES as u64).sum::<u64>();
    let total_bytes = header.len() as u64 + value_bytes;
    let (partial, progress) = (beside(&out, ".partial"), beside(&out, ".progress"));
    let files = Files { out, partial, progress, header, total_bytes, layout: Layout::packed(&tiles) };
    let mut identity = job.clone();
    identity.options.push(("--shard".to_owned(), part.to_string()));

    let mut notes = Vec::new();
    if files.out.exists() {
        check_finished(&files, job, part, &tiles)?;
        if files.progress.exists() {
            fs::remove_file(&files.progress).map_err(|e| explain(&files.progress, &e))?;
        }
        return Ok(Opened::Finished);
    }
    let (journal, values) = match Journal::open(&files.progress, &identity)? {
        Some(journal) => files.continued(&identity, journal, &mut notes)?,
        None => {
            if files.partial.exists() {
                let partial = files.partial.display();
                notes.push(format!("{partial} has lost its progress file and is written anew"));
            }
            files.created(&identity)?
        }
    };
    let Files { partial, progress, .. } = files;
    let writer = MatrixWriter::new(target, [partial, progress], &identity, values, journal);
    Ok(Opened::Unfinished(Box::new(writer.sealed(Seal { tiles, start: total_bytes })), notes))
}

/// Hands the tiles of a finished shard to `visit`, in order, with their values, row-major.
///
/// # Errors
/// If the file cannot be read, is of another number type, or is damaged.
pub fn read_shard<T: NpyElement>(path: &Path, mut visit: impl FnMut(&Tile, &[T])) -> Result<()> {
    let sealed = Sealed::read(path)?;
    ensure!(sealed.job.element_bytes == T::BYTES, "{} has numbers of another type", path.display());
    let (mut values, mut of_tile) = (sealed.values()?, Vec::new());
    for done in &sealed.tiles {
        values.read(done, &mut of_tile)?;
        visit(&done.tile, &of_tile);
    }
    Ok(())
}

/// Refuses a finished file that is not this shard, or not sound.
fn check_finished(files: &Files, job: &Identity, part: Part, tiles: &[Tile]) -> Result<()> {
    let sealed = Sealed::read(&files.out)?;
    let other = |difference| Blocked::OtherJob { difference, progress: files.out.clone() };
    if let Some(difference) = job.difference(&sealed.job) {
        bail!(other(difference));
    }
    sealed.check_name(part.number, part.count)?;
    if !sealed.tiles.iter().map(|done| &done.tile).eq(tiles) {
        let told = |tiles: &mut dyn Iterator<Item = &Tile>| {
            let tiles: Vec<String> =
                tiles.map(|Tile { rows, columns }| format!("{rows:?} × {columns:?}")).collect();
            format!("{} tiles ({} …)", tiles.len(), tiles.first().map_or("", |tile| tile))
        };
        bail!(other(Difference {
            name: "the cut of this shard".to_owned(),
            then: told(&mut sealed.tiles.iter().map(|done| &done.tile)),
            now: told(&mut tiles.iter()),
        }));
    }
    let judged =
        File::open(&files.out).and_then(|file| judged(&mut files.values(file, job), job, &sealed.tiles));
    let (_, damaged) = judged.with_context(|| format!("cannot read {}", files.out.display()))?;
    if damaged > 0 { Err(sealed.damaged(damaged)) } else { Ok(()) }
}
