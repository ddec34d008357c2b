//! Interrupted runs: every file state a crash can leave must resume to the same bytes or be refused.

use std::path::Path;

use anyhow::Result;

use super::journal::Journal;
use super::open::beside;
use super::*;
use crate::Target;

const N: usize = 7;
const M: usize = 5;

pub(super) fn identity(symmetric: bool) -> Identity {
    let shape = if symmetric { [N, N] } else { [N, M] };
    let inputs = vec![("the content of A".to_owned(), "abc".to_owned())];
    Identity { shape, element_bytes: 8, symmetric, options: Vec::new(), inputs }
}

fn value(i: usize, j: usize) -> f64 {
    (i * j) as f64 + (i + j) as f64 / 16.0
}

pub(super) fn tiles(identity: &Identity, edge: usize) -> Vec<Tile> {
    let [n, m] = identity.shape;
    let blocks = |extent: usize| (0..extent).step_by(edge).map(move |s| s..(s + edge).min(extent));
    blocks(n)
        .flat_map(|rows| blocks(m).map(move |columns| Tile { rows: rows.clone(), columns }))
        .filter(|t| !identity.symmetric || t.rows.start <= t.columns.start)
        .collect()
}

pub(super) fn fill(tile: &Tile) -> Vec<f64> {
    tile.rows.clone().flat_map(|i| tile.columns.clone().map(move |j| value(i, j))).collect()
}

/// Writes up to `limit` tiles that are still missing; finishes if none is left.
fn run(out: &Path, identity: &Identity, start: Start, edge: usize, limit: usize) -> Result<usize> {
    run_noting(out, identity, start, edge, limit).map(|(written, _)| written)
}

/// Opens the matrix; also what opening had to tell.
fn run_noting(
    out: &Path,
    identity: &Identity,
    start: Start,
    edge: usize,
    limit: usize,
) -> Result<(usize, Vec<String>)> {
    let (mut writer, notes) = match open::<f64>(Target::take(out)?, identity, start)? {
        Opened::Unfinished(writer, notes) => (writer, notes),
        Opened::Finished => return Ok((0, vec!["finished".to_owned()])),
        Opened::Named(_) => return Ok((0, vec!["named".to_owned()])),
    };
    let missing: Vec<Tile> = tiles(identity, edge).into_iter().filter(|t| !writer.has(t)).collect();
    for tile in missing.iter().take(limit) {
        writer.write(tile, &fill(tile))?;
    }
    if missing.len() <= limit {
        writer.finish()?;
    }
    Ok((missing.len().min(limit), notes))
}

/// A run that stopped before its last tile of 3 × 3: its folder, its progress file and its data.
fn stopped(identity: &Identity) -> (tempfile::TempDir, Vec<u8>, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("source.npy");
    run(&out, identity, Start::Fresh, 3, tiles(identity, 3).len() - 1).unwrap();
    let [journal, data] =
        [".progress", ".partial"].map(|suffix| std::fs::read(beside(&out, suffix)).unwrap());
    (folder, journal, data)
}

pub(super) fn expected(folder: &Path, identity: &Identity) -> Vec<u8> {
    let path = folder.join("expected.npy");
    let [n, m] = identity.shape;
    let values: Vec<f64> = (0..n).flat_map(|i| (0..m).map(move |j| value(i, j))).collect();
    crate::write_npy(Target::take(&path).unwrap(), &identity.shape, &values).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn an_uninterrupted_run_is_the_array_and_leaves_no_other_file() {
    for symmetric in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("d.npy");
        run(&out, &identity(symmetric), Start::Fresh, 2, usize::MAX).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), expected(folder.path(), &identity(symmetric)));
        assert!(!beside(&out, ".partial").exists() && !beside(&out, ".progress").exists());
    }
}

#[test]
fn stopped_after_any_tile_it_resumes_with_the_missing_ones_only() {
    for symmetric in [false, true] {
        let identity = identity(symmetric);
        let all = tiles(&identity, 2).len();
        for stop in 0..=all {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("d.npy");
            if stop < all {
                run(&out, &identity, Start::Fresh, 2, stop).unwrap();
                assert!(!out.exists(), "an unfinished result must not have the final name");
            }
            let start = if stop < all { Start::Resume } else { Start::Fresh };
            let written = run(&out, &identity, start, 2, usize::MAX).unwrap();
            assert_eq!(written, if stop < all { all - stop } else { all });
            assert_eq!(std::fs::read(&out).unwrap(), expected(folder.path(), &identity));
        }
    }
}

