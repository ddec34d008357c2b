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

/// The line, from 1, of a quote that is opened at the start of a cell and never closed; none if there is no such.
pub(super) fn unclosed_quote(bytes: &[u8], delimiter: u8) -> Option<u64> {
    let (mut at, mut line, mut is_start) = (0, 1_u64, true);
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == b'"' && is_start {
            let opened = line;
            loop {
                let length = bytes[at..].iter().position(|byte| *byte == b'"');
                let Some(length) = length else { return Some(opened) };
                line += line_ends(&bytes[at..at + length]);
                at += length + 1;
                // Two quotes stand for one.
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            is_start = false;
            continue;
        }
        let is_end = *byte == b'\n' || *byte == b'\r' && bytes.get(at) != Some(&b'\n');
        line += u64::from(is_end);
        is_start = *byte == delimiter || matches!(byte, b'\n' | b'\r');
    }
    None
}

/// Line ends: `\n`, `\r\n` or `\r`.
fn line_ends(bytes: &[u8]) -> u64 {
    let pairs = bytes.windows(2).filter(|pair| pair == b"\r\n").count();
    (bytes.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count() - pairs) as u64
}
