//! Comma-separated values: one number per cell, one channel; class labels in the column that the user points at.
//!
//! Layout: see [`CsvLayout`]. The separator is a semicolon or a tab where the first line of values has one, else a
//! comma. Line 1 is a header if it holds no number; over several columns that needs an explicit layout. It is one, too,
//! if it counts 0, 1, 2, … above values that are not whole, as data frames are written. An index is dropped with it:
//! `csv_table` says what that is. Empty cells at the end of a row (or of a column) end that series; anywhere else they
//! are errors. An empty line is an empty cell of every column; between rows that are series it means nothing.

use ::csv::ByteRecord;
use anyhow::{Context, Result, bail, ensure};

use super::csv_table::{Header, Notes, Row, Table, text};
use super::labels::{LabelCell, are_few, canonical_label, doubt_of_names, is_label_name, looks_like_labels};
use super::resample::{NEEDS_TIMES, even, time_of};
use super::text::{
    FILL_IN, are_numbers, clean, has_decimal_comma, is_date, is_gap, is_missing, not_a_number, not_finite,
    quoted,
};
use super::{CsvLayout, Dataset, IndexColumn, Missing, ReadOptions, Resample};

pub(super) fn parse(name: String, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    if options.resample == Resample::None {
        return parse_as(name, bytes, options);
    }
    // The times are an index, and the columns beside them the series.
    ensure!(
        options.csv_layout != CsvLayout::Rows,
        "--csv-layout rows says that each row is a series; {NEEDS_TIMES}"
    );
    ensure!(
        options.index != IndexColumn::No,
        "--csv-index no says that the first column holds values; {NEEDS_TIMES}"
    );
    let own = ReadOptions { csv_layout: CsvLayout::Columns, index: IndexColumn::Yes, ..options.clone() };
    parse_as(name, bytes, &own)
}

fn parse_as(name: String, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let mut table = Table::open(bytes)?;
    let mut notes = Notes::default();
    let label = table.label_cell(options, true, &mut notes)?;
    let header = table.header(options, label, &mut notes)?;
    let label = match header {
        // An empty first cell is then no corner above an index.
        Header::None => table.label_cell(options, false, &mut Notes::default())?,
        _ => label,
    };
    let skip_column = table.has_index(header, options.index, label, &mut notes)?;
    let one_column = table.widest == 1 + usize::from(skip_column);
    let has_labels = label != LabelCell::Nowhere;
    ensure!(
        !has_labels || options.csv_layout != CsvLayout::Columns,
        "--labels points at the label of each row, and --csv-layout columns says that each column is a series; leave out one of the two"
    );
    // Names over several columns suggest that the columns are the series, rows of numbers that the rows are.
    ensure!(
        header != Header::Names || one_column || has_labels || options.csv_layout != CsvLayout::Auto,
        "line 1 names the columns, and there are several: say --csv-layout columns if each column is a series, or --csv-layout rows if each row is one{}{}",
        named_label(&table),
        if !skip_column && table.has_dates() {
            "; --csv-index yes leaves out the first column, which holds dates"
        } else {
            ""
        }
    );
    let by_columns =
        options.csv_layout == CsvLayout::Columns || (options.csv_layout == CsvLayout::Auto && one_column);
    let body = Body {
        table: &table,
        skip_line: header != Header::None,
        first: usize::from(skip_column),
        label,
        empty_lines_count: by_columns || one_column,
        fills: options.missing != Missing::Error,
        widest: table.widest,
    };
    let (series, labels, cut) = if by_columns {
        let (series, cut) = body.columns()?;
        (series, Vec::new(), cut)
    } else {
        body.rows()?
    };
    if cut > 0 && !one_column {
        notes.said.push(ended_early(cut));
    }
    if options.labels.is_none() && !one_column {
        let names = table.names().into_iter().skip(usize::from(skip_column));
        let names: Vec<&str> = if header == Header::None { Vec::new() } else { names.collect() };
        let is_first_known = notes.is_first_doubted || options.index == IndexColumn::No;
        notes.warned.extend(doubt(&series, by_columns, &names, is_first_known));
    }
    let dataset = Dataset::univariate(name, series);
    let mut dataset = if has_labels { dataset.with_labels(labels) } else { dataset };
    (dataset.notes, dataset.warnings) = (notes.said, notes.warned);
    if options.resample == Resample::None {
        return Ok(dataset);
    }
    ensure!(skip_column, "there is one column; {NEEDS_TIMES}");
    let times = body.times()?;
    let times: Vec<Vec<f64>> = dataset.series.iter().map(|own| times[..own.len()].to_vec()).collect();
    even(dataset, &times, options.resample, options.missing)
}

