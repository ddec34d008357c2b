//! Shards: merged they are the matrix, whatever happened to them on the way, or one line of error.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::journal::record;
use super::open::beside;
use super::tests::{expected, fill, identity, tiles};
use super::*;
use crate::{NpyElement, Target};

/// The tiles of a part: consecutive ones.
fn own(identity: &Identity, part: Part) -> Vec<Tile> {
    let all = tiles(identity, 2);
    let cut = |number: usize| number * all.len() / part.count();
    all[cut(part.number() - 1)..cut(part.number())].to_vec()
}

fn part(number: usize, count: usize) -> Part {
    Part::new(number, count).unwrap()
}

/// Writes up to `limit` tiles of a shard that are missing, and finishes it if none is left; what was told.
fn shard_of<T: NpyElement>(
    out: &Path,
    identity: &Identity,
    part: Part,
    limit: usize,
    number: impl Fn(f64) -> T,
) -> Result<Vec<String>> {
    let all = own(identity, part);
    let target = Target::take(&part.file(out))?;
    let (mut writer, notes) = match open_shard::<T>(target, identity, part, all.clone())? {
        Opened::Unfinished(writer, notes) => (writer, notes),
        Opened::Finished => return Ok(vec!["finished".to_owned()]),
        Opened::Named(_) => panic!("a shard says whose it is"),
    };
    let missing: Vec<&Tile> = all.iter().filter(|tile| !writer.has(tile)).collect();
    for tile in missing.iter().take(limit) {
        writer.write(tile, &fill(tile).into_iter().map(&number).collect::<Vec<T>>())?;
    }
    if missing.len() <= limit {
        writer.finish()?
    } else {
        writer.pause()?
    }
    Ok(notes)
}

fn shard(out: &Path, identity: &Identity, part: Part, limit: usize) -> Result<Vec<String>> {
    shard_of::<f64>(out, identity, part, limit, |value| value)
}

fn shards(out: &Path, identity: &Identity, count: usize) {
    (1..=count).for_each(|number| drop(shard(out, identity, part(number, count), usize::MAX).unwrap()));
}

fn merge(out: &Path) -> Result<Vec<String>> {
    let shards = Shards::find(out)?;
    let (mut told, all) = (0, shards.value_bytes());
    let notes = shards.merge::<f64>(Target::take(out)?, |bytes| told += bytes)?;
    assert_eq!(told, all);
    Ok(notes)
}

/// What merging says is wrong; nothing has the name of the result.
fn refused(out: &Path) -> String {
    let error = format!("{:#}", merge(out).expect_err("the shards should be refused"));
    assert!(!out.exists() && !error.contains('\n'), "{error}");
    error
}

fn bench() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.npy");
    (folder, out)
}

#[test]
fn merged_shards_are_the_matrix() {
    for symmetric in [false, true] {
        let identity = identity(symmetric);
        for count in [1, 2, 3, tiles(&identity, 2).len(), 30] {
            let (folder, out) = bench();
            shards(&out, &identity, count);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), count);
            assert!(merge(&out).unwrap().is_empty());
            let whole = expected(folder.path(), &identity);
            assert!(fs::read(&out).unwrap() == whole, "{symmetric} {count}");
            // Again, over the result of before.
            merge(&out).unwrap();
            assert!(fs::read(&out).unwrap() == whole, "{symmetric} {count}");
            Shards::find(&out).unwrap().remove().unwrap();
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        }
    }
}

#[test]
fn shards_of_f32_are_merged_too() {
    let identity = Identity { element_bytes: 4, ..identity(true) };
    let (_folder, out) = bench();
    (1..=3).for_each(|number| {
        drop(shard_of(&out, &identity, part(number, 3), usize::MAX, |value| value as f32).unwrap());
    });
    let shards = Shards::find(&out).unwrap();
    assert_eq!((shards.count(), shards.job()), (3, &identity));
    shards.merge::<f32>(Target::take(&out).unwrap(), |_| {}).unwrap();
    let bytes = fs::read(&out).unwrap();
    let values = crate::npy_values::<f32>(&bytes[..], &identity.shape).unwrap();
    let all = fill(&Tile { rows: 0..7, columns: 0..7 });
    assert!(values.map(Result::unwrap).eq(all.into_iter().map(|value| value as f32)));
}

