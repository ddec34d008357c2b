//! The header of a `.npy` array, read strictly and in one pass.
//!
//! ```text
//! \x93NUMPY  major minor  length  {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }
//! ```
//!
//! Harris et al. 2020, 10.1038/s41586-020-2649-2; the layout is NEP 1. The dictionary is a Python literal; only the one
//! that NumPy writes for plain arrays is understood: three keys, of text, truth and a tuple of whole numbers. Nothing
//! nests, so a header costs no more than its bytes.

use std::fmt;
use std::io::Read;

use anyhow::{Result, anyhow, bail, ensure};

/// Longest header that is read; those of plain arrays have some 100 bytes.
const LONGEST: usize = 1 << 16;
/// Most axes, as in NumPy.
const MOST_AXES: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Signed,
    Unsigned,
    Bool,
    Unicode,
    Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: Kind,
    /// Bytes per element, at least 1.
    pub(super) bytes: usize,
    pub(super) big_endian: bool,
}

impl Element {
    pub(super) fn is_text(self) -> bool {
        matches!(self.kind, Kind::Unicode | Kind::Bytes)
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (letter, size) = match self.kind {
            Kind::Float => ('f', self.bytes),
            Kind::Signed => ('i', self.bytes),
            Kind::Unsigned => ('u', self.bytes),
            Kind::Bool => ('b', self.bytes),
            Kind::Unicode => ('U', self.bytes / 4),
            Kind::Bytes => ('S', self.bytes),
        };
        let order = if self.bytes == 1 || self.kind == Kind::Bytes {
            '|'
        } else if self.big_endian {
            '>'
        } else {
            '<'
        };
        write!(f, "'{order}{letter}{size}'")
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) fortran: bool,
    pub(super) shape: Vec<u64>,
}

impl Header {
    /// Bytes of data that belong to the header.
    pub(super) fn data_bytes(&self) -> Result<u64> {
        let product =
            self.shape.iter().try_fold(self.element.bytes as u64, |n, extent| n.checked_mul(*extent));
        // An axis of length 0 hides others of any length.
        let product = product.filter(|_| self.shape.iter().all(|extent| *extent <= isize::MAX as u64));
        product.ok_or_else(|| anyhow!("shape {:?} is larger than any file", self.shape))
    }
}

/// Reads a header; also how many bytes it has.
pub(super) fn read_header(reader: &mut impl Read) -> Result<(Header, u64)> {
    const MAGIC: &[u8] = b"\x93NUMPY";
    let cut = || anyhow!("the .npy header is truncated or damaged (it ends too early)");
    let mut magic = [0; 6];
    let is_magic = reader.read_exact(&mut magic).is_ok() && magic == MAGIC;
    ensure!(is_magic, "not a .npy file (it does not start with \\x93NUMPY)");
    let mut version = [0; 2];
    reader.read_exact(&mut version).map_err(|_| cut())?;
    // Version 1 has two bytes of length, later ones four.
    let wide = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => bail!("the .npy header is truncated or damaged (version {other}; expected 1 to 3)"),
    };
    let mut length = [0; 4];
    reader.read_exact(&mut length[..wide]).map_err(|_| cut())?;
    let length = u32::from_le_bytes(length) as usize;
    ensure!(
        length <= LONGEST,
        "the .npy header claims {length} bytes; one of a plain array has at most {LONGEST}"
    );
    let mut text = vec![0; length];
    reader.read_exact(&mut text).map_err(|_| cut())?;
    let text = std::str::from_utf8(&text)
        .map_err(|_| anyhow!("the .npy header is truncated or damaged (not UTF-8 text)"))?;
    Ok((Literal { rest: text }.header()?, (MAGIC.len() + 2 + wide + length) as u64))
}

