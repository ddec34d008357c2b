//! Which kernel, and how its work is spread: the one place that knows what is fast.
//!
//! Every kernel that can do a launch gets an estimate of its time, the larger of two: how long the machine takes to issue
//! all instructions, and how long the longest chain of dependent rows takes, once per round of warps. The least estimate
//! wins. The numbers of [`Costs`] are of NVIDIA's sm_90, in cycles; only their ratios matter.

use dtw_kernels::{Kernel, SweepKind, catalog};

/// What a launch is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    pub(crate) key: &'static str,
    /// The one kind of sweep that is asked for; `None`: whichever is fastest of those that leave nothing undone.
    pub(crate) only: Option<SweepKind>,
    /// Whether series have no timestamps.
    pub(crate) untimed: bool,
    pub(crate) dtype: &'static str,
    pub(crate) many: bool,
    /// Whether cells are outside of a band.
    pub(crate) band: bool,
    /// Offsets of the band, where it is one along the diagonal and all pairs have the same two lengths.
    pub(crate) offsets: Option<usize>,
    /// Rows and columns of the largest pair.
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Allowed columns of a row, on average.
    pub(crate) row_cells: usize,
    pub(crate) tasks: u64,
    /// Whether the last column is wanted: a kind with strips, an edge for every task.
    pub(crate) keeps_edges: bool,
}

/// A kernel, and whether strips of a pair go to different warps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) kernel: &'static Kernel,
    pub(crate) spread: bool,
}

/// Cycles that a warp's instructions take.
struct Costs {
    /// To issue one cell of every lane.
    cell: f64,
    /// From a cell to the next that depends on it, with what else is issued meanwhile.
    cell_latency: f64,
    /// To issue what a row needs besides its cells.
    row: f64,
    /// From a row's last cell to the next lane's first.
    row_latency: f64,
    /// Registers of a lane: some, and some for each column.
    registers: (f64, f64),
    /// Rows by which a strip follows the strip to its left, when both are under way at once.
    strip_lag: f64,
}

/// A warp at a time issues on each of so many schedulers of a multiprocessor.
const SCHEDULERS: f64 = 4.0;

impl Costs {
    /// Of a kernel in a launch whose longest pairs have `m` columns.
    fn of(kernel: &Kernel, m: usize) -> Self {
        let wide = kernel.dtype == "f64";
        let wider = if wide { 2.0 } else { 1.0 };
        if kernel.is(SweepKind::Diagonal) {
            return Self {
                cell: 3.2,
                cell_latency: 13.0,
                row: 35.0,
                row_latency: 90.0,
                registers: (40.0, 2.2),
                strip_lag: 0.0,
            };
        }
        if kernel.band || kernel.many {
            // A mask, or a loop.
            return Self {
                cell: 9.0 * wider,
                cell_latency: 19.0 * wider,
                row: 24.0,
                row_latency: 94.0,
                registers: (40.0, 2.0 * wider),
                strip_lag: 96.0,
            };
        }
        if kernel.is(SweepKind::Soft) {
            return Self {
                cell: 12.0,
                cell_latency: 12.0,
                row: 30.0,
                row_latency: 90.0,
                registers: (62.0, 3.1),
                strip_lag: 0.0,
            };
        }
        let links = kernel.is(SweepKind::Wide);
        if links && !wide && kernel.key.starts_with("open_dtw") {
            // Measured for lanes of 16 to 64 columns. What links, and columns that lanes share, cost in a row is saved where one
            // strip is all and neighbours share one column at most (kOne in sweeps/wide.cuh).
            let alone = kernel.columns >= 32
                && kernel.rows > 1
                && m <= kernel.width() as usize
                && shares_at_most(1, kernel, m);
            let (row, row_latency) = if alone { (8.0, 12.0) } else { (28.0, 65.0) };
            return Self {
                cell: 4.3,
                cell_latency: 13.0,
                row,
                row_latency,
                registers: (8.0 + 16.0 * f64::from(kernel.rows), 2.0),
                strip_lag: 56.0,
            };
        }
        let lagged = kernel.untimed;
        Self {
            cell: match (lagged, wide) {
                (true, _) => 17.0,
                (false, true) => 12.0,
                (false, false) => 3.0,
            },
            // Rows of narrow lanes are begun before their left edge is there.
            cell_latency: match (lagged, wide) {
                (true, _) if links && kernel.columns < 12 => 33.0,
                (true, _) => 48.0,
                (false, true) => 33.0,
                (false, false) => 13.0,
            },
            row: if lagged { 25.0 } else { 8.0 },
            row_latency: 65.0,
            registers: if lagged { (90.0, 8.0) } else { (8.0 + 16.0 * f64::from(kernel.rows), 2.0 * wider) },
            strip_lag: if links { 56.0 } else { 96.0 },
        }
    }

