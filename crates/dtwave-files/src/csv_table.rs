//! What a `.csv` file is as a table: its separator, its rows, and which of its edges are no values.
//!
//! Line 1 may name the columns, and the first column may be the index of a data frame. An index has no name: an empty
//! first cell above it, as data frames are written, whatever it counts. Without that cell nothing tells an index from
//! values; one that counts in equal steps is doubted.

use anyhow::{Context, Result, bail, ensure};
use csv::{ByteRecord, StringRecord};

use super::csv_lines::{Lines, unclosed_quote};
use super::labels::{
    FirstLine, LabelCell, NAME_NEEDS_HEADER, canonical_label, counted_shown, first_line_is, only_column,
};
use super::text::{
    LEAST_COUNTED, are_numbers, clean, counts_up, header_left_out, in_equal_steps, is_date, is_number,
    not_utf8, quoted, without_mark,
};
use super::{HeaderLine, IndexColumn, LabelColumn, ReadOptions};

#[derive(Default)]
pub(super) struct Notes {
    pub(super) said: Vec<String>,
    pub(super) warned: Vec<String>,
    /// Whether a warning is about what the first column is.
    pub(super) is_first_doubted: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Header {
    /// A row like the others.
    None,
    /// Names of the columns.
    Names,
    /// Numbers of the columns.
    Numbers,
}

pub(super) struct Row<'a> {
    /// Where it starts, from 1.
    pub(super) line: u64,
    /// The first of the empty lines right above it.
    pub(super) empty_line: Option<u64>,
    pub(super) cells: &'a ByteRecord,
}

/// A file that has been looked at once: what separates its cells, its first row and how wide it is.
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    first: StringRecord,
    rows: usize,
    pub(super) widest: usize,
    /// The first cells of the rows behind the first: the first two as they are, all if they are finite numbers.
    edge_shown: Vec<String>,
    edge: Option<Vec<f64>>,
}

impl<'a> Table<'a> {
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self> {
        let bytes = without_mark(bytes);
        // The second line, since the first may hold names.
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let sample = lines.take(2).last().unwrap_or_default();
        let delimiter = [b';', b'\t'].into_iter().find(|d| sample.trim_ascii().contains(d)).unwrap_or(b',');
        if bytes.contains(&b'"')
            && let Some(line) = unclosed_quote(bytes, delimiter)
        {
            bail!("line {line}: a quote (\") is opened here and never closed");
        }
        let empty = || Table {
            bytes,
            delimiter,
            first: StringRecord::new(),
            rows: 0,
            widest: 0,
            edge_shown: Vec::new(),
            edge: Some(Vec::new()),
        };
        let mut table = empty();
        empty().each(|row| {
            if table.rows == 0 {
                for (column, cell) in row.cells.iter().enumerate() {
                    text(cell, row.line, column)?;
                }
                table.first = StringRecord::from_byte_record_lossy(row.cells.clone());
            } else {
                table.take_edge(row.cells);
            }
            table.rows += 1;
            table.widest = table.widest.max(row.cells.len());
            Ok(())
        })?;
        Ok(table)
    }

    /// Looks at the first cell of a row behind the first.
    fn take_edge(&mut self, cells: &ByteRecord) {
        if self.edge.is_none() && self.edge_shown.len() == 2 {
            return;
        }
        let cell = String::from_utf8_lossy(cells.get(0).unwrap_or_default());
        match (&mut self.edge, cell.parse()) {
            // A row of one cell would have an index and no values.
            (Some(edge), Ok(value)) if cells.len() > 1 && f64::is_finite(value) => edge.push(value),
            _ => self.edge = None,
        }
        if self.edge_shown.len() < 2 {
            self.edge_shown.push(clean(&cell));
        }
    }

    /// Calls `row` with every row. Empty lines are none.
    pub(super) fn each(&self, mut row: impl FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .trim(csv::Trim::All)
            .from_reader(self.bytes);
        let mut cells = ByteRecord::new();
        let mut lines = Lines::new(self.bytes);
        while reader.read_byte_record(&mut cells).context("malformed CSV")? {
            // The reader's own place is that of the empty lines before the row.
            let place = cells.position().map_or(0, csv::Position::byte);
            let empty_line = lines.pass_to_row(usize::try_from(place).unwrap_or(usize::MAX));
            row(Row { line: lines.line, empty_line, cells: &cells })?;
        }
        Ok(())
    }

