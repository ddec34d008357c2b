//! What the text formats share: lines, cells, numbers, and how a bad cell is named.

use anyhow::Result;

/// Splits text into lines with their 1-based numbers; an encoding error names the line.
///
/// A byte-order mark, carriage returns and spaces around a line are dropped; a tab at its start is kept, since an empty
/// first cell means something. Lines that start with `comment` may be in any encoding.
pub(crate) fn numbered_lines(
    bytes: &[u8],
    comment: Option<u8>,
) -> impl Iterator<Item = Result<(usize, &str)>> {
    without_mark(bytes).split(|b| *b == b'\n').enumerate().filter_map(move |(index, line)| {
        if comment.is_some() && line.trim_ascii_start().first() == comment.as_ref() {
            return None;
        }
        let text = std::str::from_utf8(line).map(|text| text.trim_end().trim_start_matches(' '));
        match text {
            Ok("") => None,
            Ok(text) => Some(Ok((index + 1, text))),
            Err(_) => Some(Err(anyhow::anyhow!("line {}: not UTF-8 text", index + 1))),
        }
    })
}

/// Most memory that parsing a text takes, from one look at it: values, series, labels, and the cells of the longest line.
pub(crate) fn memory_bytes(bytes: &[u8]) -> u64 {
    // Vectors double while they grow; a line may become a series, its label and a class of its own, a cell of the longest
    // line a series, a channel or the name of a class.
    const PER_CELL: u64 = 16;
    const PER_LINE: u64 = 256;
    const PER_COLUMN: u64 = 192;
    let (mut cells, mut lines, mut in_line, mut widest) = (0_u64, 1_u64, 1_u64, 1_u64);
    for byte in bytes {
        match byte {
            b'\n' | b'\r' => {
                cells += 1;
                lines += 1;
                in_line = 1;
            }
            b',' | b';' | b'\t' | b' ' | b':' => {
                cells += 1;
                in_line += 1;
                widest = widest.max(in_line);
            }
            _ => {}
        }
    }
    cells * PER_CELL + lines * PER_LINE + widest * PER_COLUMN
}

/// The text without a byte-order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// What is wrong with a cell that is no number.
pub(crate) fn not_a_number(cell: &str) -> String {
    let shown = quoted(cell);
    if has_decimal_comma(cell) {
        return format!("{shown} has a decimal comma; write a point (1.5)");
    }
    if cell.contains(|c: char| c.is_ascii_digit()) && cell.trim().contains([' ', '\t', ';']) {
        return format!(
            "{shown} is not a number; does the file mix separators, or has it decimal commas? Write 1.5, and one separator"
        );
    }
    format!("{shown} is not a number")
}

/// Whether the cell is a number, in one of the ways people write them.
pub(crate) fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok() || has_decimal_comma(cell)
}

/// The note on a line with numbers that the user calls a header: it may be data.
pub(crate) fn header_left_out<'a>(line: usize, cells: impl Iterator<Item = &'a str>) -> String {
    const SHOWN: usize = 4;
    let mut shown: Vec<String> = cells.take(SHOWN + 1).map(clean).collect();
    if shown.len() > SHOWN {
        shown[SHOWN] = "…".to_owned();
    }
    format!(
        "line {line} ({}) was left out as names of the columns, as --csv-header yes says",
        shown.join(", ")
    )
}

/// Whether the numbers are an arithmetic progression of at least [`LEAST_COUNTED`], in any order. O(count).
pub(crate) fn in_equal_steps(values: impl Iterator<Item = i64> + Clone) -> bool {
    let (mut low, mut high, mut count) = (i64::MAX, i64::MIN, 0_usize);
    for value in values.clone() {
        (low, high, count) = (low.min(value), high.max(value), count + 1);
    }
    if count < LEAST_COUNTED {
        return false;
    }
    let (range, steps) = (high.abs_diff(low), count as u64 - 1);
    let step = range / steps;
    if step == 0 || range % steps != 0 {
        return false;
    }
    let mut seen = vec![false; count];
    values.into_iter().all(|value| {
        let (at, rest) = (value.abs_diff(low) / step, value.abs_diff(low) % step);
        // No more than `steps`, since no value is above the highest.
        rest == 0 && !std::mem::replace(&mut seen[at as usize], true)
    })
}

/// Whether the cell is a number with one comma where the point belongs.
pub(crate) fn has_decimal_comma(cell: &str) -> bool {
    cell.matches(',').count() == 1 && cell.replacen(',', ".", 1).parse::<f64>().is_ok()
}

/// Fewer columns that count are a coincidence.
pub(crate) const LEAST_COUNTED: usize = 4;

/// Whether the cells are `0`, `1`, `2`, …: names that a program gave to columns or rows, or a series that counts.
pub(crate) fn counts_up<'a>(cells: impl Iterator<Item = &'a str>) -> bool {
    let mut next = 0_usize;
    for cell in cells {
        if cell.parse() != Ok(next) || (cell.len() > 1 && cell.starts_with(['0', '+'])) {
            return false;
        }
        next += 1;
    }
    next > 1
}

/// Shortens a cell for an error message; control characters are replaced.
pub(crate) fn quoted(cell: &str) -> String {
    format!("'{}'", clean(cell))
}

/// The same without quotes.
pub(crate) fn clean(cell: &str) -> String {
    const SHOWN: usize = 24;
    let mut chars = cell.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut text: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_cells_are_explained() {
        assert_eq!(not_a_number("x"), "'x' is not a number");
        assert_eq!(not_a_number("1,5"), "'1,5' has a decimal comma; write a point (1.5)");
        assert!(not_a_number("5 0").contains("one separator"));
        assert_eq!(quoted(&"9".repeat(30)), format!("'{}…'", "9".repeat(24)));
        assert_eq!(quoted("a\u{7}"), "'a\u{fffd}'");
    }

    #[test]
    fn equal_steps_in_any_order() {
        for values in [[0, 1, 2, 3], [3, 1, 0, 2], [40, 10, 20, 30], [-5, -3, -1, 1]] {
            assert!(in_equal_steps(values.into_iter()), "{values:?}");
        }
        for values in
            [&[0, 1, 2][..], &[0, 1, 2, 4], &[0, 0, 1, 3], &[5, 5, 5, 5], &[i64::MIN, 0, 1, i64::MAX]]
        {
            assert!(!in_equal_steps(values.iter().copied()), "{values:?}");
        }
    }

    #[test]
    fn counting_starts_at_zero_and_has_no_gap() {
        assert!(counts_up(["0", "1", "2"].into_iter()));
        for cells in [&["0"][..], &["1", "2"], &["0", "2"], &["0", "1.0"], &["0", "01"], &["0", "+1"], &[]] {
            assert!(!counts_up(cells.iter().copied()), "{cells:?}");
        }
    }
}
