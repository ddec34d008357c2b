//! How the memory limit of a call is shared out, and how work is cut to fit.

use std::ops::Range;

use dtw_core::{Error, Pairing, Result};

use crate::order::{Order, Rect};

/// Largest tile of results: large enough to hide its transfer, small enough to be heard of soon.
const TILE_BYTES: u64 = 32 << 20;

/// Cells of one launch for every multiprocessor: about a tenth of a second.
const LAUNCH_CELLS: u64 = 1_500_000_000;

/// Bytes for each purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// All of it.
    pub limit: u64,
    /// Prepared series of both sides.
    pub sides: u64,
    /// Raw series on their way.
    pub staging: u64,
    /// Each of two tiles of results.
    pub tile: u64,
    /// Edges between strips, and their progress.
    pub edges: u64,
    /// Tables of bands.
    pub tables: u64,
}

impl Budget {
    /// The shares of a limit of so many bytes.
    pub fn of(limit: u64) -> Self {
        Self {
            limit,
            sides: limit / 2,
            staging: limit / 8,
            tile: (limit / 16).min(TILE_BYTES),
            edges: limit / 8,
            tables: limit / 8,
        }
    }

    /// The shares where no band has a table.
    pub fn without_tables(self) -> Self {
        Self { edges: self.edges + self.tables, tables: 0, ..self }
    }

    /// The shares where prepared series take no more than so many bytes: edges have the rest of their share.
    pub fn with_sides(self, most: u64) -> Self {
        let sides = self.sides.min(most);
        Self { edges: self.edges + self.sides - sides, sides, ..self }
    }

    /// The shares where series and results are on the device already: nothing is staged, no tile waits for its
    /// transfer.
    pub fn in_place(self) -> Self {
        Self { sides: self.limit - self.edges - self.tables, staging: 0, tile: 0, ..self }
    }

    /// The shares where results on the device come from tiles there.
    pub fn in_tiles(self) -> Self {
        Self { sides: self.limit - self.edges - self.tables - 2 * self.tile, staging: 0, ..self }
    }

    /// The error of something that needs `bytes` where `share` are set aside for it.
    pub fn exceeded(&self, what: &str, bytes: u64, share: u64) -> Error {
        let whole = u128::from(bytes) * u128::from(self.limit.max(1)) / u128::from(share.max(1));
        Error::OutOfMemory {
            what: what.to_owned(),
            requested_bytes: u64::try_from(whole).unwrap_or(u64::MAX),
            available_bytes: self.limit,
        }
    }
}

/// Cuts `count` series into runs of at most `most` bytes.
///
/// # Errors
/// [`Error::OutOfMemory`] where one series alone takes more.
pub fn cut(
    count: usize,
    most: u64,
    budget: &Budget,
    bytes_of: impl Fn(usize) -> u64,
) -> Result<Vec<Range<usize>>> {
    let (mut runs, mut start, mut held) = (Vec::new(), 0, 0);
    for k in 0..count {
        let bytes = bytes_of(k);
        if bytes > most {
            return Err(budget.exceeded("one series on the device", bytes, most));
        }
        if held + bytes > most {
            runs.push(start..k);
            (start, held) = (k, 0);
        }
        held += bytes;
    }
    if start < count {
        runs.push(start..count);
    }
    Ok(runs)
}

