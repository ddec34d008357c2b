//! Which kernel, and how its work is spread: the one place that knows what is fast.
//!
//! Every kernel that can do a launch gets an estimate of its time, the larger of two: how long the machine takes to issue
//! all instructions, and how long the longest chain of dependent rows takes, once per round of warps. The least estimate
//! wins. The numbers in [`Costs`] are of NVIDIA's sm_90, in cycles; only their ratios matter.

use dtw_kernels::{Kernel, catalog};

/// What a launch is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    pub(crate) key: &'static str,
    /// Another functor that computes the same here, faster.
    pub(crate) shortcut: Option<&'static str>,
    pub(crate) dtype: &'static str,
    pub(crate) many: bool,
    /// Whether cells are outside of a band.
    pub(crate) band: bool,
    /// Rows and columns of the largest pair.
    pub(crate) n: usize,
    pub(crate) m: usize,
    /// Allowed columns of a row, on average.
    pub(crate) row_cells: usize,
    pub(crate) tasks: u64,
    /// Whether the last column is wanted: strips with edges, an edge for every task.
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
    /// The same with a band or several channels: a mask, or a loop.
    general_cell: f64,
    /// To issue what a row needs besides its cells.
    row: f64,
    general_row: f64,
    /// From a cell to the next that depends on it.
    cell_latency: f64,
    /// From a row's last cell to the next lane's first.
    row_latency: f64,
    /// Rows by which a strip follows the strip to its left, when both are under way at once.
    strip_lag: f64,
    /// Warps of a multiprocessor that issue at once.
    issue_slots: f64,
}

const COSTS: Costs = Costs {
    cell: 3.0,
    general_cell: 9.0,
    row: 8.0,
    general_row: 24.0,
    cell_latency: 10.0,
    row_latency: 70.0,
    strip_lag: 96.0,
    issue_slots: 4.0,
};

/// Strips have 32 lanes.
const STRIP_LANES: usize = 32;

/// The fastest kernel for a launch on a device of this many multiprocessors; `None` if there is none.
pub(crate) fn choose(demand: &Demand, multiprocessors: u32) -> Option<Choice> {
    [Some(demand.key), demand.shortcut]
        .into_iter()
        .flatten()
        .flat_map(|key| catalog::sweeps(key, demand.dtype, demand.many))
        .filter(|kernel| kernel.band || !demand.band)
        .filter(|kernel| kernel.edges || (!demand.keeps_edges && kernel.width() as usize >= demand.m))
        .flat_map(|kernel| {
            let spreads: &[bool] = match (kernel.edges, demand.keeps_edges) {
                (false, _) => &[false],
                (true, true) => &[true],
                (true, false) => &[false, true],
            };
            spreads.iter().map(move |spread| Choice { kernel, spread: *spread })
        })
        .min_by(|a, b| {
            let cost = |choice: &Choice| cycles(choice, demand, multiprocessors);
            // Equal estimates: the narrower, then the shortcut, so that the order of the table does not matter.
            let rank = |choice: &Choice| (choice.kernel.columns, Some(choice.kernel.key) != demand.shortcut);
            cost(a).total_cmp(&cost(b)).then_with(|| rank(a).cmp(&rank(b)))
        })
}

