//! Which kernel, and how its work is spread: the one place that knows what is fast.
//!
//! Every kernel that can do a launch gets an estimate of its time, the larger of two: how long the machine takes to
//! issue all instructions, and how long the longest chain of dependent rows takes, once per round of warps. The least
//! estimate wins. What instructions cost is data: the [`Tuning`] of the machine.

use dtw_kernels::tuning::Tuning;
use dtw_kernels::{Kernel, SweepKind, catalog, params};

use crate::machine::{BLOCK_THREADS, Machine};

/// What a launch is to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Demand {
    pub(crate) key: &'static str,
    /// The one kind of sweep that is asked for; `None`: whichever is fastest of those that give up no pair.
    pub(crate) only: Option<SweepKind>,
    /// Whether series have no timestamps.
    pub(crate) untimed: bool,
    pub(crate) dtype: &'static str,
    pub(crate) channels: usize,
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
    /// Whether the states of two rows are wanted, of a stretch.
    pub(crate) tells: bool,
    /// Whether the last column is wanted: a kind with strips, an edge for every task.
    pub(crate) keeps_edges: bool,
}

/// A kernel, and whether strips of a pair go to different warps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) kernel: &'static Kernel,
    pub(crate) spread: bool,
}

/// What the choice has to know of a machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hardware {
    pub(crate) multiprocessors: u32,
    /// Lanes that issue together.
    pub(crate) lanes: u32,
    pub(crate) tuning: &'static Tuning,
}

impl Hardware {
    pub(crate) fn of(machine: &impl Machine) -> Self {
        let properties = machine.properties();
        Self {
            multiprocessors: properties.multiprocessors,
            lanes: properties.lanes,
            tuning: machine.tuning(),
        }
    }
}

/// Strips have 32 lanes, whatever a device issues together.
const STRIP_LANES: usize = 32;

/// The fastest kernel for a launch on a device, among those that `fit` into memory unless none
/// does; `None` if there is none at all.
pub(crate) fn choose(demand: &Demand, hardware: &Hardware, fits: impl Fn(&Kernel) -> bool) -> Option<Choice> {
    fastest(demand, hardware, fits).or_else(|| fastest(demand, hardware, |_| true))
}

fn fastest(demand: &Demand, hardware: &Hardware, fits: impl Fn(&Kernel) -> bool) -> Option<Choice> {
    catalog::sweeps(demand.key, demand.dtype, demand.channels > 1)
        .filter(|kernel| can(kernel, demand) && fits(kernel))
        .flat_map(|kernel| {
            let spreads: &[bool] = match (kernel.has_strips(), demand.keeps_edges) {
                (false, _) => &[false],
                (true, true) => &[true],
                (true, false) => &[false, true],
            };
            spreads.iter().map(move |spread| Choice { kernel, spread: *spread })
        })
        .map(|choice| (cycles(&choice, demand, hardware), choice))
        .min_by(|(cost_a, a), (cost_b, b)| {
            // Equal estimates: the narrower, then one for series without timestamps.
            let rank = |choice: &Choice| (choice.kernel.columns, !choice.kernel.untimed);
            cost_a.total_cmp(cost_b).then_with(|| rank(a).cmp(&rank(b)))
        })
        .map(|(_, choice)| choice)
}

/// The kinds of sweep that can do what is asked for. One that does a part of a search does nothing else.
pub(crate) fn able(demand: &Demand) -> Vec<SweepKind> {
    let can_do = |kind: &SweepKind| {
        let of_kind = Demand { only: Some(*kind), ..*demand };
        let mut kernels = catalog::sweeps(demand.key, demand.dtype, demand.channels > 1);
        demand.only.map_or(*kind != SweepKind::Block, |only| only == *kind)
            && kernels.any(|kernel| can(kernel, &of_kind))
    };
    SweepKind::ALL.into_iter().filter(can_do).collect()
}

/// Why a kernel was chosen, in words.
pub(crate) fn reason(demand: &Demand, device: &Hardware, choice: &Choice) -> String {
    let kernels = catalog::sweeps(demand.key, demand.dtype, demand.channels > 1);
    let able = kernels.filter(|kernel| can(kernel, demand)).count();
    let estimate = cycles(choice, demand, device);
    format!("estimated at {estimate:.3e} cycles, the least of {able} kernels that can")
}

