//! What the text formats share: lines, cells, numbers, and how a bad cell is named.

use anyhow::Result;

/// Splits text into lines with their 1-based numbers; an encoding error names the line.
///
/// A byte-order mark, carriage returns and spaces around a line are dropped; tabs are kept, since an empty cell means
/// something. Lines of white space alone are none. Lines that start with `comment` may be in any encoding.
pub(crate) fn numbered_lines(
    bytes: &[u8],
    comment: Option<u8>,
) -> impl Iterator<Item = Result<(usize, &str)>> {
    without_mark(bytes).split(|b| *b == b'\n').enumerate().filter_map(move |(index, line)| {
        if comment.is_some() && line.trim_ascii_start().first() == comment.as_ref() {
            return None;
        }
        match std::str::from_utf8(line) {
            Ok(text) if text.trim().is_empty() => None,
            Ok(text) => Some(Ok((index + 1, text.trim_matches([' ', '\r'])))),
            Err(_) => Some(Err(anyhow::anyhow!("line {}: {}", index + 1, not_utf8(bytes)))),
        }
    })
}

/// Most memory that parsing a text takes, from one look at it: values, series, labels, and the cells of the longest
/// line.
pub(crate) fn memory_bytes(bytes: &[u8]) -> u64 {
    // Vectors double while they grow; a line may become a series, its label and a class of its own, a cell of the
    // longest line a series, a channel or the name of a class.
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

pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

pub(crate) fn not_utf8(bytes: &[u8]) -> &'static str {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        "not UTF-8 but UTF-16 text; save it as UTF-8"
    } else {
        "not UTF-8 text"
    }
}

pub(crate) fn is_missing(cell: &str) -> bool {
    const WORDS: [&str; 6] = ["", "?", "na", "n/a", "null", "none"];
    WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

/// Whether a cell stands for a missing value, which may be written as a number that is none.
pub(crate) fn is_gap(cell: &str) -> bool {
    is_missing(cell) || cell.parse::<f64>().is_ok_and(f64::is_nan)
}

/// Whether a cell reads as a date or a time of day: `2020-01-31`, `31.1.2020 12:00`, `12:30:00`, `31-Jan-2020`.
pub(crate) fn is_date(cell: &str) -> bool {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let lower = cell.trim().to_ascii_lowercase();
    let numbers = lower.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).count();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty()).collect();
    let has_month = words.iter().any(|word| word.get(..3).is_some_and(|start| MONTHS.contains(&start)));
    let others = words.iter().filter(|word| !["t", "z", "am", "pm", "utc", "gmt"].contains(word)).count();
    let marks = |mark: char| lower.matches(mark).count();
    let is_marked =
        marks(':') > 0 || marks('/') > 1 || marks('.') > 1 || marks('-') > 1 && !lower.starts_with('-');
    let is_plain = lower.chars().all(|c| c.is_ascii_alphanumeric() || ":/.-+ ,".contains(c));
    is_plain
        && cell.parse::<f64>().is_err()
        && !are_numbers(cell)
        && numbers > 1
        && (is_marked && others == 0 || has_month && others < 3)
}

/// Numbers with white space between them.
pub(crate) fn are_numbers(cell: &str) -> bool {
    cell.split_whitespace().count() > 1 && cell.split_whitespace().all(is_number)
}

/// What to do about a value that is missing.
pub(crate) const FILL_IN: &str = "fill in missing values first, or say how with --missing";

pub(crate) fn not_finite(value: f64) -> String {
    let advice = if value.is_nan() { format!("; {FILL_IN}") } else { String::new() };
    format!("{value} where a finite number was expected{advice}")
}

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
    if is_missing(cell) {
        return format!("{shown} is not a number; {FILL_IN}");
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

/// Whether the numbers are an arithmetic progression of at least [`LEAST_COUNTED`], in any order, give or take what
/// rounding makes of their digits. O(count).
///
/// Each must be nearest to another step: of a few numbers very near, of many (where that cannot be chance) less so,
/// since a step of 1/720 may be written with three decimals.
pub(crate) fn in_equal_steps(values: impl Iterator<Item = f64> + Clone) -> bool {
    const MANY: usize = 32;
    let (mut low, mut high, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0_usize);
    for value in values.clone() {
        (low, high, count) = (low.min(value), high.max(value), count + 1);
    }
    if count < LEAST_COUNTED {
        return false;
    }
    let step = (high - low) / (count - 1) as f64;
    if !(step.is_finite() && step > 0.0) {
        return false;
    }
    let most = if count < MANY { 1.0 / 32.0 } else { 0.45 };
    let mut seen = vec![false; count];
    values.into_iter().all(|value| {
        let steps = (value - low) / step;
        let at = steps.round();
        // Not negative, and no more than `count - 1`, since no value is above the highest.
        (steps - at).abs() <= most && !std::mem::replace(&mut seen[(at as usize).min(count - 1)], true)
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

/// A cell for an error message, shortened, without quotes.
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
    fn dates_are_told_from_numbers_and_words() {
        for date in [
            "2020-01-31",
            "31.01.2020",
            "1/2/2020",
            "2020-01-31T12:00:00Z",
            "12:30",
            "2020-01-31 12:00:00.5+01:00",
            "31-Jan-2020",
            "Jan 31, 2020",
        ] {
            assert!(is_date(date), "{date:?}");
        }
        for other in
            ["1", "-1.5", "1e-5", "a", "", "1.5 2.5", "x-1", "1,5", "1-2", "mar", "beat 1 of 2", "NaN"]
        {
            assert!(!is_date(other), "{other:?}");
        }
    }

    #[test]
    fn equal_steps_in_any_order() {
        for values in [
            [0., 1., 2., 3.],
            [3., 1., 0., 2.],
            [40., 10., 20., 30.],
            [-5., -3., -1., 1.],
            [0.1, 0.2, 0.30000000000000004, 0.4],
            [0., 0.333, 0.667, 1.],
            [1.7e9, 1.7e9 + 0.1, 1.7e9 + 0.2, 1.7e9 + 0.3],
        ] {
            assert!(in_equal_steps(values.into_iter()), "{values:?}");
        }
        for values in [
            &[0., 1., 2.][..],
            &[0., 1., 2., 4.],
            &[0., 0., 1., 3.],
            &[5., 5., 5., 5.],
            &[0.1, 0.4, 0.8, 1.1],
            &[-1e19, 0., 1., 1e19],
            &[-1e308, 0., 1e308, 1.1e308],
        ] {
            assert!(!in_equal_steps(values.iter().copied()), "{values:?}");
        }
        // 720 points per second, in milliseconds, and the same with a gap.
        let times: Vec<f64> = (0..50).map(|k| (f64::from(k) / 0.72).round() / 1e3).collect();
        assert!(in_equal_steps(times.iter().copied()));
        assert!(!in_equal_steps(times.iter().map(|t| if *t > 0.03 { t + 0.002 } else { *t })));
    }

    #[test]
    fn counting_starts_at_zero_and_has_no_gap() {
        assert!(counts_up(["0", "1", "2"].into_iter()));
        for cells in [&["0"][..], &["1", "2"], &["0", "2"], &["0", "1.0"], &["0", "01"], &["0", "+1"], &[]] {
            assert!(!counts_up(cells.iter().copied()), "{cells:?}");
        }
    }
}
