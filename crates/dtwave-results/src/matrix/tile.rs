//! Blocks of a matrix, and whether some cover another.

use std::ops::Range;

/// A block of the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Tile {
    /// Rows of the matrix.
    pub rows: Range<usize>,
    /// Columns of the matrix.
    pub columns: Range<usize>,
}

impl Tile {
    pub(super) fn len(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    pub(super) fn mirrored(&self) -> Tile {
        Tile { rows: self.columns.clone(), columns: self.rows.clone() }
    }

    fn meets(&self, other: &Tile) -> bool {
        let meet = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        meet(&self.rows, &other.rows) && meet(&self.columns, &other.columns)
    }

    /// Whether `others` together hold every element of this block.
    fn is_covered_by<'a>(&self, others: impl IntoIterator<Item = &'a Tile>) -> bool {
        let mut others: Vec<&Tile> = others.into_iter().filter(|other| self.meets(other)).collect();
        others.sort_by_key(|other| other.columns.start);
        let mut edges: Vec<usize> = others.iter().flat_map(|o| [o.rows.start, o.rows.end]).collect();
        edges.extend([self.rows.start, self.rows.end]);
        edges.retain(|edge| (self.rows.start..=self.rows.end).contains(edge));
        edges.sort_unstable();
        edges.dedup();
        // Between two edges all rows are alike: walk along one of them.
        edges.windows(2).all(|rows| {
            let mut reached = self.columns.start;
            for other in others.iter().filter(|other| other.rows.contains(&rows[0])) {
                if other.columns.start > reached {
                    break;
                }
                reached = reached.max(other.columns.end);
            }
            reached >= self.columns.end
        })
    }
}

/// Whether `tiles`, and in a symmetric matrix their mirror images, hold every element of `tile`.
pub(super) fn are_covering<'a>(tiles: impl Iterator<Item = &'a Tile>, symmetric: bool, tile: &Tile) -> bool {
    // Most tiles of a large matrix are far away.
    let mut near: Vec<Tile> = Vec::new();
    for other in tiles {
        near.extend(other.meets(tile).then(|| other.clone()));
        if symmetric {
            near.extend(Some(other.mirrored()).filter(|image| image.meets(tile)));
        }
    }
    tile.is_covered_by(&near)
}
