//! Lines of a `.csv` file: which rows begin where, as an editor counts.

/// Counts lines from row to row.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    /// The start of the last row.
    at: usize,
    pub(super) line: u64,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Lines { bytes, at: 0, line: 1 }
    }

    /// Goes on to the row that starts at `place` or behind the line ends there. Gives the first of the empty lines
    /// right above it.
    pub(super) fn pass_to_row(&mut self, place: usize) -> Option<u64> {
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let place = place.clamp(self.at, self.bytes.len());
        let start = place + self.bytes[place..].iter().take_while(|b| is_end(b)).count();
        let text = &self.bytes[self.at..start];
        let row_bytes = text.iter().rposition(|b| !is_end(b)).map_or(0, |last| last + 1);
        let (row, ends) = text.split_at(row_bytes);
        let (in_row, behind) = (line_ends(row), line_ends(ends));
        // The row's own end is no empty line, if there is a row.
        let own = u64::from(!row.is_empty());
        let empty_line = (behind > own).then(|| self.line + in_row + own);
        self.line += in_row + behind;
        self.at = start;
        empty_line
    }
}

/// Line ends: `\n`, `\r\n` or `\r`.
fn line_ends(bytes: &[u8]) -> u64 {
    let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    (bytes.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count() - pairs) as u64
}