/// A shard takes the space of its own tiles.
#[test]
fn a_shard_has_its_own_tiles_only() {
    let identity = identity(true);
    let (_folder, out) = bench();
    for number in 1..=3 {
        let own = own(&identity, part(number, 3));
        shard(&out, &identity, part(number, 3), 1).unwrap();
        let path = part(number, 3).file(&out);
        let header = fs::read(beside(&path, ".partial")).unwrap();
        let header = header.iter().position(|b| *b == b'\n').unwrap() + 1;
        let values: usize = own.iter().map(|tile| 8 * tile.rows.len() * tile.columns.len()).sum();
        assert_eq!(fs::metadata(beside(&path, ".partial")).unwrap().len() as usize, header + values);
        shard(&out, &identity, part(number, 3), usize::MAX).unwrap();
        let mut read = Vec::new();
        read_shard::<f64>(&path, |tile, values| read.push((tile.clone(), values.to_vec()))).unwrap();
        assert_eq!(read, own.iter().map(|tile| (tile.clone(), fill(tile))).collect::<Vec<_>>());
        assert!(read_shard::<f32>(&path, |_, _| {}).unwrap_err().to_string().contains("another type"));
    }
}

#[test]
fn a_shard_stopped_anywhere_goes_on_to_the_same_file() {
    let identity = identity(true);
    let (_folder, out) = bench();
    let (part, path) = (part(2, 2), part(2, 2).file(&out));
    let [partial, progress] = [".partial", ".progress"].map(|suffix| beside(&path, suffix));
    shard(&out, &identity, part, usize::MAX).unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(shard(&out, &identity, part, 0).unwrap(), ["finished"]);
    assert_eq!(fs::read(&path).unwrap(), whole);
    fs::remove_file(&path).unwrap();
    let all = own(&identity, part).len();
    for stop in 0..all {
        shard(&out, &identity, part, stop).unwrap();
        assert!(!path.exists() && partial.exists());
        assert!(shard(&out, &identity, part, usize::MAX).unwrap().is_empty());
        assert!(fs::read(&path).unwrap() == whole, "after {stop}");
        fs::remove_file(&path).unwrap();
    }
    // While what follows the values is written, at any byte of it.
    let end = whole.windows(5).position(|bytes| bytes == b"tile ").unwrap();
    shard(&out, &identity, part, all - 1).unwrap();
    let mut last = fs::read(&progress).unwrap();
    let records = whole[end..].split_inclusive(|b| *b == b'\n').collect::<Vec<_>>();
    last.extend(records[all - 1]);
    for cut in end..=whole.len() {
        fs::write(&progress, &last).unwrap();
        fs::write(&partial, &whole[..cut]).unwrap();
        assert!(shard(&out, &identity, part, 0).unwrap().is_empty());
        assert!(fs::read(&path).unwrap() == whole, "cut at {cut}");
        fs::remove_file(&path).unwrap();
    }
    // Named, and the progress file not yet removed.
    fs::write(&progress, &last).unwrap();
    fs::write(&path, &whole).unwrap();
    assert_eq!(shard(&out, &identity, part, 0).unwrap(), ["finished"]);
    assert!(!progress.exists());
}

/// Values of an unfinished shard that were damaged are computed again.
#[test]
fn damage_to_an_unfinished_shard_is_mended() {
    let identity = identity(false);
    let (_folder, out) = bench();
    let (part, path) = (part(1, 2), part(1, 2).file(&out));
    shard(&out, &identity, part, usize::MAX).unwrap();
    let whole = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    shard(&out, &identity, part, 2).unwrap();
    let mut data = fs::read(beside(&path, ".partial")).unwrap();
    let first = data.iter().position(|b| *b == b'\n').unwrap() + 1;
    data[first + 3] ^= 1;
    fs::write(beside(&path, ".partial"), data).unwrap();
    let notes = shard(&out, &identity, part, usize::MAX).unwrap();
    assert!(notes[0].contains("1 of 2 finished tiles"), "{notes:?}");
    assert!(fs::read(&path).unwrap() == whole);
    // Without its progress file it is written anew.
    fs::write(beside(&path, ".partial"), "something").unwrap();
    fs::remove_file(&path).unwrap();
    let notes = shard(&out, &identity, part, usize::MAX).unwrap();
    assert!(notes[0].contains("has lost its progress file"), "{notes:?}");
    assert!(fs::read(&path).unwrap() == whole);
}

