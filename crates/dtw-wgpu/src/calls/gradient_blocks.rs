//! How many pairs are swept at once for their gradients, and in which blocks of rows: as memory allows.

/// Bytes of a number.
pub(super) const NUMBER: u64 = 4;
/// Numbers of a cell of the grid.
pub(super) const SHARES: u64 = 3;
/// Bytes of a state, and of a sum with what rounding has added to it.
pub(super) const STATE: u64 = 8;

/// Pairs at the same time that keep a device busy.
const ENOUGH: u64 = 4096;
/// Rows of a block, unless memory is short: fewer would leave the lanes idle.
const LEAST_ROWS: u64 = 128;
/// Rows of a block, at least.
const FEWEST_ROWS: u64 = 8;

/// How pairs are cut.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GradientBlocks {
    /// Pairs at once.
    pub(super) tasks: u64,
    /// Rows of a block.
    pub(super) rows: u64,
}

impl GradientBlocks {
    /// Bytes of a pair of `n` and `m` points in blocks of so many rows: its block of the grid, and the rows kept.
    fn bytes(n: u64, m: u64, rows: u64) -> u64 {
        NUMBER * (SHARES * rows * m + 2) + STATE * (m * (n.div_ceil(rows) - 1) + 1)
    }

    /// As many of `pairs` pairs as `share` bytes hold, in as few blocks as that takes.
    pub(super) fn of(n: u64, m: u64, pairs: u64, share: u64) -> std::result::Result<Self, u64> {
        let most = pairs.min(ENOUGH);
        let mut best = Err(u64::MAX);
        let mut rows = n;
        loop {
            let bytes = Self::bytes(n, m, rows);
            let tasks = (share / bytes).min(most);
            best = match best {
                Ok(Self { tasks: before, .. }) if tasks <= before => best,
                Err(least) if tasks == 0 => Err(bytes.min(least)),
                _ => Ok(Self { tasks, rows }),
            };
            let is_found = best.is_ok_and(|best| best.tasks == most || rows <= LEAST_ROWS);
            if is_found || rows <= FEWEST_ROWS {
                return best;
            }
            rows = rows.div_ceil(2).next_multiple_of(FEWEST_ROWS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_cut_into_as_few_blocks_as_the_memory_allows() {
        let of = |pairs, share| GradientBlocks::of(1000, 100, pairs, share);
        // Twelve bytes a cell, and a state for each pair.
        assert_eq!(of(3, 3 * 1_200_016), Ok(GradientBlocks { tasks: 3, rows: 1000 }));
        assert_eq!(of(2, 2_400_031), Ok(GradientBlocks { tasks: 2, rows: 504 }));
        // Not below the rows that keep lanes busy, unless not even one pair fits.
        assert_eq!(of(100, 1_000_000), Ok(GradientBlocks { tasks: 6, rows: 128 }));
        assert_eq!(of(100, 100_000), Ok(GradientBlocks { tasks: 1, rows: 64 }));
        assert_eq!(of(1, 10_000), Err(GradientBlocks::bytes(1000, 100, 32)));
        assert_eq!(GradientBlocks::of(1, 1, 5, 1 << 20), Ok(GradientBlocks { tasks: 5, rows: 1 }));
    }
}
