//! Interrupted matrices, damaged at random: what resuming makes of them is the right matrix, or one line of error.

use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::{Result, Unstructured};
use dtwave_results::matrix::{self, Identity, Opened, Start, Tile};
use dtwave_results::{NpyElement, Target};

use crate::guard;

/// Runs one input: a matrix of a few rows and columns, stopped, damaged, resumed.
pub fn resume(choices: &mut Unstructured<'_>) -> Result<()> {
    if choices.arbitrary()? { resumed::<f32>(choices) } else { resumed::<f64>(choices) }
}

fn resumed<T: NpyElement + From<f32>>(choices: &mut Unstructured<'_>) -> Result<()> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("d.npy");
    let identity = identity(T::BYTES, choices)?;
    let expected = folder.path().join("expected.npy");
    run::<T>(&expected, &identity, Start::Fresh, 64, usize::MAX).expect("an undisturbed run");
    let expected = fs::read(expected).expect("its result");

    let edge = choices.int_in_range(1..=5)?;
    let stop = choices.int_in_range(0..=tiles(&identity, edge).len() - 1)?;
    run::<T>(&out, &identity, Start::Fresh, edge, stop).expect("an undisturbed run");
    for _ in 0..choices.int_in_range(0..=3)? {
        damage(&out, choices)?;
    }
    let start = if choices.ratio(1, 8)? { Start::Fresh } else { Start::Resume };
    let edge = choices.int_in_range(1..=5)?;
    match guard::guarded(|| run::<T>(&out, &identity, start, edge, usize::MAX)) {
        Ok(true) => assert_eq!(fs::read(&out).expect("the result"), expected, "damage came out as a result"),
        // A file of the right shape under the final name: whose it is, its reader has to find out.
        Ok(false) => {}
        Err(error) => {
            let message = format!("{error:#}");
            assert!(!message.contains('\n') && message.len() < 2000, "{message:?}");
        }
    }
    Ok(())
}

fn identity(element_bytes: usize, choices: &mut Unstructured<'_>) -> Result<Identity> {
    let symmetric = choices.arbitrary()?;
    let rows = choices.int_in_range(1..=9)?;
    let columns = if symmetric { rows } else { choices.int_in_range(1..=9)? };
    let options = vec![("--measure".to_owned(), "dtw".to_owned())];
    Ok(Identity { shape: [rows, columns], element_bytes, symmetric, options, inputs: Vec::new() })
}

/// A value for each pair, symmetric, never zero, no two alike.
fn value<T: From<f32>>(i: usize, j: usize) -> T {
    T::from((1 + 16 * i.min(j) + i.max(j)) as f32)
}

fn tiles(identity: &Identity, edge: usize) -> Vec<Tile> {
    let [rows, columns] = identity.shape;
    let blocks = |extent: usize| (0..extent).step_by(edge).map(move |s| s..(s + edge).min(extent));
    blocks(rows)
        .flat_map(|rows| blocks(columns).map(move |columns| Tile { rows: rows.clone(), columns }))
        .filter(|tile| !identity.symmetric || tile.rows.start <= tile.columns.start)
        .collect()
}

/// Writes up to `limit` of the tiles that are missing and finishes if none is left; false for a file of unknown origin.
fn run<T: NpyElement + From<f32>>(
    out: &Path,
    identity: &Identity,
    start: Start,
    edge: usize,
    limit: usize,
) -> anyhow::Result<bool> {
    let mut writer = match matrix::open::<T>(Target::take(out)?, identity, start)? {
        Opened::Unfinished(writer, _) => writer,
        Opened::Finished => return Ok(true),
        Opened::Named(_) => return Ok(false),
    };
    let missing: Vec<Tile> = tiles(identity, edge).into_iter().filter(|tile| !writer.has(tile)).collect();
    for tile in missing.iter().take(limit) {
        let values: Vec<T> =
            tile.rows.clone().flat_map(|i| tile.columns.clone().map(move |j| value(i, j))).collect();
        writer.write(tile, &values)?;
    }
    if missing.len() <= limit {
        writer.finish()?;
    }
    Ok(true)
}

fn beside(out: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", out.display()))
}

/// Does one thing to what an interrupted run left.
fn damage(out: &Path, choices: &mut Unstructured<'_>) -> Result<()> {
    let (partial, progress) = (beside(out, ".partial"), beside(out, ".progress"));
    let file = if choices.arbitrary()? { &partial } else { &progress };
    // Whatever is not there cannot be damaged.
    match choices.int_in_range(0..=7)? {
        0 => drop(fs::remove_file(file)),
        1 => drop(fs::rename(&partial, out)),
        2 => drop(fs::write(out.with_file_name(".d.npy.dtwave"), choices.bytes(choices.len().min(40))?)),
        3 | 4 => rewrite(file, |bytes| {
            if !bytes.is_empty() {
                let at = choices.choose_index(bytes.len())?;
                bytes[at] ^= 1 << choices.int_in_range(0..=7)?;
            }
            Ok(())
        })?,
        5 => rewrite(file, |bytes| {
            let length = choices.int_in_range(0..=2 * bytes.len())?;
            bytes.resize(length, choices.arbitrary()?);
            Ok(())
        })?,
        _ => rewrite(&progress, |bytes| {
            *bytes = forged(bytes, choices)?;
            Ok(())
        })?,
    }
    Ok(())
}

fn rewrite(file: &Path, change: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let Ok(mut bytes) = fs::read(file) else { return Ok(()) };
    change(&mut bytes)?;
    fs::write(file, bytes).expect("the folder can be written to");
    Ok(())
}

/// A progress file with other records, whose own checksums are right.
fn forged(bytes: &[u8], choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut records: Vec<String> =
        text.lines().filter_map(|line| line.rsplit_once(' ')).map(|(text, _)| text.to_owned()).collect();
    if records.is_empty() {
        return Ok(bytes.to_vec());
    }
    for _ in 0..choices.int_in_range(1..=4)? {
        let at = choices.choose_index(records.len())?;
        let mut words: Vec<String> = records[at].split(' ').map(str::to_owned).collect();
        let word = choices.choose_index(words.len())?;
        const NUMBERS: &[&str] = &["0", "1", "2", "5", "9", "18446744073709551615", "-1", "", "é"];
        match choices.int_in_range(0..=4)? {
            0 => words[word] = (*choices.choose(NUMBERS)?).to_owned(),
            1 => drop(words.remove(word)),
            2 => words.swap(word, 0),
            3 => {
                // Many records, as a run of many tiles leaves them.
                let copies = if choices.ratio(1, 16)? { choices.int_in_range(0..=20_000)? } else { 1 };
                let copy = records[at].clone();
                records.extend(std::iter::repeat_n(copy, copies));
            }
            _ => {
                let characters: Vec<char> = words[word].chars().collect();
                if !characters.is_empty() {
                    let k = choices.choose_index(characters.len())?;
                    words[word] =
                        characters.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, c)| *c).collect();
                }
            }
        }
        records[at] = words.join(" ");
    }
    let lines = records.iter().map(|text| format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes())));
    Ok(lines.collect::<String>().into_bytes())
}
