//! Sums over all paths in bands along the diagonal: every shape against a plain loop in double precision, and which
//! pairs are given up.

use dtw_core::Scalar;
use dtw_kernels::params::{self, Banding, Measure, PAD, Pairs, Side, Sweep};
use dtw_kernels::{Kernel, SweepKind, catalog};

use crate::launch::{Launch, noise};
use crate::soft::{is_double, soft_dtw_where, unit};

fn kernels() -> Vec<&'static Kernel> {
    catalog::kernels().iter().filter(|kernel| kernel.is(SweepKind::SoftDiagonal)).collect()
}

/// Results of all pairs of series of two lengths; NaN: given up.
fn sweep(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], radius: usize, gamma: f64) -> Vec<f64> {
    let results = if is_double(kernel) { sweep_of::<f64> } else { sweep_of::<f32> };
    results(kernel, xs, ys, radius, gamma)
}

fn sweep_of<T: Scalar>(
    kernel: &'static Kernel,
    xs: &[Vec<f64>],
    ys: &[Vec<f64>],
    radius: usize,
    gamma: f64,
) -> Vec<f64> {
    let mut launch = Launch::new();
    let no_gaps = |series: &[f64]| vec![0.0; series.len()];
    let side = |side: Side| Side { offsets: 0, lengths: 0, stride: u64::from(side.length + PAD), ..side };
    let (x, y) = (side(launch.side::<T>(xs, no_gaps)), side(launch.side::<T>(ys, no_gaps)));
    let tasks = xs.len() * ys.len();
    let pairs = Pairs {
        x,
        y,
        out: launch.hold(&vec![T::from_f64(7.0); tasks]),
        out_stride: ys.len() as u64,
        tasks: tasks as u64,
        pairing: params::CROSS,
        channels: 1,
        ..Pairs::default()
    };
    let is_gak = kernel.key == "log_gak";
    let parameter = if is_gak { (gamma / 2.0).sqrt() } else { gamma };
    let measure = Measure { parameters: [parameter, 0.0, 0.0, 0.0], ..Measure::default() };
    let banding = Banding { band: params::BAND_SAKOE, radius: radius as u32, ..Banding::default() };
    let p = Sweep { pairs, banding, measure, ..Sweep::default() };
    launch.run(kernel, &p, 1);
    let values = launch.read::<T>(p.pairs.out, tasks);
    values.into_iter().map(|value| if is_gak { -gamma * value } else { value }).collect()
}

/// By the definition.
fn in_a_band(kernel: &Kernel, x: &[f64], y: &[f64], radius: usize, gamma: f64) -> f64 {
    let (n, m) = (x.len(), y.len());
    let radius = radius.min(n.max(m));
    let (below, above) = (radius + n.saturating_sub(m), radius + m.saturating_sub(n));
    soft_dtw_where(kernel, 1, x, y, gamma, |i, j| j + below >= i && j <= i + above)
}

/// Whether a kernel takes this band.
fn holds(kernel: &Kernel, n: usize, m: usize, radius: usize) -> bool {
    let offsets = 2 * radius.min(n.max(m)) + n.abs_diff(m) + 1;
    (kernel.least_offsets..=kernel.width()).contains(&(offsets as u32))
}

/// How many pairs were done; all that were are right, to `unit` of a path's length and of the value.
fn check(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], radius: usize, gamma: f64) -> usize {
    let mut done = 0;
    for (k, got) in sweep(kernel, xs, ys, radius, gamma).into_iter().enumerate() {
        let (x, y) = (&xs[k / ys.len()], &ys[k % ys.len()]);
        let expected = in_a_band(kernel, x, y, radius, gamma);
        let tolerance = unit(kernel) * ((x.len() + y.len()) as f64 * gamma + expected.abs());
        assert!(
            got.is_nan() || (got - expected).abs() <= tolerance,
            "{} {}x{} radius {radius} gamma {gamma} pair {k}: {got} instead of {expected}",
            kernel.symbol,
            x.len(),
            y.len(),
        );
        done += usize::from(!got.is_nan());
    }
    done
}

/// So many series of noise.
fn several(count: u64, length: usize, seed: u64) -> Vec<Vec<f64>> {
    (0..count).map(|k| noise(length, seed + k)).collect()
}

#[test]
fn every_shape_does_noise() {
    for kernel in kernels() {
        let (width, least) = (kernel.width() as usize, kernel.least_offsets as usize);
        let mut checked = 0;
        for offsets in [least, least + 1, width.midpoint(least), width - 1, width] {
            // An odd number is a radius on both sides; an even one needs lengths that differ.
            for (apart, n) in [(1, 3), (1, 40), (3, width / 2 + 3), (3, width + 9)] {
                let apart = if offsets % 2 == 0 { apart } else { apart - 1 };
                let Some(radius) = offsets.checked_sub(apart + 1).map(|both| both / 2) else { continue };
                if radius > n || n > 300.max(width / 2 + 3) {
                    continue;
                }
                for (n, m, gamma) in [(n, n + apart, 1.0), (n + apart, n, 1.0), (n, n + apart, 1e6)] {
                    let (xs, ys) = (several(2, n, 5), several(2, m, 50));
                    assert_eq!(check(kernel, &xs, &ys, radius, gamma), 4, "{} {n}x{m}", kernel.symbol);
                    checked += 1;
                }
            }
        }
        assert!(checked > 8, "{}: {checked}", kernel.symbol);
    }
}

