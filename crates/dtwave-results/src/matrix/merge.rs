//! The matrix of all shards of it: the same bytes as one process would have written.
//!
//! Everything that the shards say of themselves is compared first: that all are there and finished, that they are of
//! one job, and that their tiles, one shard behind the other, are those of the matrix, each once. Then their values are
//! written as those of any matrix are (`writer.rs`), so that a run that is stopped leaves no result that looks whole,
//! and the next run goes on. Each tile is compared with its checksum on the way. Memory: six tiles.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::identity::{Difference, Identity};
use super::open::{Opened, Start, beside, open};
use super::seal::Sealed;
use super::shard::Part;
use super::tile::Tile;
use crate::places::folder_of;
use crate::{NpyElement, Target, explain};

/// The finished shards of a matrix: all of them, of one job. Their values are not read yet.
#[derive(Debug)]
pub struct Shards {
    out: PathBuf,
    files: Vec<Sealed>,
}

impl Shards {
    /// Finds the shards beside the matrix at `out`.
    ///
    /// # Errors
    /// Where one is missing, unfinished, damaged or of another job; where there are shards of two counts, or none.
    pub fn find(out: &Path) -> Result<Self> {
        let found = beside_matrix(out)?;
        let shown = out.display();
        let Some((first, _)) = found.first() else {
            bail!(
                "there are no shards of {shown} beside it; compute them with dtwave pairwise, -o {shown} and --shard 1/N, \
                 2/N … up to N/N"
            )
        };
        let count = first.count();
        if let Some((other, _)) = found.iter().find(|(part, _)| part.count() != count) {
            bail!(
                "beside {shown} are shards of {count} and of {}, as {} and {}; delete those of one of the two",
                other.count(),
                first.file(out).display(),
                other.file(out).display()
            )
        }
        check_complete(out, count, &found)?;
        let mut files: Vec<Sealed> = Vec::with_capacity(found.len());
        for (part, _) in &found {
            let sealed = Sealed::read(&part.file(out))?;
            sealed.check_name(part.number(), count)?;
            if let Some(first) = files.first() {
                check_job(first, &sealed)?;
            }
            files.push(sealed);
        }
        check_cover(&files)?;
        Ok(Shards { out: out.to_path_buf(), files })
    }

    /// The job that they are of.
    pub fn job(&self) -> &Identity {
        &self.files[0].job
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Bytes of values in all of them.
    pub fn value_bytes(&self) -> u64 {
        let tiles = self.files.iter().flat_map(|sealed| &sealed.tiles);
        tiles.map(|done| (done.tile.len() * self.job().element_bytes) as u64).sum()
    }

    /// Their files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|sealed| sealed.path.as_path())
    }

    /// Writes the matrix to `target`. `advance` is told how many bytes of values were dealt with; the result is what to
    /// tell of files that were found.
    ///
    /// # Errors
    /// Where a tile does not match its checksum; the matrix is not named then, and a later call goes on. Where a file
    /// cannot be read or written, and where an unfinished matrix of another job is there.
    pub fn merge<T: NpyElement>(&self, target: Target, mut advance: impl FnMut(u64)) -> Result<Vec<String>> {
        let start = if beside(target.file()?, ".progress").exists() { Start::Resume } else { Start::Fresh };
        let (mut writer, notes) = match open::<T>(target, self.job(), start)? {
            Opened::Unfinished(writer, notes) => (writer, notes),
            Opened::Finished => return Ok(Vec::new()),
            Opened::Named(_) => bail!(
                "cannot write {}: its progress file went away; make sure that no other dtwave writes it",
                self.out.display()
            ),
        };
        let mut values = Vec::new();
        for sealed in &self.files {
            let mut own = sealed.values()?;
            for done in &sealed.tiles {
                if writer.has(&done.tile) {
                    own.skip::<T>(done);
                } else {
                    own.read(done, &mut values)?;
                    writer.write(&done.tile, &values)?;
                }
                advance((done.tile.len() * T::BYTES) as u64);
            }
        }
        writer.finish()?;
        Ok(notes)
    }

    /// Deletes the shards.
    ///
    /// # Errors
    /// Where one cannot be deleted.
    pub fn remove(self) -> Result<()> {
        for sealed in &self.files {
            fs::remove_file(&sealed.path).map_err(|e| explain(&sealed.path, &e))?;
        }
        Ok(())
    }
}

