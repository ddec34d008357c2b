//! Every shape of the fast sweeps, whichever the planner would choose: lengths at the edges of lanes, strips and
//! bundles of rows, several pairs of different lengths at once, strips in one warp or in many. Points are multiples of
//! a quarter, so that every sum is exact and results must be equal.

use crate::launch::Launch;
use dtw_core::Scalar;
use dtw_kernels::params::{self, Banding, Measure, PAD, Pairs, Side, Strips, Sweep};
use dtw_kernels::{Kernel, Role, SweepKind, catalog};

const NU: f64 = 0.5;
const LAMBDA: f64 = 1.0;
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

/// The last column of the grid by the definition: rows x, columns y.
fn last_column(kernel: &Kernel, x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut above = vec![f64::INFINITY; y.len() + 1];
    above[0] = 0.0;
    let (gap_x, gap_y) = (gaps(x), gaps(y));
    let mut last = Vec::new();
    for (i, point) in x.iter().enumerate() {
        let mut row = vec![f64::INFINITY; y.len() + 1];
        if kernel.key == "open_dtw" {
            row[0] = 0.0;
        }
        for (j, other) in y.iter().enumerate() {
            let apart = (point - other).abs();
            row[j + 1] = if kernel.key == "twed" {
                let before = |k: usize, of: &[f64]| if k == 0 { 0.0 } else { of[k - 1] };
                let lag = 2.0 * NU * (i as f64 - j as f64).abs();
                let matched = above[j] + apart + (before(i, x) - before(j, y)).abs() + lag;
                matched.min(above[j + 1] + gap_x[i]).min(row[j] + gap_y[j])
            } else {
                apart * apart + above[j].min(above[j + 1]).min(row[j])
            };
        }
        last.push(row[y.len()]);
        above = row;
    }
    last
}

fn check<T: Scalar>(kernel: &'static Kernel, tasks: usize, n: usize, m: usize, spread: bool) {
    let mut launch = Launch::new();
    let xs: Vec<Vec<f64>> = (0..tasks).map(|k| series((n - k.min(n - 1)).max(1), 3 + k as u64)).collect();
    let ys: Vec<Vec<f64>> =
        (0..tasks).map(|k| series((m - (3 * k).min(m - 1)).max(1), 90 + k as u64)).collect();
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
    let measure = Measure { parameters: [NU, LAMBDA, 2.0, 0.0], ..Measure::default() };
    let banding = Banding { spread: u32::from(spread), ..Banding::default() };
    let p = Sweep { pairs, banding, strips, measure, ..Sweep::default() };
    launch.run(kernel, &p, blocks);
    let (out, edges) =
        (launch.read::<T>(p.pairs.out, tasks), launch.read::<T>(p.strips.edges, tasks * stride));
    for k in 0..tasks {
        let expected = last_column(kernel, &xs[k], &ys[k]);
        let what = format!("{} {}x{} spread {spread}", kernel.symbol, xs[k].len(), ys[k].len());
        assert_eq!(out[k], *expected.last().unwrap(), "{what}");
        if keeps {
            assert_eq!(edges[k * stride..k * stride + expected.len()], expected, "{what}: last column");
        }
    }
}

/// DTW of the cells with |(j - i)| at most `radius` beyond the difference of the lengths.
fn banded(x: &[f64], y: &[f64], radius: usize) -> f64 {
    let (n, m) = (x.len(), y.len());
    let (below, above) = (radius + n.saturating_sub(m), radius + m.saturating_sub(n));
    let mut last = vec![f64::INFINITY; m + 1];
    last[0] = 0.0;
    for (i, point) in x.iter().enumerate() {
        let mut row = vec![f64::INFINITY; m + 1];
        for j in i.saturating_sub(below)..(i + above + 1).min(m) {
            row[j + 1] = (point - y[j]).powi(2) + last[j].min(last[j + 1]).min(row[j]);
        }
        last = row;
    }
    last[m]
}

fn check_diagonal(kernel: &'static Kernel, n: usize, m: usize, radius: usize) {
    let mut launch = Launch::new();
    let all = |length: usize, seed: u64| (0..3).map(|k| series(length, seed + k)).collect::<Vec<_>>();
    let (xs, ys) = (all(n, 5), all(m, 50));
    let side = |side: Side| Side { offsets: 0, lengths: 0, stride: u64::from(side.length + PAD), ..side };
    let (x, y) = (side(launch.side::<f32>(&xs, gaps)), side(launch.side::<f32>(&ys, gaps)));
    let pairs = Pairs {
        x,
        y,
        out: launch.hold(&[f32::NAN; 9]),
        out_stride: 3,
        tasks: 9,
        pairing: params::CROSS,
        channels: 1,
        ..Pairs::default()
    };
    let banding = Banding { band: params::BAND_SAKOE, radius: radius as u32, ..Banding::default() };
    let p = Sweep { pairs, banding, ..Sweep::default() };
    launch.run(kernel, &p, 1);
    for (k, got) in launch.read::<f32>(p.pairs.out, 9).into_iter().enumerate() {
        let expected = banded(&xs[k / 3], &ys[k % 3], radius);
        assert_eq!(got, expected, "{} {n}x{m} radius {radius} task {k}", kernel.symbol);
    }
}

#[test]
fn bands_along_the_diagonal_of_every_shape() {
    let mut checked = 0;
    for kernel in catalog::kernels().iter().filter(|kernel| kernel.is(SweepKind::Diagonal)) {
        let (width, idle) = (kernel.width() as usize, (kernel.lanes * kernel.idle()) as usize);
        for offsets in [width - idle, width - idle + 1, width - idle / 2, width - 3, width - 1, width] {
            // An odd number is a radius on both sides; an even one needs lengths that differ.
            for (apart, n) in [(1, 3), (1, 40), (3, width / 2 + 3), (3, 2 * width + 9)] {
                let apart = if offsets % 2 == 0 { apart } else { apart - 1 };
                let radius = (offsets - apart - 1) / 2;
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
                    let least = (kernel.lanes * (kernel.columns - kernel.idle())) as usize;
                    if (least..=kernel.width() as usize).contains(&offsets) {
                        check_diagonal(kernel, n, m, radius);
                        checked += 1;
                    }
                }
            }
        }
    }
    assert!(checked > LONGEST * LONGEST, "{checked} bands");
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
