//! Runs of columns that go to one kernel each: short series need not pay for a kernel that is wide enough for the
//! longest one.

use dtw_core::Pairing;

use crate::order::Rect;

/// Cuts columns, longest first, into runs that go to one kernel each: places at which a new run begins, 0 left out.
///
/// A run is left for a kernel at most three quarters as wide, and not before it has `least` tasks.
pub fn runs(
    lengths: &[u32],
    tasks_of_column: u64,
    least: u64,
    width_for: impl Fn(usize) -> usize,
) -> Vec<usize> {
    let Some(first) = lengths.first() else { return Vec::new() };
    let (mut begins, mut begin, mut width) = (Vec::new(), 0, width_for(*first as usize));
    let mut at = 0;
    while at < lengths.len() {
        let length = lengths[at];
        let next = width_for(length as usize);
        let after = lengths[at..].partition_point(|other| *other >= length);
        if next * 4 <= width * 3 && (at - begin) as u64 * tasks_of_column >= least {
            begins.push(at);
            begin = at;
            width = next;
        }
        at += after.max(1);
    }
    begins
}

/// The parts of a tile whose columns are cut at `begins` (counted from the tile's first column). Of a symmetric tile a
/// run of columns has the rows above, and the triangle next to the diagonal.
pub fn parts(tile: &Rect, begins: &[usize]) -> Vec<Rect> {
    if begins.is_empty() {
        return vec![tile.clone()];
    }
    let mut parts = Vec::with_capacity(begins.len() + 1);
    let mut start = tile.columns.start;
    let ends = begins.iter().map(|begin| tile.columns.start + begin).chain([tile.columns.end]);
    for end in ends {
        let columns = start..end;
        let (rows, pairing) = match tile.pairing {
            Pairing::Cross => (tile.rows.clone(), Pairing::Cross),
            Pairing::Zipped | Pairing::SelfSymmetric => (columns.clone(), tile.pairing),
        };
        if tile.pairing == Pairing::SelfSymmetric && start > tile.rows.start {
            let above = tile.rows.start..start;
            parts.push(Rect { rows: above, columns: columns.clone(), pairing: Pairing::Cross });
        }
        parts.push(Rect { rows, columns, pairing });
        start = end;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_follow_the_widths() {
        let width = |m: usize| m.next_power_of_two();
        let lengths = [100, 100, 90, 60, 60, 30, 20];
        assert_eq!(runs(&lengths, 10, 1, width), [3, 5]);
        assert_eq!(runs(&lengths, 10, 40, width), [5]);
        // The tasks of a run count, not those before it.
        assert_eq!(runs(&lengths, 10, 30, width), [3, 6]);
        assert_eq!(runs(&[], 10, 1, width), [0; 0]);
    }

    #[test]
    fn parts_cover_every_pair_of_a_tile_once() {
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
            let rows = if pairing == Pairing::Cross { 2..5 } else { 10..19 };
            let tile = Rect { rows, columns: 10..19, pairing };
            for begins in [&[][..], &[4], &[1, 2, 8]] {
                let parts = parts(&tile, begins);
                let mut seen: Vec<_> = parts.iter().flat_map(Rect::pairs).collect();
                seen.sort_unstable();
                assert_eq!(seen, tile.pairs().collect::<Vec<_>>(), "{pairing:?} {begins:?}");
                let narrow = |part: &Rect| {
                    begins.iter().all(|at| {
                        let at = 10 + at;
                        part.columns.end <= at || at <= part.columns.start
                    })
                };
                assert!(parts.iter().all(|part| part.tasks() > 0), "{pairing:?} {begins:?}: {parts:?}");
                assert!(parts.iter().all(narrow), "{pairing:?} {begins:?}: {parts:?}");
            }
        }
    }
}
