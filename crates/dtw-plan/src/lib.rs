//! Which pairs a device computes when: for every backend that brings series to a device and results back.
//!
//! | module | decides |
//! | --- | --- |
//! | `order` | in which order series lie on the device; rectangles of pairs |
//! | `budget` | how a memory limit is shared out; chunks of series and tiles of results that fit |
//! | `banding` | a band as a closed form or as a table of ranges, its cells, and whether it leaves each pair a path |
//! | `runs` | where a tile is cut for kernels of different widths |
//! | `scatter` | where a tile's results belong in the caller's output |
//! | `share` | which threads of the host move results |
//! | `device` | what is asked of a device: a small trait |
//! | `digits` | which pairs of a soft measure are swept a second time |
//! | `walk` | the loop over that trait: series in chunks, pairs in tiles, transfers under the next sweep |
//!
//! Nothing here knows an address, a buffer or a kernel, so that a backend with bind groups can implement the trait.
//! `tests/walk.rs` runs the loop over a device of vectors.

#![forbid(unsafe_code)]

mod banding;
mod budget;
mod device;
mod digits;
mod order;
mod runs;
mod scatter;
mod share;
mod walk;

pub use banding::{BandLayout, Banding, RowRange, Rows, Table};
pub use budget::{Budget, bands, chunks, cut, launch_tasks, tiles};
pub use device::{Axis, Fetch, Pairs, SLOTS, TileDevice};
pub use digits::keep_digits;
pub use order::{Order, Rect};
pub use runs::{parts, runs};
pub use scatter::{Target, scatter};
pub use walk::{Output, Walk, each_tile, fetch_tiles, stop_if_cancelled};