/// A finished shard with any bit flipped, or cut anywhere, never comes out as another matrix.
#[test]
fn a_damaged_shard_is_refused_by_name() {
    let identity = identity(true);
    let (_folder, out) = bench();
    shards(&out, &identity, 2);
    let path = part(2, 2).file(&out);
    let whole = fs::read(&path).unwrap();
    let flipped = (0..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 4;
        bytes
    });
    let cut = (0..whole.len()).map(|at| whole[..at].to_vec());
    let longer = [whole.repeat(2), [&whole[..], b"\n"].concat()];
    for (at, bytes) in flipped.chain(cut).chain(longer).enumerate() {
        fs::write(&path, bytes).unwrap();
        let error = refused(&out);
        assert!(
            error.contains("d.npy.shard-2-of-2") && error.contains("delete it and run its command"),
            "{at}: {error}"
        );
        let error = format!("{:#}", shard(&out, &identity, part(2, 2), usize::MAX).unwrap_err());
        assert!(error.contains("d.npy.shard-2-of-2") && error.contains("delete it"), "{at}: {error}");
    }
    // What is advised is enough, and what was merged before the damage is not merged again.
    fs::remove_file(&path).unwrap();
    shard(&out, &identity, part(2, 2), usize::MAX).unwrap();
    assert!(beside(&out, ".progress").exists());
    assert!(merge(&out).unwrap().is_empty());
    assert!(fs::read(&out).unwrap() == expected(out.parent().unwrap(), &identity));
}

/// Numbers in a file are no reason to allocate more than the file has.
#[test]
fn a_shard_that_claims_more_than_it_has_is_refused() {
    let (_folder, out) = bench();
    let huge = Identity { shape: [1 << 50, 1 << 50], ..identity(false) };
    let large = Identity { shape: [1 << 28, 1 << 28], ..identity(false) };
    let odd = Identity { element_bytes: usize::MAX, ..identity(false) };
    let tile = |end: usize| record(&format!("tile 0 {end} 0 {end} 0000000000000000"));
    for (identity, records, told) in [
        (&huge, tile(1 << 50), 1_usize),
        (&large, tile(1 << 28), 1),
        (&large, String::new(), usize::MAX),
        (&large, String::new(), 0),
        (&odd, tile(1), 1),
        (&large, tile(1), 1),
    ] {
        let mut bytes = seal::header(identity, 1, 1).unwrap();
        let start = bytes.len();
        for start in [start, 0, usize::MAX, start + 1] {
            bytes.truncate(bytes.iter().position(|b| *b == b'\n').unwrap() + 1);
            bytes.extend(records.bytes());
            bytes.extend(record(&format!("end {told} {start}")).bytes());
            fs::write(part(1, 1).file(&out), &bytes).unwrap();
            assert!(refused(&out).contains("d.npy.shard-1-of-1"));
        }
    }
}

