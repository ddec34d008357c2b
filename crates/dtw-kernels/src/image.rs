//! One image of compiled kernels: compressed as it is embedded, and unpacked as a driver reads it.
//!
//! The form is `.xz`, whose checksums cover every byte. An image of all chips takes about a tenth of its bytes, and
//! 10 to 25 ms to unpack for each megabyte. Tried: zstd at level 19 is unpacked two to five times as fast, in Rust
//! (ruzstd 0.8), but takes 20% more bytes, and only C compresses it so well.

use std::io::Read as _;

/// What unpacking may take besides the image: the dictionary of [`pack`] with room to spare.
const LIMIT_KIB: u32 = 64 << 10;

/// An image as a driver reads it: whole, and aligned to 16 bytes.
#[derive(Clone)]
pub struct Image {
    words: Vec<u128>,
    bytes: usize,
}

impl Image {
    /// The image in these compressed bytes. Takes time: 10 to 25 ms for each megabyte of the image.
    ///
    /// # Errors
    ///
    /// [`Damaged`] unless the bytes are those that [`pack`] returned.
    pub fn unpack(packed: &[u8]) -> Result<Self, Damaged> {
        let mut reader = lzma_rust2::XzReader::new_mem_limit(packed, false, LIMIT_KIB);
        let mut unpacked = Vec::new();
        reader.read_to_end(&mut unpacked).map_err(|error| Damaged(error.to_string()))?;
        let behind = reader.into_inner().len();
        if behind > 0 {
            return Err(Damaged(format!("{behind} bytes follow the end")));
        }
        let word = |bytes: &[u8]| {
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(bytes);
            u128::from_ne_bytes(word)
        };
        Ok(Self { words: unpacked.chunks(16).map(word).collect(), bytes: unpacked.len() })
    }

    /// Its bytes, from an address that is a multiple of 16.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the words hold at least so many bytes, and bytes of integers are initialised.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.bytes) }
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image({} bytes)", self.bytes)
    }
}

/// Why compressed bytes are no image: what the decoder said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged(String);

impl std::fmt::Display for Damaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the compressed kernels in this program are damaged ({}); build or install it again",
            self.0
        )
    }
}

impl std::error::Error for Damaged {}

/// Compresses an image, for [`Image::unpack`]. Slow: about a second for each megabyte.
///
/// # Errors
///
/// What the encoder said.
#[cfg(feature = "pack")]
pub fn pack(image: &[u8]) -> std::io::Result<Vec<u8>> {
    use std::io::Write as _;

    let mut options = lzma_rust2::XzOptions::with_preset(6);
    // No larger than the image, because whoever unpacks it makes room for all of the dictionary.
    let most = options.lzma_options.dict_size as usize;
    options.lzma_options.dict_size = image.len().next_power_of_two().clamp(1 << 12, most) as u32;
    options.set_check_sum_type(lzma_rust2::CheckType::Crc32);
    let mut writer = lzma_rust2::XzWriter::new(Vec::new(), options)?;
    writer.write_all(image)?;
    writer.finish()
}

#[cfg(all(test, feature = "pack"))]
mod tests {
    use super::*;

    /// Some structure, so that it can be compressed, and a length that is no multiple of a word.
    fn image() -> Vec<u8> {
        (0..5003_u32).map(|k| (k % 61 * (k / 700)) as u8).collect()
    }

    #[test]
    fn images_come_back_aligned() {
        for length in [0, 1, 15, 16, 17, 5003] {
            let image = &image()[..length];
            let unpacked = Image::unpack(&pack(image).unwrap()).unwrap();
            assert_eq!(unpacked.bytes(), image, "{length} bytes");
            assert!(unpacked.bytes().as_ptr().addr().is_multiple_of(16), "{length} bytes");
        }
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let packed = pack(&image()).unwrap();
        assert!(packed.len() < image().len() / 2, "{} bytes", packed.len());
        for length in 0..packed.len() {
            assert!(
                Image::unpack(&packed[..length]).is_err(),
                "the first {length} of {} bytes",
                packed.len()
            );
        }
        for at in 0..packed.len() {
            for flipped in [1, 0x80, 0xff] {
                let mut damaged = packed.clone();
                damaged[at] ^= flipped;
                assert!(Image::unpack(&damaged).is_err(), "byte {at} flipped by {flipped:#x}");
            }
        }
        let longer = [&packed[..], &[0; 4]].concat();
        let error = Image::unpack(&longer).unwrap_err().to_string();
        assert!(error.contains("4 bytes follow the end") && error.contains("install it again"), "{error}");
        assert!(Image::unpack(b"no kernels at all").is_err());
    }
}
