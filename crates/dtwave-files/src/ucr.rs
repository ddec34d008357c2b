//! The UCR archive's `.tsv` and `.txt` formats: one series per line, its class label in the first column.
//!
//! The separator is a tab, a semicolon, a comma or white space, whichever the first line of values has. The 2018
//! archive pads shorter series with NaN at the end; that padding is dropped and noted. A NaN anywhere else is an error.
//! A first column that does not look like labels is read as such with a warning, since the format says so. Line 1 is a
//! header if it counts 0, 1, 2, … above values that are not whole, also behind a name of the label column. The user may
//! point at another column of labels, or say that there is none.

use std::collections::HashSet;

use anyhow::{Result, bail, ensure};

use super::csv::ended_early;
use super::labels::{FirstLine, LabelCell, NAME_NEEDS_HEADER, canonical_label, counted_shown, first_line_is};
use super::text::{
    LEAST_COUNTED, clean, counts_up, header_left_out, is_date, is_missing, is_number, not_a_number,
    not_finite, numbered_lines, quoted,
};
use super::{Dataset, HeaderLine, IndexColumn, LabelColumn, Missing, ReadOptions};

#[derive(Clone, Copy)]
enum Separator {
    Char(char),
    WhiteSpace,
}

impl Separator {
    fn of(line: &str) -> Self {
        if line.contains('\t') {
            return Separator::Char('\t');
        }
        // A semicolon that no number follows belongs to a label.
        if line.split(';').nth(1).is_some_and(|cell| is_number(cell.trim())) {
            return Separator::Char(';');
        }
        // Commas inside of words that spaces keep apart are decimal commas.
        let words = line.split_whitespace();
        let are_decimal = words.clone().count() > 2
            && words.clone().all(|word| word.matches(',').count() < 2)
            && !words.clone().any(|word| word.ends_with(',') || word.starts_with(','));
        if line.contains(',') && !are_decimal { Separator::Char(',') } else { Separator::WhiteSpace }
    }

    fn split(self, line: &str) -> Vec<&str> {
        match self {
            Separator::Char(c) => line.split(c).map(str::trim).collect(),
            Separator::WhiteSpace => line.split_whitespace().collect(),
        }
    }
}

