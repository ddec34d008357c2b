//! Comma-separated values: one number per cell, one channel.
//!
//! Layout: see [`CsvLayout`]. The separator is a semicolon or a tab where the first line of values has one, else a comma.
//! Line 1 is a header if it holds no number; over several columns that needs an explicit layout. It is one, too, if it counts
//! 0, 1, 2, … above values that are not whole, as data frames are written. An index is dropped with it: an empty first
//! cell above rows that count from 0. Empty cells at the end of a row (or of a column) end that series; anywhere else
//! they are errors.

use anyhow::{Context, Result, bail, ensure};
use csv::ByteRecord;

use super::text::{LEAST_COUNTED, counts_up, has_decimal_comma, not_a_number, without_mark};
use super::{CsvLayout, Dataset, HeaderLine, ReadOptions};

/// Parses the bytes of a `.csv` file.
pub(super) fn parse(name: String, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let table = Table::open(bytes)?;
    let mut notes = Notes::default();
    let header = table.header(options.header, &mut notes)?;
    let one_column = table.widest == 1;
    // Names over several columns suggest that the columns are the series, rows of numbers that the rows are.
    ensure!(
        header != Header::Names || one_column || options.csv_layout != CsvLayout::Auto,
        "line 1 names the columns, and there are several: say --csv-layout columns if each column is a series, or --csv-layout rows if each row is one"
    );
    let by_columns =
        options.csv_layout == CsvLayout::Columns || (options.csv_layout == CsvLayout::Auto && one_column);
    let body = Body {
        table: &table,
        skip_line: header != Header::None,
        skip_column: header != Header::None && table.has_index()?,
    };
    if body.skip_column {
        notes.said.push("the first column (0, 1, …) is the index of the rows and was left out".to_owned());
    }
    let series = if by_columns { body.columns()? } else { body.rows()? };
    let mut dataset = Dataset::univariate(name, series);
    (dataset.notes, dataset.warnings) = (notes.said, notes.warned);
    Ok(dataset)
}

/// What the user is told.
#[derive(Default)]
struct Notes {
    said: Vec<String>,
    warned: Vec<String>,
}

/// What line 1 is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Header {
    /// A row like the others.
    None,
    /// Names of the columns.
    Names,
    /// Numbers of the columns.
    Numbers,
}

/// A file that has been looked at once: what separates its cells, its first row and how wide it is.
struct Table<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    first: Vec<String>,
    rows: usize,
    widest: usize,
}

impl<'a> Table<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        let bytes = without_mark(bytes);
        // The second line, since the first may hold names.
        let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let sample = lines.take(2).last().unwrap_or_default();
        let delimiter = [b';', b'\t'].into_iter().find(|d| sample.trim_ascii().contains(d)).unwrap_or(b',');
        let mut table = Table { bytes, delimiter, first: Vec::new(), rows: 0, widest: 0 };
        let (mut first, mut rows, mut widest) = (Vec::new(), 0, 0);
        table.each(|line, record| {
            if rows == 0 {
                for (column, cell) in record.iter().enumerate() {
                    first.push(text(cell, line, column)?.to_owned());
                }
            }
            rows += 1;
            widest = widest.max(record.len());
            Ok(())
        })?;
        (table.first, table.rows, table.widest) = (first, rows, widest);
        Ok(table)
    }

    /// Calls `row` with the line number and cells of every row.
    fn each(&self, mut row: impl FnMut(u64, &ByteRecord) -> Result<()>) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(self.delimiter)
            .trim(csv::Trim::All)
            .from_reader(self.bytes);
        let mut record = ByteRecord::new();
        while reader.read_byte_record(&mut record).context("malformed CSV")? {
            row(record.position().map_or(0, |p| p.line()), &record)?;
        }
        Ok(())
    }

    fn header(&self, wanted: HeaderLine, notes: &mut Notes) -> Result<Header> {
        let cells = || self.first.iter().filter(|cell| !cell.is_empty());
        let is_number = |cell: &String| cell.parse::<f64>().is_ok() || has_decimal_comma(cell);
        let names = cells().next().is_some() && !cells().any(is_number);
        // Without the corner above an index.
        let counted = &self.first[usize::from(self.first.first().is_some_and(String::is_empty))..];
        let has_corner = counted.len() < self.first.len();
        let is_long = counted.len() >= LEAST_COUNTED || has_corner;
        let counts = self.rows > 1 && is_long && counts_up(counted.iter().map(String::as_str));
        let last = counted.last().map_or("", String::as_str);
        let header = match wanted {
            HeaderLine::No => Header::None,
            HeaderLine::Yes if names => Header::Names,
            HeaderLine::Yes => Header::Numbers,
            HeaderLine::Auto if names => Header::Names,
            HeaderLine::Auto if counts && (has_corner || self.has_fractions()?) => {
                notes.said.push(format!(
                    "line 1 (0, 1, … {last}) names the columns and was left out; --csv-header no reads it as a series"
                ));
                Header::Numbers
            }
            HeaderLine::Auto if counts => {
                notes.warned.push(format!(
                    "line 1 counts 0, 1, … {last} and was read as values; --csv-header yes if it names the columns"
                ));
                Header::None
            }
            HeaderLine::Auto => Header::None,
        };
        ensure!(header == Header::None || self.rows > 1, "only a header line; expected numbers below it");
        Ok(header)
    }

    /// Whether a value below line 1 is not whole.
    fn has_fractions(&self) -> Result<bool> {
        let (mut row, mut found) = (0, false);
        self.each(|_, record| {
            let fraction = |cell: &[u8]| {
                std::str::from_utf8(cell).is_ok_and(|c| c.parse().is_ok_and(|v: f64| v.fract() != 0.0))
            };
            found |= row > 0 && !found && record.iter().any(fraction);
            row += 1;
            Ok(())
        })?;
        Ok(found)
    }

    /// Whether the first column is an index: an empty cell in line 1, and 0, 1, 2, … below it.
    fn has_index(&self) -> Result<bool> {
        if self.rows < 2 || self.first.len() < 2 || !self.first[0].is_empty() || self.first[1].is_empty() {
            return Ok(false);
        }
        let (mut row, mut counts) = (0_usize, true);
        self.each(|_, record| {
            counts = counts
                && (row == 0 || record.get(0).is_some_and(|cell| cell == (row - 1).to_string().as_bytes()));
            row += 1;
            Ok(())
        })?;
        Ok(counts)
    }
}

