//! How much memory `.xz` data asks for, from its first bytes.
//!
//! A stream header of 12 bytes is followed by the header of the first block: its size, flags, two sizes that may be
//! left out, and up to four filters, of which LZMA2 names the size of its dictionary (The .xz File Format 1.2, sections
//! 3.1 and 5.3.1).

/// No header of a block is longer, and the stream's stands before it.
pub(crate) const MOST_BYTES: u64 = 12 + 1024;

const LZMA2: u64 = 0x21;

/// The size of the dictionary that the first block needs; none where these are no first bytes of such a file.
pub(crate) fn dictionary_bytes(first: &[u8]) -> Option<u64> {
    let header = first.strip_prefix(b"\xfd7zXZ\0")?.get(6..)?;
    let flags = *header.get(1)?;
    let mut rest = header.get(2..)?;
    for has_size in [flags & 0x40, flags & 0x80] {
        if has_size != 0 {
            number(&mut rest)?;
        }
    }
    for _ in 0..=flags & 3 {
        let filter = number(&mut rest)?;
        let size = usize::try_from(number(&mut rest)?).ok()?;
        let (properties, behind) = rest.split_at_checked(size)?;
        rest = behind;
        if filter == LZMA2 {
            return match *properties {
                [40] => Some(u64::from(u32::MAX)),
                // Powers of two, and one and a half of them, from 4 KiB.
                [bits @ 0..40] => Some((2 | u64::from(bits) & 1) << (bits / 2 + 11)),
                _ => None,
            };
        }
    }
    None
}

/// A number of up to nine groups of seven bits, the lowest first.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for group in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << (7 * group);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn presets_ask_for_their_dictionaries() {
        for (preset, mib) in [(1, 1), (6, 8), (9, 64)] {
            let options = lzma_rust2::XzOptions::with_preset(preset);
            let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
            writer.write_all(b"1\n2\n").unwrap();
            let bytes = writer.finish().unwrap();
            assert_eq!(dictionary_bytes(&bytes), Some(mib << 20));
            for end in 0..15 {
                assert_eq!(dictionary_bytes(&bytes[..end]), None);
            }
        }
        // With both sizes, and a delta filter before LZMA2.
        let header = b"\xfd7zXZ\0\0\x04....\x05\xc1\x81\x01\x82\x02\x03\x01\x00\x21\x01\x17";
        assert_eq!(dictionary_bytes(header), Some(12 << 20));
        assert_eq!(dictionary_bytes(b"\x1f\x8b"), None);
    }
}
