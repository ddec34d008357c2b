//! DTW in half precision, two pairs at once: every shape against a plain loop in double precision, and what is left undone where
//! halves cannot do.
#![cfg(feature = "host")]

use dtw_kernels::params::{self, Sweep};
use dtw_kernels::{Kernel, Pass, catalog};
use launch::{Launch, noise, odd};

mod launch;

/// What a result may be off by, as a part of it.
const ERROR: f64 = 1e-2;
/// The same of plateaus, whose equal steps are all rounded the same way, and next to spikes, which swallow cheaper steps.
const MOST_ERROR: f64 = 0.1;

/// DTW by its definition.
fn dtw(x: &[f64], y: &[f64]) -> f64 {
    let mut above = vec![f64::INFINITY; y.len() + 1];
    above[0] = 0.0;
    for point in x {
        let mut row = vec![f64::INFINITY; y.len() + 1];
        for (j, other) in y.iter().enumerate() {
            row[j + 1] = (point - other).powi(2) + above[j].min(above[j + 1]).min(row[j]);
        }
        above = row;
    }
    above[y.len()]
}

/// A walk; with `keep` below 1, one that is drawn back to zero.
fn walk(length: usize, keep: f64, seed: u64) -> Vec<f64> {
    let mut at = 0.0;
    let steps = noise(length, seed).into_iter();
    steps
        .map(|step| {
            at = keep * at + step;
            f64::from(at as f32)
        })
        .collect()
}

fn kernels() -> Vec<&'static Kernel> {
    catalog::kernels()
        .iter()
        .filter(|kernel| kernel.pass == Pass::Sweep && kernel.key == "dtw_half")
        .collect()
}

/// What is asked of one launch: which series are paired, in the order of the results.
struct Ask {
    pairing: u32,
    pairs: Vec<(usize, usize)>,
    /// Results: places, and places from row to row.
    places: usize,
    stride: usize,
}

impl Ask {
    fn zipped(count: usize) -> Self {
        let pairs = (0..count).map(|k| (k, k)).collect();
        Self { pairing: params::ZIPPED, pairs, places: count, stride: 0 }
    }
    fn cross(rows: usize, columns: usize) -> Self {
        let pairs = (0..rows * columns).map(|k| (k / columns, k % columns)).collect();
        Self { pairing: params::CROSS, pairs, places: rows * columns, stride: columns }
    }
    fn symmetric(count: usize) -> Self {
        let pairs = (0..count).flat_map(|i| (i..count).map(move |j| (i, j))).collect();
        Self { pairing: params::SYMMETRIC, pairs, places: count * count, stride: count }
    }
}

/// The numbers at all places; NaN: left undone.
fn launch(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], ask: &Ask) -> Vec<f64> {
    let mut launch = Launch::new();
    let gaps = |series: &[f64]| vec![0.0; series.len()];
    let listed: Vec<u32> = ask.pairs.iter().flat_map(|(i, j)| [*i as u32, *j as u32]).collect();
    let p = Sweep {
        x: launch.side::<f32>(xs, gaps),
        y: launch.side::<f32>(ys, gaps),
        out: launch.hold(&vec![7.0_f32; ask.places]),
        out_stride: ask.stride as u64,
        pairs: launch.hold(&listed),
        tasks: ask.pairs.len() as u64,
        pairing: ask.pairing,
        channels: 1,
        only_strip: params::ALL_STRIPS,
        ..Sweep::default()
    };
    launch.run(kernel, &p, 2);
    launch.read::<f32>(p.out, ask.places)
}

/// Results of zipped pairs.
fn sweep(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>]) -> Vec<f64> {
    launch(kernel, xs, ys, &Ask::zipped(xs.len()))
}