#[test]
fn a_progress_file_cut_at_any_byte_resumes_to_the_same_file() {
    for symmetric in [false, true] {
        let identity = identity(symmetric);
        let (folder, journal, data) = stopped(&identity);
        let whole = expected(folder.path(), &identity);
        let header_end = journal.iter().position(|b| *b == b'\n').unwrap() + 1;
        for cut in 0..=journal.len() {
            let out = folder.path().join(format!("{cut}.npy"));
            std::fs::write(beside(&out, ".progress"), &journal[..cut]).unwrap();
            // Whatever the cut journal does not vouch for is made wrong.
            let vouched = journal[header_end..cut.max(header_end)].iter().filter(|b| **b == b'\n').count();
            let mut data = data.clone();
            for tile in tiles(&identity, 3).iter().skip(vouched) {
                spoil(&mut data, &identity, tile);
            }
            std::fs::write(beside(&out, ".partial"), data).unwrap();
            let result = run(&out, &identity, Start::Resume, 3, usize::MAX);
            if cut < header_end {
                let error = format!("{:#}", result.unwrap_err());
                assert!(error.contains("damaged"), "cut at {cut}: {error}");
                assert!(!out.exists());
            } else {
                result.unwrap();
                assert_eq!(std::fs::read(&out).unwrap(), whole, "cut at {cut}");
            }
        }
    }
}

fn spoil(data: &mut [u8], identity: &Identity, tile: &Tile) {
    let header = data.len() - identity.shape.iter().product::<usize>() * 8;
    for i in tile.rows.clone() {
        for j in tile.columns.clone() {
            let mut fill = |i, j| data[header + (i * identity.shape[1] + j) * 8..][..8].fill(0xaa);
            fill(i, j);
            if identity.symmetric {
                fill(j, i);
            }
        }
    }
}

/// A file that takes values and cannot be flushed stands for a disk that fails.
#[cfg(target_os = "linux")]
#[test]
fn no_tile_is_recorded_before_its_values_are_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.npy");
    let identity = identity(false);
    let Opened::Unfinished(mut writer, _) =
        open::<f64>(Target::take(&out).unwrap(), &identity, Start::Fresh).unwrap()
    else {
        panic!("nothing is finished yet")
    };
    let Some((values, _)) = &mut writer.files else { panic!("nothing is written yet") };
    values.file = std::fs::File::options().write(true).open("/dev/null").unwrap();
    let tile = &tiles(&identity, 3)[0];
    writer.write(tile, &fill(tile)).unwrap();
    assert!(writer.pause().unwrap_err().to_string().contains("d.npy"));
    assert_eq!(std::fs::read_to_string(beside(&out, ".progress")).unwrap().lines().count(), 1);
}

#[test]
fn another_cut_into_tiles_resumes_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.npy");
    let identity = identity(false);
    run(&out, &identity, Start::Fresh, 2, 5).unwrap();
    // A tile that straddles done and missing ones is written again.
    run(&out, &identity, Start::Resume, 3, usize::MAX).unwrap();
    assert_eq!(std::fs::read(&out).unwrap(), expected(folder.path(), &identity));
}

#[test]
fn an_unfinished_result_is_never_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.npy");
    run(&out, &identity(false), Start::Fresh, 2, 1).unwrap();
    let error = run(&out, &identity(false), Start::Fresh, 2, 1).unwrap_err().to_string();
    assert!(error.contains("`Start::Resume`") && error.contains("d.npy.progress to start again"), "{error}");
    let mut other = identity(false);
    other.inputs[0].1 = "abd".into();
    let error = run(&out, &other, Start::Resume, 2, 1).unwrap_err().to_string();
    assert!(error.contains("the content of A was abc and is now abd"), "{error}");
    assert!(error.contains("delete") && error.contains("d.npy.progress to start again"), "{error}");
}