/// The shards whose files lie beside the matrix at `out`, in order, and whether each is finished.
fn beside_matrix(out: &Path) -> Result<Vec<(Part, bool)>> {
    let folder = folder_of(out);
    let reading = || format!("cannot read the folder {}", folder.display());
    let Some(name) = out.file_name() else { bail!("expected a file name, got {}", out.display()) };
    let mut found: Vec<(Part, bool)> = Vec::new();
    for entry in fs::read_dir(folder).with_context(reading)? {
        let other = entry.with_context(reading)?.file_name();
        let rest = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let Some(rest) = rest.and_then(|rest| std::str::from_utf8(rest).ok()) else { continue };
        let (rest, is_finished) = match rest.strip_suffix(".partial").or(rest.strip_suffix(".progress")) {
            Some(rest) => (rest, false),
            None => (rest, true),
        };
        let numbers = rest.strip_prefix(".shard-").and_then(|rest| rest.split_once("-of-"));
        let part = numbers.and_then(|(number, count)| Part::new(number.parse().ok()?, count.parse().ok()?));
        // A name that this crate does not write is somebody else's.
        let own = part.filter(|part| part.file(Path::new("")).as_os_str() == rest);
        found.extend(own.map(|part| (part, is_finished)));
    }
    // The finished file first, where a part has several.
    found.sort_by_key(|(part, is_finished)| (*part, !is_finished));
    found.dedup_by_key(|(part, _)| *part);
    Ok(found)
}

/// Refuses shards of which some are missing or unfinished.
fn check_complete(out: &Path, count: usize, found: &[(Part, bool)]) -> Result<()> {
    let state = |number: usize| {
        let at = found.binary_search_by_key(&number, |(part, _)| part.number());
        at.ok().map(|at| found[at].1)
    };
    let of = |wanted: Option<bool>| (1..=count).filter(move |number| state(*number) == wanted);
    let told = |numbers: &mut dyn Iterator<Item = usize>, what: &str| {
        let numbers = runs(numbers);
        match numbers.parse() {
            Ok(number) => {
                Part::new(number, count).map(|part| format!("{} is {what}", part.file(out).display()))
            }
            Err(_) if numbers.is_empty() => None,
            Err(_) => Some(format!("of the {count} shards of {}, {numbers} are {what}", out.display())),
        }
    };
    let parts = [told(&mut of(None), "missing"), told(&mut of(Some(false)), "unfinished")];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let Some(first) = (1..=count).find(|number| state(*number) != Some(true)) else { return Ok(()) };
    let rest = if count - found.iter().filter(|(_, is_finished)| *is_finished).count() > 1 {
        " and so on"
    } else {
        ""
    };
    let is_begun = found.iter().any(|(_, is_finished)| !is_finished);
    bail!(
        "{}; run the command of the others with --shard {first}/{count}{rest}{}",
        parts.join("; "),
        if is_begun { ", an unfinished one goes on where it was" } else { "" }
    )
}

/// Numbers as an array of jobs has them: `3,5-8,12`.
fn runs(numbers: &mut dyn Iterator<Item = usize>) -> String {
    const MOST: usize = 20;
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let rest = runs.len().saturating_sub(MOST);
    runs.truncate(MOST);
    let texts: Vec<String> = runs
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let rest = if rest > 0 { format!(" and {rest} more runs") } else { String::new() };
    texts.join(",") + &rest
}

fn check_job(first: &Sealed, other: &Sealed) -> Result<()> {
    if let Some(Difference { name, then, now }) = other.job.difference(&first.job) {
        bail!(
            "{} and {} are of different jobs: {name} was {then} in the first and {now} in the second; delete the wrong one, \
             and run its command again as it should be, with its --shard",
            first.path.display(),
            other.path.display()
        )
    }
    Ok(())
}

/// Whether the tiles, in the order of the shards, are those of the matrix: row by row, each value once.
fn check_cover(files: &[Sealed]) -> Result<()> {
    let Identity { shape: [n, m], symmetric, .. } = files[0].job;
    // Before the first tile, as after the last of a row of tiles.
    let (mut rows, mut column) = (0..0, m);
    let mut wrong = None;
    for sealed in files {
        for Tile { rows: own, columns } in sealed.tiles.iter().map(|done| &done.tile) {
            let begins = column == m;
            let fits = if begins {
                own.start == rows.end && if symmetric { columns == own } else { columns.start == 0 }
            } else {
                *own == rows && columns.start == column
            };
            if !fits {
                wrong.get_or_insert(sealed);
            }
            (rows, column) = (own.clone(), columns.end);
        }
    }
    if (rows.end, column) != (n, m) {
        wrong = wrong.or(files.last());
    }
    match wrong {
        None => Ok(()),
        Some(sealed) => bail!(
            "{} does not have the tiles that follow those of the shards before it; delete it and run its command again, \
             with --shard {}/{}",
            sealed.path.display(),
            sealed.number,
            sealed.count
        ),
    }
}
