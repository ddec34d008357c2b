//! Priced strips and sweeps of a few channels, whichever the planner would choose: the same bits as strips that read
//! points for each cell (but for squares of many channels, which are as good as rounded once), and as a plain loop
//! where sums are exact. Lengths at the edges of tiles and strips, bands that leave tiles out, channels at the edges of
//! what is read at once, several pairs of different lengths, strips in one warp or in many.

use crate::launch::{Launch, noise};
use dtw_core::Scalar;
use dtw_kernels::params::{self, Banding, Measure, PAD, Pairs, Range, Side, Strips, Sweep};
use dtw_kernels::{Kernel, SweepKind, catalog};

/// Pairs of a launch, each with series shorter than those of the one before.
const TASKS: usize = 3;

/// Series of a side, each `[point][channel]`.
struct Batch {
    all: Vec<Vec<f64>>,
    channels: usize,
}

impl Batch {
    fn new(length: usize, channels: usize, value: impl Fn(usize, usize) -> Vec<f64>) -> Self {
        let length_of = |k: usize| (length - (3 * k).min(length - 1)).max(1);
        Self { all: (0..TASKS).map(|k| value(k, length_of(k) * channels)).collect(), channels }
    }

    fn length(&self, k: usize) -> usize {
        self.all[k].len() / self.channels
    }

    fn side<T: Scalar>(&self, launch: &mut Launch, is_timed: bool) -> Side {
        let padding = || vec![T::from_f64(0.0); PAD as usize * self.channels];
        let (mut values, mut offsets, mut lengths) = (padding(), Vec::new(), Vec::new());
        // Costs of deletion, their running sums, and times: any numbers, for both kernels are told the same.
        let zeros = || vec![T::from_f64(0.0); PAD as usize];
        let (mut gaps, mut sums, mut times) = (zeros(), zeros(), zeros());
        for (k, series) in self.all.iter().enumerate() {
            offsets.push((values.len() / self.channels) as u64);
            lengths.push(self.length(k) as u32);
            values.extend(series.iter().map(|value| T::from_f64(*value)).chain(padding()));
            let costs: Vec<f64> =
                series.iter().step_by(self.channels).map(|value| value.abs() + 0.5).collect();
            let running = |step: fn(&f64) -> f64| {
                let total = |sum: &mut f64, cost: &f64| {
                    *sum += step(cost);
                    Some(T::from_f64(*sum))
                };
                costs.iter().scan(0.0, total).chain(zeros()).collect::<Vec<T>>()
            };
            gaps.extend(costs.iter().map(|cost| T::from_f64(*cost)).chain(zeros()));
            sums.extend(running(|cost| *cost));
            times.extend(running(|cost| 1.0 + cost));
        }
        Side {
            values: launch.hold(&values),
            offsets: launch.hold(&offsets),
            lengths: launch.hold(&lengths),
            length: *lengths.iter().max().unwrap(),
            count: lengths.len() as u32,
            gaps: launch.hold(&gaps),
            sums: launch.hold(&sums),
            times: if is_timed { launch.hold(&times) } else { 0 },
            ..Side::default()
        }
    }
}

/// A band of every sort; of a table, the radius of its rows comes and goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Band {
    Full,
    Sakoe(usize),
    Table(usize),
}

impl Band {
    fn ranges(self, n: usize, m: usize) -> Vec<Range> {
        let (mut start, mut end) = (0, 0);
        (0..n)
            .map(|i| {
                let (low, high) = match self {
                    Self::Full => (0, m),
                    Self::Sakoe(radius) => {
                        let radius = radius.min(n.max(m));
                        let (below, above) = (radius + n.saturating_sub(m), radius + m.saturating_sub(n));
                        (i.saturating_sub(below), (i + above + 1).min(m))
                    }
                    Self::Table(radius) => {
                        let (radius, middle) = (radius + i % 5, i * m / n);
                        (middle.saturating_sub(radius), (middle + m.div_ceil(n) + radius).min(m))
                    }
                };
                (start, end) = (low.clamp(start, m - 1), high.max(end));
                Range { start: start as u32, end: if i + 1 == n { m } else { end } as u32 }
            })
            .collect()
    }