/// What the errors advise is enough, with and without resuming.
#[test]
fn deleting_the_progress_file_starts_again() {
    for start in [Start::Fresh, Start::Resume] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("d.npy");
        let identity = identity(false);
        run(&out, &identity, Start::Fresh, 2, 3).unwrap();
        std::fs::remove_file(beside(&out, ".progress")).unwrap();
        let (written, notes) = run_noting(&out, &identity, start, 2, usize::MAX).unwrap();
        assert_eq!(written, tiles(&identity, 2).len());
        assert!(notes[0].contains("has lost its progress file and is written anew"), "{notes:?}");
        assert_eq!(std::fs::read(&out).unwrap(), expected(folder.path(), &identity));
    }
}

/// A result whose last run stopped just before it removed the progress file.
fn named_with_progress(out: &Path, identity: &Identity) {
    let Opened::Unfinished(mut writer, _) =
        open::<f64>(Target::take(out).unwrap(), identity, Start::Fresh).unwrap()
    else {
        panic!("nothing is finished yet")
    };
    for tile in tiles(identity, 2) {
        writer.write(&tile, &fill(&tile)).unwrap();
    }
    drop(writer);
    std::fs::rename(beside(out, ".partial"), out).unwrap();
}

#[test]
fn stopped_between_two_file_operations_it_resumes() {
    let identity = identity(false);
    let folder = tempfile::tempdir().unwrap();
    let whole = expected(folder.path(), &identity);

    // The progress file is there, the data file not yet, or not yet whole.
    for data in [None, Some(vec![0; 10])] {
        let out = folder.path().join("early.npy");
        drop(Journal::create(&beside(&out, ".progress"), &identity, &[]).unwrap());
        if let Some(data) = data {
            std::fs::write(beside(&out, ".partial"), data).unwrap();
        }
        let (_, notes) = run_noting(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
        assert!(notes.is_empty(), "{notes:?}");
        assert_eq!(std::fs::read(&out).unwrap(), whole);
        std::fs::remove_file(&out).unwrap();
    }

    // The result has its name, the progress file is still there.
    let out = folder.path().join("late.npy");
    named_with_progress(&out, &identity);
    let (written, notes) = run_noting(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
    assert_eq!((written, notes), (0, vec!["finished".to_owned()]));
    assert!(!beside(&out, ".progress").exists());
    assert_eq!(std::fs::read(&out).unwrap(), whole);

    // The data file is gone although tiles were done.
    let out = folder.path().join("gone.npy");
    run(&out, &identity, Start::Fresh, 2, 2).unwrap();
    std::fs::remove_file(beside(&out, ".partial")).unwrap();
    let (written, notes) = run_noting(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
    assert_eq!(written, tiles(&identity, 2).len());
    assert!(notes[0].contains("is gone") && notes[1].contains("2 of 2 finished tiles"), "{notes:?}");
    assert_eq!(std::fs::read(&out).unwrap(), whole);
}

#[test]
fn a_flipped_bit_anywhere_in_an_unfinished_result_is_mended() {
    for symmetric in [false, true] {
        let identity = identity(symmetric);
        let (folder, journal, data) = stopped(&identity);
        let whole = expected(folder.path(), &identity);
        let all = tiles(&identity, 3);
        let header = data.len() - identity.shape.iter().product::<usize>() * 8;
        let out = folder.path().join("d.npy");
        for at in 0..data.len() {
            let mut damaged = data.clone();
            damaged[at] ^= 4;
            std::fs::write(beside(&out, ".partial"), damaged).unwrap();
            std::fs::write(beside(&out, ".progress"), &journal).unwrap();
            let (_, notes) = run_noting(&out, &identity, Start::Resume, 3, usize::MAX).unwrap();
            assert!(std::fs::read(&out).unwrap() == whole, "a flipped bit of byte {at} came out");
            let element = at.saturating_sub(header) / 8;
            let (row, column) = (element / identity.shape[1], element % identity.shape[1]);
            let last = &all[all.len() - 1];
            let part = match at {
                _ if at < header => "had another header or size",
                // The tile that was not yet there.
                _ if last.rows.contains(&row) && last.columns.contains(&column) => "",
                _ => "1 of",
            };
            assert_eq!(notes.len(), usize::from(!part.is_empty()), "byte {at}: {notes:?}");
            assert!(notes.iter().all(|note| note.contains(part)), "byte {at}: {notes:?}");
            std::fs::remove_file(&out).unwrap();
        }
    }
}

#[test]
fn a_data_file_of_another_size_is_mended() {
    let identity = identity(false);
    let (folder, journal, data) = stopped(&identity);
    let whole = expected(folder.path(), &identity);
    let out = folder.path().join("d.npy");
    for length in (0..data.len()).chain([data.len() + 1, 2 * data.len()]) {
        let mut resized = data.clone();
        resized.resize(length, 7);
        std::fs::write(beside(&out, ".partial"), resized).unwrap();
        std::fs::write(beside(&out, ".progress"), &journal).unwrap();
        let (_, notes) = run_noting(&out, &identity, Start::Resume, 3, usize::MAX).unwrap();
        assert!(notes[0].contains("had another header or size"), "{length}: {notes:?}");
        assert!(std::fs::read(&out).unwrap() == whole, "{length}");
        std::fs::remove_file(&out).unwrap();
    }
}

/// A result that has its name is finished only if it is what the progress file vouches for.
#[test]
fn a_damaged_result_with_a_progress_file_is_computed_again() {
    let identity = identity(true);
    let folder = tempfile::tempdir().unwrap();
    let whole = expected(folder.path(), &identity);
    let out = folder.path().join("d.npy");
    named_with_progress(&out, &identity);
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    std::fs::write(&out, damaged).unwrap();
    let (written, notes) = run_noting(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
    assert_eq!(written, tiles(&identity, 2).len());
    assert!(notes[0].contains("is gone"), "{notes:?}");
    assert_eq!(std::fs::read(&out).unwrap(), whole);
}

#[test]
fn a_finished_result_is_not_computed_again() {
    let identity = identity(false);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("d.npy");
    run(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
    let (written, notes) = run_noting(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
    assert_eq!((written, notes), (0, vec!["named".to_owned()]));
    let other = Identity { shape: [M, N], ..identity };
    let error = format!("{:#}", run(&out, &other, Start::Resume, 2, 1).unwrap_err());
    assert!(error.contains("is no 5 × 7 result of float64; leave out `Start::Resume`"), "{error}");
    // The expected file, the result, nothing beside them.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// The difference that explains the others is told.
#[test]
fn mismatches_name_their_cause() {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let first = Identity {
        shape: [4, 4],
        element_bytes: 8,
        symmetric: true,
        options: vec![
            own("--measure", "msm"),
            own("--c", "1"),
            own("--normalize", "none"),
            own("B", "left out"),
        ],
        inputs: vec![own("the content of A", "1"), own("the content of B", "1")],
    };
    let told = |change: &dyn Fn(&mut Identity)| {
        let mut other = first.clone();
        change(&mut other);
        let Difference { name, then, now } = other.difference(&first).unwrap();
        format!("{name} was {then} and is now {now}")
    };
    let measure = told(&|i| {
        i.options[0].1 = "dtw".into();
        i.options[1] = own("--cost", "manhattan");
    });
    assert_eq!(measure, "--measure was msm and is now dtw");
    let normalized = told(&|i| {
        i.options[2].1 = "z".into();
        i.inputs[0].1 = "2".into();
    });
    assert_eq!(normalized, "--normalize was none and is now z");
    let crossed = told(&|i| {
        i.options[3].1 = "given".into();
        i.symmetric = false;
        i.shape = [4, 7];
        i.inputs[1].1 = "2".into();
    });
    assert_eq!(crossed, "B was left out and is now given");
    assert_eq!(told(&|i| i.inputs[1].1 = "2".into()), "the content of B was 1 and is now 2");
    assert_eq!(first.difference(&first), None);
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let error = |out: &Path| format!("{:#}", run(out, &identity(false), Start::Fresh, 2, 1).unwrap_err());
    assert!(error(&folder.path().join("no/d.npy")).contains("does not exist"));
    let huge = Identity { shape: [1 << 40, 1 << 40], ..identity(false) };
    let result = open::<f64>(Target::take(&folder.path().join("d.npy")).unwrap(), &huge, Start::Fresh);
    assert!(format!("{:#}", result.unwrap_err()).contains("larger than any file"));
    // More than any disk holds: refused up front, and nothing is left behind.
    let large = Identity { shape: [1 << 26, 1 << 26], ..identity(false) };
    let result = open::<f64>(Target::take(&folder.path().join("d.npy")).unwrap(), &large, Start::Fresh);
    assert!(format!("{:#}", result.unwrap_err()).contains("cannot write"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