#[test]
fn shards_that_do_not_fit_together_are_refused() {
    let (_folder, out) = bench();
    let (this, name) = (identity(true), |number| part(number, 3).file(&out));
    assert!(refused(&out).contains("there are no shards of"));
    assert!(refused(Path::new("/no/such/folder/d.npy")).contains("cannot read the folder /no/such/folder"));
    shards(&out, &this, 3);

    fs::remove_file(name(3)).unwrap();
    assert!(
        refused(&out)
            .contains("d.npy.shard-3-of-3 is missing; run the command of the others with --shard 3/3")
    );
    fs::copy(name(1), name(3)).unwrap();
    assert!(refused(&out).contains("d.npy.shard-3-of-3 holds shard 1 of 3; delete it"));
    fs::remove_file(name(3)).unwrap();
    shard(&out, &this, part(3, 3), 1).unwrap();
    let error = refused(&out);
    assert!(error.contains("d.npy.shard-3-of-3 is unfinished; run"), "{error}");
    assert!(error.ends_with("with --shard 3/3, an unfinished one goes on where it was"), "{error}");
    fs::remove_file(name(1)).unwrap();
    let error = refused(&out);
    assert!(
        error.contains("d.npy.shard-1-of-3 is missing; ") && error.contains("-3-of-3 is unfinished"),
        "{error}"
    );
    assert!(error.contains("--shard 1/3 and so on, an unfinished one"), "{error}");
    shards(&out, &this, 3);

    let mut other = this.clone();
    other.inputs[0].1 = "abd".into();
    fs::remove_file(name(2)).unwrap();
    shard(&out, &other, part(2, 3), usize::MAX).unwrap();
    let error = refused(&out);
    assert!(error.contains("-1-of-3 and ") && error.contains("-2-of-3 are of different jobs"), "{error}");
    assert!(error.contains("the content of A was abc in the first and abd in the second"), "{error}");
    let error = format!("{:#}", shard(&out, &this, part(2, 3), 1).unwrap_err());
    assert!(
        error.contains("the content of A was abd and is now abc") && error.contains("-2-of-3 to start"),
        "{error}"
    );
    fs::remove_file(name(2)).unwrap();

    // Tiles of another shard: some are there twice, others not at all.
    let target = Target::take(&name(2)).unwrap();
    let Opened::Unfinished(mut writer, _) =
        open_shard::<f64>(target, &this, part(2, 3), own(&this, part(1, 3))).unwrap()
    else {
        panic!("it is not begun")
    };
    own(&this, part(1, 3)).iter().for_each(|tile| writer.write(tile, &fill(tile)).unwrap());
    writer.finish().unwrap();
    assert!(refused(&out).contains("-2-of-3 does not have the tiles that follow"));
    let error = format!("{:#}", shard(&out, &this, part(2, 3), 1).unwrap_err());
    assert!(error.contains("the cut of this shard was"), "{error}");
    fs::remove_file(name(2)).unwrap();

    shards(&out, &this, 4);
    let error = refused(&out);
    assert!(
        error.contains("shards of 3 and of 4") && error.contains("delete those of one of the two"),
        "{error}"
    );
    (1..=3).for_each(|number| fs::remove_file(name(number)).unwrap_or_default());
    // Other files with such names are nobody's shards.
    for name in [
        "d.npy.shard-01-of-9",
        "d.npy.shard-2-of-1",
        "d.npy.shard--of-",
        "d.npy.shard-1-of-9.txt",
        "x.npy.shard-1-of-9",
    ] {
        fs::write(out.with_file_name(name), "").unwrap();
    }
    merge(&out).unwrap();
}

/// The last shard's last tiles missing is noticed, where all that is there fits.
#[test]
fn a_matrix_that_ends_early_is_refused() {
    for symmetric in [false, true] {
        let identity = identity(symmetric);
        let (_folder, out) = bench();
        let mut some = tiles(&identity, 2);
        some.pop();
        let target = Target::take(&part(1, 1).file(&out)).unwrap();
        let opened = open_shard::<f64>(target, &identity, part(1, 1), some.clone()).unwrap();
        let Opened::Unfinished(mut writer, _) = opened else { panic!("it is not begun") };
        some.iter().for_each(|tile| writer.write(tile, &fill(tile)).unwrap());
        writer.finish().unwrap();
        assert!(refused(&out).contains("-1-of-1 does not have the tiles"));
    }
}

#[test]
fn parts_read_as_they_are_written() {
    for text in ["1/1", "3/16", "1000000/1000000"] {
        assert_eq!(text.parse::<Part>().unwrap().to_string(), text);
    }
    for text in ["0/4", "5/4", "1", "1/", "/4", "-1/4", "1/1000001", "1/2/3", "a/b", ""] {
        assert!(text.parse::<Part>().unwrap_err().contains("as 3/16"), "{text}");
    }
    assert_eq!(part(3, 16).file(Path::new("a/d.npy")), Path::new("a/d.npy.shard-3-of-16"));
}

#[test]
fn many_missing_shards_are_told_as_an_array_has_them() {
    let (_folder, out) = bench();
    for number in [1, 4, 9, 10] {
        shard(&out, &identity(true), part(number, 12), usize::MAX).unwrap();
    }
    assert!(refused(&out).contains("of the 12 shards of"));
    assert!(refused(&out).contains(
        "d.npy, 2-3,5-8,11-12 are missing; run the command of the others with --shard 2/12 and so on"
    ));
    let (_folder, out) = bench();
    (1..=100)
        .step_by(2)
        .for_each(|number| drop(shard(&out, &identity(true), part(number, 100), 99).unwrap()));
    assert!(refused(&out).contains("38,40 and 30 more runs are missing"), "{}", refused(&out));
}
