//! Interrupted runs: every file state a crash can leave must resume to the same bytes or be refused.

use std::collections::BTreeMap;

use super::*;

const N: usize = 7;
const M: usize = 5;

fn identity(symmetric: bool) -> Identity {
    let shape = if symmetric { [N, N] } else { [N, M] };
    let parameters = BTreeMap::from([("inputs".to_owned(), "abc".to_owned())]);
    Identity { shape, element_bytes: 8, symmetric, parameters }
}

/// A value that is symmetric in its indices.
fn value(i: usize, j: usize) -> f64 {
    (i * j) as f64 + (i + j) as f64 / 16.0
}

fn tiles(identity: &Identity, edge: usize) -> Vec<Tile> {
    let [n, m] = identity.shape;
    let blocks = |extent: usize| (0..extent).step_by(edge).map(move |s| s..(s + edge).min(extent));
    blocks(n)
        .flat_map(|rows| blocks(m).map(move |columns| Tile { rows: rows.clone(), columns }))
        .filter(|t| !identity.symmetric || t.rows.start <= t.columns.start)
        .collect()
}

fn fill(tile: &Tile) -> Vec<f64> {
    tile.rows.clone().flat_map(|i| tile.columns.clone().map(move |j| value(i, j))).collect()
}

/// Writes up to `limit` tiles that are still missing; finishes if none is left.
fn run(out: &Path, identity: &Identity, start: Start, edge: usize, limit: usize) -> Result<usize> {
    let Opened::Unfinished(mut writer) = MatrixWriter::<f64>::open(out, identity, start)? else {
        return Ok(0);
    };
    let missing: Vec<Tile> = tiles(identity, edge).into_iter().filter(|t| !writer.has(t)).collect();
    for tile in missing.iter().take(limit) {
        writer.write(tile, &fill(tile))?;
    }
    if missing.len() <= limit {
        writer.finish()?;
    }
    Ok(missing.len().min(limit))
}

fn expected(folder: &Path, identity: &Identity) -> Vec<u8> {
    let path = folder.join("expected.npy");
    let [n, m] = identity.shape;
    let values: Vec<f64> = (0..n).flat_map(|i| (0..m).map(move |j| value(i, j))).collect();
    output::write_npy(&path, &identity.shape, &values).unwrap();
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
        let folder = tempfile::tempdir().unwrap();
        let whole = expected(folder.path(), &identity);
        let source = folder.path().join("source.npy");
        run(&source, &identity, Start::Fresh, 3, tiles(&identity, 3).len() - 1).unwrap();
        let journal = std::fs::read(beside(&source, ".progress")).unwrap();
        let data = std::fs::read(beside(&source, ".partial")).unwrap();
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
    assert!(error.contains("--resume") && error.contains("delete it"), "{error}");
    let mut other = identity(false);
    other.parameters.insert("inputs".into(), "abd".into());
    let error = run(&out, &other, Start::Resume, 2, 1).unwrap_err().to_string();
    assert!(error.contains("inputs was abc and is now abd"), "{error}");
    std::fs::remove_file(beside(&out, ".progress")).unwrap();
    let error = run(&out, &identity(false), Start::Resume, 2, 1).unwrap_err().to_string();
    assert!(error.contains("lost its progress file"), "{error}");
}

#[test]
fn stopped_between_two_file_operations_it_resumes() {
    let identity = identity(false);
    let folder = tempfile::tempdir().unwrap();
    let whole = expected(folder.path(), &identity);

    // The progress file is there, the data file not yet, or not yet whole.
    for data in [None, Some(vec![0; 10])] {
        let out = folder.path().join("early.npy");
        drop(Journal::create(&beside(&out, ".progress"), &identity).unwrap());
        if let Some(data) = data {
            std::fs::write(beside(&out, ".partial"), data).unwrap();
        }
        run(&out, &identity, Start::Resume, 2, usize::MAX).unwrap();
        assert_eq!(std::fs::read(&out).unwrap(), whole);
    }

    // The result has its name, the progress file is still there.
    let out = folder.path().join("late.npy");
    let all = tiles(&identity, 2).len();
    let Opened::Unfinished(mut writer) = MatrixWriter::<f64>::open(&out, &identity, Start::Fresh).unwrap()
    else {
        panic!("nothing is finished yet")
    };
    for tile in tiles(&identity, 2) {
        writer.write(&tile, &fill(&tile)).unwrap();
    }
    drop(writer);
    std::fs::rename(beside(&out, ".partial"), &out).unwrap();
    assert_eq!(run(&out, &identity, Start::Resume, 2, all).unwrap(), 0);
    assert!(!beside(&out, ".progress").exists());
    assert_eq!(std::fs::read(&out).unwrap(), whole);

    // The data file is gone although tiles were done.
    let out = folder.path().join("gone.npy");
    run(&out, &identity, Start::Fresh, 2, 2).unwrap();
    std::fs::remove_file(beside(&out, ".partial")).unwrap();
    let error = run(&out, &identity, Start::Resume, 2, all).unwrap_err().to_string();
    assert!(error.contains("is missing or not of the size"), "{error}");
}

#[test]
fn what_cannot_be_written_is_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let error = |out: &Path| format!("{:#}", run(out, &identity(false), Start::Fresh, 2, 1).unwrap_err());
    assert!(error(&folder.path().join("no/d.npy")).contains("does not exist"));
    let huge = Identity { shape: [1 << 40, 1 << 40], ..identity(false) };
    let result = MatrixWriter::<f64>::open(&folder.path().join("d.npy"), &huge, Start::Fresh);
    assert!(format!("{:#}", result.unwrap_err()).contains("larger than any file"));
    // More than any disk holds: refused up front, and nothing is left behind.
    let large = Identity { shape: [1 << 26, 1 << 26], ..identity(false) };
    let result = MatrixWriter::<f64>::open(&folder.path().join("d.npy"), &large, Start::Fresh);
    assert!(format!("{:#}", result.unwrap_err()).contains("cannot write"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn fingerprints_see_values_shapes_and_channels() {
    let base = Dataset::univariate("a".into(), vec![vec![1.0, 2.0], vec![3.0]]);
    let renamed = Dataset { name: "b".into(), ..base.clone() };
    assert_eq!(fingerprint(&base), fingerprint(&renamed));
    let moved = Dataset::univariate("a".into(), vec![vec![1.0], vec![2.0, 3.0]]);
    let negative_zero = |v| Dataset::univariate("a".into(), vec![vec![v]]);
    let two = Dataset { channels: 2, ..Dataset::univariate("a".into(), vec![vec![1.0, 2.0]]) };
    let one = Dataset::univariate("a".into(), vec![vec![1.0, 2.0]]);
    assert_ne!(fingerprint(&base), fingerprint(&moved));
    assert_ne!(fingerprint(&two), fingerprint(&one));
    assert_ne!(fingerprint(&negative_zero(0.0)), fingerprint(&negative_zero(-0.0)));
}
