//! Rust source with comments and literals blanked out, so that a search finds code only.

/// The same text, line by line and column by column, with spaces for comments and for what stands in string and
/// character literals.
pub(super) fn code_of(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = literal_end(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Where the comment or literal that begins at `at` ends; `at` if none begins there.
fn literal_end(chars: &[char], at: usize) -> usize {
    let next = |k: usize| chars.get(at + k).copied();
    let after_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if next(1) == Some('/') => (at..chars.len()).find(|k| chars[*k] == '\n').unwrap_or(chars.len()),
        '/' if next(1) == Some('*') => block_comment_end(chars, at),
        '"' => string_end(chars, at + 1),
        'r' if !after_word || chars[at - 1] == 'b' || chars[at - 1] == 'c' => {
            let hashes = (1..).take_while(|k| next(*k) == Some('#')).count();
            if next(1 + hashes) == Some('"') { raw_string_end(chars, at + 2 + hashes, hashes) } else { at }
        }
        // A character literal, not a lifetime: 'x' or '\…'.
        '\'' if next(1) == Some('\\') => {
            (at + 3..chars.len()).find(|k| chars[*k] == '\'').map_or(chars.len(), |k| k + 1)
        }
        '\'' if next(2) == Some('\'') => at + 3,
        _ => at,
    }
}

fn block_comment_end(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn string_end(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

fn raw_string_end(chars: &[char], from: usize, hashes: usize) -> usize {
    let closes = |k: usize| chars[k] == '"' && chars[k + 1..].iter().take(hashes).all(|c| *c == '#');
    (from..chars.len()).find(|k| closes(*k)).map_or(chars.len(), |k| (k + 1 + hashes).min(chars.len()))
}

#[cfg(test)]
mod tests {
    use super::code_of;

    #[test]
    fn comments_and_literals_vanish_and_code_stays_in_place() {
        let text =
            "let a = \"x // y\"; // z\nlet b = 'q'; /* c /* d */ */ let e: &'static str = r#\"f\"g\"#;\n";
        let code = code_of(text);
        assert_eq!(code.chars().count(), text.chars().count());
        assert_eq!(
            code.split_whitespace().collect::<Vec<_>>().join(" "),
            "let a = ; let b = ; let e: &'static str = ;"
        );
        assert_eq!(code.find("let b"), text.find("let b"));
    }

    #[test]
    fn escapes_do_not_end_a_literal() {
        assert_eq!(code_of(r#"f("a\"b", '\'', '\\', b"c")"#).replace(' ', ""), "f(,,,b)");
    }
}