    /// Blocks that a multiprocessor has registers for.
    fn resident_blocks(&self, columns: f64) -> f64 {
        let registers = (self.registers.0 + self.registers.1 * columns).min(255.0);
        (512.0 / registers).floor().clamp(1.0, 12.0)
    }
}

/// Most blocks of a multiprocessor for strips that pass numbers on: more wait longer for each other than they gain.
pub(crate) const SPREAD_BLOCKS: u32 = 2;

/// Strips have 32 lanes.
const STRIP_LANES: usize = 32;

/// The fastest kernel for a launch on a device of this many multiprocessors, among those that `fit` into memory unless none
/// does; `None` if there is none at all.
pub(crate) fn choose(
    demand: &Demand,
    multiprocessors: u32,
    fits: impl Fn(&Kernel) -> bool,
) -> Option<Choice> {
    fastest(demand, multiprocessors, fits).or_else(|| fastest(demand, multiprocessors, |_| true))
}

fn fastest(demand: &Demand, multiprocessors: u32, fits: impl Fn(&Kernel) -> bool) -> Option<Choice> {
    catalog::sweeps(demand.key, demand.dtype, demand.many)
        .filter(|kernel| can(kernel, demand) && fits(kernel))
        .flat_map(|kernel| {
            let spreads: &[bool] = match (kernel.has_strips(), demand.keeps_edges) {
                (false, _) => &[false],
                (true, true) => &[true],
                (true, false) => &[false, true],
            };
            spreads.iter().map(move |spread| Choice { kernel, spread: *spread })
        })
        .min_by(|a, b| {
            let cost = |choice: &Choice| cycles(choice, demand, multiprocessors);
            // Equal estimates: the narrower, then one for series without timestamps.
            let rank = |choice: &Choice| (choice.kernel.columns, !choice.kernel.untimed);
            cost(a).total_cmp(&cost(b)).then_with(|| rank(a).cmp(&rank(b)))
        })
}

/// Whether a kernel does what is asked for.
fn can(kernel: &Kernel, demand: &Demand) -> bool {
    let Some(kind) = kernel.kind() else { return false };
    let is_asked_for = match demand.only {
        Some(only) => kind == only,
        None => kind != SweepKind::Block && !kind.may_give_up(),
    };
    let holds_all = match kind {
        SweepKind::Diagonal => {
            let (lanes, columns, idle) =
                (kernel.lanes as usize, kernel.columns as usize, kernel.idle() as usize);
            let held = lanes * (columns - idle)..=lanes * columns;
            demand.offsets.is_some_and(|offsets| held.contains(&offsets))
        }
        _ => kind.has_strips() || kernel.width() as usize >= demand.m,
    };
    is_asked_for
        && holds_all
        && (kernel.band || !demand.band)
        && (demand.untimed || !kernel.untimed)
        && (kind.has_strips() || !demand.keeps_edges)
}

