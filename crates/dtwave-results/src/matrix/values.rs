//! The data file of a matrix: its values by row and column.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::Xxh3;

use super::identity::Identity;
use super::tile::Tile;
use crate::NpyElement;

/// The values of a `.npy` file.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) file: File,
    pub(super) header_bytes: u64,
    pub(super) columns: usize,
    pub(super) element_bytes: usize,
}

impl Values {
    fn seek(&mut self, row: usize, column: usize) -> io::Result<u64> {
        let element = row as u64 * self.columns as u64 + column as u64;
        self.file.seek(SeekFrom::Start(self.header_bytes + element * self.element_bytes as u64))
    }

    /// Writes a block, whose values are row-major bytes.
    fn put(&mut self, block: &Tile, bytes: &[u8]) -> io::Result<()> {
        let width = block.columns.len() * self.element_bytes;
        if block.columns.len() == self.columns {
            self.seek(block.rows.start, 0)?;
            return self.file.write_all(bytes);
        }
        for (row, bytes) in block.rows.clone().zip(bytes.chunks_exact(width)) {
            self.seek(row, block.columns.start)?;
            self.file.write_all(bytes)?;
        }
        Ok(())
    }

    /// Writes the values of `tile`, row-major, and in a symmetric matrix those of its mirror image; their checksum.
    /// `mirror` and `bytes` are room for them.
    pub(super) fn write<T: NpyElement>(
        &mut self,
        identity: &Identity,
        tile: &Tile,
        values: &[T],
        mirror: &mut Vec<T>,
        bytes: &mut Vec<u8>,
    ) -> io::Result<u64> {
        let mut hash = Xxh3::new();
        let mut put = |block: &Tile, values: &[T]| {
            let bytes = T::bytes_of(values, bytes);
            hash.update(bytes);
            self.put(block, bytes)
        };
        put(tile, values)?;
        if is_mirrored(identity, tile) {
            mirror.clear();
            mirror.resize(values.len(), T::default());
            transpose::transpose(values, mirror, tile.columns.len(), tile.rows.len());
            put(&tile.mirrored(), mirror)?;
        }
        Ok(hash.digest())
    }

    /// The checksum of what stands where a tile was written, in the order of writing.
    pub(super) fn checksum(&mut self, identity: &Identity, tile: &Tile) -> io::Result<u64> {
        let mut hash = Xxh3::new();
        let mut bytes = Vec::new();
        let mut blocks = vec![tile.clone()];
        blocks.extend(is_mirrored(identity, tile).then(|| tile.mirrored()));
        for block in blocks {
            bytes.resize(block.columns.len() * self.element_bytes, 0);
            for row in block.rows {
                self.seek(row, block.columns.start)?;
                self.file.read_exact(&mut bytes)?;
                hash.update(&bytes);
            }
        }
        Ok(hash.digest())
    }
}

fn is_mirrored(identity: &Identity, tile: &Tile) -> bool {
    identity.symmetric && tile.rows != tile.columns
}
