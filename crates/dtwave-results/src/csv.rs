//! `.csv` output: numbers in the shortest form that reads back to the same value.

use std::io::{self, Write};

use anyhow::Result;

use super::Target;

/// Writes one line per row.
pub fn write_csv_rows<T: std::fmt::Display>(
    target: Target,
    rows: impl IntoIterator<Item = impl IntoIterator<Item = T>>,
) -> Result<()> {
    target.write(|out| {
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
        for row in rows {
            writer.write_record(row.into_iter().map(|v| v.to_string())).map_err(io_error)?;
        }
        writer.flush()
    })
}

/// Writes a header line and one line per row.
pub fn write_csv_table(target: Target, header: &[&str], rows: &[Vec<String>]) -> Result<()> {
    target.write(|out: &mut dyn Write| {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header).map_err(io_error)?;
        for row in rows {
            writer.write_record(row).map_err(io_error)?;
        }
        writer.flush()
    })
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let values = [[1.0 / 3.0, -1e-300], [1e300, 0.1 + 0.2]];
        write_csv_rows(Target::take(&path).unwrap(), values).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let read: Vec<f64> = text.trim().split(['\n', ',']).map(|c| c.parse().unwrap()).collect();
        assert_eq!(read, values.concat());
    }

    #[test]
    fn tables_have_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        write_csv_table(Target::take(&path).unwrap(), &["i", "label"], &[vec!["0".into(), "a,b".into()]])
            .unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "i,label\n0,\"a,b\"\n");
    }
}