    fn banding(self, launch: &mut Launch, x: &Batch, y: &Batch) -> Banding {
        match self {
            Self::Full => Banding::default(),
            Self::Sakoe(radius) => {
                Banding { band: params::BAND_SAKOE, radius: radius as u32, ..Banding::default() }
            }
            Self::Table(_) => {
                let (mut ranges, mut offsets) = (Vec::new(), Vec::new());
                for k in 0..TASKS {
                    offsets.push(ranges.len() as u64);
                    ranges.extend(self.ranges(x.length(k), y.length(k)));
                }
                let (ranges, range_offsets) = (launch.hold(&ranges), launch.hold(&offsets));
                Banding { band: params::BAND_TABLE, ranges, range_offsets, ..Banding::default() }
            }
        }
    }
}

/// The results of a kernel, or the last columns of one that keeps them.
fn sweep<T: Scalar>(kernel: &'static Kernel, x: &Batch, y: &Batch, band: Band, spread: bool) -> Vec<f64> {
    let mut launch = Launch::new();
    // Series of even numbers of channels have timestamps.
    let is_timed = kernel.key == "twed" && x.channels.is_multiple_of(2);
    let (side_x, side_y) = (x.side::<T>(&mut launch, is_timed), y.side::<T>(&mut launch, is_timed));
    let banding = Banding { spread: u32::from(spread), ..band.banding(&mut launch, x, y) };
    let stride = (side_x.length as usize).next_multiple_of(32);
    let most_strips = side_y.length.div_ceil(kernel.width());
    let nan = T::from_f64(f64::NAN);
    let tasks = x.all.len();
    let keeps = keeps_last(kernel);
    // A slot for each warp of the launch below, or for each task.
    let blocks = TASKS as u32;
    let pairs = Pairs {
        x: side_x,
        y: side_y,
        out: launch.hold(&vec![nan; tasks]),
        tasks: tasks as u64,
        pairing: params::ZIPPED,
        channels: x.channels as u32,
        ..Pairs::default()
    };
    let strips = Strips {
        edges: launch.hold(&vec![nan; tasks.max(blocks as usize * 4) * stride]),
        edge_stride: stride as u64,
        edge_part_stride: (tasks * stride) as u64,
        progress: launch.hold(&vec![0_u32; tasks * most_strips as usize]),
        ticket: launch.hold(&[0_u64]),
        most_strips,
        only_strip: params::ALL_STRIPS,
        keep_last: u32::from(keeps),
        ..Strips::default()
    };
    let longest = i64::from(side_x.length.max(side_y.length));
    // Some are zero.
    let weight = |beyond: i64| T::from_f64(beyond.rem_euclid(41) as f64 / 8.0);
    let weights = launch.hold(&(-longest..=longest).map(weight).collect::<Vec<T>>());
    // ADTW's penalty; EDR's and LCSS's threshold, which grows with the channels; TWED's nu, and the degree of its norm.
    let first = if ["edr", "lcss"].contains(&kernel.key) { (x.channels as f64).sqrt() } else { 0.5 };
    let degree = [2.0, 1.0, 2.5][x.channels % 3];
    let parameters = [first, 0.0, degree, 0.0];
    let measure = Measure { parameters, weights, weight_center: longest, ..Measure::default() };
    let p = Sweep { pairs, banding, strips, measure, ..Sweep::default() };
    launch.run(kernel, &p, blocks);
    if keeps {
        let edges = launch.read::<T>(p.strips.edges, tasks * stride);
        return (0..tasks).flat_map(|k| edges[k * stride..k * stride + x.length(k)].to_vec()).collect();
    }
    launch.read::<T>(p.pairs.out, tasks)
}

/// Whether it is a search, which keeps the last column of every task.
fn keeps_last(kernel: &Kernel) -> bool {
    kernel.key.starts_with("open_dtw")
}

