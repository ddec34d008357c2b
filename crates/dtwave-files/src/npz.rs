//! NumPy archives: `.npz` files.
//!
//! An archive holds either one array; or one called `X` (or `x`) and, as an option, its labels `y`; or the arrays that
//! the user names; or only arrays of shape `[length]`, each a series of its own length, in the archive's order, where
//! an array of a name that says so holds their labels. Only what is asked for is inflated; the rest is named in a
//! note.
//!
//! An archive may claim anything about its members. What is stored plainly cannot be more than the file; what is
//! deflated can be at most [`MOST_DEFLATED`] times what it takes there, and its values must fit the memory limit. Both
//! are checked on the headers, before anything is read or allocated.

use std::io::{Cursor, Read};

use anyhow::{Context, Result, anyhow, bail, ensure};
use zip::{CompressionMethod, ZipArchive};

use super::labels::is_label_name;
use super::npy::Array;
use super::source::{Content, over_limit};
use super::text::clean;
use super::{Dataset, Key, ReadOptions};

/// DEFLATE cannot shorten more than this: RFC 1951 codes at most 258 bytes in two bits.
const MOST_DEFLATED: u64 = 1032;

pub(super) fn parse(name: String, content: &Content, options: &ReadOptions) -> Result<Dataset> {
    let mut archive = Archive::open(content, options.memory_limit_bytes)?;
    let mut dataset = match archive.plan(options.key.as_ref())? {
        Plan::Whole { series, labels: None } => {
            archive.read(series, |array| array.into_dataset(name, options.axes))?
        }
        Plan::Whole { series, labels: Some(labels) } => {
            let dataset = archive.read(series, |array| array.into_dataset(name, options.axes))?;
            let found = archive.read(labels, |array| {
                let count = array.label_count()?;
                ensure!(count == dataset.len() as u64, "{count} labels for {} series", dataset.len());
                array.into_labels()
            })?;
            dataset.with_labels(found)
        }
        Plan::Ragged { series: members, labels } => {
            ensure!(
                options.axes.is_none(),
                "--layout is about one array [n, length, channels]; choose it with --key"
            );
            let expected = members.len() as u64;
            let found = labels.map(|labels| {
                archive.read(labels, |array| {
                    let shape = array.shape().to_vec();
                    ensure!(
                        shape == [expected],
                        "shape {shape:?} beside {expected} other arrays, so that it is not clear whether it holds \
                         their labels or is one of them; choose arrays with --key NAME[,LABELS], or rename it"
                    );
                    array.into_labels()
                })
            });
            let found = found.transpose()?;
            let mut series = Vec::new();
            for member in members {
                series.push(archive.read(member, |array| array.into_series())?);
            }
            let dataset = Dataset::univariate(name, series);
            match found {
                Some(labels) => dataset.with_labels(labels),
                None => dataset,
            }
        }
    };
    let unread: Vec<String> =
        archive.members.iter().filter(|m| !m.is_read).take(6).map(|m| clean(&m.name)).collect();
    if !unread.is_empty() {
        let more = if unread.len() > 5 { ", …" } else { "" };
        let shown = unread[..unread.len().min(5)].join(", ");
        dataset.notes.push(format!("not read: {shown}{more}; --key NAME[,LABELS] chooses arrays"));
    }
    Ok(dataset)
}

/// Which members are what, by their places in [`Archive::members`].
enum Plan {
    /// One array holds all series.
    Whole { series: usize, labels: Option<usize> },
    /// Each array is a series, except for one of labels.
    Ragged { series: Vec<usize>, labels: Option<usize> },
}

struct Member {
    name: String,
    /// Its place in the archive.
    index: usize,
    is_read: bool,
}

struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    file_bytes: u64,
    members: Vec<Member>,
    /// Bytes of the file that may still be taken as they are.
    stored_bytes: u64,
    /// Bytes of memory that inflated values may still take, and stored ones unless the archive was in memory before.
    inflated_bytes: u64,
    is_limited: bool,
    limit_bytes: u64,
}