pub(super) fn parse(name: String, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let (wanted, index, asked) = (options.header, options.index, options.labels.as_ref());
    let mut lines = numbered_lines(bytes, None);
    let Some(first) = lines.next() else { bail!("the file holds no series") };
    let (number_of_first, first) = first?;
    // Names tell nothing about what stands between numbers.
    let is_named = wanted == HeaderLine::Yes || matches!(asked, Some(LabelColumn::Named(_)));
    let sample = if is_named {
        numbered_lines(bytes, None).nth(1).and_then(Result::ok).map_or(first, |(_, line)| line)
    } else {
        first
    };
    let separator = Separator::of(sample);
    let mut first = separator.split(first);
    while first.len() > 1 && first.last().is_some_and(|cell| cell.is_empty()) {
        first.pop();
    }
    // An index that has no name stands before labels that the user points at.
    let is_pointed_at = asked.is_some_and(|column| *column != LabelColumn::None);
    let mut has_index = index == IndexColumn::Yes
        || index == IndexColumn::Auto && is_pointed_at && first.len() > 1 && first[0].is_empty();
    let mut column = match asked {
        None if has_index => LabelCell::Nowhere,
        None => LabelCell::At(0),
        Some(column) => column.cell(usize::from(has_index), &first)?,
    };
    let mut notes = Vec::new();
    let line_1 = match (wanted, asked) {
        (HeaderLine::No, Some(LabelColumn::Named(_))) => bail!("{NAME_NEEDS_HEADER}"),
        (HeaderLine::Yes, _) | (_, Some(LabelColumn::Named(_))) => FirstLine::Header,
        (HeaderLine::No, _) => FirstLine::Series,
        (HeaderLine::Auto, _) => first_line(&first, lines, separator, column),
    };
    let header = line_1 == FirstLine::Header;
    if let (false, IndexColumn::Auto, Some(asked)) = (header, index, asked) {
        // An empty first cell is then no corner above an index.
        has_index = false;
        column = asked.cell(0, &first)?;
    }
    if header && wanted == HeaderLine::Auto && !matches!(asked, Some(LabelColumn::Named(_))) {
        notes.push(format!(
            "line {number_of_first} ({}) names the columns and was left out; --csv-header no reads it as a series",
            counted_shown(&first)
        ));
    } else if header && wanted == HeaderLine::Yes && first.iter().any(|cell| is_number(cell)) {
        notes.push(header_left_out(number_of_first, first.iter().copied()));
    }
    let is_unnamed = header && first[0].is_empty();
    // What has no name and counts is an index; judged by the lines.
    let mut counts = is_unnamed && index == IndexColumn::Auto && asked.is_none();

    let fills = options.missing != Missing::Error;
    let mut series: Vec<Vec<f64>> = Vec::new();
    let (mut labels, mut edge): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut padded, mut cut) = (0, 0);
    for line in numbered_lines(bytes, None).skip(usize::from(header)) {
        let (number, line) = line?;
        let mut cells = separator.split(line);
        let end = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        cut += usize::from(end < cells.len());
        cells.truncate(end.max(1));
        let at = column.of(cells.len());
        let label = at.map_or("", |at| cells[at]);
        ensure!(
            column == LabelCell::Nowhere || !label.is_empty(),
            "line {number}: no class label in {}",
            column.shown()
        );
        ensure!(
            number > 1 || cells.len() < 3 || cells.iter().any(|cell| cell.parse::<f64>().is_ok()),
            "line 1 holds no numbers; if it names the columns, say --csv-header yes"
        );
        let own = cells.iter().copied().enumerate().skip(usize::from(has_index));
        let (values, is_padded) =
            values(number, own.filter(|(index, _)| Some(*index) != at), series.len(), fills)?;
        counts &= cells[0].parse() == Ok(series.len());
        padded += usize::from(is_padded);
        series.push(values);
        if column != LabelCell::Nowhere {
            labels.push(canonical_label(label));
        }
        if edge.len() < 2 {
            edge.push(clean(cells[0]));
        }
    }
    ensure!(!series.is_empty(), "only a header line; expected labels and series below it");
    if padded > 0 {
        notes.push(format!("{padded} series padded with NaN at the end were read as shorter series"));
    }
    if cut > 0 {
        notes.push(ended_early(cut));
    }
    let has_labels = column != LabelCell::Nowhere && !counts;
    if counts || has_index {
        let more = if series.len() > 2 { ", …" } else { "" };
        let none = if has_labels { "" } else { "; there are no labels" };
        notes.push(format!(
            "the first column ({}{more}) is the index of the rows and was left out{none}",
            edge.join(", ")
        ));
    }
    let dataset = Dataset::univariate(name, series);
    if !has_labels {
        return Ok(Dataset { notes, ..dataset });
    }
    let mut warnings = Vec::new();
    if line_1 == FirstLine::Doubtful {
        warnings.push(format!(
            "line {number_of_first} ({}) was read as a series of class {}; --csv-header yes if it names the columns, no if it does not",
            counted_shown(&first),
            quoted(column.of(first.len()).map_or("", |at| first[at]))
        ));
    }
    if index != IndexColumn::No && !is_pointed_at {
        warnings.extend(doubt(&labels, is_unnamed));
    }
    Ok(Dataset { notes, warnings, ..dataset.with_labels(labels) })
}

/// What the first line is. It counts the columns above values that are not whole, or behind an empty corner; or behind
/// a name of the column of labels, where `column` is that.
fn first_line<'a>(
    first: &[&str],
    others: impl Iterator<Item = Result<(usize, &'a str)>>,
    separator: Separator,
    column: LabelCell,
) -> FirstLine {
    let is_fraction = |cell: &&str| cell.parse().is_ok_and(|value: f64| value.fract() != 0.0);
    let rows = others.flatten().map(|(_, line)| {
        let cells = separator.split(line);
        let at = column.of(cells.len());
        let mut values = cells.iter().enumerate().filter(|(index, _)| Some(*index) != at);
        let has_fractions = values.any(|(_, cell)| is_fraction(cell));
        (at.map_or("", |at| cells[at]).to_owned(), has_fractions)
    });
    let at = column.of(first.len()).unwrap_or(0);
    let head = first[at];
    if head.is_empty() || is_number(head) {
        let counted = if first[0].is_empty() { &first[1..] } else { first };
        let mut rows = rows;
        let is_header = counts_up(counted.iter().copied())
            && (first[0].is_empty()
                || counted.len() >= LEAST_COUNTED && rows.any(|(_, is_fraction)| is_fraction));
        return if is_header { FirstLine::Header } else { FirstLine::Series };
    }
    let behind = first.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, cell)| *cell);
    first_line_is(head, &behind.collect::<Vec<_>>(), rows)
}