fn of_kind(kind: SweepKind) -> impl Iterator<Item = &'static Kernel> {
    catalog::kernels().iter().filter(move |kernel| kernel.is(kind) && kernel.many)
}

/// The kernel that computes the same cell by cell.
fn plain(kernel: &Kernel) -> &'static Kernel {
    of_kind(SweepKind::Strips)
        .filter(|other| (other.key, other.dtype) == (kernel.key, kernel.dtype))
        .min_by_key(|other| other.columns)
        .unwrap()
}

fn check_bits(kernel: &'static Kernel, x: &Batch, y: &Batch, band: Band) {
    let run = |kernel, spread| match kernel {
        kernel if kernel_is_f32(kernel) => sweep::<f32>(kernel, x, y, band, spread),
        kernel => sweep::<f64>(kernel, x, y, band, spread),
    };
    let keeps = keeps_last(kernel);
    let expected = run(plain(kernel), keeps);
    assert!(expected.iter().all(|value| value.is_finite()), "{expected:?}");
    let spreads: &[bool] = match (kernel.has_strips(), keeps) {
        (false, _) => &[false],
        (true, false) => &[false, true],
        (true, true) => &[true],
    };
    for spread in spreads.iter().copied() {
        let got = run(kernel, spread);
        let what = format!(
            "{} {}x{} D = {} {band:?} spread {spread}",
            kernel.symbol,
            x.length(0),
            y.length(0),
            x.channels
        );
        if tries_products(kernel, x.channels) {
            let bound = if kernel_is_f32(kernel) { 2e-6 } else { 4e-15 };
            let is_near = |(got, expected): (&f64, &f64)| (got - expected).abs() <= bound * expected;
            assert!(got.iter().zip(&expected).all(is_near), "{what}: {got:?} {expected:?}");
        } else {
            assert_eq!(got, expected, "{what}");
        }
    }
}

/// Whether squares may come from products, which round otherwise.
fn tries_products(kernel: &Kernel, channels: usize) -> bool {
    let least = if kernel_is_f32(kernel) { 12 } else { 32 };
    let is_other = ["dtw_manhattan", "edr", "lcss", "twed"].contains(&kernel.key) || keeps_last(kernel);
    kernel.is(SweepKind::Priced) && !is_other && channels >= least
}

fn kernel_is_f32(kernel: &Kernel) -> bool {
    kernel.dtype == "f32"
}

fn noisy(length: usize, channels: usize, seed: usize) -> Batch {
    Batch::new(length, channels, |k, count| noise(count, (seed + 7 * k) as u64))
}

#[test]
fn lengths_at_the_edges_of_tiles_and_strips() {
    let lengths =
        [(1, 1), (1, 70), (70, 1), (31, 64), (32, 65), (33, 63), (64, 129), (65, 33), (96, 32), (130, 200)];
    for kernel in of_kind(SweepKind::Priced) {
        for (n, m) in lengths {
            check_bits(kernel, &noisy(n, 3, 1), &noisy(m, 3, 2), Band::Full);
        }
    }
}

#[test]
fn few_channels_in_every_shape() {
    let mut checked = 0;
    for kernel in of_kind(SweepKind::Few) {
        let (k, width, channels) =
            (kernel.columns as usize, kernel.width() as usize, kernel.channels as usize);
        for (q, m) in [1, 2, k, k + 1, 5 * k + 3, width / 2 + 1, width - 1, width].into_iter().enumerate() {
            for n in [1 + q, 40 + q] {
                check_bits(kernel, &noisy(n, channels, 7), &noisy(m, channels, 8), Band::Full);
            }
        }
        checked += 1;
    }
    assert!(checked > 2, "{checked} kernels");
}

#[test]
fn channels_at_the_edges_of_what_is_read_at_once() {
    for kernel in of_kind(SweepKind::Priced) {
        let some = [2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65];
        let channels = if kernel.key == "dtw" { &some[..] } else { &[2, 4, 7, 12, 33] };
        for channels in channels.iter().copied() {
            check_bits(kernel, &noisy(45, channels, 3), &noisy(70, channels, 4), Band::Full);
        }
    }
}