/// What else may be said of columns that are named, if a name says that its column holds labels.
fn named_label(table: &Table<'_>) -> String {
    match table.names().into_iter().find(|name| is_label_name(name)) {
        Some(name) => format!("; --labels {} if that column holds the class of each row", clean(name)),
        None => String::new(),
    }
}

/// Why a column that was read as values may hold labels.
fn doubt(series: &[Vec<f64>], by_columns: bool, names: &[&str], is_first_known: bool) -> Option<String> {
    let read_as = if by_columns { "a series" } else { "a point of each series" };
    if let Some(named) = doubt_of_names(names.iter().copied(), read_as) {
        return Some(named);
    }
    let is_fraction = |value: &f64| value.fract() != 0.0;
    let (is_first, is_last) = if by_columns {
        let looks = |at: usize| {
            let others = series.iter().enumerate().filter(|(k, _)| *k != at);
            are_few(series[at].iter().copied())
                && looks_like_labels(
                    series[at].iter().copied(),
                    others.map(|(_, s)| s.iter().any(is_fraction)),
                )
        };
        (looks(0), looks(series.len() - 1))
    } else {
        // By the place from the start, or from the end: rows may differ in length.
        let longest = series.iter().map(Vec::len).max().unwrap_or(0);
        if longest < 2 {
            return None;
        }
        let (mut from_start, mut from_end) = (vec![false; longest], vec![false; longest]);
        for values in series {
            for (k, _) in values.iter().enumerate().filter(|(_, value)| is_fraction(value)) {
                (from_start[k], from_end[values.len() - 1 - k]) = (true, true);
            }
        }
        let looks = |at: fn(&Vec<f64>) -> usize, others: &[bool]| {
            looks_like_labels(series.iter().map(|values| values[at(values)]), others[1..].iter().copied())
        };
        (looks(|_| 0, &from_start), looks(|values| values.len() - 1, &from_end))
    };
    let (place, word, index) = match (is_first && !is_first_known, is_last) {
        (true, _) => ("first", "first", ", --csv-index yes if it is an index"),
        (false, true) => ("last", "last", ""),
        (false, false) => return None,
    };
    Some(format!(
        "the {place} column holds whole numbers beside fractions, and it was read as {read_as}: say --labels {word} if it holds class labels{index}, --labels none if it holds values"
    ))
}

/// The note on series that end with empty cells.
pub(crate) fn ended_early(count: usize) -> String {
    let ends = if count == 1 { "ends" } else { "end" };
    format!("{count} series {ends} with empty cells, which were left out")
}

/// The rows and columns that hold values.
struct Body<'a> {
    table: &'a Table<'a>,
    skip_line: bool,
    /// The first column of values, behind an index.
    first: usize,
    label: LabelCell,
    /// Whether an empty line stands for a missing value.
    empty_lines_count: bool,
    /// Whether missing values become NaN, to be filled in later.
    fills: bool,
    widest: usize,
}