    /// Whether the first column holds dates or times, as far as it was looked at.
    pub(super) fn has_dates(&self) -> bool {
        self.edge_shown.first().is_some_and(|cell| is_date(cell))
    }

    /// Line 1.
    pub(super) fn names(&self) -> Vec<&str> {
        self.first.iter().collect()
    }

    /// Where the labels are, if the user points at some.
    pub(super) fn label_cell(
        &self,
        options: &ReadOptions,
        has_header: bool,
        notes: &mut Notes,
    ) -> Result<LabelCell> {
        let Some(wanted) = options.labels.as_ref() else { return Ok(LabelCell::Nowhere) };
        if *wanted != LabelColumn::None && self.widest == 1 {
            notes.said.push(only_column(wanted));
            return Ok(LabelCell::Nowhere);
        }
        ensure!(
            options.header != HeaderLine::No || !matches!(wanted, LabelColumn::Named(_)),
            "{NAME_NEEDS_HEADER}"
        );
        let has_corner = self.first.get(0).is_some_and(str::is_empty);
        let has_index = match options.index {
            IndexColumn::Auto => has_corner && has_header,
            IndexColumn::Yes => true,
            IndexColumn::No => false,
        };
        wanted.cell(usize::from(has_index), &self.names())
    }

    pub(super) fn header(
        &self,
        options: &ReadOptions,
        labels: LabelCell,
        notes: &mut Notes,
    ) -> Result<Header> {
        let (wanted, index) = (options.header, options.index);
        // A name of the column of labels tells nothing of the others.
        let label_at = labels.of(self.first.len());
        let own = || self.first.iter().enumerate().filter(|(column, _)| Some(*column) != label_at);
        let cells = || own().map(|(_, cell)| cell).filter(|cell| !cell.is_empty());
        let is_named = matches!(options.labels, Some(LabelColumn::Named(_))) && label_at.is_some();
        let names =
            is_named || cells().next().is_some() && !cells().any(|cell| is_number(cell) || are_numbers(cell));
        // Without the corner above an index, which has no name as a rule.
        let has_corner = self.first.get(0).is_some_and(str::is_empty);
        let skipped = usize::from(has_corner || index == IndexColumn::Yes).min(self.first.len());
        let counted = || own().filter(|(column, _)| *column >= skipped).map(|(_, cell)| cell);
        let width = counted().count();
        if wanted == HeaderLine::Auto && !names {
            let head = label_at.and_then(|at| self.first.get(at)).filter(|cell| !is_number(cell));
            let behind: Vec<&str> = counted().collect();
            let others = || self.labels_below(labels);
            match head.map(|head| Ok::<_, anyhow::Error>(first_line_is(head, &behind, others()?.into_iter())))
            {
                None => {}
                Some(judged) => {
                    let shown = counted_shown(&self.names());
                    match judged? {
                        FirstLine::Header => {
                            notes.said.push(format!(
                                "line 1 ({shown}) names the columns and was left out; --csv-header no reads it as a series"
                            ));
                            return Ok(Header::Numbers);
                        }
                        FirstLine::Doubtful => notes.warned.push(format!(
                            "line 1 ({shown}) was read as a series of class {}; --csv-header yes if it names the columns, no if it does not",
                            quoted(head.unwrap_or_default())
                        )),
                        FirstLine::Series => {}
                    }
                    return Ok(Header::None);
                }
            }
        }
        let only_zero = has_corner && width == 1 && counted().next() == Some("0");
        let counts =
            self.rows > 1 && (has_corner || width >= LEAST_COUNTED) && (only_zero || counts_up(counted()));
        let last = self.first.iter().next_back().unwrap_or_default();
        let shown = if width == 1 { last.to_owned() } else { format!("0, 1, … {last}") };
        let header = match wanted {
            HeaderLine::No => Header::None,
            HeaderLine::Auto | HeaderLine::Yes if names => Header::Names,
            HeaderLine::Yes => {
                notes.said.push(header_left_out(1, self.first.iter()));
                Header::Numbers
            }
            HeaderLine::Auto if counts && (has_corner || self.has_fractions()?) => {
                notes.said.push(format!(
                    "line 1 ({shown}) names the columns and was left out; --csv-header no reads it as a series"
                ));
                Header::Numbers
            }
            HeaderLine::Auto if counts => {
                notes.warned.push(format!(
                    "line 1 counts {shown} and was read as values; --csv-header yes if it names the columns"
                ));
                Header::None
            }
            HeaderLine::Auto => Header::None,
        };
        ensure!(header == Header::None || self.rows > 1, "only a header line; expected numbers below it");
        Ok(header)
    }

