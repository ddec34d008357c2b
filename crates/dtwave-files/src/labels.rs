//! Class labels in tables: which column holds them, and whether a column that was read as values looks like one.
//!
//! In `.tsv` and `.txt` the first column is the label unless the user says otherwise. A `.csv` file holds labels only
//! where the user says so; a column that looks like labels is then doubted.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use anyhow::{Result, bail};

use crate::text::{LEAST_COUNTED, clean, counts_up, is_number};

/// The column of class labels of a `.csv`, `.tsv` or `.txt` file. Columns are counted behind an index that is left
/// out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LabelColumn {
    /// There is none: all columns hold values.
    None,
    /// The first.
    First,
    /// The last cell of each row.
    Last,
    /// The one of this name in line 1.
    Named(String),
}

impl FromStr for LabelColumn {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        Ok(match text.trim() {
            "" => return Err("no column; expected first, last, none or the name of a column".to_owned()),
            "none" => LabelColumn::None,
            "first" => LabelColumn::First,
            "last" => LabelColumn::Last,
            name => LabelColumn::Named(name.to_owned()),
        })
    }
}

impl LabelColumn {
    /// Where the labels are in a file whose line 1 is `first`, the `skipped` first cells of a row aside.
    pub(crate) fn cell(&self, skipped: usize, first: &[&str]) -> Result<LabelCell> {
        Ok(match self {
            LabelColumn::None => LabelCell::Nowhere,
            LabelColumn::First => LabelCell::At(skipped),
            LabelColumn::Last => LabelCell::Last,
            LabelColumn::Named(name) => match first.iter().position(|cell| cell == name) {
                Some(column) => LabelCell::At(column),
                None => bail!("{}", not_named(name, first)),
            },
        })
    }
}

impl fmt::Display for LabelColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LabelColumn::None => "none",
            LabelColumn::First => "first",
            LabelColumn::Last => "last",
            LabelColumn::Named(name) => name,
        })
    }
}

/// Where the label of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelCell {
    /// Nowhere.
    Nowhere,
    /// In this column, from 0.
    At(usize),
    /// In its last cell.
    Last,
}

impl LabelCell {
    /// The column of the label in a row of so many cells; none where it has none.
    pub(crate) fn of(self, cells: usize) -> Option<usize> {
        match self {
            LabelCell::Nowhere => None,
            LabelCell::At(column) => Some(column).filter(|column| *column < cells),
            LabelCell::Last => cells.checked_sub(1),
        }
    }

    /// `the first column`, as messages call it.
    pub(crate) fn shown(self) -> String {
        match self {
            LabelCell::Nowhere => "no column".to_owned(),
            LabelCell::At(0) => "the first column".to_owned(),
            LabelCell::At(column) => format!("column {}", column + 1),
            LabelCell::Last => "the last column".to_owned(),
        }
    }
}

/// The error of a name that line 1 does not have.
fn not_named(name: &str, cells: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut shown: Vec<String> = cells.iter().take(SHOWN + 1).map(|cell| clean(cell)).collect();
    if shown.len() > SHOWN {
        shown[SHOWN] = "…".to_owned();
    }
    format!("line 1 names no column '{}', which --labels asks for; it has {}", clean(name), shown.join(", "))
}

pub(crate) const NAME_NEEDS_HEADER: &str =
    "--labels names a column, and --csv-header no says that line 1 has no names; leave out one of the two";

/// One of several files may have labels and another nothing but values.
pub(crate) fn only_column(wanted: &LabelColumn) -> String {
    format!("the only column holds the values, so that --labels {wanted} found no labels")
}

/// Whether a name of a column says that it holds labels.
pub(crate) fn is_label_name(name: &str) -> bool {
    LABEL_NAMES.iter().any(|known| name.trim().eq_ignore_ascii_case(known))
}

/// What a column or an array of labels is called.
pub(crate) const LABEL_NAMES: [&str; 7] = ["y", "label", "labels", "target", "targets", "class", "classes"];

/// Writes whole numbers with decimals or an exponent without them, so that `1.0000000e+00` and `1` are one class; other
/// labels are kept as they are.
pub(crate) fn canonical_label(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(value) if cell.contains(['.', 'e', 'E']) && value.fract() == 0.0 && value.abs() < 1e15 => {
            format!("{}", value as i64)
        }
        _ => cell.to_owned(),
    }
}