impl Body<'_> {
    /// Calls `row` with the place and the cells of every row of values.
    fn each(&self, mut row: impl FnMut(u64, &ByteRecord) -> Result<()>) -> Result<()> {
        let mut is_first = true;
        let nothing = ByteRecord::from(vec![""]);
        self.table.each(|Row { line, empty_line, cells }| {
            let is_header = std::mem::take(&mut is_first) && self.skip_line;
            if let Some(empty) = empty_line.filter(|_| self.fills && self.empty_lines_count && !is_header) {
                (empty..line).try_for_each(|line| row(line, &nothing))?;
                return row(line, cells);
            }
            if is_header {
                return Ok(());
            }
            if let Some(empty) = empty_line.filter(|_| self.empty_lines_count) {
                bail!(
                    "line {empty}: an empty line where a value was expected; fill it in, or take the line out"
                );
            }
            row(line, cells)
        })
    }

    /// The series and their labels, and how many of them end with empty cells.
    fn rows(&self) -> Result<(Vec<Vec<f64>>, Vec<String>, usize)> {
        let (mut series, mut labels, mut cut) = (Vec::new(), Vec::new(), 0);
        self.each(|line, cells| {
            let at = self.label.of(cells.len());
            // They stay where the row is: a list of them would take 16 bytes for an empty cell.
            let own = || {
                let columns = cells.iter().enumerate().skip(self.first);
                columns.filter(move |(column, _)| Some(*column) != at)
            };
            let end = own().rfind(|(_, cell)| !cell.is_empty()).map_or(0, |(column, _)| column + 1);
            // An empty cell is a missing value wherever it is, if those are filled in.
            let end = if self.fills { cells.len() } else { end };
            ensure!(end > 0, "line {line}: series {} is empty", series.len());
            cut += usize::from(own().any(|(column, _)| column >= end));
            let mut values = Vec::with_capacity(end.saturating_sub(self.first));
            for (position, (column, cell)) in own().take_while(|(column, _)| *column < end).enumerate() {
                let is_last = column + 1 == cells.len();
                let place = Place { line, column, series: series.len(), position, is_last };
                values.push(place.value(cell, self.fills)?);
            }
            series.push(values);
            if self.label != LabelCell::Nowhere {
                let cell = at.and_then(|at| cells.get(at)).unwrap_or_default();
                let label = text(cell, line, at.unwrap_or_default())?;
                ensure!(!label.is_empty(), "line {line}: no class label in {}", self.label.shown());
                labels.push(canonical_label(label));
            }
            Ok(())
        })?;
        Ok((series, labels, cut))
    }

    /// The first column as the times of the rows.
    fn times(&self) -> Result<Vec<f64>> {
        let mut times = Vec::new();
        self.each(|line, row| {
            let cell = text(row.get(0).unwrap_or_default(), line, 0)?;
            times.push(time_of(cell).with_context(|| format!("line {line}, column 1"))?);
            Ok(())
        })?;
        Ok(times)
    }

    fn columns(&self) -> Result<(Vec<Vec<f64>>, usize)> {
        let first = self.first;
        let mut series: Vec<Vec<f64>> = Vec::new();
        let mut lines = Vec::new();
        self.each(|line, row| {
            let cells = row.iter().skip(first);
            if self.fills {
                series.resize_with(self.widest - first, || vec![f64::NAN; lines.len()]);
                let cells = cells.chain(std::iter::repeat(&b""[..])).take(series.len());
                for (index, (cell, values)) in cells.zip(&mut series).enumerate() {
                    let place = Place {
                        line,
                        column: first + index,
                        series: index,
                        position: lines.len(),
                        is_last: false,
                    };
                    values.push(place.value(cell, true)?);
                }
                lines.push(line);
                return Ok(());
            }
            series.resize_with(series.len().max(cells.len()), Vec::new);
            for (index, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let (place, values) = (
                    Place {
                        line,
                        column: first + index,
                        series: index,
                        position: lines.len(),
                        is_last: false,
                    },
                    &mut series[index],
                );
                if let Some(missing) = lines.get(values.len()) {
                    bail!(
                        "line {missing}, column {}: empty cell inside a series; {FILL_IN}",
                        place.column + 1
                    );
                }
                values.push(place.number(cell)?);
            }
            lines.push(line);
            Ok(())
        })?;
        if let Some(empty) = series.iter().position(Vec::is_empty) {
            bail!("column {}: series {empty} is empty", first + empty + 1);
        }
        let cut = series.iter().filter(|values| values.len() < lines.len()).count();
        Ok((series, cut))
    }
}

pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) column: usize,
    pub(crate) series: usize,
    pub(crate) position: usize,
    /// Whether it is the last of several cells of a row that is a series.
    pub(crate) is_last: bool,
}

impl Place {
    /// The number in a cell; NaN for a missing one where those are filled in.
    pub(crate) fn value(&self, cell: &[u8], fills: bool) -> Result<f64> {
        if fills && is_gap(text(cell, self.line, self.column)?) { Ok(f64::NAN) } else { self.number(cell) }
    }