    /// The labels below line 1, each with whether a value beside it is not whole.
    fn labels_below(&self, labels: LabelCell) -> Result<Vec<(String, bool)>> {
        let mut below = Vec::new();
        self.each(|Row { cells, .. }| {
            let at = labels.of(cells.len());
            let label = at.and_then(|at| cells.get(at)).map(String::from_utf8_lossy).unwrap_or_default();
            let mut values = cells.iter().enumerate().filter(|(column, _)| Some(*column) != at);
            below.push((canonical_label(&label), values.any(|(_, cell)| is_fraction(cell))));
            Ok(())
        })?;
        below.drain(..below.len().min(1));
        Ok(below)
    }

    /// Whether a value below line 1 is not whole.
    fn has_fractions(&self) -> Result<bool> {
        let (mut row, mut found) = (0, false);
        self.each(|Row { cells, .. }| {
            found |= row > 0 && !found && cells.iter().any(is_fraction);
            row += 1;
            Ok(())
        })?;
        Ok(found)
    }

    /// Whether the first column is an index: as the user says, or because line 1 names the others and not it.
    pub(super) fn has_index(
        &mut self,
        header: Header,
        wanted: IndexColumn,
        labels: LabelCell,
        notes: &mut Notes,
    ) -> Result<bool> {
        let has_header = header != Header::None;
        // Not kept while the values are read.
        let edge = self.edge.take().unwrap_or_default();
        let shown = || {
            let above = self.first.get(0).filter(|_| !has_header).map(clean);
            let mut shown: Vec<String> = above.into_iter().chain(self.edge_shown.iter().cloned()).collect();
            shown.truncate(2);
            if self.rows - usize::from(has_header) > shown.len() {
                shown.push("…".to_owned());
            }
            shown.join(", ")
        };
        let unnamed = self.first.iter().take_while(|cell| cell.is_empty()).count();
        match wanted {
            IndexColumn::No => return Ok(false),
            IndexColumn::Yes if self.widest == 1 => {
                notes.said.push(ONLY_COLUMN.to_owned());
                return Ok(false);
            }
            IndexColumn::Yes => {
                notes.said.push(format!(
                    "the first column ({}) is the index of the rows and was left out",
                    shown()
                ));
                return Ok(true);
            }
            IndexColumn::Auto => {}
        }
        if has_header && unnamed > 0 && self.first.len() > 1 {
            ensure!(
                unnamed == 1,
                "line 1 leaves {unnamed} columns without a name, so it is not clear which are an index: name them, or say --csv-index no if all are values"
            );
            notes.said.push(format!(
                "the first column ({}) has no name, so it is the index of the rows and was left out; --csv-index no reads it as values",
                shown()
            ));
            return Ok(true);
        }
        if self.widest > 1 && labels != LabelCell::At(0) && self.counts(&edge, has_header) {
            notes.is_first_doubted = true;
            notes.warned.push(format!(
                "the first column ({}) counts in equal steps and was read as values; --csv-index yes if it is an index, no if it is not",
                shown()
            ));
        }
        Ok(false)
    }

    /// Whether the first column, `edge` and what stands above it, counts in equal steps, in any order.
    fn counts(&self, edge: &[f64], has_header: bool) -> bool {
        let above = match self.first.get(0).filter(|_| !has_header).map(str::parse::<f64>) {
            Some(Ok(value)) if value.is_finite() => Some(value),
            Some(_) => return false,
            None => None,
        };
        in_equal_steps(above.into_iter().chain(edge.iter().copied()))
    }
}

/// Whether a cell is a number that is not whole.
fn is_fraction(cell: &[u8]) -> bool {
    std::str::from_utf8(cell).is_ok_and(|cell| cell.parse().is_ok_and(|value: f64| value.fract() != 0.0))
}

/// One of several files may have an index and another nothing but values.
pub(super) const ONLY_COLUMN: &str =
    "the only column holds the values, so that --csv-index yes left nothing out";

