//! Every shape of the fast sweeps, whichever the planner would choose: lengths at the edges of lanes, strips and
//! bundles of rows, several pairs of different lengths at once, strips in one warp or in many. Points are multiples of
//! a quarter, so that every sum is exact and results must be equal.

use crate::launch::{Launch, noise};
use dtw_core::Scalar;
use dtw_kernels::params::{self, Banding, Measure, PAD, Pairs, Side, Strips, Sweep};
use dtw_kernels::{Kernel, Role, SweepKind, catalog};

const NU: f64 = 0.5;
const LAMBDA: f64 = 1.0;
/// What a step costs: ADTW's penalty and MSM's constant; points that are alike: EDR's and LCSS's threshold.
const STEP: f64 = 0.5;
const ALIKE: f64 = 0.5;
/// ERP's gap value.
const GAP: f64 = 0.25;
/// Pairs of a launch.
const TASKS: usize = 5;

/// Multiples of a quarter within [-2, 2], the same every time.
fn series(length: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % 17) as f64 / 4.0 - 2.0
    };
    (0..length).map(|_| next()).collect()
}

/// The cost of deleting each point, as TWED has it.
fn gaps(series: &[f64]) -> Vec<f64> {
    let before = std::iter::once(&0.0).chain(series);
    series.iter().zip(before).map(|(point, before)| (point - before).abs() + NU + LAMBDA).collect()
}

/// The same, as ERP has it.
fn erp_gaps(series: &[f64]) -> Vec<f64> {
    series.iter().map(|point| (point - GAP).abs()).collect()
}

/// A weight of WDTW's table: of cells whose |i - j| is half of `beyond` more than half of the longer length. They are
/// multiples of an eighth, and some are zero.
fn weight(beyond: i64) -> f64 {
    beyond.rem_euclid(41) as f64 / 8.0
}

/// MSM's cost of a step to a point between the point before it and the opposite one, or beyond them.
fn split(point: f64, before: f64, opposite: f64) -> f64 {
    let (low, high) = (before.min(opposite), before.max(opposite));
    STEP + (low - point).max(point - high).max(0.0)
}

/// The last column of the grid by the definition: rows x, columns y. A band has the cells with |j - i| at most the
/// radius beyond the difference of the lengths.
fn last_column(kernel: &Kernel, x: &[f64], y: &[f64], radius: Option<usize>) -> Vec<f64> {
    let key = kernel.key;
    let gaps = if key == "erp" { erp_gaps } else { gaps };
    let (gap_x, gap_y) = (gaps(x), gaps(y));
    let border = |k: usize, gaps: &[f64]| match key {
        "erp" => gaps[..k].iter().sum(),
        "edr" => k as f64,
        "lcss" => 0.0,
        _ => f64::from(u8::from(k > 0)) * f64::INFINITY,
    };
    let border = |k: usize, gaps: &[f64]| if k == 0 { 0.0 } else { border(k, gaps) };
    let mut above: Vec<f64> = (0..=y.len()).map(|j| border(j, &gap_y)).collect();
    let mut last = Vec::new();
    for (i, point) in x.iter().enumerate() {
        let mut row = vec![f64::INFINITY; y.len() + 1];
        row[0] = if key == "open_dtw" { 0.0 } else { border(i + 1, &gap_x) };
        let radius = radius.unwrap_or(usize::MAX / 2);
        let start = i.saturating_sub(radius + x.len().saturating_sub(y.len()));
        let end = (i + radius + y.len().saturating_sub(x.len()) + 1).min(y.len());
        for (j, other) in y.iter().enumerate() {
            if !(start..end).contains(&j) {
                // Of LCSS a band restricts matches alone.
                row[j + 1] = if key == "lcss" { row[j].min(above[j + 1]) } else { f64::INFINITY };
                continue;
            }
            let apart = (point - other).abs();
            let before = |k: usize, of: &[f64]| if k == 0 { 0.0 } else { of[k - 1] };
            let (before_x, before_y) = (before(i, x), before(j, y));
            let (diagonal, up, left) = (above[j], above[j + 1], row[j]);
            let least =
                |[matched, down, right]: [f64; 3]| (diagonal + matched).min(up + down).min(left + right);
            let is_match = f64::from(u8::from(apart <= ALIKE));
            row[j + 1] = match key {
                "twed" => {
                    let lag = 2.0 * NU * (i as f64 - j as f64).abs();
                    least([apart + (before_x - before_y).abs() + lag, gap_x[i], gap_y[j]])
                }
                "msm" => least([apart, split(*point, before_x, *other), split(*other, before_y, *point)]),
                "erp" => least([apart, gap_x[i], gap_y[j]]),
                "edr" => least([1.0 - is_match, 1.0, 1.0]),
                "lcss" => least([-is_match, 0.0, 0.0]),
                "adtw" => apart * apart + least([0.0, STEP, STEP]),
                "wdtw" => {
                    let beyond = 2 * i.abs_diff(j) as i64 - x.len().max(y.len()) as i64;
                    weight(beyond) * apart * apart + least([0.0; 3])
                }
                _ => apart * apart + least([0.0; 3]),
            };
        }
        last.push(match key {
            "lcss" => -row[y.len()],
            _ => row[y.len()],
        });
        above = row;
    }
    last
}