/// Whether a kernel does what is asked for.
fn can(kernel: &Kernel, demand: &Demand) -> bool {
    let Some(kind) = kernel.kind() else { return false };
    let is_asked_for = match demand.only {
        Some(only) => kind == only,
        None => kind != SweepKind::Block && !kind.may_give_up(),
    };
    let holds_all = match kind {
        kind if kind.is_along_diagonal() => {
            let held = kernel.least_offsets as usize..=kernel.width() as usize;
            demand.offsets.is_some_and(|offsets| held.contains(&offsets))
        }
        _ => kind.has_strips() || kernel.width() as usize >= demand.m,
    };
    is_asked_for
        && holds_all
        && (kernel.channels == 0 || kernel.channels as usize == demand.channels)
        && (kernel.band || !demand.band)
        && (demand.untimed || !kernel.untimed)
        && (!demand.tells || kind != SweepKind::Wide || kernel.columns <= params::MOST_TELLING)
        && (!demand.tells || kind != SweepKind::Priced)
        && (kind.has_strips() || !demand.keeps_edges)
}

/// Estimated cycles of a launch.
pub(crate) fn cycles(choice: &Choice, demand: &Demand, hardware: &Hardware) -> f64 {
    let Choice { kernel, spread } = *choice;
    let costs = hardware.tuning.costs(kernel, is_one_strip(kernel, demand.m), demand.channels);
    let columns = f64::from(kernel.columns);
    let schedulers = hardware.tuning.schedulers * f64::from(hardware.multiprocessors.max(1));
    let rows_at_once = f64::from(kernel.rows);
    let (strips, rows, lag) = if kernel.has_strips() {
        let width = kernel.width() as usize;
        let strips = demand.m.div_ceil(width);
        // Rows of a strip that lie within the band.
        let slope = demand.n as f64 / demand.m.max(1) as f64;
        let rows = (slope * (width + demand.row_cells) as f64).min(demand.n as f64);
        // Priced strips price so many rows at once, whether there are as many or not.
        let piece = if kernel.is(SweepKind::Priced) { STRIP_LANES as f64 } else { 1.0 };
        (strips as f64, (rows / piece).ceil() * piece, STRIP_LANES as f64)
    } else {
        let lag = if kernel.kind().is_some_and(SweepKind::is_along_diagonal) {
            kernel.lanes
        } else {
            (demand.m as u32).div_ceil(kernel.columns)
        };
        (1.0, demand.n as f64, f64::from(lag))
    };
    let steps = strips * (rows + lag * rows_at_once);
    let warps = demand.tasks as f64 * f64::from(kernel.lanes) / f64::from(hardware.lanes.max(1));
    // A wave of several groups takes the same strip of as many tasks; where there are fewer, groups are idle.
    let warps = if spread { warps.ceil() } else { warps };
    let cell = costs.cell + costs.channel * demand.channels.saturating_sub(1) as f64;
    let step = columns * cell + costs.row;
    let issue = warps * steps * step / schedulers;
    // Rows swept at once are so many chains side by side, until they take all that is issued.
    let cells = (columns * costs.cell_latency / rows_at_once).max(columns * cell);
    let latency = cells + costs.row_latency + costs.row;
    let running = if spread { warps * strips } else { warps };
    let links = kernel.is(SweepKind::Wide);
    // Warps of a scheduler, as blocks have a warp for each scheduler or fewer.
    let spread_warps = f64::from(hardware.tuning.spread_blocks * (BLOCK_THREADS / hardware.lanes.max(1)))
        / hardware.tuning.schedulers;
    let waits = spread && links && strips > 1.0;
    let most = if waits { spread_warps } else { f64::INFINITY };
    let at_once = running.min(schedulers * hardware.tuning.resident_warps(kernel, costs).min(most));
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

/// Whether a wide sweep has one strip whose lanes share one column at most, and so a version of its own: kOne of
/// sweeps/wide.cuh.
fn is_one_strip(kernel: &Kernel, m: usize) -> bool {
    kernel.columns >= 32 && kernel.rows > 1 && m <= kernel.width() as usize && shares_at_most(1, kernel, m)
}

/// Columns that neighbouring lanes may share, so that the last strip's columns end with a lane.
const MOST_SHARED: usize = params::MOST_SHARED as usize;

/// Whether the last strip's columns end with a lane while neighbouring lanes share at most so many, as `Layout` of
/// sweeps/wide.cuh lays them out.
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
pub(crate) mod tests {
    use dtw_kernels::tuning::{SM90, of_hip};

    use super::*;

    pub(crate) const H200: Hardware = Hardware { multiprocessors: 132, lanes: 32, tuning: &SM90 };

    pub(crate) fn demand(n: usize, m: usize, tasks: u64) -> Demand {
        Demand {
            key: "dtw",
            only: None,
            untimed: true,
            dtype: "f32",
            channels: 1,
            band: false,
            offsets: None,
            n,
            m,
            row_cells: m,
            tasks,
            tells: false,
            keeps_edges: false,
        }
    }

    #[test]
    fn many_short_pairs_go_to_a_kernel_of_their_width() {
        for m in [20, 60, 96, 128, 512, 1024] {
            let choice = choose(&demand(m, m, 10_000_000), &H200, |_| true).unwrap();
            let width = choice.kernel.width() as usize;
            assert!(choice.kernel.is(SweepKind::Narrow) && width >= m, "{m}: {choice:?}");
            assert!(width <= m + m / 2 + 16, "{m}: {choice:?}");
        }
    }

    #[test]
    fn several_channels_go_to_kernels_for_them() {
        for channels in [2, 3, 4, 5, 16, 64] {
            for m in [60, 128, 200, 512, 1000, 2048] {
                let full = Demand { channels, ..demand(m, m, 1_000_000) };
                let choice = choose(&full, &H200, |_| true).unwrap();
                let is_few = channels <= 4 && m <= 1024;
                assert_eq!(choice.kernel.is(SweepKind::Few), is_few, "{channels} {m}: {choice:?}");
                assert!(is_few || choice.kernel.is(SweepKind::Priced), "{channels} {m}: {choice:?}");
                let banded = Demand { band: true, row_cells: m / 5, ..full };
                let choice = choose(&banded, &H200, |_| true).unwrap();
                assert!(choice.kernel.is(SweepKind::Priced), "{channels} {m}: {choice:?}");
            }
        }
    }

    #[test]
    fn few_long_pairs_are_spread() {
        let choice = choose(&demand(100_000, 100_000, 1), &H200, |_| true).unwrap();
        assert!(choice.spread && choice.kernel.has_strips(), "{choice:?}");
        let choice = choose(&demand(100_000, 100_000, 100_000), &H200, |_| true).unwrap();
        assert!(choice.kernel.has_strips(), "{choice:?}");
    }

    #[test]
    fn bands_go_to_kernels_that_know_them() {
        let banded = Demand { band: true, row_cells: 200, ..demand(2047, 2047, 1_000_000) };
        let choice = choose(&banded, &H200, |_| true).unwrap();
        assert!(choice.kernel.is(SweepKind::Strips) && choice.kernel.band, "{choice:?}");
        for offsets in 16..=1536 {
            let narrow = Demand { offsets: Some(offsets), row_cells: offsets, ..banded };
            let kernel = choose(&narrow, &H200, |_| true).unwrap().kernel;
            assert!(
                kernel.is(SweepKind::Diagonal) && kernel.width() as usize >= offsets,
                "{offsets}: {kernel:?}"
            );
        }
    }

    #[test]
    fn soft_bands_of_one_channel_have_a_kernel_along_the_diagonal() {
        let of = |key, dtype, offsets, channels| {
            let band =
                Demand { band: true, offsets: Some(offsets), row_cells: offsets, ..demand(2047, 2047, 1000) };
            let soft = Demand { key, dtype, channels, only: Some(SweepKind::SoftDiagonal), ..band };
            choose(&soft, &H200, |_| true).map(|choice| choice.kernel.width() as usize)
        };
        for key in ["soft_dtw", "log_gak"] {
            for (dtype, most) in [("f32", 832), ("f64", 416)] {
                for offsets in 3..=most {
                    assert!(
                        of(key, dtype, offsets, 1).is_some_and(|width| width >= offsets),
                        "{key} {offsets}"
                    );
                }
                assert_eq!((of(key, dtype, most + 1, 1), of(key, dtype, 9, 2)), (None, None));
            }
        }
    }

    #[test]
    fn series_without_timestamps_go_to_kernels_for_them() {
        let twed = Demand { key: "twed", dtype: "f64", ..demand(4000, 4000, 1) };
        assert!(choose(&twed, &H200, |_| true).unwrap().kernel.untimed);
        for other in [Demand { untimed: false, ..twed }, Demand { band: true, row_cells: 100, ..twed }] {
            assert!(!choose(&other, &H200, |_| true).unwrap().kernel.untimed);
        }
    }

    #[test]
    fn kinds_that_give_up_pairs_or_do_a_part_are_taken_only_if_asked_for() {
        for (key, keeps_edges, kind) in
            [("soft_dtw", false, SweepKind::Soft), ("subsequence_dtw", true, SweepKind::Block)]
        {
            for (n, tasks) in [(1, 1), (100, 100_000), (1000, 1_000_000), (1500, 10)] {
                let any = Demand { key, keeps_edges, ..demand(n, n, tasks) };
                assert!(!choose(&any, &H200, |_| true).unwrap().kernel.is(kind));
                assert!(
                    choose(&Demand { only: Some(kind), ..any }, &H200, |_| true).unwrap().kernel.is(kind)
                );
            }
        }
    }

    #[test]
    fn a_search_keeps_its_edges() {
        let search = Demand { key: "subsequence_dtw", keeps_edges: true, ..demand(1000, 20, 10) };
        let choice = choose(&search, &H200, |_| true).unwrap();
        assert!(choice.kernel.has_strips() && choice.spread);
    }

    #[test]
    fn a_long_query_goes_to_lanes_that_it_fills() {
        for (m, columns) in [(1000, 32), (1500, 63), (2000, 63), (2016, 63), (2017, 64), (2048, 64)] {
            let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, m, 512) };
            let kernel = choose(&search, &H200, |_| true).unwrap().kernel;
            assert_eq!((kernel.columns, kernel.rows), (columns, 8), "{m}: {kernel:?}");
        }
    }

    /// Two strips of 63 columns a lane for 2,040 points: the second goes one row at a time, five times slower in all.
    #[test]
    fn a_search_avoids_strips_that_go_row_by_row() {
        for m in [1030, 1540, 2040, 2050, 2060, 4040, 4100] {
            let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, m, 512) };
            let kernel = choose(&search, &H200, |_| true).unwrap().kernel;
            assert!(shares_at_most(MOST_SHARED, kernel, m), "{m}: {kernel:?}");
        }
    }

    fn amd(multiprocessors: u32, chip: &str) -> Hardware {
        let lanes = if chip.starts_with("gfx9") { 64 } else { 32 };
        Hardware { multiprocessors, lanes, tuning: of_hip(chip) }
    }

    #[test]
    fn many_pairs_go_to_kernels_of_their_width_on_amd_gpus_too() {
        for hardware in [amd(304, "gfx942"), amd(104, "gfx90a"), amd(48, "gfx1100")] {
            for m in [20, 60, 96, 127, 255, 511, 1023] {
                let kernel = choose(&demand(m, m, 1_000_000), &hardware, |_| true).unwrap().kernel;
                let width = kernel.width() as usize;
                let name = hardware.tuning.name;
                assert!(kernel.is(SweepKind::Narrow) && width <= m + m / 2 + 16, "{name} {m}: {kernel:?}");
            }
        }
    }

    /// A wave for every two queries leaves most of a large GPU idle: there they are cut into more strips.
    #[test]
    fn few_queries_are_cut_into_strips_on_large_gpus() {
        let of = |hardware: &Hardware, queries| {
            let search = Demand { key: "open_dtw", keeps_edges: true, ..demand(100_000, 2000, queries) };
            let kernel = choose(&search, hardware, |_| true).unwrap().kernel;
            (kernel.columns, kernel.rows)
        };
        assert_eq!(of(&amd(304, "gfx942"), 512), (16, 2));
        assert_eq!(of(&amd(104, "gfx90a"), 512), (63, 8));
        for hardware in [amd(304, "gfx942"), amd(104, "gfx90a"), amd(48, "gfx1100")] {
            assert_eq!(of(&hardware, 10_000), (63, 8), "{}", hardware.tuning.name);
        }
    }

    /// Warps of 64 lanes are half as many, so what all of them issue takes half the time.
    #[test]
    fn lanes_that_issue_together_count_once() {
        let waves = Hardware { lanes: 64, ..H200 };
        let many = demand(512, 512, 10_000_000);
        let choice = choose(&many, &H200, |_| true).unwrap();
        let (apart, together) = (cycles(&choice, &many, &H200), cycles(&choice, &many, &waves));
        assert!((together / apart - 0.5).abs() < 0.01, "{together} {apart}");
    }

    /// The strips of one pair are never in one wave, so waves of 64 lanes are as many as those of 32.
    #[test]
    fn strips_of_one_pair_leave_groups_idle() {
        let waves = Hardware { lanes: 64, ..H200 };
        let one = demand(100_000, 100_000, 1);
        let choice = choose(&one, &H200, |_| true).unwrap();
        assert!(choice.spread, "{choice:?}");
        assert_eq!(cycles(&choice, &one, &waves), cycles(&choice, &one, &H200));
    }
}