pub(super) fn text(cell: &[u8], line: u64, column: usize) -> Result<&str> {
    match std::str::from_utf8(cell) {
        Ok(text) => Ok(text),
        Err(_) => bail!("line {line}, column {}: {}", column + 1, not_utf8(cell)),
    }
}

#[cfg(test)]
mod tests {
    use super::ONLY_COLUMN;
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{CsvLayout, Dataset, HeaderLine, IndexColumn, ReadOptions};

    fn laid_out(csv_layout: CsvLayout) -> ReadOptions {
        ReadOptions { csv_layout, ..options() }
    }

    #[test]
    fn a_line_that_counts_above_fractions_is_a_header() {
        let dataset = read("a.csv", "0,1,2,3\n0.5,1.5,2,3\n3,4,5,6\n").unwrap();
        assert_eq!(dataset.series, [vec![0.5, 1.5, 2., 3.], vec![3., 4., 5., 6.]]);
        assert!(dataset.notes[0].contains("line 1 (0, 1, … 3) names the columns"));
        // Three points are too few to tell.
        assert_eq!(read("a.csv", "0,1,2\n0.5,1.5,2\n").unwrap().len(), 2);
        let with = |header, text: &str| -> Dataset {
            read_with("a.csv", text, &ReadOptions { header, ..options() }).unwrap()
        };
        assert_eq!(with(HeaderLine::No, "0,1,2,3\n0.5,1.5,2,3\n").len(), 2);
        // Whole numbers below: it may be a series.
        let open = read("a.csv", "0,1,2,3\n3,4,5,6\n").unwrap();
        assert_eq!((open.len(), open.notes.len()), (2, 0));
        assert!(open.warnings[0].contains("--csv-header yes"));
        assert_eq!(with(HeaderLine::Yes, "0,1,2\n3,4,5\n").series, [[3., 4., 5.]]);
        assert_eq!(with(HeaderLine::Yes, "7\n3\n4\n").series, [[3., 4.]]);
        assert!(read("a.csv", "0,1,2,3\n").unwrap().warnings.is_empty());
    }

    /// What the user calls a header may be data.
    #[test]
    fn a_header_of_numbers_is_said_to_be_left_out() {
        let yes = ReadOptions { header: HeaderLine::Yes, ..options() };
        let dataset = read_with("a.csv", "1.5,2.5,1,2,3\n4,5,6,7,8\n", &yes).unwrap();
        assert_eq!(
            dataset.notes,
            ["line 1 (1.5, 2.5, 1, 2, …) was left out as names of the columns, as --csv-header yes says"]
        );
        assert!(read_with("a.csv", "mV\n3\n4\n", &yes).unwrap().notes.is_empty());
    }

    #[test]
    fn an_index_is_dropped_with_its_header() {
        let dataset = read("a.csv", ",0,1\n0,7,8\n1,9,6\n").unwrap();
        assert_eq!(dataset.series, [[7., 8.], [9., 6.]]);
        assert_eq!(dataset.notes.len(), 2, "{:?}", dataset.notes);
        let named = read_with("a.csv", ",a,b\n0,7,8\n1,9,6\n", &laid_out(CsvLayout::Columns)).unwrap();
        assert_eq!(named.series, [[7., 9.], [8., 6.]]);
        refuses("a.csv", ",0,1\n5,7,8\n1,9,x\n", &["line 3, column 3", "'x'"]);
        refuses("a.csv", ",0,1\n0,7,8\n1,9,x\n", &["line 3, column 3", "'x'"]);
        refuses("a.csv", ",7,1\n0,7,8\n", &["line 1, column 1", "empty cell", "--csv-header yes"]);
        // Without the index one column is left.
        assert_eq!(read("a.csv", ",0\n0,7\n1,9\n").unwrap().series, [[7., 9.]]);
        assert_eq!(read("a.csv", ",mV\n0,7\n1,9\n").unwrap().series, [[7., 9.]]);
    }