#[test]
fn bands_that_leave_tiles_out() {
    // The cost makes no difference here. A search has no band.
    let is_like_another = |key: &str| key.starts_with("dtw_") || key.starts_with("open_dtw");
    for kernel in of_kind(SweepKind::Priced).filter(|kernel| !is_like_another(kernel.key)) {
        for (n, m) in [(1, 70), (70, 3), (64, 64), (150, 150), (100, 210), (210, 100)] {
            for radius in [0, 1, 32, 40, 300] {
                for band in [Band::Sakoe(radius), Band::Table(radius)] {
                    check_bits(kernel, &noisy(n, 5, 5), &noisy(m, 5, 6), band);
                }
            }
        }
    }
}

/// Where x comes near y, for a few rows or all along, and far from 0: differences keep the digits that products lose.
#[test]
fn near_points_far_from_zero_keep_their_digits() {
    for kernel in of_kind(SweepKind::Priced).filter(|kernel| kernel.key == "dtw" || kernel.key == "adtw") {
        for (offset, rows) in [(0.0, 40..44), (0.0, 0..200), (1e3, 0..200), (1e3, 0..0)] {
            let x = Batch::new(200, 65, |k, count| {
                noise(count, 60 + k as u64).iter().map(|value| value + offset).collect()
            });
            let y = Batch::new(200, 65, |k, count| {
                let (own, other) = (&x.all[k], noise(count, 70 + k as u64));
                let is_near = |at: usize| rows.contains(&(at / 65));
                let near = |at: usize| own[at] + if is_near(at) { 1e-2 } else { 1.0 } * other[at];
                (0..count).map(near).collect()
            });
            check_bits(kernel, &x, &y, Band::Full);
        }
    }
}

/// Single points whose cost is just above the least share of |x|² + |y|² that products may make, or just below: above
/// it costs are as good as rounded once, below it they are those of differences. All are of differences on a GPU
/// without matrix units for doubles, which a wave of 64 lanes stands for.
#[test]
fn costs_by_products_are_as_good_as_rounded_once() {
    const TRIALS: usize = 256;
    let has_units = dtw_kernels::host::LANES == 32;
    let kernel =
        of_kind(SweepKind::Priced).find(|kernel| kernel.symbol.contains("dtw_dtw_priced_f32")).unwrap();
    for channels in [12, 16, 64, 256] {
        let least = (3 * channels + 4) as f64 / f64::from(1 << 28);
        for (times, scale) in [(1.02, 1.0), (1.02, 1e15), (30.0, 1e-15), (1e3, 1.0), (1e5, 1.0), (0.98, 1.0)]
        {
            let to_f32 = |value: f64| f64::from(value as f32);
            // Signs at random, sizes that differ.
            let of_x = |k: usize| noise(channels, 900 + k as u64).into_iter().map(move |v| to_f32(v * scale));
            let x = Batch { all: (0..TRIALS).map(|k| of_x(k).collect()).collect(), channels };
            let of_y = |k: usize| {
                let squares: f64 = of_x(k).map(|v| v * v).sum();
                let apart = (2.0 * times * least * squares / channels as f64).sqrt();
                let sign = |at: usize| if noise(channels, 7000 + k as u64)[at] < 0.0 { -1.0 } else { 1.0 };
                of_x(k).enumerate().map(|(at, v)| to_f32(v + sign(at) * apart)).collect::<Vec<_>>()
            };
            let y = Batch { all: (0..TRIALS).map(of_y).collect(), channels };
            let got = sweep::<f32>(kernel, &x, &y, Band::Full, false);
            let mut above = 0;
            for (k, got) in got.iter().enumerate() {
                let (x, y) = (&x.all[k], &y.all[k]);
                let cost: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
                let squares: f64 = x.iter().chain(y).map(|v| v * v).sum();
                let plain = x.iter().zip(y).fold(0.0_f32, |sum, (a, b)| {
                    let apart = *a as f32 - *b as f32;
                    apart.mul_add(apart, sum)
                });
                let units = |value: f64| (value - cost).abs() / cost * f64::from(1 << 23);
                let what = format!("D = {channels}, {times} times, trial {k}: {got}, not {cost}");
                let (is_above, is_below) = (cost > 1.001 * least * squares, cost < 0.999 * least * squares);
                above += usize::from(is_above);
                if has_units && is_above {
                    assert!(units(*got) <= 1.0, "{what}");
                } else if is_below || !has_units {
                    assert_eq!(*got, f64::from(plain), "{what}");
                }
            }
            assert!(if times > 1.0 { above > TRIALS / 2 } else { above < TRIALS / 2 }, "{above}");
        }
    }
}

