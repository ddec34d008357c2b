//! Sums over all paths whose cells share exponents: every shape against a plain loop in double precision, and which
//! pairs are given up because those exponents cannot hold them.

use crate::launch::{Launch, noise};
use dtw_core::Scalar;
use dtw_kernels::params::{self, Measure, Pairs, Sweep};
use dtw_kernels::{Kernel, SweepKind, catalog};

/// Soft-DTW by its definition, in log space. The log global alignment kernel is -1/gamma of the same, if a cell of
/// likeness q = e^(-d^2 / gamma) weighs q / (2 - q).
fn soft_dtw(kernel: &Kernel, x: &[f64], y: &[f64], gamma: f64) -> f64 {
    soft_dtw_of_points(kernel, 1, x, y, gamma)
}

/// The same of series of several channels, point by point.
fn soft_dtw_of_points(kernel: &Kernel, channels: usize, x: &[f64], y: &[f64], gamma: f64) -> f64 {
    soft_dtw_where(kernel, channels, x, y, gamma, |_, _| true)
}

/// The same of the cells that are allowed.
pub(crate) fn soft_dtw_where(
    kernel: &Kernel,
    channels: usize,
    x: &[f64],
    y: &[f64],
    gamma: f64,
    allowed: impl Fn(usize, usize) -> bool,
) -> f64 {
    let distance =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() };
    let y: Vec<&[f64]> = y.chunks(channels).collect();
    let cost = |squared: f64| match kernel.key {
        "log_gak" => squared + gamma * (2.0 - (-squared / gamma).exp()).ln(),
        _ => squared,
    };
    let mut above = vec![f64::INFINITY; y.len() + 1];
    above[0] = 0.0;
    for (i, point) in x.chunks(channels).enumerate() {
        let mut row = vec![f64::INFINITY; y.len() + 1];
        for (j, other) in y.iter().enumerate() {
            let arrivals = [above[j], above[j + 1], row[j]];
            let least = arrivals.into_iter().fold(f64::INFINITY, f64::min);
            if least == f64::INFINITY || !allowed(i, j) {
                continue;
            }
            let sum: f64 = arrivals.into_iter().map(|d| ((least - d) / gamma).exp()).sum();
            row[j + 1] = cost(distance(point, other)) + least - gamma * sum.ln();
        }
        above = row;
    }
    above[y.len()]
}

/// Results of zipped pairs by one of the kernels; NaN: given up. The series are the last channel of its points, the
/// others are constant.
fn sweep(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], gamma: f64) -> Vec<f64> {
    let points = |all: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let point = |v: &f64| (1..channels(kernel)).map(|_| 2.5).chain([*v]).collect::<Vec<f64>>();
        all.iter().map(|series| series.iter().flat_map(point).collect()).collect()
    };
    sweep_points(kernel, &points(xs), &points(ys), gamma)
}

/// The same of series of as many channels as the kernel takes, point by point.
fn sweep_points(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], gamma: f64) -> Vec<f64> {
    let results = if is_double(kernel) { sweep_of::<f64> } else { sweep_of::<f32> };
    results(kernel, xs, ys, gamma)
}

fn channels(kernel: &Kernel) -> usize {
    kernel.channels.max(1) as usize
}

pub(crate) fn is_double(kernel: &Kernel) -> bool {
    kernel.dtype == "f64"
}

/// What results may be off by, of a path's length and of the value.
pub(crate) fn unit(kernel: &Kernel) -> f64 {
    if is_double(kernel) { 2e-15 } else { 3e-7 }
}

fn sweep_of<T: Scalar>(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], gamma: f64) -> Vec<f64> {
    let mut launch = Launch::new();
    let gaps = |series: &[f64]| vec![0.0; series.len()];
    let pairs = Pairs {
        x: launch.side_of_points::<T>(channels(kernel), xs, gaps),
        y: launch.side_of_points::<T>(channels(kernel), ys, gaps),
        out: launch.hold(&vec![T::from_f64(7.0); xs.len()]),
        tasks: xs.len() as u64,
        pairing: params::ZIPPED,
        channels: channels(kernel) as u32,
        ..Pairs::default()
    };
    let is_gak = kernel.key == "log_gak";
    let parameter = if is_gak { (gamma / 2.0).sqrt() } else { gamma };
    let measure = Measure { parameters: [parameter, 0.0, 0.0, 0.0], ..Measure::default() };
    let p = Sweep { pairs, measure, ..Sweep::default() };
    launch.run(kernel, &p, 2);
    let values = launch.read::<T>(p.pairs.out, xs.len());
    values.into_iter().map(|value| if is_gak { -gamma * value } else { value }).collect()
}

