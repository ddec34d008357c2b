//! How the grid of a Soft-DTW gradient is cut into tiles.
//!
//! ```text
//! a wide grid              a narrow band
//! +-----+-----+-----+      +---------------+
//! |     |     |     |      |###            |      Rows alone are cut. The weights of a strip are stored from the first
//! +-----+-----+-----+      |   ###         |      column of its band on, so there is room for more rows in a tile.
//! |     |     |     |      +---------------+
//! +-----+-----+-----+      |      ###      |
//! |     |     |     |      |         ###   |
//! +-----+-----+-----+      +---------------+
//! ```

/// Rows of a strip, which are swept together.
pub(crate) const ROWS: usize = 4;

/// Rows and columns of a tile that its weights are in the cache for. On an AMD Zen 5, 32 rather than 48 is 4% slower,
/// 16 is 10%; tiles of 64 no longer fit beside the rest in an L2 cache of 1 MiB.
const SIDE: usize = 48;

/// Columns of a strip, at most, that are not cut.
const NARROW: usize = 2 * SIDE;

/// How a grid is cut into tiles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GradientTiles {
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Rows of a tile, in whole strips, and its columns.
    pub(crate) height: usize,
    pub(crate) width: usize,
    /// Columns of a strip in a tile, at most.
    pub(crate) stored: usize,
}

/// Cuts into pieces of one length: of `side`, or up to a sixth more where that makes fewer.
fn piece(length: usize, side: usize) -> usize {
    length.div_ceil(length.div_ceil(side + side / 6).max(1))
}

impl GradientTiles {
    /// `widest`: columns of any strip, at most.
    pub(crate) fn of(n: usize, m: usize, widest: usize) -> Self {
        let (width, stored, side) = if widest <= NARROW {
            (m, widest, SIDE * SIDE / widest.max(1))
        } else {
            let width = piece(m, m.isqrt().max(SIDE));
            (width, width, SIDE)
        };
        let height = piece(n, n.isqrt().max(side)).next_multiple_of(ROWS);
        Self { n, m, height, width, stored }
    }
    /// Tiles below each other.
    pub(crate) fn blocks(self) -> usize {
        self.n.div_ceil(self.height)
    }
    /// Tiles beside each other.
    pub(crate) fn tiles(self) -> usize {
        self.m.div_ceil(self.width)
    }
    /// Whether the grid is one tile.
    pub(crate) fn is_one(self) -> bool {
        self.height >= self.n && self.width >= self.m
    }
    /// States of a kept column: all rows of the strips, and the cell above.
    pub(crate) fn column(self) -> usize {
        self.n.next_multiple_of(ROWS) + 1
    }
    /// States of a kept row: all columns, and the cell before them.
    pub(crate) fn row(self) -> usize {
        self.m + 1
    }
    /// Columns of the strips of a tile, together.
    pub(crate) fn weights(self) -> usize {
        self.height / ROWS * self.stored
    }
    /// States that are kept.
    pub(crate) fn kept(self) -> usize {
        self.blocks() * self.row() + self.tiles() * self.column()
    }

    /// As many [`GradientTiles::kept`] and [`GradientTiles::weights`] as any band needs.
    pub(crate) fn most(n: usize, m: usize) -> (usize, usize) {
        let (wide, narrow) = (Self::of(n, m, m), Self::of(n, m, NARROW.min(m)));
        // Rounding up to whole strips may add one, or save a tile of the widest narrow band.
        let rows = n.isqrt().max(SIDE * SIDE / NARROW);
        let weights = (rows + rows / 6 + ROWS) / ROWS * NARROW + SIDE * SIDE / ROWS;
        let all = n.div_ceil(ROWS) * m.min(NARROW);
        (wide.kept().max(narrow.kept() + narrow.row()), wide.weights().max(weights.min(all)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_band_needs_more_than_is_said() {
        let lengths = [1, 4, 5, 23, 30, 48, 50, 55, 57, 97, 100, 130, 333, 500, 1000, 9999, 60_000];
        for n in lengths {
            for m in lengths {
                let (kept, weights) = GradientTiles::most(n, m);
                for widest in (1..=m.min(2 * NARROW)).chain([m]) {
                    let cut = GradientTiles::of(n, m, widest);
                    assert!(cut.kept() <= kept, "{n} x {m}, {widest}: {} of {kept} states", cut.kept());
                    assert!(cut.weights() <= weights, "{n} x {m}, {widest}: {} of {weights}", cut.weights());
                    assert!(cut.stored >= widest.min(cut.width) && cut.height.is_multiple_of(ROWS));
                }
            }
        }
    }

    #[test]
    fn short_pairs_and_narrow_bands_are_cut_little() {
        assert!(GradientTiles::of(50, 50, 50).is_one());
        let banded = GradientTiles::of(500, 500, 24);
        assert_eq!((banded.tiles(), banded.blocks(), banded.stored), (1, 5, 24));
        let full = GradientTiles::of(500, 500, 500);
        assert_eq!((full.tiles(), full.blocks()), (9, 9));
    }
}
