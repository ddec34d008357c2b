//! Comma-separated values: one number per cell, one channel.
//!
//! Layout: see [`CsvLayout`]. The separator is a comma, or a semicolon or tab where the first line has no comma.
//! A first line in which no cell is a number is a header; over several columns it needs an explicit layout. Empty cells at the end of a row (or of a column) end
//! that series; anywhere else they are errors.

use anyhow::{Context, Result, bail, ensure};

use super::{CsvLayout, Dataset, quoted};

/// A row of cells and the line it starts on.
struct Row {
    line: u64,
    cells: Vec<String>,
}

/// Parses the bytes of a `.csv` file.
pub(super) fn parse(name: String, bytes: &[u8], layout: CsvLayout) -> Result<Dataset> {
    let mut rows = read_rows(bytes)?;
    let is_header = |row: &Row| {
        row.cells.iter().any(|c| !c.is_empty()) && row.cells.iter().all(|c| c.parse::<f64>().is_err())
    };
    let named = rows.first().is_some_and(is_header);
    if named {
        rows.remove(0);
        ensure!(!rows.is_empty(), "only a header line; expected numbers below it");
    }
    let one_column = rows.iter().all(|row| row.cells.len() == 1);
    // Names over several columns suggest that the columns are the series, rows of numbers that the rows are.
    ensure!(
        !named || one_column || layout != CsvLayout::Auto,
        "line 1 names the columns, and there are several: say --csv-layout columns if each column is a series, or --csv-layout rows if each row is one"
    );
    let by_columns = layout == CsvLayout::Columns || (layout == CsvLayout::Auto && one_column);
    let series = if by_columns { columns(&rows)? } else { rows_as_series(&rows)? };
    Ok(Dataset::univariate(name, series))
}

fn read_rows(bytes: &[u8]) -> Result<Vec<Row>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.split(|b| *b == b'\n').next().unwrap_or(&[]);
    let delimiter = [b',', b';', b'\t'].into_iter().find(|d| first.contains(d)).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .trim(csv::Trim::All)
        .from_reader(bytes);
    let mut rows = Vec::new();
    for record in reader.byte_records() {
        let record = record.context("malformed CSV")?;
        let line = record.position().map_or(0, |p| p.line());
        let mut cells = Vec::with_capacity(record.len());
        for (column, cell) in record.iter().enumerate() {
            let Ok(text) = std::str::from_utf8(cell) else {
                bail!("line {line}, column {}: not UTF-8 text", column + 1);
            };
            cells.push(text.to_owned());
        }
        rows.push(Row { line, cells });
    }
    Ok(rows)
}

fn rows_as_series(rows: &[Row]) -> Result<Vec<Vec<f64>>> {
    let mut series = Vec::with_capacity(rows.len());
    for row in rows {
        let end = row.cells.iter().rposition(|c| !c.is_empty()).map_or(0, |last| last + 1);
        ensure!(end > 0, "line {}: series {} is empty", row.line, series.len());
        let values = row.cells[..end].iter().enumerate();
        let place = Place { series: series.len(), line: row.line };
        series.push(
            values
                .map(|(column, cell)| number(cell, &place, column, column))
                .collect::<Result<Vec<f64>>>()?,
        );
    }
    Ok(series)
}

fn columns(rows: &[Row]) -> Result<Vec<Vec<f64>>> {
    let width = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let mut series = Vec::with_capacity(width);
    for column in 0..width {
        let cell = |row: &Row| row.cells.get(column).cloned().unwrap_or_default();
        let end = rows.iter().rposition(|row| !cell(row).is_empty()).map_or(0, |last| last + 1);
        ensure!(end > 0, "column {}: series {column} is empty", column + 1);
        series.push(
            rows[..end]
                .iter()
                .enumerate()
                .map(|(at, row)| number(&cell(row), &Place { series: column, line: row.line }, column, at))
                .collect::<Result<Vec<f64>>>()?,
        );
    }
    Ok(series)
}

/// Which series a cell belongs to and the line it stands on.
struct Place {
    series: usize,
    line: u64,
}

fn number(cell: &str, place: &Place, column: usize, position: usize) -> Result<f64> {
    let Place { series, line } = place;
    let column = column + 1;
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => bail!(
            "line {line}, column {column}: series {series}, position {position}: {value} where a finite number was expected"
        ),
        Err(_) if cell.is_empty() => bail!("line {line}, column {column}: empty cell inside a series"),
        Err(_) => bail!("line {line}, column {column}: {} is not a number", quoted(cell)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::CsvLayout;
    use super::super::tests::{read, read_with, refuses, refuses_with};

    #[test]
    fn one_column_is_one_series() {
        assert_eq!(read("a.csv", "1\n2\n3\n").unwrap().series, [vec![1., 2., 3.]]);
        assert_eq!(read("a.csv", "mV\r\n1\r\n2\r\n").unwrap().series, [vec![1., 2.]]);
        let rows = read_with("a.csv", "1\n2\n", CsvLayout::Rows).unwrap().series;
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
        let by_columns = read_with("a.csv", text, CsvLayout::Columns).unwrap().series;
        assert_eq!(by_columns, [vec![0., 1., 2.], vec![1., 2., 1.]]);
        assert_eq!(read_with("a.csv", text, CsvLayout::Rows).unwrap().series.len(), 3);
    }

    #[test]
    fn columns_may_differ_in_length() {
        let text = "a,b\n1,4\n2,5\n3,\n";
        let dataset = read_with("a.csv", text, CsvLayout::Columns).unwrap();
        assert_eq!(dataset.series, [vec![1., 2., 3.], vec![4., 5.]]);
        let ragged = read_with("a.csv", "1\n2,3\n", CsvLayout::Columns);
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
        refuses_with("a.csv", "1,2\nx,3\n", CsvLayout::Columns, &["line 2, column 1", "'x'"]);
        refuses_with("a.csv", "1,\n2,\n", CsvLayout::Columns, &["column 2", "series 1 is empty"]);
    }
}