/// Estimated cycles of a launch.
fn cycles(choice: &Choice, demand: &Demand, multiprocessors: u32) -> f64 {
    let Choice { kernel, spread } = *choice;
    let costs = Costs::of(kernel, demand.m);
    let columns = f64::from(kernel.columns);
    let schedulers = SCHEDULERS * f64::from(multiprocessors.max(1));
    let rows_at_once = f64::from(kernel.rows);
    let (strips, rows, lag) = if kernel.has_strips() {
        let width = kernel.width() as usize;
        let strips = demand.m.div_ceil(width);
        // Rows of a strip that lie within the band.
        let slope = demand.n as f64 / demand.m.max(1) as f64;
        let rows = (slope * (width + demand.row_cells) as f64).min(demand.n as f64);
        (strips as f64, rows, STRIP_LANES as f64)
    } else {
        let lag = if kernel.is(SweepKind::Diagonal) {
            kernel.lanes
        } else {
            (demand.m as u32).div_ceil(kernel.columns)
        };
        (1.0, demand.n as f64, f64::from(lag))
    };
    let steps = strips * (rows + lag * rows_at_once);
    let warps = demand.tasks as f64 * f64::from(kernel.lanes) / STRIP_LANES as f64;
    let step = columns * costs.cell + costs.row;
    let issue = warps * steps * step / schedulers;
    // Rows swept at once are so many chains side by side, until they take all that is issued.
    let cells = (columns * costs.cell_latency / rows_at_once).max(columns * costs.cell);
    let latency = cells + costs.row_latency + costs.row;
    let running = if spread { warps * strips } else { warps };
    let links = kernel.is(SweepKind::Wide);
    let most = if spread && links { f64::from(SPREAD_BLOCKS) } else { f64::INFINITY };
    let blocks = costs.resident_blocks(columns).min(most);
    let at_once = running.min(schedulers * blocks);
    let rounds = (running / at_once.max(1.0)).ceil();
    if !spread {
        return issue.max(steps * latency * rounds);
    }
    // A strip whose last column is not the last of its lane is swept one row at a time where that column is wanted.
    let alone = if demand.keeps_edges && links && !shares_at_most(MOST_SHARED, kernel, demand.m) {
        demand.n as f64 * (columns * costs.cell_latency + costs.row_latency + costs.row) * rounds
    } else {
        0.0
    };
    // Strips wait for each other: the slowest sets the pace, which shares its scheduler with others.
    let sharing = (at_once / schedulers).ceil().max(1.0);
    let chain = demand.n as f64 + strips * (costs.strip_lag + STRIP_LANES as f64 * (rows_at_once - 1.0));
    issue.max(chain * (latency + (sharing - 1.0) * step) * rounds).max(alone)
}

/// Columns that neighbouring lanes may share, so that the last strip's columns end with a lane: kShared of lanes/cells.cuh.
const MOST_SHARED: usize = 7;

/// Whether the last strip's columns end with a lane while neighbouring lanes share at most so many, as `Layout` of sweeps/wide.cuh lays
/// them out.
fn shares_at_most(shared: usize, kernel: &Kernel, m: usize) -> bool {
    let (columns, width) = (kernel.columns as usize, kernel.width() as usize);
    let left = m - m.saturating_sub(1) / width * width;
    let lanes = left.div_ceil(columns);
    let idle = lanes * columns - left;
    idle <= lanes.saturating_sub(1) * shared
}

