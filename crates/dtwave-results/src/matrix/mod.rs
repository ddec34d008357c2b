//! A pairwise result on the disk, written tile by tile.
//!
//! While it is computed, `<out>.partial` is a `.npy` of the final shape and `<out>.progress` says which tiles of it
//! are there, with a checksum of each (`journal.rs`). Once all are, the partial file is renamed to `<out>` and the
//! progress file removed, so `<out>` is only ever whole. Tiles are written while others are computed (`disk.rs`).
//! Memory: four tiles. Order of writes: values of some tiles, flush, their records, flush; a crash therefore loses the
//! tiles of the last second. What an earlier run left is judged when it is opened (`open.rs`): values that do not match
//! their checksum are computed again. This module neither plans tiles nor computes distances.
//!
//! A matrix may also be computed in shards, by processes that share no file (`shard.rs`): each has some of the tiles,
//! resumes as a matrix does, and ends as one file (`seal.rs`). `merge.rs` makes the matrix of all of them.

mod blocked;
mod disk;
mod identity;
mod journal;
mod merge;
mod open;
mod seal;
mod shard;
mod tile;
mod values;
mod writer;

pub use blocked::{Blocked, Words};
pub use identity::{Difference, Identity};
pub use merge::Shards;
pub use open::{Opened, Start, open};
pub use shard::{Part, open_shard, read_shard};
pub use tile::Tile;
pub use writer::MatrixWriter;

#[cfg(test)]
mod shard_tests;
#[cfg(test)]
mod tests;