/// Reads the header of an array of which `size` bytes are there, all in all: as many as the header says.
pub(super) fn measured_header(reader: &mut impl Read, size: u64) -> Result<Header> {
    let (header, header_bytes) = read_header(reader)?;
    let expected = header.data_bytes()?;
    let held = size.saturating_sub(header_bytes);
    ensure!(
        held >= expected,
        "truncated: shape {:?} needs {expected} bytes of data, the file holds {held}",
        header.shape
    );
    ensure!(
        held == expected,
        "{} bytes after the data; shape {:?} needs {expected}",
        held - expected,
        header.shape
    );
    Ok(header)
}

/// What is left of the dictionary.
struct Literal<'a> {
    rest: &'a str,
}

impl<'a> Literal<'a> {
    fn header(mut self) -> Result<Header> {
        let (mut element, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.text()?;
            self.expect(':')?;
            let is_new = match key {
                "descr" => element.replace(self.element()?).is_none(),
                "fortran_order" => fortran.replace(self.truth()?).is_none(),
                "shape" => shape.replace(self.shape()?).is_none(),
                _ => return Err(self.damaged("another key than descr, fortran_order and shape")),
            };
            if !is_new {
                return Err(self.damaged("a key stands twice"));
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        if !self.rest.trim_matches(['\0', ' ', '\n', '\t', '\r']).is_empty() {
            return Err(self.damaged("text behind the dictionary"));
        }
        match (element, fortran, shape) {
            (Some(element), Some(fortran), Some(shape)) => Ok(Header { element, fortran, shape }),
            _ => Err(self.damaged("descr, fortran_order or shape is missing")),
        }
    }

    fn damaged(&self, why: &str) -> anyhow::Error {
        anyhow!(
            "the .npy header is truncated or damaged ({why}, before {})",
            super::text::quoted(self.rest.trim())
        )
    }

    fn take(&mut self, wanted: char) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(wanted) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        if self.take(wanted) { Ok(()) } else { Err(self.damaged(&format!("'{wanted}' expected"))) }
    }

    /// A text without escapes.
    fn text(&mut self) -> Result<&'a str> {
        for quote in ['\'', '"'] {
            if self.take(quote) {
                let rest = self.rest;
                let Some((text, after)) = rest.split_once(quote) else { break };
                self.rest = after;
                return if text.contains('\\') { Err(self.damaged("an escape")) } else { Ok(text) };
            }
        }
        Err(self.damaged("text in quotes expected"))
    }