    pub(crate) fn number(&self, cell: &[u8]) -> Result<f64> {
        let Place { line, column, series, position, is_last } = *self;
        let cell = text(cell, line, column)?;
        let column = column + 1;
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => bail!(
                "line {line}, column {column}: series {series}, position {position}: {}",
                not_finite(value)
            ),
            // As data frames write line 1, if it names the columns.
            Err(_) if cell.is_empty() && line == 1 && column == 1 => bail!(
                "line 1, column 1: empty cell inside a series; --csv-header yes if line 1 names the columns and the first is an index"
            ),
            Err(_) if cell.is_empty() => {
                bail!("line {line}, column {column}: empty cell inside a series; {FILL_IN}")
            }
            Err(_) if is_date(cell) => bail!(
                "line {line}, column {column}: {} is a date or time, not a number{}",
                quoted(cell),
                if column == 1 { "; --csv-index yes leaves out the first column" } else { "" }
            ),
            Err(_) if column == 1 && are_numbers(cell) => bail!(
                "line {line}, column 1: {} is not one number; white space does not separate cells in .csv: \
                 write commas (NumPy: np.savetxt(…, delimiter=',')); labelled series may be a .txt file",
                quoted(cell)
            ),
            // A decimal comma in a row that commas separate is another matter.
            Err(_) if column == 1 && !is_missing(cell) && !has_decimal_comma(cell) => bail!(
                "line {line}, column 1: {}; say --labels first if the first column holds class labels",
                not_a_number(cell)
            ),
            Err(_) if is_last && !is_missing(cell) && !has_decimal_comma(cell) => bail!(
                "line {line}, column {column}: {}; say --labels last if the last column holds class labels",
                not_a_number(cell)
            ),
            Err(_) => bail!("line {line}, column {column}: {}", not_a_number(cell)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{CsvLayout, ReadOptions};

    fn laid_out(csv_layout: CsvLayout) -> ReadOptions {
        ReadOptions { csv_layout, ..options() }
    }

    #[test]
    fn one_column_is_one_series() {
        assert_eq!(read("a.csv", "1\n2\n3\n").unwrap().series, [vec![1., 2., 3.]]);
        assert_eq!(read("a.csv", "mV\r\n1\r\n2\r\n").unwrap().series, [vec![1., 2.]]);
        let rows = read_with("a.csv", "1\n2\n", &laid_out(CsvLayout::Rows)).unwrap().series;
        assert_eq!(rows, [vec![1.], vec![2.]]);
    }

    #[test]
    fn rows_may_differ_in_length() {
        assert_eq!(
            read("a.csv", "1,2,3\n4,5,\n6\n").unwrap().series,
            [vec![1., 2., 3.], vec![4., 5.], vec![6.]]
        );
        assert_eq!(read("a.csv", "1;2\n3;4\n").unwrap().series, [vec![1., 2.], vec![3., 4.]]);
        assert_eq!(read("a.csv", "1\t2\n3\t4\n").unwrap().series, [vec![1., 2.], vec![3., 4.]]);
    }

    #[test]
    fn named_columns_need_a_layout() {
        let text = "time,value\n0,1\n1,2\n2,1\n";
        refuses("a.csv", text, &["line 1 names the columns", "--csv-layout"]);
        let by_columns = read_with("a.csv", text, &laid_out(CsvLayout::Columns)).unwrap().series;
        assert_eq!(by_columns, [vec![0., 1., 2.], vec![1., 2., 1.]]);
        assert_eq!(read_with("a.csv", text, &laid_out(CsvLayout::Rows)).unwrap().series.len(), 3);
    }

    #[test]
    fn columns_may_differ_in_length() {
        let text = "a,b\n1,4\n2,5\n3,\n";
        let dataset = read_with("a.csv", text, &laid_out(CsvLayout::Columns)).unwrap();
        assert_eq!(dataset.series, [vec![1., 2., 3.], vec![4., 5.]]);
        let ragged = read_with("a.csv", "1\n2,3\n", &laid_out(CsvLayout::Columns));
        assert!(format!("{:#}", ragged.unwrap_err()).contains("line 1, column 2: empty cell"));
    }

    /// Data frames write a missing value of their only column so.
    #[test]
    fn an_empty_line_is_a_missing_value() {
        refuses("a.csv", "1\n2\n\n3\n", &["line 3", "empty line"]);
        refuses("a.csv", "1\r\n2\r\n\r\n3\r\n", &["line 3", "empty line"]);
        refuses("a.csv", "mV\n\n1\n2\n", &["line 2", "empty line"]);
        refuses("a.csv", "\n1\n2\n", &["line 1", "empty line"]);
        refuses_with("a.csv", "1,2\n\n3,4\n", &laid_out(CsvLayout::Columns), &["line 2", "empty line"]);
        refuses_with("a.csv", "1\n\n3\n", &laid_out(CsvLayout::Rows), &["line 2", "empty line"]);
        // Behind the last value a series is over; between rows that are series there is nothing to miss.
        assert_eq!(read("a.csv", "1\n2\n\n\n").unwrap().series, [[1., 2.]]);
        assert_eq!(read("a.csv", "1,2\n\n3,4\n").unwrap().len(), 2);
    }

    #[test]
    fn malformed_cells_are_named() {
        refuses("a.csv", "1,2\n3,x\n", &["line 2, column 2", "'x' is not a number"]);
        refuses("a.csv", "1,a\n2,3\n", &["line 1, column 2", "'a' is not a number"]);
        refuses("a.csv", "1\n2\nthree\n", &["line 3, column 1", "'three'"]);
        refuses("a.csv", "1,,2\n", &["line 1, column 2", "empty cell"]);
        refuses("a.csv", "1,2\n,\n", &["line 2", "series 1 is empty"]);
        refuses("a.csv", "1,2\n3,NaN\n", &["line 2, column 2", "series 1, position 1", "NaN"]);
        refuses("a.csv", "1\n-inf\n", &["line 2, column 1", "series 0, position 1", "-inf"]);
        refuses("a.csv", "x,y\n", &["only a header"]);
        refuses("a.csv", "\n\n", &["no series"]);
        refuses("a.csv", b"1,2\n3,\xff\n", &["line 2, column 2", "not UTF-8"]);
        refuses_with("a.csv", "1,2\nx,3\n", &laid_out(CsvLayout::Columns), &["line 2, column 1", "'x'"]);
        refuses_with("a.csv", "1,\n2,\n", &laid_out(CsvLayout::Columns), &["column 2", "series 1 is empty"]);
    }

    #[test]
    fn decimal_commas_are_named() {
        refuses("a.csv", "1,5;2,5\n3,5;4\n", &["line 1, column 1", "'1,5' has a decimal comma"]);
        refuses("a.csv", "1\t2,5\n", &["line 1, column 2", "decimal comma"]);
        refuses("a.csv", "a;b\n1,5;2\n", &["names the columns"]);
        refuses_with(
            "a.csv",
            "a;b\n1,5;2\n",
            &laid_out(CsvLayout::Rows),
            &["line 2, column 1", "decimal comma"],
        );
        refuses("a.csv", "1,2 5\n", &["line 1, column 2", "one separator"]);
    }

    /// As `np.savetxt` writes unless it is told otherwise.
    #[test]
    fn white_space_is_no_separator_and_said_so() {
        for text in ["1 2 3\n", "1.5 2\n3 4\n", "  1e+00   2e+00\n", "x\n1 2\n", "1\n2 3\n"] {
            refuses("a.csv", text, &[", column 1: ", "white space does not separate cells", "delimiter=','"]);
        }
    }

    #[test]
    fn labels_and_missing_values_are_told_what_to_do() {
        refuses("a.csv", "label,0,1\na,1,2\n", &["'label' is not a number", "--labels first"]);
        refuses("a.csv", "a,1,2\nb,1,2\n", &["line 1, column 1: 'a'", "--labels first"]);
        for cell in ["?", "NA", "NaN", "null", ""] {
            refuses("a.csv", format!("1,{cell},2\n"), &["line 1, column 2", "fill in missing values first"]);
            refuses(
                "a.tsv",
                format!("1\t{cell}\t2\n"),
                &["line 1, column 2", "fill in missing values first"],
            );
        }
    }

    #[test]
    fn empty_cells_that_end_a_series_are_noted() {
        let note = |count| super::ended_early(count);
        assert_eq!(note(1), "1 series ends with empty cells, which were left out");
        assert_eq!(read("a.csv", "1,2,3,\n4,5,,\n6,7,8,9\n").unwrap().notes, [note(2)]);
        let columns = read_with("a.csv", "1,2\n3,4\n5,\n", &laid_out(CsvLayout::Columns)).unwrap();
        assert_eq!((columns.series, columns.notes), (vec![vec![1., 3., 5.], vec![2., 4.]], vec![note(1)]));
        assert!(read("a.csv", "1,2,3\n4,5\n").unwrap().notes.is_empty());
        for text in ["1\t2\t3\n2\t4\t\n", "1;2;3\r\n2;4;\r\n", "1,2,3\n2,4,,\n"] {
            let labelled = read("a.tsv", text).unwrap();
            assert_eq!((labelled.series, labelled.notes), (vec![vec![2., 3.], vec![4.]], vec![note(1)]));
        }
    }

    /// Neither a long row above many short ones nor the reverse takes more than linear time.
    #[test]
    fn wide_and_tall_tables_take_linear_time() {
        let wide = vec!["1"; 200_000].join(",");
        let text = format!("{wide}\n{}", "2\n".repeat(200_000));
        let series = read_with("a.csv", &text, &laid_out(CsvLayout::Columns)).unwrap().series;
        assert_eq!((series.len(), series[0].len(), series[1].len()), (200_000, 200_001, 1));
        let tall = format!("{}{wide}\n", "2\n".repeat(200_000));
        refuses_with("a.csv", tall, &laid_out(CsvLayout::Columns), &["line 1, column 2", "empty cell"]);
    }
}
