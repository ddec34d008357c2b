//! The UCR archive's `.tsv` and `.txt` formats: one series per line, its class label in the first column.
//!
//! The separator is a tab, a comma or white space, whichever the first line has. The 2018 archive pads shorter
//! series with NaN at the end; that padding is dropped and noted. A NaN anywhere else is an error.

use anyhow::{Result, bail, ensure};

use super::{Dataset, numbered_lines, quoted};

/// What stands between two cells.
#[derive(Clone, Copy)]
enum Separator {
    Char(char),
    WhiteSpace,
}

impl Separator {
    fn of(line: &str) -> Self {
        match line.chars().find(|c| matches!(c, '\t' | ',')) {
            Some(_) if line.contains('\t') => Separator::Char('\t'),
            Some(_) => Separator::Char(','),
            None => Separator::WhiteSpace,
        }
    }

    fn split(self, line: &str) -> Vec<&str> {
        match self {
            Separator::Char(c) => line.split(c).map(str::trim).collect(),
            Separator::WhiteSpace => line.split_whitespace().collect(),
        }
    }
}

/// Parses the bytes of a `.tsv` or `.txt` file.
pub(super) fn parse(name: String, bytes: &[u8]) -> Result<Dataset> {
    let mut separator = None;
    let mut series = Vec::new();
    let mut labels = Vec::new();
    let mut padded = 0;
    for line in numbered_lines(bytes, None) {
        let (number, line) = line?;
        let separator = *separator.get_or_insert_with(|| Separator::of(line));
        let cells = separator.split(line);
        ensure!(!cells[0].is_empty(), "line {number}: no class label in the first column");
        let mut values = Vec::with_capacity(cells.len() - 1);
        for (index, cell) in cells.iter().enumerate().skip(1) {
            let Ok(value) = cell.parse::<f64>() else {
                bail!("line {number}, column {}: {} is not a number", index + 1, quoted(cell));
            };
            values.push(value);
        }
        let end = values.iter().rposition(|v| !v.is_nan()).map_or(0, |last| last + 1);
        padded += usize::from(end < values.len());
        values.truncate(end);
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let (index, value) = (series.len(), values[at]);
            bail!(
                "line {number}, column {}: series {index}, position {at}: {value} where a finite number was expected",
                at + 2
            );
        }
        ensure!(
            !values.is_empty(),
            "line {number}: series {} is empty: expected a class label and then the series",
            series.len()
        );
        series.push(values);
        labels.push(canonical_label(cells[0]));
    }
    let mut dataset = Dataset::univariate(name, series).with_labels(labels);
    if padded > 0 {
        dataset.notes.push(format!("{padded} series padded with NaN at the end were read as shorter series"));
    }
    Ok(dataset)
}

/// Writes integral labels without exponent or decimals, so that `1.0000000e+00` and `1` are one class.
fn canonical_label(cell: &str) -> String {
    match cell.parse::<f64>() {
        Ok(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{}", value as i64),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, refuses};

    #[test]
    fn all_separators_give_the_same() {
        let expected = [vec![0.5, -1.0], vec![2.0, 3.0]];
        for (name, text) in [
            ("a.tsv", "1\t0.5\t-1\n2\t2\t3\n"),
            ("a.txt", "1,0.5,-1\n2,2,3\n"),
            ("a.txt", "  1.0000000e+00   5.0e-01  -1\n   2.0 2 3"),
            ("a.tsv", "1\t0.5\t-1\r\n\r\n2\t2\t3\r\n"),
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
}
