//! A `.csv` file of one column, line by line: the values that [`crate::csv`] finds in the whole of it.
//!
//! Whether there is one column is decided by the first lines; a line further below that has more is an error.

use std::io::{BufRead, BufReader, Read};

use anyhow::{Context, Result, bail, ensure};

use crate::csv::Place;
use crate::csv_table::{ONLY_COLUMN, text};
use crate::labels::only_column;
use crate::stream::Bytes;
use crate::text::{are_numbers, header_left_out, is_number, quoted, without_mark};
use crate::{CsvLayout, HeaderLine, IndexColumn, LabelColumn, Missing, ReadOptions};

/// Longest line that is kept in memory.
const LONGEST_BYTES: usize = 1 << 20;

/// Whether a file that begins with `head` (the whole file, if `is_all`) is read so: one column in its first two lines,
/// no quotes, lines that end with a line feed.
pub(crate) fn suits(head: &[u8], is_all: bool, options: &ReadOptions) -> bool {
    let head = without_mark(head);
    // A gap is filled in by what comes behind it.
    if options.missing != Missing::Error || options.csv_layout == CsvLayout::Rows || head.contains(&b'"') {
        return false;
    }
    // What stands behind the last line feed may be cut.
    let end = if is_all { head.len() } else { head.iter().rposition(|b| *b == b'\n').unwrap_or(0) };
    let mut lines =
        head[..end].split(|b| *b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let (Some(first), second) = (lines.next(), lines.next()) else { return false };
    let sample = match second {
        Some(second) => second,
        None if is_all => first,
        None => return false,
    };
    let is_one = |line: &[u8]| !line.contains(&b',') && !line.contains(&b'\r');
    is_one(first) && is_one(sample) && !sample.contains(&b';') && !sample.contains(&b'\t')
}

/// The lines that are left.
pub(crate) struct Column {
    reader: BufReader<Bytes>,
    bytes: Vec<u8>,
    /// Number of the line in `bytes`, from 1.
    line: u64,
    /// The first of the empty lines right above it.
    empty_line: Option<u64>,
    /// Whether the line is a value that was read and not given.
    is_pending: bool,
    /// Line of an empty cell: it ends the series.
    ended: Option<u64>,
    values: usize,
    notes: Vec<String>,
}

impl Column {
    /// Reads the first line, to see whether it is a header.
    pub(crate) fn open(bytes: Bytes, options: &ReadOptions) -> Result<Self> {
        let (header, index) = (options.header, options.index);
        let mut column = Column {
            reader: BufReader::with_capacity(1 << 16, bytes),
            bytes: Vec::new(),
            line: 0,
            empty_line: None,
            is_pending: false,
            ended: None,
            values: 0,
            notes: Vec::new(),
        };
        ensure!(column.advance()?, "the file holds no series");
        let cell = text(column.cell(), column.line, 0)?;
        let is_name = !cell.is_empty() && !is_number(cell) && !are_numbers(cell);
        let note = (header == HeaderLine::Yes && !is_name).then(|| header_left_out(1, [cell].into_iter()));
        column.notes.extend(note);
        column.notes.extend((index == IndexColumn::Yes).then(|| ONLY_COLUMN.to_owned()));
        let wanted = options.labels.as_ref().filter(|column| **column != LabelColumn::None);
        column.notes.extend(wanted.map(only_column));
        let is_header = match header {
            HeaderLine::Auto => is_name,
            HeaderLine::Yes => true,
            HeaderLine::No => false,
        };
        column.is_pending = !is_header || column.advance()?;
        ensure!(column.is_pending, "only a header line; expected numbers below it");
        Ok(column)
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The next value; none at the end.
    pub(crate) fn next(&mut self) -> Result<Option<f64>> {
        while std::mem::take(&mut self.is_pending) || self.advance()? {
            let (line, cell) = (self.line, self.cell());
            if let Some(empty) = self.empty_line {
                bail!(
                    "line {empty}: an empty line where a value was expected; fill it in, or take the line out"
                );
            }
            if cell.is_empty() {
                self.ended.get_or_insert(line);
                continue;
            }
            if let Some(missing) = self.ended {
                bail!("line {missing}, column 1: empty cell inside a series");
            }
            if cell.iter().any(|byte| b",;\t\"".contains(byte)) {
                let shown = quoted(text(cell, line, 0)?);
                bail!("line {line}: {shown} where one number was expected, as in the lines before it");
            }
            let place = Place { line, column: 0, series: 0, position: self.values, is_last: false };
            let value = place.number(cell)?;
            self.values += 1;
            return Ok(Some(value));
        }
        ensure!(self.values > 0, "column 1: series 0 is empty");
        Ok(None)
    }

    /// Goes on to the next line that is not empty; false at the end.
    fn advance(&mut self) -> Result<bool> {
        self.empty_line = None;
        loop {
            self.bytes.clear();
            let mut line = self.reader.by_ref().take(LONGEST_BYTES as u64 + 1);
            line.read_until(b'\n', &mut self.bytes).context("cannot read the lines")?;
            if self.bytes.is_empty() {
                return Ok(false);
            }
            self.line += 1;
            ensure!(
                self.bytes.len() <= LONGEST_BYTES,
                "line {} is longer than {LONGEST_BYTES} bytes; expected one number",
                self.line
            );
            let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            ensure!(
                !text.contains(&b'\r'),
                "line {}: a carriage return without a line feed; expected lines that end as the first does",
                self.line
            );
            if !text.is_empty() {
                return Ok(true);
            }
            self.empty_line.get_or_insert(self.line);
        }
    }

    fn cell(&self) -> &[u8] {
        self.bytes.trim_ascii()
    }
}