/// Pairs of runs that are on the device together: their rectangles, so ordered that x changes seldom. `bytes_x` and
/// `bytes_y` say what a series of a length takes there.
///
/// # Errors
/// [`Error::OutOfMemory`] where one series takes more than its share.
pub fn chunks(
    pairing: Pairing,
    (x, y): (&Order, &Order),
    budget: &Budget,
    bytes_x: impl Fn(usize) -> u64,
    bytes_y: impl Fn(usize) -> u64,
) -> Result<Vec<Rect>> {
    let (all_x, all_y) = (x.total(&bytes_x), y.total(&bytes_y));
    let all = all_x.saturating_add(if pairing == Pairing::SelfSymmetric { 0 } else { all_y });
    if all <= budget.sides && !x.is_empty() && !y.is_empty() {
        return Ok(vec![Rect { rows: 0..x.len(), columns: 0..y.len(), pairing }]);
    }
    let (bytes_x, bytes_y) = (|k: usize| bytes_x(x.length(k)), |k: usize| bytes_y(y.length(k)));
    let half = budget.sides / 2;
    let rect = |rows: &Range<usize>, columns: &Range<usize>, pairing| Rect {
        rows: rows.clone(),
        columns: columns.clone(),
        pairing,
    };
    Ok(match pairing {
        Pairing::Zipped => cut(x.len(), budget.sides, budget, |k| bytes_x(k) + bytes_y(k))?
            .iter()
            .map(|run| rect(run, run, pairing))
            .collect(),
        Pairing::SelfSymmetric => {
            let most = if all_x <= budget.sides { budget.sides } else { half };
            let runs = cut(x.len(), most, budget, bytes_x)?;
            let mut chunks = Vec::new();
            for (a, rows) in runs.iter().enumerate() {
                chunks.push(rect(rows, rows, pairing));
                chunks.extend(runs[a + 1..].iter().map(|columns| rect(rows, columns, Pairing::Cross)));
            }
            chunks
        }
        Pairing::Cross => {
            // A side that takes less than half leaves the rest to the other.
            let runs_x = cut(x.len(), budget.sides - all_y.min(half), budget, bytes_x)?;
            let runs_y = cut(y.len(), budget.sides - all_x.min(half), budget, bytes_y)?;
            runs_x.iter().flat_map(|rows| runs_y.iter().map(|c| rect(rows, c, pairing))).collect()
        }
    })
}

/// Most tasks of a launch of pairs of at most `cells` cells.
pub fn launch_tasks(cells: u64, multiprocessors: u32) -> u64 {
    (LAUNCH_CELLS * u64::from(multiprocessors.max(1)) / cells.max(1)).max(1)
}

/// Cuts a rectangle into tiles of at most `outputs` results and about `tasks` tasks.
pub fn tiles(rect: &Rect, outputs: u64, tasks: u64) -> Vec<Rect> {
    let most = |count: u64| usize::try_from(count.max(1)).unwrap_or(usize::MAX);
    let steps = |range: &Range<usize>, step: usize| -> Vec<Range<usize>> {
        let end = range.end;
        range.clone().step_by(step.max(1)).map(|k| k..k.saturating_add(step).min(end)).collect()
    };
    match rect.pairing {
        Pairing::Zipped => steps(&rect.rows, most(outputs.min(tasks)))
            .into_iter()
            .map(|run| Rect { rows: run.clone(), columns: run, pairing: Pairing::Zipped })
            .collect(),
        Pairing::Cross => {
            let values = most(outputs.min(tasks));
            let columns = rect.columns.len().min(values).max(1);
            let rows = (values / columns).max(1);
            steps(&rect.rows, rows)
                .iter()
                .flat_map(|rows| {
                    steps(&rect.columns, columns).into_iter().map(|columns| Rect {
                        rows: rows.clone(),
                        columns,
                        pairing: Pairing::Cross,
                    })
                })
                .collect()
        }
        Pairing::SelfSymmetric => {
            // One triangle if it fits, else squares, of which those on the diagonal are triangles.
            let whole = rect.outputs() as u64 <= outputs && rect.tasks() <= tasks;
            let side = if whole { rect.rows.len() } else { most(outputs.min(tasks).isqrt()) };
            let runs = steps(&rect.rows, side);
            let mut tiles = Vec::new();
            for (a, rows) in runs.iter().enumerate() {
                for (b, columns) in runs.iter().enumerate().skip(a) {
                    let pairing = if a == b { Pairing::SelfSymmetric } else { Pairing::Cross };
                    tiles.push(Rect { rows: rows.clone(), columns: columns.clone(), pairing });
                }
            }
            tiles
        }
    }
}