/// What kernels are told of a measure, for series of at most `longest` points.
fn measure_of<T: Scalar>(launch: &mut Launch, kernel: &Kernel, longest: usize) -> Measure {
    let parameters = match kernel.key {
        "edr" | "lcss" => [ALIKE, 0.0, 0.0, 0.0],
        "adtw" | "msm" => [STEP, 0.0, 0.0, 0.0],
        _ => [NU, LAMBDA, 2.0, 0.0],
    };
    let longest = longest as i64;
    let weights: Vec<T> = (-longest..=longest).map(|beyond| T::from_f64(weight(beyond))).collect();
    let weights = launch.hold(&weights);
    // Of LCSS the length.
    let option = u32::from(kernel.key == "lcss");
    Measure { parameters, option, weights, weight_center: longest, ..Measure::default() }
}

fn check<T: Scalar>(kernel: &'static Kernel, tasks: usize, n: usize, m: usize, spread: bool) {
    let mut launch = Launch::new();
    let xs: Vec<Vec<f64>> = (0..tasks).map(|k| series((n - k.min(n - 1)).max(1), 3 + k as u64)).collect();
    let ys: Vec<Vec<f64>> =
        (0..tasks).map(|k| series((m - (3 * k).min(m - 1)).max(1), 90 + k as u64)).collect();
    let gaps = if kernel.key == "erp" { erp_gaps } else { gaps };
    let (x, y) = (launch.side::<T>(&xs, gaps), launch.side::<T>(&ys, gaps));
    let stride = n.next_multiple_of(32);
    let keeps = kernel.has_strips() && kernel.key == "open_dtw";
    let nan = T::from_f64(f64::NAN);
    let (edges, out) = (vec![nan; tasks * stride], vec![nan; tasks]);
    // A slot for each warp of the launch below, or for each task.
    let blocks = tasks as u32;
    let most_strips = (m as u32).div_ceil(kernel.width());
    let links = vec![0_u8; blocks as usize * 4 * stride * 2 * size_of::<T>()];
    let pairs = Pairs {
        x,
        y,
        out: launch.hold(&out),
        tasks: tasks as u64,
        pairing: params::ZIPPED,
        channels: 1,
        ..Pairs::default()
    };
    let strips = Strips {
        edges: launch.hold(&edges),
        edge_stride: stride as u64,
        links: launch.hold(&links),
        edge_part_stride: (tasks * stride) as u64,
        progress: launch.hold(&vec![0_u32; tasks * most_strips as usize]),
        ticket: launch.hold(&[0_u64]),
        most_strips,
        keep_last: u32::from(keeps),
        ..Strips::default()
    };
    let measure = measure_of::<T>(&mut launch, kernel, n.max(m));
    let banding = Banding { spread: u32::from(spread), ..Banding::default() };
    let p = Sweep { pairs, banding, strips, measure, ..Sweep::default() };
    launch.run(kernel, &p, blocks);
    let (out, edges) =
        (launch.read::<T>(p.pairs.out, tasks), launch.read::<T>(p.strips.edges, tasks * stride));
    for k in 0..tasks {
        let expected = last_column(kernel, &xs[k], &ys[k], None);
        let what = format!("{} {}x{} spread {spread}", kernel.symbol, xs[k].len(), ys[k].len());
        assert_eq!(out[k], *expected.last().unwrap(), "{what}");
        if keeps {
            assert_eq!(edges[k * stride..k * stride + expected.len()], expected, "{what}: last column");
        }
    }
}

fn check_diagonal(kernel: &'static Kernel, n: usize, m: usize, radius: usize) {
    match kernel.dtype {
        "f32" => check_diagonal_of::<f32>(kernel, n, m, radius),
        _ => check_diagonal_of::<f64>(kernel, n, m, radius),
    }
}