/// All of one channel, and the narrowest of several: what channels change does not hang on the shape.
fn kernels_in_depth() -> impl Iterator<Item = &'static Kernel> {
    kernels().into_iter().filter(|kernel| kernel.channels == 0 || kernel.width() == 128)
}

fn kernels() -> Vec<&'static Kernel> {
    catalog::kernels().iter().filter(|kernel| kernel.is(SweepKind::Soft)).collect()
}

/// Every pair done, to `unit` of a path's length and of the value.
fn check(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], gamma: f64) {
    check_points(kernel, 1, xs, ys, gamma);
}

/// The same of series of one channel, or of as many as the kernel takes.
fn check_points(kernel: &'static Kernel, channels: usize, xs: &[Vec<f64>], ys: &[Vec<f64>], gamma: f64) {
    let got = if channels == 1 { sweep } else { sweep_points }(kernel, xs, ys, gamma);
    for (k, (x, y)) in xs.iter().zip(ys).enumerate() {
        let expected = soft_dtw_of_points(kernel, channels, x, y, gamma);
        let steps = (x.len() + y.len()) as f64;
        let tolerance = unit(kernel) * (steps * gamma + expected.abs());
        assert!(
            (got[k] - expected).abs() <= tolerance,
            "{} {}x{} gamma {gamma}: {} instead of {expected}",
            kernel.symbol,
            x.len(),
            y.len(),
            got[k]
        );
    }
}

#[test]
fn every_shape_does_noise() {
    for kernel in kernels() {
        let (k, width) = (kernel.columns as usize, kernel.width() as usize);
        let columns = [1, 2, k - 1, k, k + 1, 3 * k + 1, width / 2 + 1, width - 1, width];
        let channels = channels(kernel);
        let ys: Vec<_> = columns.iter().map(|m| noise(*m * channels, *m as u64)).collect();
        for n in [1, 2, 33, 70] {
            // Groups of a warp with different numbers of rows.
            let xs: Vec<_> = (0..ys.len()).map(|q| noise((n + q % 3) * channels, 1000 + q as u64)).collect();
            for gamma in [1.0, 10.0, 1e6] {
                check_points(kernel, channels, &xs, &ys, gamma * channels as f64);
            }
        }
    }
}

#[test]
fn long_pairs_stay_within_range() {
    for kernel in kernels_in_depth() {
        let width = kernel.width() as usize;
        // The kernel's sums fall faster: pairs of such lengths are given up.
        let widest = if kernel.key == "log_gak" { 512 } else { 1024 };
        let longer = if width <= widest { 2 * width } else { width };
        let (xs, ys) = ([noise(width, 5), noise(longer, 6)], [noise(width, 7), noise(width, 8)]);
        check(kernel, &xs, &ys, 1.0);
        if width <= 256 {
            check(kernel, &xs[..1], &ys[..1], 0.3);
        }
    }
}

#[test]
fn points_far_from_zero_and_alike_points_keep_their_digits() {
    let kernel = kernels()[3];
    let beside = |offset: f64, seed: u64| -> Vec<f64> {
        noise(100, seed).iter().map(|v| f64::from((offset + v) as f32)).collect()
    };
    check(kernel, &[beside(1000.0, 1), beside(-3e4, 2)], &[beside(1000.0, 3), beside(-3e4, 4)], 1.0);
    check(kernel, &[vec![2.5; 90], beside(0.0, 9)], &[vec![2.5; 128], beside(0.0, 9)], 1.0);
}