#[cfg(test)]
mod choices;

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(n: usize, m: usize, tasks: u64) -> Demand {
        Demand {
            key: "dtw",
            only: None,
            untimed: true,
            dtype: "f32",
            many: false,
            band: false,
            offsets: None,
            n,
            m,
            row_cells: m,
            tasks,
            keeps_edges: false,
        }
    }

    #[test]
    fn many_short_pairs_go_to_a_kernel_of_their_width() {
        for m in [20, 60, 96, 128, 512, 1024] {
            let choice = choose(&demand(m, m, 10_000_000), 132, |_| true).unwrap();
            let width = choice.kernel.width() as usize;
            assert!(choice.kernel.is(SweepKind::Narrow) && width >= m, "{m}: {choice:?}");
            assert!(width <= m + m / 2 + 16, "{m}: {choice:?}");
        }
    }

    #[test]
    fn few_long_pairs_are_spread() {
        let choice = choose(&demand(100_000, 100_000, 1), 132, |_| true).unwrap();
        assert!(choice.spread && choice.kernel.has_strips(), "{choice:?}");
        let choice = choose(&demand(100_000, 100_000, 100_000), 132, |_| true).unwrap();
        assert!(choice.kernel.has_strips(), "{choice:?}");
    }

    #[test]
    fn bands_go_to_kernels_that_know_them() {
        let banded = Demand { band: true, row_cells: 200, ..demand(2047, 2047, 1_000_000) };
        let choice = choose(&banded, 132, |_| true).unwrap();
        assert!(choice.kernel.is(SweepKind::Strips) && choice.kernel.band, "{choice:?}");
        for offsets in 16..=1536 {
            let narrow = Demand { offsets: Some(offsets), row_cells: offsets, ..banded };
            let kernel = choose(&narrow, 132, |_| true).unwrap().kernel;
            assert!(
                kernel.is(SweepKind::Diagonal) && kernel.width() as usize >= offsets,
                "{offsets}: {kernel:?}"
            );
        }
    }

    #[test]
    fn series_without_timestamps_go_to_kernels_for_them() {
        let twed = Demand { key: "twed", dtype: "f64", ..demand(4000, 4000, 1) };
        assert!(choose(&twed, 132, |_| true).unwrap().kernel.untimed);
        for other in [Demand { untimed: false, ..twed }, Demand { band: true, row_cells: 100, ..twed }] {
            assert!(!choose(&other, 132, |_| true).unwrap().kernel.untimed);
        }
    }

    #[test]
    fn kinds_that_leave_something_to_others_are_taken_only_if_asked_for() {
        for (key, keeps_edges, kind) in
            [("soft_dtw", false, SweepKind::Soft), ("subsequence_dtw", true, SweepKind::Block)]
        {
            for (n, tasks) in [(1, 1), (100, 100_000), (1000, 1_000_000), (1500, 10)] {
                let any = Demand { key, keeps_edges, ..demand(n, n, tasks) };
                assert!(!choose(&any, 132, |_| true).unwrap().kernel.is(kind));
                assert!(choose(&Demand { only: Some(kind), ..any }, 132, |_| true).unwrap().kernel.is(kind));
            }
        }
    }

    #[test]
    fn a_search_keeps_its_edges() {
        let search = Demand { key: "subsequence_dtw", keeps_edges: true, ..demand(1000, 20, 10) };
        let choice = choose(&search, 132, |_| true).unwrap();
        assert!(choice.kernel.has_strips() && choice.spread);
    }

    #[test]
    fn a_long_query_goes_to_lanes_that_it_fills() {
        for (m, columns) in [(1000, 32), (1500, 63), (2000, 63), (2016, 63), (2017, 64), (2048, 64)] {
            let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, m, 512) };
            let kernel = choose(&search, 132, |_| true).unwrap().kernel;
            assert_eq!((kernel.columns, kernel.rows), (columns, 8), "{m}: {kernel:?}");
        }
    }

    /// Two strips of 63 columns a lane for 2,040 points: the second goes one row at a time, five times slower in all.
    #[test]
    fn a_search_avoids_strips_that_go_row_by_row() {
        for m in [1030, 1540, 2040, 2050, 2060, 4040, 4100] {
            let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, m, 512) };
            let kernel = choose(&search, 132, |_| true).unwrap().kernel;
            assert!(shares_at_most(MOST_SHARED, kernel, m), "{m}: {kernel:?}");
        }
    }
}