/// A result is right, unless it was left undone; whether it was done.
fn is_right(got: f64, x: &[f64], y: &[f64], error: f64, what: &str) -> bool {
    let expected = dtw(x, y);
    let (n, m) = (x.len(), y.len());
    assert!(
        got.is_nan() || (got >= 0.0 && (got - expected).abs() <= error * expected),
        "{what} {n}x{m}: {got} instead of {expected}"
    );
    !got.is_nan()
}

/// Every zipped pair is done, and right.
fn check(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], error: f64) {
    for ((got, x), y) in sweep(kernel, xs, ys).into_iter().zip(xs).zip(ys) {
        let (n, m) = (x.len(), y.len());
        assert!(is_right(got, x, y, error, kernel.symbol), "{} {n}x{m} is left undone", kernel.symbol);
    }
}

#[test]
fn every_shape_does_all_lengths() {
    for kernel in kernels() {
        let (k, width) = (kernel.columns as usize, kernel.width() as usize);
        // An odd number, and couples of different lengths.
        let columns = [1, 2, k - 1, k, k + 1, width / 2 + 1, width - k, width - 1, width];
        let ys: Vec<_> = columns.iter().map(|m| noise(*m, *m as u64)).collect();
        for n in [1, 2, 7, 8, 9, 31, 70] {
            let xs: Vec<_> = (0..ys.len()).map(|q| noise(n + 5 * (q % 3), 1000 + q as u64)).collect();
            check(kernel, &xs, &ys, ERROR);
        }
    }
}

#[test]
fn every_pairing_puts_results_in_their_places() {
    for kernel in [kernels()[0], kernels()[5]] {
        let series = |count: usize, seed: u64| -> Vec<Vec<f64>> {
            (0..count).map(|q| noise(30 - q, seed + q as u64)).collect()
        };
        for (rows, columns) in [(1, 1), (3, 5), (4, 2), (5, 1)] {
            let (xs, ys) = (series(rows, 1), series(columns, 50));
            let mut ask = Ask::cross(rows, columns);
            for pairing in [params::CROSS, params::LISTED] {
                ask.pairing = pairing;
                let got = launch(kernel, &xs, &ys, &ask);
                for (got, (i, j)) in got.into_iter().zip(&ask.pairs) {
                    assert!(is_right(got, &xs[*i], &ys[*j], ERROR, "cross or listed"), "{i} {j}");
                }
            }
        }
        for count in [2, 5, 6] {
            let xs = series(count, 3);
            let got = launch(kernel, &xs, &xs, &Ask::symmetric(count));
            for (k, got) in got.iter().enumerate() {
                let (i, j) = (k / count, k % count);
                // Series and themselves: too little to be told from the rounding of points.
                assert_eq!(is_right(*got, &xs[i], &xs[j], ERROR, "symmetric"), i != j, "{i} {j}");
            }
        }
    }
}

#[test]
fn noise_and_walks_are_never_left_undone() {
    let mut narrowest = 0;
    let mut by_width = kernels();
    by_width.sort_by_key(|kernel| (kernel.width(), kernel.columns));
    for kernel in by_width.into_iter().filter(|kernel| kernel.width() <= 1024) {
        let width = kernel.width() as usize;
        let from = if width == narrowest { width } else { narrowest + 1 };
        let steps = (width - from) / 4 + 1;
        let lengths: Vec<usize> = (from..=width).step_by(steps).chain([width - 1]).collect();
        let make: [fn(usize, u64) -> Vec<f64>; 3] =
            [noise, |n, seed| walk(n, 0.97, seed), |n, seed| walk(n, 1.0, seed)];
        for (kind, series) in make.into_iter().enumerate() {
            let seed = (kind * 7919 + width) as u64;
            let [xs, ys] = [1, 2].map(|side| {
                lengths.iter().map(|m| series(*m, seed + side + 2 * *m as u64)).collect::<Vec<_>>()
            });
            check(kernel, &xs, &ys, ERROR);
        }
        narrowest = width;
    }
}