#[test]
fn bands_of_all_short_pairs() {
    const LONGEST: usize = 17;
    let mut checked = 0;
    for (n, m) in (1..=LONGEST).flat_map(|n| (1..=LONGEST).map(move |m| (n, m))) {
        // Radii beyond the longer length mean the same band as the longer length.
        for radius in 0..=n.max(m) + 1 {
            let held = kernels().into_iter().filter(|kernel| holds(kernel, n, m, radius));
            // Every seventh, to save time.
            for kernel in held.filter(|_| (n + 2 * m + 3 * radius).is_multiple_of(7)) {
                let (xs, ys) = (several(2, n, 5), several(3, m, 50));
                assert_eq!(check(kernel, &xs, &ys, radius, 1.0), 6, "{} {n}x{m} {radius}", kernel.symbol);
                checked += 1;
            }
        }
    }
    assert!(checked > LONGEST * LONGEST, "{checked} bands");
}

/// Weights of 1 everywhere: cells grow as fast as they can. And points far from zero, unlike what lies behind them.
#[test]
fn plateaus_and_points_far_from_zero_are_done() {
    for kernel in kernels() {
        let width = kernel.width() as usize;
        let (n, radius) = (width / 2 + 70, (width - 1) / 2);
        let beside = |offset: f64, seed: u64| -> Vec<f64> {
            noise(n, seed).iter().map(|v| f64::from((offset + v) as f32)).collect()
        };
        let plateau = |seed: u64| -> Vec<f64> {
            let points = beside(2.5, seed).into_iter().enumerate();
            points.map(|(k, v)| if k % 60 < 40 { 2.5 } else { v }).collect()
        };
        for (xs, ys) in [
            ([vec![2.5; n], plateau(1)], [vec![2.5; n], plateau(2)]),
            ([beside(1000.0, 1), beside(1000.0, 2)], [beside(1000.0, 3), beside(1000.0, 4)]),
        ] {
            assert_eq!(check(kernel, &xs, &ys, radius, 1.0), 4, "{}", kernel.symbol);
        }
    }
}

/// Long runs and single points that nothing matches, and low temperatures: cells fall, and rise again, by thousands of
/// binary digits. Whatever is done is right.
#[test]
fn cells_that_fall_and_rise_by_thousands_of_digits() {
    let (mut done, mut all) = (0, 0);
    for kernel in kernels() {
        let radius = (kernel.width() as usize - 1) / 2;
        let n = radius + 40;
        let with = |from: usize, to: usize, by: f64, seed: u64| -> Vec<f64> {
            let points = noise(n, seed).into_iter().enumerate();
            points.map(|(k, v)| if (from..to).contains(&k) { v + by } else { v }).collect()
        };
        for by in [1.0, 4.0] {
            let xs = [with(0, 1, by, 1), with(0, 3, by, 2), with(n / 2, n, by, 3)];
            let ys = [
                with(0, 1, -by, 6),
                with(n - 3, n, by, 7),
                with(0, n / 2, -by, 8),
                with(n / 3, n / 2, by, 9),
            ];
            for gamma in [0.2, 1.0] {
                done += check(kernel, &xs, &ys, radius, gamma);
                all += xs.len() * ys.len();
            }
        }
    }
    assert!(done > all / 4 && done < all, "{done} of {all}");
}

#[test]
fn what_cannot_be_held_is_given_up() {
    for kernel in kernels() {
        let radius = (kernel.width() as usize - 1) / 2;
        let n = radius + 20;
        let spike = |at: usize, height: f64| {
            let mut series = noise(n, 3);
            series[at] = height;
            series
        };
        let ys = [noise(n, 4)];
        for height in [1e3, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let xs = [spike(0, height), noise(n, 1), spike(n / 2, height), spike(n - 1, height)];
            let got = sweep(kernel, &xs, &ys, radius, 1.0);
            assert!([0, 2, 3].iter().all(|k| got[*k].is_nan()), "{} {height}: {got:?}", kernel.symbol);
            assert_eq!(check(kernel, &xs[1..2], &ys, radius, 1.0), 1, "{}", kernel.symbol);
            let got = sweep(kernel, &ys, &xs, radius, 1.0);
            assert!([0, 2, 3].iter().all(|k| got[*k].is_nan()), "{} {height}: {got:?}", kernel.symbol);
        }
        for gamma in [0.1, 0.03, 0.01, 1e-3] {
            check(kernel, &[noise(n, 1)], &ys, radius, gamma);
        }
        // Nothing can hold this.
        assert!(sweep(kernel, &[noise(n, 1)], &ys, radius, 1e-6)[0].is_nan(), "{}", kernel.symbol);
    }
}

/// Cells of a lane vanish beside better ones, and then only paths through them go on.
#[test]
fn what_vanishes_and_would_have_counted_is_noticed() {
    let levels = |n: usize, seed: u64| -> Vec<f64> {
        let runs = noise(2 * n, seed).into_iter().map(|v| v.abs() * 1e3);
        let runs: Vec<usize> = runs.map(|v| v as usize).collect();
        let runs = runs.chunks(2).flat_map(|run| std::iter::repeat_n((run[0] % 30) as f64, 1 + run[1] % 9));
        runs.take(n).collect()
    };
    let (mut done, mut all) = (0, 0);
    for kernel in kernels() {
        for k in 0..20_usize {
            let (n, m) = (30 + 3 * k, 30 + 2 * k);
            let radius = (kernel.width() as usize - 1 - n.abs_diff(m)) / 2;
            if holds(kernel, n, m, radius.min(n)) {
                let all_of = |length, seed: u64| (0..4).map(|q| levels(length, seed + q)).collect::<Vec<_>>();
                let (xs, ys) = (all_of(n, 10 * k as u64), all_of(m, 1000 + 10 * k as u64));
                done += check(kernel, &xs, &ys, radius.min(n), std::f64::consts::LOG2_E);
                all += 16;
            }
        }
    }
    assert!(done < all && all > 1000, "{done} of {all}");
}