fn check_diagonal_of<T: Scalar>(kernel: &'static Kernel, n: usize, m: usize, radius: usize) {
    let all = |length: usize, seed: u64| (0..3).map(|k| series(length, seed + k)).collect::<Vec<_>>();
    let (xs, ys) = (all(n, 5), all(m, 50));
    for (k, got) in in_a_band::<T>(kernel, &xs, &ys, radius).into_iter().enumerate() {
        let expected = *last_column(kernel, &xs[k / 3], &ys[k % 3], Some(radius)).last().unwrap();
        assert_eq!(got, expected, "{} {n}x{m} radius {radius} task {k}", kernel.symbol);
    }
}

/// What a kernel says of all pairs of series of two lengths in a Sakoe-Chiba band.
fn in_a_band<T: Scalar>(
    kernel: &'static Kernel,
    xs: &[Vec<f64>],
    ys: &[Vec<f64>],
    radius: usize,
) -> Vec<f64> {
    let mut launch = Launch::new();
    let side = |side: Side| Side { offsets: 0, lengths: 0, stride: u64::from(side.length + PAD), ..side };
    let gaps = if kernel.key == "erp" { erp_gaps } else { gaps };
    let (x, y) = (side(launch.side::<T>(xs, gaps)), side(launch.side::<T>(ys, gaps)));
    let (tasks, nan) = (xs.len() * ys.len(), T::from_f64(f64::NAN));
    let pairs = Pairs {
        x,
        y,
        out: launch.hold(&vec![nan; tasks]),
        out_stride: ys.len() as u64,
        tasks: tasks as u64,
        pairing: params::CROSS,
        channels: 1,
        ..Pairs::default()
    };
    let banding = Banding { band: params::BAND_SAKOE, radius: radius as u32, ..Banding::default() };
    let measure = measure_of::<T>(&mut launch, kernel, xs[0].len().max(ys[0].len()));
    let p = Sweep { pairs, banding, measure, ..Sweep::default() };
    launch.run(kernel, &p, 1);
    launch.read::<T>(p.pairs.out, tasks)
}

#[test]
fn bands_along_the_diagonal_of_every_shape() {
    let mut checked = 0;
    for kernel in catalog::kernels().iter().filter(|kernel| kernel.is(SweepKind::Diagonal)) {
        let (width, least) = (kernel.width() as usize, kernel.least_offsets as usize);
        for offsets in [least, least + 1, width.midpoint(least), width - 3, width - 1, width] {
            // An odd number is a radius on both sides; an even one needs lengths that differ.
            for (apart, n) in [(1, 3), (1, 40), (3, width / 2 + 3), (3, 2 * width + 9)] {
                let apart = if offsets % 2 == 0 { apart } else { apart - 1 };
                let Some(radius) = offsets.checked_sub(apart + 1).map(|both| both / 2) else { continue };
                // A radius is at most the longer length; the widest shapes are left to shorter pairs, to save time.
                if radius <= n && n <= 600 {
                    check_diagonal(kernel, n, n + apart, radius);
                    check_diagonal(kernel, n + apart, n, radius);
                    checked += 1;
                }
            }
        }
    }
    assert!(checked > 100, "{checked} lengths");
}