/// First rows and columns that nothing matches, so that the best paths of their cells are far worse than those of the
/// next.
#[test]
fn cells_that_fall_and_rise_by_thousands_of_digits() {
    let mut done = 0;
    for kernel in kernels_in_depth() {
        let width = kernel.width() as usize;
        let outlying = |from: usize, to: usize, by: f64, seed: u64| -> Vec<f64> {
            let all = noise(width, seed).into_iter().enumerate();
            all.map(|(k, v)| if (from..to).contains(&k) { v + by } else { v }).collect()
        };
        for by in [1.0, 4.0] {
            let xs = [
                outlying(0, 1, by, 1),
                outlying(0, 3, by, 2),
                outlying(0, width / 2, by, 3),
                outlying(width / 2, width, by, 4),
                outlying(0, 1, -by, 5),
            ];
            let ys = [
                outlying(0, 1, -by, 6),
                outlying(width - 3, width, by, 7),
                outlying(0, width / 2, -by, 8),
                outlying(width / 3, width / 2, by, 9),
                outlying(0, 1, -by, 10),
            ];
            for gamma in [0.2, 1.0] {
                for (k, got) in sweep(kernel, &xs, &ys, gamma).into_iter().enumerate() {
                    let expected = soft_dtw(kernel, &xs[k], &ys[k], gamma);
                    let close = (got - expected).abs()
                        <= unit(kernel) * (2.0 * width as f64 * gamma + expected.abs());
                    assert!(got.is_nan() || close, "{} {by} {gamma} {k}: {got} {expected}", kernel.symbol);
                    done += usize::from(close);
                }
            }
        }
    }
    let all = kernels_in_depth().count() * 20;
    assert!(done > all / 20 * 7, "{done} of {all}");
}

/// All cells of the last lane vanish between two looks at them, and better ones come from the left afterwards.
#[test]
fn a_lane_that_loses_all_it_has_is_noticed() {
    let levels = |runs: &[(f64, usize)]| -> Vec<f64> {
        runs.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count)).collect()
    };
    let x = levels(&[(14.75, 31), (6.25, 9), (20.25, 1), (6.375, 11)]);
    let y = levels(&[(6.25, 8), (19.5, 7)]);
    let gamma = std::f64::consts::LOG2_E;
    for kernel in kernels() {
        let expected = soft_dtw(kernel, &x, &y, gamma);
        let got = sweep(kernel, std::slice::from_ref(&x), std::slice::from_ref(&y), gamma)[0];
        assert!(
            got.is_nan() || (got - expected).abs() < 1e-5 * expected,
            "{}: {got} {expected}",
            kernel.symbol
        );
    }
}

#[test]
fn pairs_with_points_that_are_no_numbers_are_given_up() {
    for kernel in kernels() {
        for (n, m) in [(1, 1), (2, 2), (10, 2), (3, 9)] {
            for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let (mut x, mut y) = (noise(n, 1), noise(m, 2));
                x[n / 2] = odd;
                y[m - 1] = odd;
                let got = sweep(kernel, &[x, noise(n, 3)], &[noise(m, 4), y], 1.0);
                assert!(got.iter().all(|value| value.is_nan()), "{} {n}x{m} {odd}: {got:?}", kernel.symbol);
            }
        }
    }
}

#[test]
fn pairs_that_exponents_cannot_hold_are_given_up() {
    for kernel in kernels_in_depth() {
        let width = kernel.width() as usize;
        let spike = |at: usize, height: f64| {
            let mut series = noise(width, 3);
            series[at] = height;
            series
        };
        let xs = [
            spike(width / 2, 1e3),
            noise(width, 1),
            spike(0, f64::NAN),
            spike(width - 1, f64::INFINITY),
            noise(width, 2),
        ];
        let ys = [noise(width, 4), noise(width, 5), noise(width, 6), noise(width, 7), spike(1, f64::NAN)];
        let got = sweep(kernel, &xs, &ys, 1.0);
        assert!([0, 2, 3, 4].iter().all(|k| got[*k].is_nan()), "{}: {got:?}", kernel.symbol);
        let expected = soft_dtw(kernel, &xs[1], &ys[1], 1.0);
        assert!((got[1] - expected).abs() < 1e-4 * expected.abs(), "{}: {got:?} {expected}", kernel.symbol);
        // Either right or not done, whatever the temperature.
        for gamma in [0.1, 0.03, 0.01, 1e-3, 1e-6] {
            let got = sweep(kernel, &xs[1..2], &ys[1..2], gamma);
            let expected = soft_dtw(kernel, &xs[1], &ys[1], gamma);
            assert!(
                got[0].is_nan() || (got[0] - expected).abs() < 1e-5 * expected.abs(),
                "{} gamma {gamma}: {got:?} {expected}",
                kernel.symbol
            );
        }
        // Nothing can hold this.
        assert!(sweep(kernel, &xs[1..2], &ys[1..2], 1e-6)[0].is_nan());
    }
}