/// The rows and columns that hold values.
struct Body<'a> {
    table: &'a Table<'a>,
    skip_line: bool,
    skip_column: bool,
}

impl Body<'_> {
    /// Calls `row` with the place and the cells of every row of values.
    fn each(&self, mut row: impl FnMut(u64, &[&[u8]]) -> Result<()>) -> Result<()> {
        let mut is_first = true;
        let skipped = usize::from(self.skip_column);
        self.table.each(|line, record| {
            if std::mem::take(&mut is_first) && self.skip_line {
                return Ok(());
            }
            let cells: Vec<&[u8]> = record.iter().skip(skipped).collect();
            row(line, &cells)
        })
    }

    fn rows(&self) -> Result<Vec<Vec<f64>>> {
        let first = usize::from(self.skip_column);
        let mut series = Vec::new();
        self.each(|line, cells| {
            let end = cells.iter().rposition(|c| !c.is_empty()).map_or(0, |last| last + 1);
            ensure!(end > 0, "line {line}: series {} is empty", series.len());
            let mut values = Vec::with_capacity(end);
            for (position, cell) in cells[..end].iter().enumerate() {
                let place = Place { line, column: first + position, series: series.len(), position };
                values.push(place.number(cell)?);
            }
            series.push(values);
            Ok(())
        })?;
        Ok(series)
    }

    fn columns(&self) -> Result<Vec<Vec<f64>>> {
        let first = usize::from(self.skip_column);
        let mut series: Vec<Vec<f64>> = Vec::new();
        let mut lines = Vec::new();
        self.each(|line, cells| {
            series.resize_with(series.len().max(cells.len()), Vec::new);
            for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                let (place, values) = (
                    Place { line, column: first + index, series: index, position: lines.len() },
                    &mut series[index],
                );
                if let Some(missing) = lines.get(values.len()) {
                    bail!("line {missing}, column {}: empty cell inside a series", place.column + 1);
                }
                values.push(place.number(cell)?);
            }
            lines.push(line);
            Ok(())
        })?;
        if let Some(empty) = series.iter().position(Vec::is_empty) {
            bail!("column {}: series {empty} is empty", first + empty + 1);
        }
        Ok(series)
    }
}

/// Where a cell stands.
struct Place {
    line: u64,
    column: usize,
    series: usize,
    position: usize,
}

impl Place {
    fn number(&self, cell: &[u8]) -> Result<f64> {
        let Place { line, column, series, position } = *self;
        let cell = text(cell, line, column)?;
        let column = column + 1;
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => bail!(
                "line {line}, column {column}: series {series}, position {position}: {value} where a finite number was expected"
            ),
            Err(_) if cell.is_empty() => bail!("line {line}, column {column}: empty cell inside a series"),
            Err(_) => bail!("line {line}, column {column}: {}", not_a_number(cell)),
        }
    }
}

fn text(cell: &[u8], line: u64, column: usize) -> Result<&str> {
    match std::str::from_utf8(cell) {
        Ok(text) => Ok(text),
        Err(_) => bail!("line {line}, column {}: not UTF-8 text", column + 1),
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{options, read, read_with, refuses, refuses_with};
    use crate::{CsvLayout, Dataset, HeaderLine, ReadOptions};

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

    #[test]
    fn an_index_is_dropped_with_its_header() {
        let dataset = read("a.csv", ",0,1\n0,7,8\n1,9,6\n").unwrap();
        assert_eq!(dataset.series, [[7., 8.], [9., 6.]]);
        assert_eq!(dataset.notes.len(), 2, "{:?}", dataset.notes);
        let named = read_with("a.csv", ",a,b\n0,7,8\n1,9,6\n", &laid_out(CsvLayout::Columns)).unwrap();
        assert_eq!(named.series, [[7., 9.], [8., 6.]]);
        refuses("a.csv", ",0,1\n5,7,8\n1,9,x\n", &["line 3, column 3", "'x'"]);
        refuses("a.csv", ",0,1\n0,7,8\n1,9,x\n", &["line 3, column 3", "'x'"]);
        refuses("a.csv", ",7,1\n0,7,8\n", &["line 1, column 1", "empty cell"]);
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