    fn truth(&mut self) -> Result<bool> {
        let rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(after) = rest.strip_prefix(word) {
                self.rest = after;
                return Ok(value);
            }
        }
        Err(self.damaged("True or False expected"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.take(')') {
            let rest = self.rest.trim_start();
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let Ok(extent) = rest[..end].parse() else { return Err(self.damaged("a length expected")) };
            shape.push(extent);
            if shape.len() > MOST_AXES {
                return Err(self.damaged("too many axes"));
            }
            // Python 2 marked long integers.
            self.rest = rest[end..].strip_prefix('L').unwrap_or(&rest[end..]);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(shape)
    }

    fn element(&mut self) -> Result<Element> {
        if self.rest.trim_start().starts_with('[') {
            bail!("element type [(…)], a record of several fields; expected plain numbers");
        }
        let descr = self.text()?;
        let unknown = || {
            let shown = super::text::quoted(descr);
            anyhow!("element type {shown}; expected float16, float32, float64, integers or bool")
        };
        let (order, rest) = match descr.strip_prefix(['<', '>', '|', '=']) {
            Some(rest) => (descr.as_bytes()[0], rest),
            None => (b'|', descr),
        };
        let mut chars = rest.chars();
        let letter = chars.next().ok_or_else(unknown)?;
        ensure!(
            letter != 'O',
            "an array of Python objects; save numbers with .astype(float), labels that are words with .astype(str)"
        );
        let digits = chars.as_str();
        let size: usize = digits.parse().ok().filter(|_| !digits.starts_with('+')).ok_or_else(unknown)?;
        let (kind, bytes) = match (letter, size) {
            ('f', 2 | 4 | 8) => (Kind::Float, size),
            ('i', 1 | 2 | 4 | 8) => (Kind::Signed, size),
            ('u', 1 | 2 | 4 | 8) => (Kind::Unsigned, size),
            ('b', 1) => (Kind::Bool, size),
            // A text of nothing takes no bytes, and any number of them fits any file.
            ('U', 1..) => (Kind::Unicode, size.checked_mul(4).ok_or_else(unknown)?),
            ('S' | 'a', 1..) => (Kind::Bytes, size),
            _ => return Err(unknown()),
        };
        ensure!(bytes <= LONGEST, "element type {}; no label is that long", super::text::quoted(descr));
        // What has one byte, or is made of bytes, has no order.
        if bytes > 1 && kind != Kind::Bytes && !matches!(order, b'<' | b'>') {
            return Err(unknown());
        }
        Ok(Element { kind, bytes, big_endian: order == b'>' })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Header> {
        Literal { rest: text }.header()
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }      \n").unwrap();
        let element = Element { kind: Kind::Float, bytes: 8, big_endian: false };
        assert_eq!(header, Header { element, fortran: false, shape: vec![2, 3] });
        let other = parse("{\"shape\":(7L,),'fortran_order':True,'descr':'>U3'}").unwrap();
        assert_eq!((other.fortran, other.shape, other.element.bytes), (true, vec![7], 12));
        assert_eq!(other.element.to_string(), "'>U3'");
        assert_eq!(parse("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").unwrap().shape, []);
    }

    #[test]
    fn nothing_else_is() {
        for (text, part) in [
            ("", "'{' expected"),
            ("{", "quotes"),
            ("{}", "is missing"),
            ("{'descr': '<f8', 'descr': '<f8'}", "twice"),
            ("{'descr': '<f8', 'shape': (1,), 'fortran_order': False} {", "behind"),
            ("{'color': 1}", "another key"),
            ("{'shape': (1 2)}", "')' expected"),
            ("{'shape': (-1,)}", "a length"),
            ("{'shape': (99999999999999999999,)}", "a length"),
            ("{'fortran_order': 0}", "True or False"),
            ("{'descr': '<f8}", "quotes"),
            ("{'descr': '<\\x668'}", "escape"),
            ("{'descr': [('a', '<f8')]}", "record"),
            ("{'descr': '|O'}", "Python objects"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error:?} lacks {part:?}");
        }
        for descr in
            ["f8", "<f3", "<f", "<f16", "<i3", "|i2", "<U0", "|S0", "<M8[ns]", "=f8", "<f+8", "<U99999"]
        {
            assert!(parse(&format!("{{'descr': '{descr}'}}")).is_err(), "{descr}");
        }
    }

    /// Parsers that try alternatives take twice as long for every bracket.
    #[test]
    fn nested_brackets_take_no_time() {
        for bracket in ["{", "[", "(", "{'descr': [", "{'shape': ("] {
            assert!(parse(&bracket.repeat(LONGEST / bracket.len())).is_err());
        }
    }

    #[test]
    fn claims_are_checked() {
        let bytes = |shape: &[u64], bytes| {
            let element = Element { kind: Kind::Float, bytes, big_endian: false };
            Header { element, fortran: false, shape: shape.to_vec() }.data_bytes()
        };
        assert_eq!(bytes(&[2, 3], 8).unwrap(), 48);
        assert!(bytes(&[1 << 32, 1 << 32], 8).is_err());
        assert!(bytes(&[0, u64::MAX], 8).is_err());
        let long = [&b"\x93NUMPY\x02\x00"[..], &u32::MAX.to_le_bytes()].concat();
        assert!(read_header(&mut &long[..]).unwrap_err().to_string().contains("claims 4294967295 bytes"));
    }
}