/// The values of a line, whose `cells` are given with their columns, and whether they were padded. Missing ones are NaN
/// where they are filled in later.
fn values<'a>(
    line: usize,
    cells: impl Iterator<Item = (usize, &'a str)>,
    series: usize,
    fills: bool,
) -> Result<(Vec<f64>, bool)> {
    let mut values = Vec::with_capacity(cells.size_hint().0);
    let mut columns = Vec::new();
    for (index, cell) in cells {
        let Ok(value) = (if fills && is_missing(cell) { Ok(f64::NAN) } else { cell.parse::<f64>() }) else {
            bail!("line {line}, column {}: {}", index + 1, not_a_number(cell));
        };
        values.push(value);
        columns.push(index + 1);
    }
    let end = values.iter().rposition(|v| !v.is_nan()).map_or(0, |last| last + 1);
    let is_padded = end < values.len();
    values.truncate(end);
    if let Some(at) = values.iter().position(|v| !(v.is_finite() || fills && v.is_nan())) {
        bail!(
            "line {line}, column {}: series {series}, position {at}: {}",
            columns[at],
            not_finite(values[at])
        );
    }
    ensure!(
        !values.is_empty(),
        "line {line}: series {series} is empty: expected a class label and then the series"
    );
    Ok((values, is_padded))
}