#[test]
fn long_pairs_keep_three_digits() {
    for kernel in kernels() {
        let width = kernel.width() as usize;
        let longer = if width <= 512 { 2 * width } else { 300 };
        let (xs, ys) = ([noise(longer, 5), walk(longer, 0.97, 6)], [noise(width, 7), walk(width, 0.97, 8)]);
        for ((got, x), y) in sweep(kernel, &xs, &ys).into_iter().zip(&xs).zip(&ys) {
            let expected = dtw(x, y);
            let error = (got - expected).abs() / expected;
            assert!(error < 5e-3, "{} {longer}x{width}: {got} instead of {expected}", kernel.symbol);
        }
    }
}

#[test]
fn units_do_not_matter() {
    for kernel in kernels() {
        let m = kernel.width() as usize / 2 + 3;
        for (size, offset) in [(1e-6, 0.0), (1e9, 0.0), (1.0, 1000.0), (30.0, -1e4)] {
            let place = |series: Vec<f64>| -> Vec<f64> {
                series.into_iter().map(|v| f64::from((v * size + offset) as f32)).collect()
            };
            // Two pairs of one couple, in different units.
            let (xs, ys) = ([place(noise(60, 4)), noise(60, 5)], [place(noise(m, 6)), noise(m, 7)]);
            check(kernel, &xs, &ys, ERROR);
        }
        let alike = [vec![2.5; 30], vec![0.0; 1], vec![-1e30; 7]];
        assert_eq!(sweep(kernel, &alike, &alike), [0.0; 3], "{}", kernel.symbol);
    }
}

#[test]
fn what_halves_cannot_hold_is_left_undone() {
    for kernel in kernels() {
        let m = kernel.width() as usize;
        let spike = |height: f64| {
            let mut series = noise(m, 3);
            series[m / 2] = height;
            series
        };
        // The other pair of a couple does not mind.
        for height in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -f64::NAN, 1e30, 1e13] {
            let xs = [spike(height), noise(40, 1), noise(30, 2), spike(height)];
            let ys = [noise(m, 4), noise(m, 5), spike(height), noise(m, 6)];
            let got = sweep(kernel, &xs, &ys);
            let done: Vec<bool> = got.iter().map(|value| !value.is_nan()).collect();
            assert_eq!(done, [false, true, false, false], "{} {height}", kernel.symbol);
            assert!(is_right(got[1], &xs[1], &ys[1], ERROR, kernel.symbol));
        }
        // Ranges too small to be squared, pairs too much alike, and totals that are too large.
        let tiny: Vec<f64> = noise(m, 7).iter().map(|v| v * 1e-20).collect();
        let near: Vec<f64> = noise(m, 7).iter().zip(noise(m, 8)).map(|(v, e)| v + 1e-4 * e).collect();
        let (low, high) = (vec![-1.99; 1200], vec![1.99; m]);
        let xs = [tiny.clone(), noise(m, 7), noise(m, 7), low];
        let got = sweep(
            kernel,
            &xs,
            &[noise(m, 7).iter().map(|v| v * 1e-20).rev().collect(), near, noise(m, 7), high],
        );
        assert!(got.iter().all(|value| value.is_nan()), "{}: {got:?}", kernel.symbol);
    }
}

#[test]
fn odd_series_are_right_or_left_undone() {
    let (mut done, mut all) = (0, 0);
    for kernel in kernels() {
        let m = (kernel.width() as usize).min(700);
        let xs: Vec<_> = (0..8_u64).map(|seed| odd(m, seed, seed.is_multiple_of(2))).collect();
        let ys: Vec<_> =
            (0..8_u64).map(|seed| odd(m - seed as usize, 100 + seed, seed.is_multiple_of(2))).collect();
        for ((got, x), y) in sweep(kernel, &xs, &ys).into_iter().zip(&xs).zip(&ys) {
            done += usize::from(is_right(got, x, y, MOST_ERROR, kernel.symbol));
            all += 1;
        }
    }
    assert!(done * 4 > all * 3, "{done} of {all} are done");
}
