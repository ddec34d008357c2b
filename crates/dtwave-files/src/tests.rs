use proptest::prelude::*;

use super::*;

/// Nothing said, and room for anything a test holds.
pub(crate) fn options() -> ReadOptions {
    ReadOptions::new(1 << 30)
}

/// Writes `bytes` to a file of this name in a fresh folder and reads it back.
pub(crate) fn read(name: &str, bytes: impl AsRef<[u8]>) -> Result<Dataset> {
    read_with(name, bytes, &options())
}

pub(crate) fn read_with(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Dataset> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    Dataset::read(&path, options)
}

/// The error of reading such a file: one line that names the file and every one of `parts`.
pub(crate) fn refuses(name: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    refuses_with(name, bytes, &options(), parts);
}

pub(crate) fn refuses_with(name: &str, bytes: impl AsRef<[u8]>, options: &ReadOptions, parts: &[&str]) {
    let error = read_with(name, bytes, options).expect_err("the file should be refused");
    let message = format!("{error:#}");
    assert!(message.contains(name), "{message:?} does not name the file");
    assert!(!message.contains('\n'), "{message:?} has several lines");
    for part in parts {
        assert!(message.contains(part), "{message:?} lacks {part:?}");
    }
}

#[test]
fn empty_missing_and_unknown_files_are_refused() {
    for name in ["a.ts", "a.tsv", "a.txt", "a.npy", "a.npz", "a.csv"] {
        refuses(name, "", &["the file is empty"]);
    }
    refuses("a.wav", "RIFF", &["unknown extension", ".npy", "--format"]);
    let csv = ReadOptions { format: Some(Format::Csv), ..options() };
    assert_eq!(read_with("a.dat", "1,2\n", &csv).unwrap().len(), 1);
    assert_eq!(read_with("a.tsv", "1\t1\t2\n", &csv).unwrap().labels, None, "what is said wins");
    let error = Dataset::read(Path::new("no/such.csv"), &options()).unwrap_err();
    assert!(format!("{error:#}").contains("cannot read no/such.csv"));
}

#[test]
fn missing_values_are_to_be_filled_in() {
    let fill = "fill in missing values first";
    refuses("a.npy", npy::tests::npy(&[2], &[1.0, f64::NAN]), &["series 0, position 1", fill]);
    refuses("a.ts", "@data\n1,NaN,3\n", &["line 2", fill]);
    let infinite = read("a.npy", npy::tests::npy(&[2], &[1.0, f64::INFINITY])).unwrap_err();
    assert!(!format!("{infinite:#}").contains(fill), "an infinity is not missing");
}

#[test]
fn keys_name_one_or_two_arrays() {
    let key = |series: &str, labels: Option<&str>| {
        Ok(Key { series: series.to_owned(), labels: labels.map(str::to_owned) })
    };
    assert_eq!("X_train".parse::<Key>(), key("X_train", None));
    assert_eq!("a,b".parse::<Key>(), key("a", Some("b")));
    for bad in ["", ",b", "a,"] {
        assert!(bad.parse::<Key>().unwrap_err().contains("NAME,LABELS"), "{bad:?}");
    }
}

fn valid() -> Vec<(&'static str, Vec<u8>)> {
    let npy = npy::tests::npy(&[2, 3], &[0., 1., 2., 3., 4., 5.]);
    let npz = npz::tests::npz(&[("X.npy", npy.clone())]);
    let ts = b"@univariate false\n@classLabel true a b\n@data\n1,2:3,4:a\n5,6:7,8:b\n".to_vec();
    let csv = b"1,2.5,-3\n4,5e1,6\n".to_vec();
    vec![
        ("f.csv", csv.clone()),
        ("f.tsv", b"1\t0.5\t2\n2\t3\tNaN\n".to_vec()),
        ("f.txt", b"1 0.5 2\n2 3 4\n".to_vec()),
        ("f.ts", ts),
        ("f.npy", npy),
        ("f.npz", npz),
        ("f.csv.gz", source::tests::gz(&csv)),
        ("f.csv.xz", source::tests::xz(&csv)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// However a file is damaged, reading it gives finite series or one line that names it.
    #[test]
    fn damaged_files_never_pass_for_whole_series(
        which in 0_usize..8, at in any::<proptest::sample::Index>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..4), cut: bool,
    ) {
        let (name, mut file) = valid().swap_remove(which);
        let at = at.index(file.len());
        let end = if cut { file.len() } else { (at + bytes.len()).min(file.len()) };
        file.splice(at..end, bytes);
        match read(name, file) {
            Ok(dataset) => {
                prop_assert!(dataset.len() > 0 && dataset.channels > 0);
                for values in &dataset.series {
                    prop_assert!(!values.is_empty() && values.len() % dataset.channels == 0);
                    prop_assert!(values.iter().all(|v| v.is_finite()));
                }
                if let Some(labels) = &dataset.labels {
                    prop_assert_eq!(labels.len(), dataset.len());
                }
            }
            Err(error) => {
                let message = format!("{error:#}");
                prop_assert!(message.contains(name), "{}", message);
                prop_assert_eq!(message.lines().count(), 1, "{}", message);
            }
        }
    }
}