/// What the first line is, as it looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstLine {
    /// Names of the columns.
    Header,
    /// A label and its series.
    Series,
    /// Read as a series, but the columns may be counted.
    Doubtful,
}

/// Whether a line whose label would be the word `head` names the columns instead: the cells `behind` count them. The
/// others tell their labels, and whether one of their values is not whole.
///
/// A header's word is no label below. Where nothing but that word tells, the line is doubtful.
pub(crate) fn first_line_is<L: AsRef<str>>(
    head: &str,
    behind: &[&str],
    others: impl Iterator<Item = (L, bool)>,
) -> FirstLine {
    // Programs count from 0, people also from 1.
    let is_counted =
        counts_up(behind.iter().copied()) || counts_up(std::iter::once("0").chain(behind.iter().copied()));
    if !is_counted || behind.len() < 2 {
        return FirstLine::Series;
    }
    let (mut lines, mut has_fractions, mut are_numbers) = (0_usize, false, true);
    for (label, is_fraction) in others {
        let label = label.as_ref();
        if label == head {
            return FirstLine::Series;
        }
        are_numbers &= is_number(label);
        has_fractions |= is_fraction;
        lines += 1;
    }
    match (lines, has_fractions || are_numbers) {
        (0, _) => FirstLine::Series,
        (_, true) if behind.len() >= LEAST_COUNTED => FirstLine::Header,
        (_, is_likely) if is_likely || behind.len() >= LEAST_COUNTED => FirstLine::Doubtful,
        _ => FirstLine::Series,
    }
}

/// The start and the end of a line that counts: `0, 1, … 9` or `label, 0, 1, … 9`.
pub(crate) fn counted_shown(line: &[&str]) -> String {
    let starts = if line.first().is_none_or(|cell| cell.is_empty() || is_number(cell)) { 2 } else { 3 };
    let cells = line.iter().filter(|cell| !cell.is_empty());
    let start: Vec<String> = cells.take(starts).map(|cell| clean(cell)).collect();
    format!("{}, … {}", start.join(", "), line.last().map(|cell| clean(cell)).unwrap_or_default())
}

/// The warning on a name of a column of values that says label, if there is one.
pub(crate) fn doubt_of_names<'a>(names: impl Iterator<Item = &'a str>, read_as: &str) -> Option<String> {
    let (column, name) = names.enumerate().find(|(_, name)| is_label_name(name))?;
    let name = clean(name);
    Some(format!(
        "line 1 calls column {} '{name}', and it was read as {read_as}: say --labels {name} if it holds class labels, --labels none if it holds values",
        column + 1
    ))
}

/// Whether a column of whole numbers beside columns of fractions may hold labels. `column` are its values, `others` the
/// other columns: whether each has a value that is not whole, as most must.
///
/// Series often begin or end with zeros, which are no labels.
pub(crate) fn looks_like_labels(
    column: impl Iterator<Item = f64> + Clone,
    others: impl Iterator<Item = bool>,
) -> bool {
    let (mut rows, mut are_zero) = (0_usize, true);
    for value in column {
        if value.fract() != 0.0 || value.abs() >= 1e15 {
            return false;
        }
        rows += 1;
        are_zero &= value == 0.0;
    }
    let (mut columns, mut with_fractions) = (0_usize, 0_usize);
    for has_fractions in others {
        columns += 1;
        with_fractions += usize::from(has_fractions);
    }
    rows > 1 && !are_zero && 2 * with_fractions > columns
}