/// Estimated cycles of a launch.
fn cycles(choice: &Choice, demand: &Demand, multiprocessors: u32) -> f64 {
    let Choice { kernel, spread } = *choice;
    let (columns, width) = (kernel.columns as usize, kernel.width() as usize);
    let general = kernel.band || demand.many;
    let (cell, row) = if general { (COSTS.general_cell, COSTS.general_row) } else { (COSTS.cell, COSTS.row) };
    let wide = if demand.dtype == "f64" { 2.0 } else { 1.0 };
    let (strips, rows, lag) = if kernel.edges {
        let strips = demand.m.div_ceil(width);
        // Rows of a strip that lie within the band.
        let slope = demand.n as f64 / demand.m.max(1) as f64;
        let rows = (slope * (width + demand.row_cells) as f64).min(demand.n as f64);
        (strips as f64, rows, STRIP_LANES as f64)
    } else {
        (1.0, demand.n as f64, demand.m.div_ceil(columns) as f64)
    };
    let steps = strips * (rows + lag);
    let warps = demand.tasks as f64 * f64::from(kernel.lanes) / STRIP_LANES as f64;
    let issue = warps * steps * (columns as f64 * cell * wide + row)
        / (COSTS.issue_slots * f64::from(multiprocessors.max(1)));
    // The narrow sweep of many columns takes two rows at once: two chains side by side.
    let chains = if !kernel.edges && !general && columns >= 24 && wide == 1.0 { 2.0 } else { 1.0 };
    let latency =
        columns as f64 * (COSTS.cell_latency + cell) * wide.sqrt() / chains + COSTS.row_latency + row;
    let chain = if spread { (demand.n as f64 + strips * COSTS.strip_lag) * latency } else { steps * latency };
    let running = if spread { warps * strips } else { warps };
    let rounds = (running / (f64::from(multiprocessors.max(1)) * resident_warps(columns, wide))).max(1.0);
    issue.max(chain * rounds.ceil())
}

/// Warps that a multiprocessor has registers for, roughly.
fn resident_warps(columns: usize, wide: f64) -> f64 {
    let registers = 40.0 + 2.0 * columns as f64 * wide;
    (65_536.0 / (32.0 * registers)).clamp(4.0, 48.0).floor()
}

/// Cuts columns, longest first, into runs that go to one kernel each: places at which a new run begins, 0 left out.
/// A run is left for a kernel at most three quarters as wide, and not before it has `least` tasks.
pub(crate) fn runs(
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

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(n: usize, m: usize, tasks: u64) -> Demand {
        Demand {
            key: "dtw",
            shortcut: None,
            dtype: "f32",
            many: false,
            band: false,
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
            let choice = choose(&demand(m, m, 10_000_000), 132).unwrap();
            let width = choice.kernel.width() as usize;
            assert!(!choice.kernel.edges && !choice.kernel.band && width >= m, "{m}: {choice:?}");
            assert!(width <= m + m / 2 + 16, "{m}: {choice:?}");
        }
    }

    #[test]
    fn few_long_pairs_are_spread() {
        let choice = choose(&demand(100_000, 100_000, 1), 132).unwrap();
        assert!(choice.spread && choice.kernel.edges, "{choice:?}");
        let choice = choose(&demand(100_000, 100_000, 100_000), 132).unwrap();
        assert!(choice.kernel.edges, "{choice:?}");
    }

    #[test]
    fn bands_go_to_kernels_that_know_them() {
        let banded = Demand { band: true, row_cells: 200, ..demand(2047, 2047, 1_000_000) };
        let choice = choose(&banded, 132).unwrap();
        assert!(choice.kernel.band && choice.kernel.edges, "{choice:?}");
    }

    #[test]
    fn a_shortcut_is_taken_where_there_is_one() {
        let twed = Demand { key: "twed", shortcut: Some("twed_unit"), dtype: "f64", ..demand(4000, 4000, 1) };
        assert_eq!(choose(&twed, 132).unwrap().kernel.key, "twed_unit");
        let banded = Demand { band: true, row_cells: 100, ..twed };
        assert_eq!(choose(&banded, 132).unwrap().kernel.key, "twed");
    }

    #[test]
    fn a_search_keeps_its_edges() {
        let search = Demand { key: "subsequence_dtw", keeps_edges: true, ..demand(1000, 20, 10) };
        let choice = choose(&search, 132).unwrap();
        assert!(choice.kernel.edges && choice.spread);
    }

    #[test]
    fn runs_follow_the_widths() {
        let width = |m: usize| m.next_power_of_two();
        let lengths = [100, 100, 90, 60, 60, 30, 20];
        assert_eq!(runs(&lengths, 10, 1, width), [3, 5]);
        assert_eq!(runs(&lengths, 10, 40, width), [5]);
        assert_eq!(runs(&[], 10, 1, width), [0; 0]);
    }
}