    /// Shuffled rows, every tenth row, dates, words: an index all the same.
    #[test]
    fn an_unnamed_column_is_an_index_whatever_it_holds() {
        for index in [["2", "0"], ["10", "20"], ["2020-01-01", "2020-01-02"], ["0.5", "0.7"], ["a", ""]] {
            let text = format!(",0,1\n{},7,8\n{},9,6\n", index[0], index[1]);
            let dataset = read("a.csv", &text).unwrap();
            assert_eq!(dataset.series, [[7., 8.], [9., 6.]], "{text:?}");
            let said = format!("the first column ({}, {}) has no name", index[0], index[1]);
            assert!(dataset.notes[1].starts_with(&said), "{:?}", dataset.notes);
        }
        refuses("a.csv", ",,0,1\n0,5,7,8\n1,5,9,6\n", &["line 1, column 1", "empty cell"]);
        let two = ",,a,b\n0,5,7,8\n1,5,9,6\n";
        refuses_with(
            "a.csv",
            two,
            &laid_out(CsvLayout::Rows),
            &["2 columns without a name", "--csv-index no"],
        );
    }

    #[test]
    fn the_user_decides_about_the_index() {
        let with = |index, text: &str| read_with("a.csv", text, &ReadOptions { index, ..options() }).unwrap();
        let kept = with(IndexColumn::No, ",0,1\n5,7,8\n6,9,6\n");
        assert_eq!(kept.series, [[5., 7., 8.], [6., 9., 6.]]);
        assert_eq!(kept.notes.len(), 1, "{:?}", kept.notes);
        let left = with(IndexColumn::Yes, "5,7,8\n6,9,6\n2,1,1\n");
        assert_eq!(left.series, [[7., 8.], [9., 6.], [1., 1.]]);
        assert_eq!(left.notes, ["the first column (5, 6, …) is the index of the rows and was left out"]);
        assert_eq!(with(IndexColumn::Yes, "day,0,1,2,3\nx,7.5,8,1,1\n").series, [[7.5, 8., 1., 1.]]);
        // A query beside a recording with times.
        let alone = with(IndexColumn::Yes, "1\n2\n");
        assert_eq!((alone.series, alone.notes), (vec![vec![1., 2.]], vec![ONLY_COLUMN.to_owned()]));
    }

    #[test]
    fn a_column_that_counts_is_doubted() {
        for index in [[0, 1, 2, 3], [2, 0, 3, 1], [10, 20, 30, 40], [-5, -3, -1, 1]] {
            let text: String = index.iter().map(|k| format!("{k},0.5,7\n")).collect();
            let dataset = read("a.csv", &text).unwrap();
            assert_eq!((dataset.len(), dataset.length(0)), (4, 3));
            assert!(dataset.warnings[0].contains("--csv-index yes"), "{text:?}: {:?}", dataset.warnings);
            let sure = ReadOptions { index: IndexColumn::No, ..options() };
            assert!(read_with("a.csv", &text, &sure).unwrap().warnings.is_empty());
        }
        for times in
            [["0", "1", "2", "3"], ["0.0", "0.5", "1.0", "1.5"], ["0", "0.1", "0.2", "0.30000000000000004"]]
        {
            let text: String = times.iter().map(|time| format!("{time},7\n")).collect();
            let columns = laid_out(CsvLayout::Columns);
            for text in [format!("t,v\n{text}"), text] {
                let dataset = read_with("a.csv", &text, &columns).unwrap();
                assert_eq!((dataset.len(), dataset.warnings.len()), (2, 1), "{text:?}");
            }
        }
        for text in ["0,1\n1,1\n2,1\n", "0\n1\n2\n3\n", "0,1\n1,1\n2,1\n4,1\n", "1,1\n1,2\n1,3\n1,4\n"] {
            assert!(read("a.csv", text).unwrap().warnings.is_empty(), "{text:?}");
        }
    }

    /// Lines are counted as an editor does, also behind empty ones and whatever ends them.
    #[test]
    fn lines_are_counted_with_empty_ones() {
        for (text, line) in [
            ("1,2\n\n\n3,x\n", 4),
            ("\n\n1,x\n", 3),
            ("1,2\r\n\r\n3,x\r\n", 3),
            ("1,2\r3,4\r5,x\r", 3),
            ("\u{feff}1,2\n\n3,4\n5,x\n", 4),
            ("\"a\nb\",c\n\n1,x\n", 4),
        ] {
            let rows = laid_out(CsvLayout::Rows);
            refuses_with("a.csv", text, &rows, &[&format!("line {line}, column 2"), "'x'"]);
        }
    }
}