/// Cuts a triangle into runs of rows of about `tasks` tasks, at least a row each: see [`Rect::columns`].
pub fn bands(triangle: &Rect, tasks: u64) -> Vec<Rect> {
    let end = triangle.columns.end;
    let (mut bands, mut start) = (Vec::new(), triangle.rows.start);
    while start < triangle.rows.end {
        let (mut stop, mut held) = (start + 1, (end - start) as u64);
        while stop < triangle.rows.end && held + (end - stop) as u64 <= tasks {
            held += (end - stop) as u64;
            stop += 1;
        }
        bands.push(Rect { rows: start..stop, columns: start..end, pairing: triangle.pairing });
        start = stop;
    }
    bands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_to_the_limit() {
        let whole = Budget::of(1600);
        for budget in
            [whole, whole.in_place(), whole.in_tiles(), whole.with_sides(100), whole.with_sides(9000)]
        {
            for budget in [budget, budget.without_tables()] {
                let Budget { sides, staging, tile, edges, tables, .. } = budget;
                assert_eq!(sides + staging + 2 * tile + edges + tables, 1600, "{budget:?}");
            }
        }
        assert_eq!((whole.in_place().tile, whole.in_place().staging), (0, 0));
        assert_eq!((whole.in_tiles().tile, whole.in_tiles().staging), (whole.tile, 0));
        assert_eq!(whole.without_tables().tables, 0);
    }

    #[test]
    fn a_launch_has_a_task_and_no_more_cells_than_a_device_does_in_time() {
        assert_eq!(launch_tasks(1000, 1), LAUNCH_CELLS / 1000);
        assert_eq!(launch_tasks(1000, 7), 7 * LAUNCH_CELLS / 1000);
        assert_eq!(launch_tasks(0, 0), LAUNCH_CELLS);
        assert_eq!(launch_tasks(2 * LAUNCH_CELLS, 1), 1);
        assert_eq!(launch_tasks(u64::MAX, u32::MAX), 1);
    }

    #[test]
    fn tiles_cover_every_pair_once() {
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
            for (n_x, n_y) in [(1, 1), (7, 5), (9, 9)] {
                let n_y = if pairing == Pairing::Cross { n_y } else { n_x };
                for (limit, tasks) in [(1 << 20, 1000), (4096, 1000), (4096, 3), (2048, 1)] {
                    let budget = Budget::of(limit);
                    let order = |count: usize| Order::ragged(0..count, 0);
                    let bytes = |length: usize| 100 + length as u64;
                    let chunks = chunks(pairing, (&order(n_x), &order(n_y)), &budget, bytes, bytes).unwrap();
                    let mut seen: Vec<(usize, usize)> = Vec::new();
                    for chunk in &chunks {
                        for tile in tiles(chunk, budget.tile / 8, tasks) {
                            assert!(tile.outputs() as u64 <= budget.tile / 8);
                            seen.extend(tile.pairs());
                        }
                    }
                    seen.sort_unstable();
                    let whole = Rect { rows: 0..n_x, columns: 0..n_y, pairing };
                    assert_eq!(seen, whole.pairs().collect::<Vec<_>>(), "{pairing:?} {limit} {tasks}");
                }
            }
        }
    }

    #[test]
    fn bands_of_a_triangle_cover_every_pair_once() {
        let triangle = Rect { rows: 3..12, columns: 3..12, pairing: Pairing::SelfSymmetric };
        for (tasks, count) in [(1, 9), (9, 6), (16, 4), (45, 1), (u64::MAX, 1)] {
            let bands = bands(&triangle, tasks);
            let pairs: Vec<_> = bands.iter().flat_map(Rect::pairs).collect();
            assert_eq!(pairs, triangle.pairs().collect::<Vec<_>>(), "{tasks}");
            assert_eq!(bands.iter().map(Rect::tasks).sum::<u64>(), triangle.tasks());
            assert!(bands.iter().all(|band| band.tasks() <= tasks.max(9)), "{tasks}");
            assert_eq!((bands.len(), bands[count - 1].rows.end), (count, 12), "{tasks}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused_with_numbers() {
        let budget = Budget::of(1600);
        let error =
            chunks(Pairing::Zipped, (&Order::equal(1, 9), &Order::equal(1, 9)), &budget, |_| 500, |_| 500)
                .unwrap_err();
        let Error::OutOfMemory { requested_bytes, available_bytes, .. } = error else { panic!("{error}") };
        assert_eq!((requested_bytes, available_bytes), (2000, 1600));
        // What fits to the byte is not refused.
        assert_eq!(cut(3, 500, &budget, |_| 500).unwrap(), [0..1, 1..2, 2..3]);
        assert_eq!(cut(3, 1000, &budget, |_| 500).unwrap(), [0..2, 2..3]);
    }
}