/// Why the first column, which has no name below a header of names, may hold something else than labels.
fn doubt(labels: &[String], is_unnamed: bool) -> Option<String> {
    let is_fraction = |label: &&String| label.parse().is_ok_and(|value: f64| value.fract() != 0.0);
    if let Some(label) = labels.iter().find(is_fraction) {
        return Some(format!(
            "the first column ({}, …) was read as class labels; a table of values alone is a .csv file",
            clean(label)
        ));
    }
    if labels.len() > 1 && labels.iter().all(|label| is_date(label)) {
        return Some(format!(
            "the first column ({}, …) holds dates or times and was read as class labels; --csv-index yes if it is an index, no if it is not",
            clean(&labels[0])
        ));
    }
    // Rows that are numbered in any order, or by dates, are each of a class of their own.
    let are_whole = labels.iter().all(|label| label.parse::<i64>().is_ok());
    let least = if is_unnamed { 2 } else { 3 };
    if labels.len() < least || !(are_whole || is_unnamed) {
        return None;
    }
    let are_different = labels.iter().collect::<HashSet<_>>().len() == labels.len();
    let shown: Vec<String> = labels.iter().take(least).map(|label| clean(label)).collect();
    let more = if labels.len() > least { ", …" } else { "" };
    are_different.then(|| {
        format!(
            "the first column ({}{more}) was read as class labels, and every series has another one; --csv-index yes if it is an index, no if it is not",
            shown.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::tests::{options, read, read_with, refuses};
    use crate::{HeaderLine, IndexColumn, ReadOptions};

    #[test]
    fn all_separators_give_the_same() {
        let expected = [vec![0.5, -1.0], vec![2.0, 3.0]];
        for (name, text) in [
            ("a.tsv", "1\t0.5\t-1\n2\t2\t3\n"),
            ("a.txt", "1,0.5,-1\n2,2,3\n"),
            ("a.txt", "  1.0000000e+00   5.0e-01  -1\n   2.0 2 3"),
            ("a.tsv", "1\t0.5\t-1\r\n\r\n2\t2\t3\r\n"),
            ("a.tsv", "1;0.5;-1\n2; 2 ;3\n"),
        ] {
            let dataset = read(name, text).unwrap();
            assert_eq!(dataset.series, expected, "{text:?}");
            assert_eq!(dataset.labels.unwrap(), ["1", "2"]);
            assert!(dataset.notes.is_empty());
        }
    }

    #[test]
    fn trailing_nan_is_padding_and_noted() {
        let dataset = read("a.tsv", "a\t1\t2\t3\nb\t4\tNaN\tnan\n").unwrap();
        assert_eq!(dataset.series, [vec![1., 2., 3.], vec![4.]]);
        assert_eq!(dataset.notes.len(), 1);
        assert!(dataset.notes[0].starts_with("1 series padded with NaN"));
    }

    #[test]
    fn malformed_lines_are_named() {
        refuses("a.tsv", "1\t2\t3\n1\tNaN\t4\n", &["line 2, column 2", "series 1, position 0", "NaN"]);
        refuses("a.tsv", "1\t2\tinf\n", &["line 1, column 3", "series 0, position 1", "inf"]);
        refuses("a.tsv", "1\t2\n1\tNaN\n", &["line 2", "series 1 is empty"]);
        refuses("a.tsv", "1\n", &["line 1", "series 0 is empty", "class label"]);
        refuses("a.tsv", "1\t2\tx3\n", &["line 1, column 3", "'x3' is not a number"]);
        refuses("a.tsv", "1\t2\n,\t2\t?\n", &["line 2, column 3", "'?'"]);
        refuses("a.txt", "1,2,3\n,2,3\n", &["line 2", "no class label"]);
        refuses("a.txt", "1,,3\n", &["line 1, column 2", "'' is not a number"]);
        refuses("a.txt", "\n\n", &["no series"]);
        refuses("a.txt", b"1 2 3\n1 \xff\n", &["line 2", "not UTF-8"]);
    }

    #[test]
    fn labels_of_different_texts_are_different_classes() {
        let dataset = read("a.tsv", "01\t1\t2\n1\t1\t2\n1.0\t1\t2\n1e0\t1\t2\n").unwrap();
        assert_eq!(dataset.labels.unwrap(), ["01", "1", "1", "1"]);
        assert_eq!(dataset.classes, ["01", "1"]);
    }

    #[test]
    fn a_first_column_of_values_is_doubted() {
        for text in [
            "0.53\t1\t2\n0.61\t3\t4\n",
            "0\t1.5\t2\n1\t3\t4\n2\t3\t4\n",
            "20\t1.5\t2\n30\t3\t4\n10\t3\t4\n",
            "\t0\t1\n2\t3\t4\n0\t3\t4\n",
            "\t0\t1\n2020-01-01\t3\t4\n2020-01-02\t3\t4\n",
        ] {
            let dataset = read("a.tsv", text).unwrap();
            assert!(dataset.warnings[0].contains("was read as class labels"), "{text:?}");
        }
        assert!(read("a.tsv", "a\t1\t2\nb\t3\t4\n").unwrap().warnings.is_empty());
        assert!(read("a.tsv", "0\t1\t2\n1\t3\t4\n0\t3\t4\n").unwrap().warnings.is_empty());
    }

    #[test]
    fn the_user_decides_about_the_index() {
        let with = |index| {
            let text = "20\t1.5\t2\n30\t3\t4\n10\t3\t4\n";
            read_with("a.tsv", text, &ReadOptions { index, ..options() }).unwrap()
        };
        let left = with(IndexColumn::Yes);
        assert_eq!((left.len(), &left.labels), (3, &None));
        assert!(left.notes[0].starts_with("the first column (20, 30, …) is the index"), "{:?}", left.notes);
        let kept = with(IndexColumn::No);
        assert_eq!((kept.classes, kept.warnings), (["10", "20", "30"].map(String::from).to_vec(), vec![]));
    }

    /// What the user calls a header may be data.
    #[test]
    fn a_header_of_numbers_is_said_to_be_left_out() {
        let yes = ReadOptions { header: HeaderLine::Yes, ..options() };
        let dataset = read_with("a.tsv", "1\t2.5\n2\t3.5\n", &yes).unwrap();
        assert_eq!(
            dataset.notes,
            ["line 1 (1, 2.5) was left out as names of the columns, as --csv-header yes says"]
        );
        assert!(read_with("a.tsv", "c\tv\n2\t3.5\n", &yes).unwrap().notes.is_empty());
    }

    #[test]
    fn a_line_that_counts_is_a_header() {
        let named = read("a.tsv", "0\t1\t2\t3\n1\t0.5\t2\t3\n2\t3\t4\t5\n").unwrap();
        assert_eq!(named.series, [[0.5, 2., 3.], [3., 4., 5.]]);
        assert!(named.notes[0].contains("line 1 (0, 1, … 3)"));
        let indexed = read("a.tsv", "\t0\t1\n0\t7\t8\n1\t9\t6\n").unwrap();
        assert_eq!((indexed.series, indexed.labels), (vec![vec![7., 8.], vec![9., 6.]], None));
        let wanted = |header, text: &str| read_with("a.tsv", text, &ReadOptions { header, ..options() });
        assert_eq!(wanted(HeaderLine::No, "0\t1\t2\t3\n1\t0.5\t2\t3\n").unwrap().len(), 2);
        assert_eq!(wanted(HeaderLine::Yes, "label\tx\ty\na\t1\t2\n").unwrap().series, [[1., 2.]]);
        refuses("a.tsv", "label\tx\ty\na\t1\t2\n", &["line 1 holds no numbers", "--csv-header yes"]);
        assert!(wanted(HeaderLine::Yes, "label\tx\n").is_err());
        refuses("a.tsv", "1\t2\t3\n\t2\t3\n", &["line 2", "no class label"]);
    }

    /// As data frames are written: the column of labels has a name, the others are counted.
    #[test]
    fn a_header_may_name_the_column_of_labels() {
        for (header, shown, labels) in [
            ("label\t0\t1\t2\t3", "label, 0, 1, … 3", ["a", "b"]),
            ("label\t0\t1\t2\t3", "label, 0, 1, … 3", ["0", "1"]),
            ("class\t1\t2\t3\t4", "class, 1, 2, … 4", ["0", "1"]),
            ("class\t1\t2\t3\t4\t", "class, 1, 2, … 4", ["a", "b"]),
        ] {
            let text = format!("{header}\n{}\t0.5\t1\t2\t3\n{}\t4\t5\t6\t7\n", labels[0], labels[1]);
            for (name, text) in [("a.tsv", text.clone()), ("a.txt", text.replace('\t', " "))] {
                let dataset = read(name, &text).unwrap();
                assert_eq!(dataset.series, [[0.5, 1., 2., 3.], [4., 5., 6., 7.]], "{text:?}");
                assert_eq!(dataset.classes, labels);
                assert_eq!(dataset.warnings, [""; 0]);
                let note = format!(
                    "line 1 ({shown}) names the columns and was left out; --csv-header no reads it as a series"
                );
                assert_eq!(dataset.notes, [note]);
            }
        }
        // Whole values below numbers: the word tells. Below words it may be one of them.
        assert_eq!(read("a.tsv", "label\t0\t1\t2\t3\n1\t4\t5\t6\t7\n").unwrap().len(), 1);
        for text in
            ["label\t0\t1\t2\t3\na\t4\t5\t6\t7\n", "label\t0\t1\t2\na\t4.5\t5\t6\n", "c\t1\t2\n1\t4\t5\n"]
        {
            let dataset = read("a.tsv", text).unwrap();
            assert_eq!((dataset.len(), dataset.warnings.len()), (2, 1), "{text:?}");
            assert!(dataset.warnings[0].contains("--csv-header yes"), "{:?}", dataset.warnings);
            let sure = ReadOptions { header: HeaderLine::No, ..options() };
            assert!(read_with("a.tsv", text, &sure).unwrap().warnings.is_empty());
        }
        // A label of another line, a line alone, and what does not count are series.
        for text in [
            "a\t0\t1\t2\t3\nb\t4.5\t5\t6\t7\na\t4\t5\t6\t7\n",
            "a\t0\t1\t2\t3\n",
            "a\t0\t1\t2\t4\nb\t4.5\t5\t6\t7\n",
        ] {
            let dataset = read("a.tsv", text).unwrap();
            assert_eq!(dataset.labels.unwrap()[0], "a", "{text:?}");
            assert!(dataset.warnings.is_empty() && dataset.notes.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn decimal_commas_are_named() {
        refuses("a.tsv", "1\t0,5\t0,6\n", &["line 1, column 2", "'0,5' has a decimal comma"]);
        refuses("a.tsv", "1;0,5;0,6\n", &["line 1, column 2", "'0,5' has a decimal comma"]);
        refuses("a.txt", "1 0,5 0,6\n2 1,5 1\n", &["line 1, column 2", "'0,5' has a decimal comma"]);
        assert_eq!(read("a.txt", "1, 0.5, 2\n").unwrap().series, [[0.5, 2.]]);
        // A semicolon may stand in a label.
        assert_eq!(read("a.txt", "a;b,1,2\n").unwrap().labels.unwrap(), ["a;b"]);
        let yes = ReadOptions { header: HeaderLine::Yes, ..options() };
        assert_eq!(read_with("a.tsv", "c;v;w\na;1;2\n", &yes).unwrap().series, [[1., 2.]]);
    }
}