/// Whether values are few different ones (at least two), each often: classes of points rather than a series.
pub(crate) fn are_few(column: impl Iterator<Item = f64>) -> bool {
    const MOST: usize = 20;
    const EACH: usize = 4;
    let (mut rows, mut different) = (0_usize, HashSet::new());
    for value in column {
        rows += 1;
        different.insert(value.to_bits());
        if different.len() > MOST {
            return false;
        }
    }
    different.len() > 1 && rows >= EACH * different.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{CsvLayout, Dataset, HeaderLine, ReadOptions};

    #[test]
    fn columns_are_named_by_place_or_name() {
        for (text, column) in [
            ("first", LabelColumn::First),
            ("last", LabelColumn::Last),
            ("none", LabelColumn::None),
            ("target", LabelColumn::Named("target".to_owned())),
        ] {
            assert_eq!(text.parse(), Ok(column.clone()));
            assert_eq!(column.to_string(), text);
        }
        assert!(" ".parse::<LabelColumn>().unwrap_err().contains("first, last, none"));
        assert!(is_label_name(" Class") && !is_label_name("classy"));
    }

    #[test]
    fn whole_numbers_beside_fractions_may_be_labels() {
        let looks = |column: &[f64], others: &[bool]| {
            looks_like_labels(column.iter().copied(), others.iter().copied())
        };
        assert!(looks(&[1., 2., 1.], &[true, true]));
        assert!(looks(&[-1., 1.], &[true, false, true]));
        assert!(looks(&[3., 3.], &[true]), "a file of one class");
        assert!(!looks(&[0., 0.], &[true]), "series that begin with 0");
        assert!(!looks(&[1., 2.5], &[true]));
        assert!(!looks(&[1., 2.], &[false, false, true]), "values that are whole");
        assert!(!looks(&[1.], &[true]), "one row");
        assert!(are_few([0., 1., 0., 1., 0., 0., 0., 1.].into_iter()));
        assert!(!are_few([0., 1., 2., 3., 4., 5., 6., 7.].into_iter()));
    }

    fn labelled(labels: &str) -> ReadOptions {
        ReadOptions { labels: Some(labels.parse().unwrap()), ..options() }
    }

    fn parts(dataset: Dataset) -> (Vec<Vec<f64>>, Option<Vec<String>>) {
        assert_eq!(dataset.warnings, [""; 0]);
        (dataset.series, dataset.labels)
    }

    /// First, last or by name; with a header of names or of counts, behind an index, in quotes, in every text format.
    #[test]
    fn the_column_that_the_user_points_at_holds_the_labels() {
        let series = vec![vec![0.5, 1.5], vec![2.5, 3.0]];
        let texts = |labels: [&str; 2]| Some(labels.map(String::from).to_vec());
        for (wanted, text, labels) in [
            ("first", "a,0.5,1.5\nb,2.5,3\n", ["a", "b"]),
            ("first", "1.0,0.5,1.5\n2e0,2.5,3\n", ["1", "2"]),
            ("last", "0.5,1.5,1\n2.5,3,2\n", ["1", "2"]),
            ("last", "x,y,class\n0.5,1.5,1\n2.5,3,2\n", ["1", "2"]),
            ("class", "x,class,y\n0.5,1,1.5\n2.5,2,3\n", ["1", "2"]),
            ("class", "0,class,1\n0.5,1,1.5\n2.5,2,3\n", ["1", "2"]),
            ("label", "\"label\";\"t0\";\"t1\"\n\"a\";0.5;1.5\n\"b\";2.5;3\n", ["a", "b"]),
            ("first", ",label,t0,t1\n7,1,0.5,1.5\n9,2,2.5,3\n", ["1", "2"]),
            ("label", ",t0,label,t1\n7,0.5,a,1.5\n9,2.5,b,3\n", ["a", "b"]),
        ] {
            for name in ["a.csv", "a.tsv"] {
                // A .tsv file has no quotes, and a header of names only where the user says so.
                if name == "a.csv" || !text.contains('"') && !text.starts_with(",l") && wanted != "last" {
                    let read = read_with(name, text, &labelled(wanted)).unwrap();
                    assert_eq!(parts(read), (series.clone(), texts(labels)), "{name} {wanted} {text:?}");
                }
            }
        }
        let last = read_with("a.tsv", "0.5\t1.5\tNaN\t1\n2.5\t3\t4\t2\n", &labelled("last")).unwrap();
        assert_eq!(last.series, [vec![0.5, 1.5], vec![2.5, 3., 4.]]);
        // Rows of several lengths: the last cell of each.
        let ragged = read_with("a.csv", "1,2,a\n3,b\n4,,c\n", &labelled("last")).unwrap();
        assert_eq!((ragged.series, ragged.classes.len()), (vec![vec![1., 2.], vec![3.], vec![4.]], 3));
    }

    #[test]
    fn a_header_that_counts_beside_a_name_is_left_out() {
        let counted = "class,0,1,2,3\n1,0.5,1,2,3\n2,4,5,6,7\n";
        let read = read_with("a.csv", counted, &labelled("first")).unwrap();
        assert_eq!((read.len(), read.classes), (2, vec!["1".to_owned(), "2".to_owned()]));
        assert!(read.notes[0].contains("line 1 (class, 0, 1, … 3) names the columns"), "{:?}", read.notes);
        let open = read_with("a.csv", "c,0,1,2,3\na,4,5,6,7\n", &labelled("first")).unwrap();
        assert!(open.len() == 2 && open.warnings[0].contains("--csv-header yes"), "{:?}", open.warnings);
    }

    #[test]
    fn no_column_of_labels() {
        let none = read_with("a.tsv", "1\t0.5\t2\n2\t0.25\t3\n", &labelled("none")).unwrap();
        assert_eq!(parts(none), (vec![vec![1., 0.5, 2.], vec![2., 0.25, 3.]], None));
        let none = read_with("a.csv", "1,0.5\n2,0.25\n", &labelled("none")).unwrap();
        assert_eq!(parts(none), (vec![vec![1., 0.5], vec![2., 0.25]], None));
        // A query beside series with labels.
        let query = read_with("a.csv", "1\n2\n", &labelled("first")).unwrap();
        assert!(query.notes[0].contains("--labels first found no labels"), "{:?}", query.notes);
        assert_eq!(parts(query), (vec![vec![1., 2.]], None));
    }

    /// Both readings are told.
    #[test]
    fn columns_that_look_like_labels_are_doubted() {
        let by = |csv_layout| ReadOptions { csv_layout, ..options() };
        for (layout, text, told) in [
            (CsvLayout::Rows, "label,t0,t1\n1,0.5,1.5\n2,2.5,3\n", "column 1 'label'"),
            (CsvLayout::Rows, "t0,t1,Class\n1,0.5,1\n2,2.5,3\n", "--labels Class"),
            (CsvLayout::Rows, "t0,y\n1,0.5\n2,2.5\n", "column 2 'y', and it was read as a point"),
            (
                CsvLayout::Columns,
                "t0,target\n1,0.5\n2,2.5\n",
                "column 2 'target', and it was read as a series",
            ),
            (
                CsvLayout::Auto,
                "1,0.5,1.5\n2,2.5,3\n",
                "the first column holds whole numbers beside fractions",
            ),
            (
                CsvLayout::Auto,
                "0.5,1.5,-1\n2.5,3,1\n",
                "the last column holds whole numbers beside fractions",
            ),
            (CsvLayout::Auto, "0.5,1.5,2,-1\n2.5,1\n1.5,0.5,1\n", "--labels last"),
            (CsvLayout::Columns, "0.5,1\n2.5,0\n1.5,0\n1.5,0\n1.5,0\n1.5,0\n1,0\n1,0\n", "--labels last"),
        ] {
            let read = read_with("a.csv", text, &by(layout)).unwrap();
            let warning = read.warnings.concat();
            assert!(warning.contains(told) && warning.contains("--labels none"), "{text:?}: {warning:?}");
            let sure = ReadOptions { labels: Some(LabelColumn::None), ..by(layout) };
            assert_eq!(read_with("a.csv", text, &sure).unwrap().warnings, [""; 0], "{text:?}");
        }
        for text in ["0,0.5\n0,2.5\n", "1,2,3\n2,3,4\n", "1,0.5,1.5\n", "1.5,0.5\n2,2.5\n"] {
            assert_eq!(read("a.csv", text).unwrap().warnings, [""; 0], "{text:?}");
        }
    }

    #[test]
    fn what_the_option_cannot_find_is_refused() {
        let refused = |text: &str, wanted: &str, parts: &[&str]| {
            refuses_with("a.csv", text, &labelled(wanted), parts);
        };
        refused("a,b\n1,2\n", "kind", &["names no column 'kind'", "--labels", "it has a, b"]);
        refused("a,1\n,2\n", "first", &["line 2: no class label in the first column"]);
        refused("1,a\n2,\n", "last", &["line 2: no class label in the last column"]);
        let columns = ReadOptions { csv_layout: CsvLayout::Columns, ..labelled("last") };
        refuses_with("a.csv", "1,a\n2,b\n", &columns, &["--labels", "--csv-layout columns"]);
        let bare = ReadOptions { header: HeaderLine::No, ..labelled("kind") };
        for name in ["a.csv", "a.tsv"] {
            refuses_with(name, "kind,1\na,2\n", &bare, &["--labels", "--csv-header no"]);
        }
        // Words where values are expected lead to the option.
        refuses("a.csv", "a,1,2\nb,3,4\n", &["line 1, column 1: 'a' is not a number", "--labels first"]);
        refuses("a.csv", "1,2,a\n3,4,b\n", &["line 1, column 3: 'a' is not a number", "--labels last"]);
        refuses("a.csv", "t0,kind,class\n1,2,a\n", &["names the columns", "--labels class"]);
    }
}
