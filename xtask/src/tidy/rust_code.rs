//! Rust source as tokens: its words without comments and literals, and the paths by which a module names others.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of a source; none where it is no Rust.
fn tokens(text: &str) -> Vec<TokenTree> {
    TokenStream::from_str(text).map(|tokens| tokens.into_iter().collect()).unwrap_or_default()
}

/// The words and signs of the code, each with its line; no comments and no literals.
pub(super) fn words(text: &str) -> Vec<(usize, String)> {
    fn open(tokens: impl IntoIterator<Item = TokenTree>, found: &mut Vec<(usize, String)>) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => open(group.stream(), found),
                TokenTree::Literal(_) => {}
                word => found.push((word.span().start().line, word.to_string())),
            }
        }
    }
    let mut found = Vec::new();
    open(tokens(text), &mut found);
    found
}

/// A path that a module names: `crate::a::B`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path {
    /// Its segments.
    pub(super) segments: Vec<String>,
    /// Inline modules around it, each of which `super` leaves first.
    pub(super) depth: usize,
    /// What a `use` binds it to.
    pub(super) binds: Option<String>,
    /// Whether the `use` only passes it on to others.
    pub(super) is_passed_on: bool,
}

/// What a module says of others.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) paths: Vec<Path>,
    /// Modules that only tests have.
    pub(super) tests: Vec<String>,
    /// Names without a path, as they stand in the code.
    pub(super) plain: Vec<String>,
}

/// The paths in a source, without those of tests.
pub(super) fn names(text: &str) -> Names {
    let mut names = Names::default();
    walk(&tokens(text), 0, &mut names);
    names
}

fn walk(tokens: &[TokenTree], depth: usize, names: &mut Names) {
    let mut at = 0;
    let mut is_public = false;
    while at < tokens.len() {
        if is_test_attribute(tokens, at) {
            let end = end_of_item(tokens, at);
            let module = tokens[at..end].windows(2).find(|pair| is_word(&pair[0], "mod"));
            names.tests.extend(module.map(|pair| pair[1].to_string()));
            at = end;
            continue;
        }
        match &tokens[at] {
            TokenTree::Ident(word) if *word == "use" => {
                let end = end_of_item(tokens, at);
                use_tree(&tokens[at + 1..end], &[], &mut |segments, binds| {
                    names.paths.push(Path { segments, depth, binds, is_passed_on: is_public });
                });
                at = end;
                is_public = false;
                continue;
            }
            TokenTree::Ident(word) if *word == "pub" => {
                is_public = true;
                at += 1;
                // The scope of `pub(crate)`.
                at += usize::from(
                    matches!(tokens.get(at), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis),
                );
                continue;
            }
            TokenTree::Ident(_) => {
                let segments = path_at(tokens, at);
                at += 3 * (segments.len() - 1);
                match segments.as_slice() {
                    [name] => names.plain.push(name.clone()),
                    _ => names.paths.push(Path { segments, depth, binds: None, is_passed_on: false }),
                }
            }
            TokenTree::Group(group) => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_module = at >= 2 && is_word(&tokens[at - 2], "mod");
                walk(&inner, depth + usize::from(is_module), names);
            }
            _ => {}
        }
        is_public = false;
        at += 1;
    }
}

fn is_word(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == wanted)
}

fn is_sign(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(sign)) if sign.as_char() == wanted)
}

/// Whether `#[cfg(test)]` or `#[test]` stands at `at`.
fn is_test_attribute(tokens: &[TokenTree], at: usize) -> bool {
    let Some(TokenTree::Group(group)) = tokens.get(at + 1) else { return false };
    let text = group.stream().to_string().replace(' ', "");
    is_sign(tokens.get(at), '#')
        && (text == "test" || text.starts_with("cfg(test)") || text.starts_with("cfg(all(test"))
}

/// Behind the item that begins at `at`: its `;` or braces.
fn end_of_item(tokens: &[TokenTree], at: usize) -> usize {
    let is_use =
        tokens[at..].iter().take_while(|token| !is_sign(Some(token), ';')).any(|token| is_word(token, "use"));
    let ends = |token: &TokenTree| {
        is_sign(Some(token), ';')
            || !is_use && matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
    };
    tokens[at..].iter().position(ends).map_or(tokens.len(), |offset| at + offset + 1)
}

/// The segments of the path that begins at `at`.
fn path_at(tokens: &[TokenTree], at: usize) -> Vec<String> {
    let mut segments = vec![tokens[at].to_string()];
    let mut next = at + 1;
    while is_sign(tokens.get(next), ':') && is_sign(tokens.get(next + 1), ':') {
        let Some(TokenTree::Ident(name)) = tokens.get(next + 2) else { break };
        segments.push(name.to_string());
        next += 3;
    }
    segments
}

/// Tells of every path in a `use`, with the name that it binds.
fn use_tree(tokens: &[TokenTree], start: &[String], tell: &mut impl FnMut(Vec<String>, Option<String>)) {
    for tree in tokens.split(|token| is_sign(Some(token), ',') || is_sign(Some(token), ';')) {
        let mut segments = start.to_vec();
        let mut binds = None;
        let mut is_renamed = false;
        for token in tree {
            match token {
                TokenTree::Ident(word) if *word == "as" => is_renamed = true,
                TokenTree::Ident(word) if is_renamed => binds = Some(word.to_string()),
                TokenTree::Ident(word) if *word == "self" && !segments.is_empty() => {}
                TokenTree::Ident(word) => segments.push(word.to_string()),
                TokenTree::Punct(sign) if sign.as_char() == '*' => segments.push("*".into()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    use_tree(&inner, &segments, tell);
                    segments.clear();
                }
                _ => {}
            }
        }
        if !tree.is_empty() && !segments.is_empty() {
            let binds = binds.or_else(|| segments.last().cloned());
            tell(segments, binds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_no_words() {
        let text = "/// a\nlet a = \"x // y\"; // z\nlet b = (c, 'q'); /* c /* d */ */ e!(r#\"f\"g\"#);\n";
        let shown: Vec<String> = words(text).iter().map(|(line, word)| format!("{line}{word}")).collect();
        let code = ["2let", "2a", "2=", "2;", "3let", "3b", "3=", "3c", "3,", "3;", "3e", "3!", "3;"];
        assert!(shown.ends_with(&code.map(str::to_owned)), "{shown:?}");
    }

    #[test]
    fn paths_are_those_of_code_outside_tests() {
        let text = "pub use b::{C, d::*};\nuse super::e as f;\nfn g() { crate::h::i() }\n\
                    mod j { use super::k; }\n#[cfg(test)]\nmod tests { use crate::l; }\n#[cfg(test)]\nmod m;\n";
        let found = names(text);
        let shown: Vec<String> =
            found.paths.iter().map(|p| format!("{} {}", p.segments.join("::"), p.depth)).collect();
        assert_eq!(shown, ["b::C 0", "b::d::* 0", "super::e 0", "crate::h::i 0", "super::k 1"]);
        assert_eq!(
            found.paths.iter().map(|p| p.is_passed_on).collect::<Vec<_>>(),
            [true, true, false, false, false]
        );
        assert_eq!(found.paths[2].binds.as_deref(), Some("f"));
        assert_eq!(found.tests, ["tests", "m"]);
    }
}
