//! Cutting a distance matrix into tiles under a memory budget.
//!
//! A tile is a rectangle of the output matrix, `rows × columns`. A symmetric matrix is covered by its upper triangle of
//! tiles: the diagonal ones are symmetric themselves, the others are plain cross products whose transpose fills the
//! lower half.

use std::ops::Range;

use crate::{Error, Pairing, Result, bail_invalid};

/// One rectangle of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Tile {
    /// Position in the plan's order.
    pub index: usize,
    /// Series of x.
    pub rows: Range<usize>,
    /// Series of y.
    pub columns: Range<usize>,
    /// What to compute inside: [`Pairing::SelfSymmetric`] on the diagonal of a symmetric matrix, else
    /// [`Pairing::Cross`].
    pub pairing: Pairing,
}

impl Tile {
    /// Output values in the tile.
    pub fn len(&self) -> usize {
        self.rows.len() * self.columns.len()
    }
    /// Whether the tile has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether the tile's transpose must be written too.
    pub fn is_mirrored(&self, pairing: Pairing) -> bool {
        pairing == Pairing::SelfSymmetric && self.pairing == Pairing::Cross
    }
}

/// A matrix cut into square tiles (cut short at the edges).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilePlan {
    rows: usize,
    columns: usize,
    side: usize,
    pairing: Pairing,
}

impl TilePlan {
    /// Tiles of an `n_x × n_y` matrix whose values of `value_bytes` fit `budget_bytes` per tile.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] when not even one value fits; [`Error::Invalid`] for [`Pairing::Zipped`], which has no
    /// matrix, and for a symmetric matrix that is not square.
    pub fn new(
        pairing: Pairing,
        n_x: usize,
        n_y: usize,
        value_bytes: usize,
        budget_bytes: u64,
    ) -> Result<Self> {
        if pairing == Pairing::Zipped {
            bail_invalid!("zipped pairs form a vector, not a matrix: there is nothing to tile");
        }
        if pairing == Pairing::SelfSymmetric && n_x != n_y {
            bail_invalid!("a symmetric matrix is square, got {n_x} x {n_y}");
        }
        let values = budget_bytes / value_bytes as u64;
        if values == 0 {
            return Err(Error::OutOfMemory {
                what: "one tile of the distance matrix".to_owned(),
                requested_bytes: value_bytes as u64,
                available_bytes: budget_bytes,
            });
        }
        let side = (values.isqrt() as usize).clamp(1, n_x.max(n_y).max(1));
        Ok(Self { rows: n_x, columns: n_y, side, pairing })
    }

    /// This matrix with tiles of at most `side` rows and columns.
    #[must_use]
    pub fn with_max_side(mut self, side: usize) -> Self {
        self.side = self.side.min(side.max(1));
        self
    }

    /// Rows and columns of a full tile.
    pub fn side(&self) -> usize {
        self.side
    }

    /// Number of tiles.
    pub fn len(&self) -> usize {
        let (rows, columns) = (self.rows.div_ceil(self.side), self.columns.div_ceil(self.side));
        if self.pairing == Pairing::SelfSymmetric { rows * (rows + 1) / 2 } else { rows * columns }
    }
    /// Whether the matrix has no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Series of x and of y that the matrix compares.
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Which pairs of series the matrix holds.
    pub fn pairing(&self) -> Pairing {
        self.pairing
    }

    /// The tiles, row by row (upper triangle where symmetric). The order is part of the format of resumable results.
    pub fn tiles(&self) -> impl Iterator<Item = Tile> + '_ {
        (0..self.len()).filter_map(|index| self.tile(index))
    }

    /// The tile at this place in the order of [`tiles`](Self::tiles); `None` behind the last.
    ///
    /// Cost: O(log of the number of tiles).
    pub fn tile(&self, index: usize) -> Option<Tile> {
        if index >= self.len() {
            return None;
        }
        let columns = self.columns.div_ceil(self.side);
        let (r, c) = if self.pairing == Pairing::SelfSymmetric {
            // Row r of the upper triangle has r tiles fewer than row 0.
            let before = |row: usize| row * columns - row * row.saturating_sub(1) / 2;
            let (mut first, mut end) = (0, columns);
            while end - first > 1 {
                let middle = first.midpoint(end);
                if before(middle) <= index { first = middle } else { end = middle }
            }
            (first, first + index - before(first))
        } else {
            (index / columns, index % columns)
        };
        let cut = |k: usize, end: usize| k * self.side..((k + 1) * self.side).min(end);
        let is_own = self.pairing == Pairing::SelfSymmetric && r == c;
        Some(Tile {
            index,
            rows: cut(r, self.rows),
            columns: cut(c, self.columns),
            pairing: if is_own { Pairing::SelfSymmetric } else { Pairing::Cross },
        })
    }

    /// The plan of a matrix of `rows × columns` values in tiles of `side`, as read from elsewhere.
    #[cfg(feature = "serde")]
    pub(crate) fn read(pairing: Pairing, rows: usize, columns: usize, side: usize) -> Result<Self> {
        let budget_bytes = rows.checked_mul(columns).map(|values| values.max(1) as u64);
        let Some(budget_bytes) = budget_bytes else {
            bail_invalid!("a matrix of {rows} x {columns} values has more than can be counted");
        };
        if side == 0 {
            bail_invalid!("tiles have a side of at least 1, got 0");
        }
        Ok(Self { side, ..Self::new(pairing, rows, columns, 1, budget_bytes)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "safe code, and hours of it")]
    fn tiles_cover_each_value_once() {
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric] {
            for n_x in 0..9 {
                for n_y in 0..9 {
                    if pairing == Pairing::SelfSymmetric && n_x != n_y {
                        assert!(TilePlan::new(pairing, n_x, n_y, 8, 100).is_err());
                        continue;
                    }
                    for budget in [8_u64, 40, 100, 10_000] {
                        let plan = TilePlan::new(pairing, n_x, n_y, 8, budget).unwrap();
                        let mut seen = vec![0; n_x * n_y];
                        for (k, tile) in plan.tiles().enumerate() {
                            assert_eq!(tile.index, k);
                            assert!(tile.len() as u64 * 8 <= budget);
                            for i in tile.rows.clone() {
                                for j in tile.columns.clone() {
                                    seen[i * n_y + j] += 1;
                                    if tile.is_mirrored(pairing) {
                                        seen[j * n_y + i] += 1;
                                    }
                                }
                            }
                        }
                        assert_eq!(plan.tiles().count(), plan.len());
                        assert!(
                            seen.iter().all(|s| *s == 1),
                            "{pairing:?} {n_x}x{n_y} budget {budget}: {seen:?}"
                        );
                    }
                }
            }
        }
        assert!(matches!(TilePlan::new(Pairing::Cross, 2, 2, 8, 7), Err(Error::OutOfMemory { .. })));
    }
}