impl<'a> Archive<'a> {
    fn open(content: &'a Content, limit_bytes: u64) -> Result<Self> {
        let bytes = &content.bytes[..];
        let zip =
            ZipArchive::new(Cursor::new(bytes)).map_err(|e| anyhow!("not a whole .npz archive ({e})"))?;
        let mut members = Vec::new();
        for index in 0..zip.len() {
            let path = zip.name_for_index(index).context("damaged .npz archive")?;
            let path = path.map_err(|e| anyhow!("damaged .npz archive ({e})"))?;
            if let Some(name) = path.strip_suffix(".npy") {
                members.push(Member { name: name.to_owned(), index, is_read: false });
            }
        }
        ensure!(!members.is_empty(), "the archive holds no .npy array");
        ensure!(!zip.has_duplicate_names(), "damaged .npz archive (two arrays of one name)");
        let file_bytes = bytes.len() as u64;
        Ok(Archive {
            zip,
            file_bytes,
            members,
            stored_bytes: file_bytes,
            inflated_bytes: limit_bytes,
            is_limited: content.is_limited(),
            limit_bytes,
        })
    }

    fn plan(&self, key: Option<&Key>) -> Result<Plan> {
        let at = |name: &str| self.members.iter().position(|member| member.name == name);
        let wanted = |name: &str| {
            at(name).with_context(|| {
                format!("no array '{}' in the archive; it holds {}", clean(name), self.names())
            })
        };
        if let Some(Key { series, labels }) = key {
            let labels = labels.as_deref().map(wanted).transpose()?;
            return Ok(Plan::Whole { series: wanted(series)?, labels });
        }
        if let Some(series) = at("X").or_else(|| at("x")) {
            return Ok(Plan::Whole { series, labels: at("y").or_else(|| at("Y")) });
        }
        if self.members.len() == 1 {
            return Ok(Plan::Whole { series: 0, labels: None });
        }
        let is_label = |k: &usize| is_label_name(&self.members[*k].name);
        let (labels, series): (Vec<usize>, Vec<usize>) = (0..self.members.len()).partition(is_label);
        ensure!(
            labels.len() < 2,
            "several arrays may hold labels; the archive holds {}; choose with --key NAME[,LABELS]",
            self.names()
        );
        Ok(Plan::Ragged { series, labels: labels.first().copied() })
    }

    fn names(&self) -> String {
        const SHOWN: usize = 8;
        let mut names: Vec<String> = self.members.iter().take(SHOWN).map(|m| clean(&m.name)).collect();
        if self.members.len() > SHOWN {
            names.push("…".to_owned());
        }
        names.join(", ")
    }

    /// Opens a member, checks what it claims, and reads it whole.
    fn read<T>(&mut self, member: usize, read: impl FnOnce(Array<&mut dyn Read>) -> Result<T>) -> Result<T> {
        self.members[member].is_read = true;
        let Member { name, index, .. } = &self.members[member];
        let of_member = format!("array '{}'", clean(name));
        let (stored_bytes, inflated_bytes) = (&mut self.stored_bytes, &mut self.inflated_bytes);
        let run = || {
            let mut file = self.zip.by_index(*index).map_err(|e| anyhow!("damaged .npz archive ({e})"))?;
            let (size, taken) = (file.size(), file.compressed_size());
            let is_stored = file.compression() == CompressionMethod::Stored;
            if is_stored {
                let left = stored_bytes.checked_sub(size);
                *stored_bytes = left.context("damaged .npz archive (its arrays are larger than the file)")?;
            }
            ensure!(
                taken <= self.file_bytes && size <= taken.saturating_mul(MOST_DEFLATED),
                "damaged .npz archive ({taken} bytes cannot hold {size})"
            );
            let whole: &mut dyn Read = &mut file;
            let array = Array::open(&mut *whole as &mut dyn Read, size)?;
            if !is_stored || self.is_limited {
                let needed = array.memory_bytes();
                let Some(left) = inflated_bytes.checked_sub(needed) else {
                    bail!(over_limit(format!(
                        "shape {:?} takes {needed} bytes of memory, more than the memory limit allows ({} bytes)",
                        array.shape(),
                        self.limit_bytes
                    )));
                };
                *inflated_bytes = left;
            }
            let value = read(array)?;
            // At the end the checksum is compared.
            let rest = whole.read(&mut [0]).map_err(|e| anyhow!("damaged .npz archive ({e})"))?;
            ensure!(rest == 0, "damaged .npz archive (an array is longer than it says)");
            Ok(value)
        };
        run().context(of_member)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{Cursor, Write};

    use crate::npy::tests::{npy, raw};
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{AxisOrder, ReadOptions};

    pub(crate) fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = zip::ZipWriter::new(&mut bytes);
        for (index, (name, values)) in members.iter().enumerate() {
            let method = [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated][index % 2];
            let options = zip::write::SimpleFileOptions::default().compression_method(method);
            writer.start_file(*name, options).unwrap();
            writer.write_all(values).unwrap();
        }
        writer.finish().unwrap();
        bytes.into_inner()
    }