#[test]
fn bands_along_the_diagonal_of_all_short_pairs() {
    const LONGEST: usize = 24;
    let kernels: Vec<&Kernel> =
        catalog::kernels().iter().filter(|kernel| kernel.is(SweepKind::Diagonal)).collect();
    let mut checked = 0;
    for n in 1..=LONGEST {
        for m in 1..=LONGEST {
            // Radii beyond the longer length mean the same band as the longer length.
            for radius in 0..=n.max(m) + 1 {
                let offsets = 2 * radius.min(n.max(m)) + n.abs_diff(m) + 1;
                for kernel in &kernels {
                    // Of the coarse shapes every seventh, to save time.
                    let is_fine = (kernel.key, kernel.dtype) == ("dtw", "f32");
                    let is_held = (kernel.least_offsets..=kernel.width()).contains(&(offsets as u32));
                    if is_held && (is_fine || (n + 2 * m + 3 * radius).is_multiple_of(7)) {
                        check_diagonal(kernel, n, m, radius);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > LONGEST * LONGEST, "{checked} bands");
}

/// Where sums are not exact, the border's are those that `prepare` made, in whichever sweep. Deleting what a series
/// begins with costs ERP little, so that paths go along the border.
#[test]
fn bands_along_the_diagonal_have_the_bits_of_other_sweeps() {
    let plain = |length, seed: u64| (0..4).map(|k| noise(length, seed + k)).collect::<Vec<_>>();
    let near_the_gap = |length: usize, seed| {
        let mut all = plain(length, seed);
        all.iter_mut().for_each(|series| {
            series.iter_mut().take(length / 3).for_each(|point| *point = GAP + *point / 16.0);
        });
        all
    };
    for key in ["erp", "msm"] {
        let general = catalog::find(&format!("dtw_{key}_general_f32_one_8x8_band")).unwrap();
        let diagonal = catalog::sweeps(key, "f32", false).filter(|kernel| kernel.is(SweepKind::Diagonal));
        let mut checked = 0;
        for kernel in diagonal {
            for (n, m, radius) in [(40_usize, 40, 6), (60, 57, 12), (64, 64, 25), (50, 64, 40), (64, 61, 50)]
            {
                let offsets = 2 * radius + n.abs_diff(m) + 1;
                if (kernel.least_offsets..=kernel.width()).contains(&(offsets as u32)) {
                    for (xs, ys) in [(near_the_gap(n, 5), plain(m, 50)), (plain(m, 50), near_the_gap(n, 5))] {
                        let of = |kernel| in_a_band::<f32>(kernel, &xs, &ys, radius);
                        assert_eq!(of(kernel), of(general), "{} {n}x{m} radius {radius}", kernel.symbol);
                    }
                    checked += 1;
                }
            }
        }
        assert!(checked > 4, "{key}: {checked} bands");
    }
}

fn check_all(key: &str) {
    let fast =
        |kernel: &&Kernel| kernel.key == key && (kernel.is(SweepKind::Narrow) || kernel.is(SweepKind::Wide));
    let mut checked = 0;
    for kernel in catalog::kernels().iter().filter(fast) {
        let (k, width) = (kernel.columns as usize, kernel.width() as usize);
        let mut columns = vec![1, 2, k, k + 1, 5 * k, 9 * k + 3, width / 2 + 1, width - 7, width - 1, width];
        if k >= 32 && kernel.has_strips() {
            // One column a lane is shared, and two by some.
            columns.extend([width - 31, width - 32]);
        }
        if kernel.has_strips() {
            columns.extend([width + 1, width + 5 * k, 2 * width - 3, 2 * width, 2 * width + 20 * k + 1]);
        }
        columns.retain(|m| *m >= 1 && (kernel.has_strips() || *m <= width));
        for (q, m) in columns.into_iter().enumerate() {
            for n in [1 + q % 4, 17, 40 + q] {
                for spread in [false, true] {
                    if (spread && !kernel.has_strips()) || keeps_need_spread(kernel, spread) {
                        continue;
                    }
                    match kernel.dtype {
                        "f32" => check::<f32>(kernel, TASKS, n, m, spread),
                        _ => check::<f64>(kernel, TASKS, n, m, spread),
                    }
                }
            }
        }
        checked += 1;
    }
    assert!(checked > 2, "{key}: {checked} kernels");
}

/// Last columns are kept for every task, which needs a slot for every task.
fn keeps_need_spread(kernel: &Kernel, spread: bool) -> bool {
    kernel.has_strips() && kernel.key == "open_dtw" && !spread
}

/// Where the groups of a wave execute in lockstep, a strip that waits for another one of its wave waits for ever.
#[test]
fn strips_of_few_pairs_do_not_wait_within_a_wave() {
    let has_strips = |kernel: &&Kernel| {
        kernel.key == "dtw" && kernel.has_strips() && !kernel.many && kernel.dtype == "f32"
    };
    let mut kinds = Vec::new();
    for kernel in catalog::kernels().iter().filter(has_strips) {
        for tasks in 1..=3 {
            check::<f32>(kernel, tasks, 70, 3 * kernel.width() as usize + 5, true);
        }
        kinds.push(kernel.role);
    }
    assert!(kinds.contains(&Role::Sweep(SweepKind::Strips)) && kinds.contains(&Role::Sweep(SweepKind::Wide)));
}

#[test]
fn dtw_of_every_shape() {
    check_all("dtw");
}

#[test]
fn open_dtw_of_every_shape() {
    check_all("open_dtw");
}

#[test]
fn twed_of_every_shape() {
    check_all("twed");
}

#[test]
fn measures_with_borders_of_every_shape() {
    for key in ["erp", "edr", "lcss"] {
        check_all(key);
    }
}

#[test]
fn other_measures_of_every_shape() {
    for key in ["adtw", "wdtw", "msm"] {
        check_all(key);
    }
}
