//! The data file of a matrix or of a shard: where the values of a tile stand, and their checksum.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use xxhash_rust::xxh3::Xxh3;

use super::identity::Identity;
use super::tile::Tile;
use crate::NpyElement;

/// How tiles lie in a data file.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// Rows of the whole matrix, of so many columns, as in a `.npy` file. Tiles of a symmetric one are mirrored.
    Rows(usize),
    /// One tile behind the other, each row-major and none mirrored: the element that each begins with.
    Packed(HashMap<Tile, u64>),
}

impl Layout {
    /// These tiles one behind the other.
    pub(super) fn packed(tiles: &[Tile]) -> Self {
        let mut next = 0;
        let places = tiles.iter().map(|tile| {
            let first = next;
            next += tile.len() as u64;
            (tile.clone(), first)
        });
        Layout::Packed(places.collect())
    }

    /// Whether the file has a place for `tile`.
    pub(super) fn holds(&self, tile: &Tile) -> bool {
        match self {
            Layout::Rows(_) => true,
            Layout::Packed(places) => places.contains_key(tile),
        }
    }

    /// Whether the mirror image of `tile` has a place of its own.
    fn mirrors(&self, identity: &Identity, tile: &Tile) -> bool {
        matches!(self, Layout::Rows(_)) && identity.symmetric && tile.rows != tile.columns
    }
}

/// The values of a data file.
#[derive(Debug)]
pub(super) struct Values {
    pub(super) file: File,
    pub(super) header_bytes: u64,
    pub(super) layout: Layout,
    pub(super) element_bytes: usize,
}

impl Values {
    /// Goes to the first value of a row of `block`.
    fn seek(&mut self, block: &Tile, row: usize) -> io::Result<u64> {
        let element = match &self.layout {
            Layout::Rows(columns) => row as u64 * *columns as u64 + block.columns.start as u64,
            Layout::Packed(places) => {
                let first = places.get(block).ok_or_else(|| io::Error::other("the file has no such tile"))?;
                first + ((row - block.rows.start) * block.columns.len()) as u64
            }
        };
        self.file.seek(SeekFrom::Start(self.header_bytes + element * self.element_bytes as u64))
    }

    /// Writes a block, whose values are row-major bytes.
    fn put(&mut self, block: &Tile, bytes: &[u8]) -> io::Result<()> {
        let is_one_piece = match self.layout {
            Layout::Rows(columns) => block.columns.len() == columns,
            Layout::Packed(_) => true,
        };
        if is_one_piece {
            self.seek(block, block.rows.start)?;
            return self.file.write_all(bytes);
        }
        let width = block.columns.len() * self.element_bytes;
        for (row, bytes) in block.rows.clone().zip(bytes.chunks_exact(width)) {
            self.seek(block, row)?;
            self.file.write_all(bytes)?;
        }
        Ok(())
    }

    /// Writes the values of `tile`, row-major, and those of its mirror image where that has a place; their checksum.
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
        let mirrors = self.layout.mirrors(identity, tile);
        let mut put = |block: &Tile, values: &[T]| {
            let bytes = T::bytes_of(values, bytes);
            hash.update(bytes);
            self.put(block, bytes)
        };
        put(tile, values)?;
        if mirrors {
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
        blocks.extend(self.layout.mirrors(identity, tile).then(|| tile.mirrored()));
        for block in blocks {
            bytes.resize(block.columns.len() * self.element_bytes, 0);
            for row in block.rows.clone() {
                self.seek(&block, row)?;
                self.file.read_exact(&mut bytes)?;
                hash.update(&bytes);
            }
        }
        Ok(hash.digest())
    }
}