    #[test]
    fn archives_of_one_array_and_of_x_and_y() {
        let x = npy(&[2, 2], &[1., 2., 3., 4.]);
        assert_eq!(read("a.npz", npz(&[("arr_0.npy", x.clone())])).unwrap().len(), 2);
        let labelled = read("a.npz", npz(&[("y.npy", npy(&[2], &[2i64, 1])), ("X.npy", x.clone())])).unwrap();
        assert_eq!(labelled.labels.unwrap(), ["2", "1"]);
        assert_eq!(labelled.classes, ["1", "2"]);
        let text: Vec<u8> = "ab".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let named =
            read("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", raw("<U1", "(2,)", &text))])).unwrap();
        assert_eq!(named.labels.unwrap(), ["a", "b"]);
        refuses("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", npy(&[1], &[2i64]))]), &["1 labels for 2"]);
        refuses("a.npz", npz(&[("X.npy", x.clone()), ("y.npy", npy(&[2], &[0.5, 1.]))]), &["label 0 is 0.5"]);
        refuses("a.npz", npz(&[("X.npy", x), ("y.npy", npy(&[1, 2], &[1, 2]))]), &["labels of shape [1, 2]"]);
    }

    #[test]
    fn archives_of_ragged_series() {
        let a = npy(&[2], &[1., 2.]);
        let b = npy(&[1], &[3f32]);
        let dataset =
            read("a.npz", npz(&[("b.npy", b), ("note.txt", vec![1]), ("a.npy", a.clone())])).unwrap();
        assert_eq!(dataset.series, [vec![3.], vec![1., 2.]]);
        refuses("a.npz", npz(&[("a.npy", a), ("b.npy", npy(&[1, 1], &[1.]))]), &["array 'b'", "[1, 1]"]);
        refuses("a.npz", npz(&[("readme.txt", vec![1])]), &["no .npy array"]);
        refuses("a.npz", npz(&[("a.npy", vec![1])]), &["array 'a'", "not a .npy file"]);
    }

    /// One of several arrays that is called so holds the labels, if there are as many; it is never a series.
    #[test]
    fn labels_beside_ragged_series() {
        let (a, b) = (npy(&[2], &[1., 2.]), npy(&[3], &[3., 4., 5.]));
        for name in ["y.npy", "labels.npy", "target.npy", "Y.npy"] {
            let archive = npz(&[("a.npy", a.clone()), (name, npy(&[2], &[7i64, 8])), ("b.npy", b.clone())]);
            let dataset = read("a.npz", archive).unwrap();
            assert_eq!(dataset.series, [vec![1., 2.], vec![3., 4., 5.]], "{name}");
            assert_eq!(dataset.labels.unwrap(), ["7", "8"], "{name}");
            let other = npz(&[("a.npy", a.clone()), (name, npy(&[3], &[7i64, 8, 9])), ("b.npy", b.clone())]);
            refuses("a.npz", other, &[&format!("array '{}'", &name[..name.len() - 4]), "[3]", "--key"]);
            let values = npz(&[("a.npy", a.clone()), (name, npy(&[2], &[0.5, 8.])), ("b.npy", b.clone())]);
            refuses("a.npz", values, &["label 0 is 0.5"]);
        }
        let both = npz(&[("y.npy", a.clone()), ("labels.npy", a.clone()), ("b.npy", b)]);
        refuses("a.npz", both, &["several arrays may hold labels", "--key"]);
        // The only array there is cannot be the labels of others.
        assert_eq!(read("a.npz", npz(&[("y.npy", a)])).unwrap().series, [[1., 2.]]);
    }

    #[test]
    fn truncated_archives_are_refused() {
        let whole = npz(&[("a.npy", npy(&[2], &[1., 2.])), ("b.npy", npy(&[2], &[1., 2.]))]);
        for end in 1..whole.len() {
            refuses("a.npz", &whole[..end], &[".npz archive"]);
        }
    }

    #[test]
    fn a_key_names_series_and_labels() {
        let member = |values: &[f64]| npy(&[2, 1], values);
        let archive = npz(&[
            ("X_train.npy", member(&[1., 2.])),
            ("y_train.npy", npy(&[2], &[7i64, 8])),
            ("X_test.npy", member(&[3., 4.])),
        ]);
        let keyed = |key: &str| ReadOptions { key: Some(key.parse().unwrap()), ..options() };
        let train = read_with("a.npz", &archive, &keyed("X_train,y_train")).unwrap();
        assert_eq!(
            (train.series, train.labels.unwrap()),
            (vec![vec![1.], vec![2.]], vec!["7".into(), "8".into()])
        );
        assert_eq!(train.notes, ["not read: X_test; --key NAME[,LABELS] chooses arrays"]);
        let test = read_with("a.npz", &archive, &keyed("X_test")).unwrap();
        assert_eq!((test.series, test.labels), (vec![vec![3.], vec![4.]], None));
        refuses_with("a.npz", &archive, &keyed("X"), &["no array 'X'", "X_train, y_train, X_test"]);
        refuses_with("a.npz", &archive, &keyed("X_train,y"), &["no array 'y'"]);
        refuses("a.npz", &archive, &["array 'X_train'", "--key"]);
        let axes = ReadOptions { axes: Some(AxisOrder::ChannelsFirst), ..options() };
        refuses_with(
            "a.npz",
            npz(&[("a.npy", npy(&[1], &[1.])), ("b.npy", npy(&[1], &[1.]))]),
            &axes,
            &["--layout"],
        );
    }

    /// A few kilobytes that claim to be gigabytes are refused by their claims, and what nobody asked for is not looked
    /// at.
    #[test]
    fn bombs_are_refused() {
        let limited = ReadOptions { memory_limit_bytes: 1 << 20, ..options() };
        let zeros = npy(&[3 << 20], &vec![0u8; 3 << 20]);
        let bomb = npz(&[("first.npy", npy(&[1], &[1.])), ("X.npy", zeros.clone())]);
        assert!(bomb.len() < 8192);
        refuses_with("a.npz", &bomb, &limited, &["array 'X'", "25165824 bytes", "the memory limit allows"]);
        let beside = npz(&[("X.npy", npy(&[1], &[1.])), ("bomb.npy", zeros)]);
        assert_eq!(read_with("a.npz", beside, &limited).unwrap().series, [[1.]]);
        let empty = raw("<U0", "(1000000000000,)", &[]);
        let labelled = npz(&[("X.npy", npy(&[1, 1], &[1.])), ("y.npy", empty)]);
        refuses("a.npz", labelled, &["array 'y'", "element type '<U0'"]);
        // Each of several arrays fits, not all of them.
        let part = npy(&[50_000], &vec![0u8; 50_000]);
        let names: Vec<String> = (0..8).map(|k| format!("{k}.npy")).collect();
        let members: Vec<(&str, Vec<u8>)> = names.iter().map(|n| (n.as_str(), part.clone())).collect();
        refuses_with("a.npz", npz(&members), &limited, &["array '2'", "the memory limit allows"]);
    }

    /// Claims in the directory that the file's size contradicts.
    #[test]
    fn directories_that_lie_are_refused() {
        let archive = npz(&[("0.npy", npy(&[1], &[1.])), ("1.npy", npy(&[1], &[2.]))]);
        let directory = archive.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
        for size in [0_u32, 1, 10_000_000, u32::MAX - 1] {
            let mut lying = archive.clone();
            lying[directory + 24..directory + 28].copy_from_slice(&size.to_le_bytes());
            refuses("a.npz", lying, &["a.npz"]);
        }
    }
}