/// A series and itself, with an offset that takes most digits: the distance is exactly 0.
#[test]
fn a_series_is_at_no_distance_from_itself() {
    let of_pairs = |kernel: &&Kernel| !keeps_last(kernel);
    for kernel in of_kind(SweepKind::Priced).filter(of_pairs).chain(of_kind(SweepKind::Few)) {
        for channels in [2, 3, 4, 17, 64] {
            if kernel.width() < 100 && !kernel.has_strips()
                || ![0, channels].contains(&(kernel.channels as usize))
            {
                continue;
            }
            let with_offset = |k, count| noise(count, 40 + k as u64).iter().map(|v| v + 1e3).collect();
            let batch = Batch::new(100, channels, with_offset);
            let got = match kernel.dtype {
                "f32" => sweep::<f32>(kernel, &batch, &batch, Band::Full, false),
                _ => sweep::<f64>(kernel, &batch, &batch, Band::Full, false),
            };
            assert_eq!(got, [0.0; TASKS], "{} D = {channels}", kernel.symbol);
        }
    }
}

/// By the definition, on multiples of a quarter: every sum is exact.
#[test]
fn values_are_those_of_the_definition() {
    let quarters = |seed: usize| {
        move |k: usize, count: usize| {
            noise(count, (seed + k) as u64).iter().map(|value| (value * 4.0).round() / 4.0 + 1000.0).collect()
        }
    };
    for kernel in of_kind(SweepKind::Priced).filter(|kernel| kernel.key == "dtw") {
        for (n, m, channels, band) in [
            (80, 140, 6, Band::Full),
            (140, 80, 3, Band::Sakoe(20)),
            (66, 66, 33, Band::Table(4)),
            (40, 40, 2, Band::Sakoe(0)),
            (70, 130, 66, Band::Full),
        ] {
            let (x, y) = (Batch::new(n, channels, quarters(9)), Batch::new(m, channels, quarters(90)));
            let got = match kernel.dtype {
                "f32" => sweep::<f32>(kernel, &x, &y, band, true),
                _ => sweep::<f64>(kernel, &x, &y, band, true),
            };
            let expected: Vec<f64> = (0..TASKS).map(|k| definition(&x, &y, k, band)).collect();
            assert_eq!(got, expected, "{} {n}x{m} D = {channels} {band:?}", kernel.symbol);
        }
    }
}

fn definition(x: &Batch, y: &Batch, k: usize, band: Band) -> f64 {
    let (n, m, channels) = (x.length(k), y.length(k), x.channels);
    let mut above = vec![f64::INFINITY; m + 1];
    above[0] = 0.0;
    for (i, allowed) in band.ranges(n, m).into_iter().enumerate() {
        let mut row = vec![f64::INFINITY; m + 1];
        for j in allowed.start as usize..allowed.end as usize {
            let (a, b) = (&x.all[k][i * channels..][..channels], &y.all[k][j * channels..][..channels]);
            let cost: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
            row[j + 1] = cost + above[j].min(above[j + 1]).min(row[j]);
        }
        above = row;
    }
    above[m]
}
