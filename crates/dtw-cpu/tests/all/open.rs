//! Costs of matches without their starts: side by side they are those of a loop over all cells, to the last bit.

use dtw_core::{Backend, LocalCost, OwnedBatch, Pairing, Problem, SeriesBatch, Spec};
use dtw_cpu::{CpuBackend, Element, Isa};

/// Few different values, so that costs are often equal or zero; some large enough to overflow.
fn values<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match state >> 33 {
            huge if huge % 97 == 0 => T::from_f64(if T::DTYPE.bytes() == 4 { 1e30 } else { 1e300 }),
            other => T::from_f64((other % 7) as f64 * 0.3 - 0.9),
        }
    };
    (0..count).map(|_| step()).collect()
}

fn batch<T: Element>(lengths: &[usize], channels: usize, seed: u64) -> OwnedBatch<T> {
    let mut batch = OwnedBatch::new(channels).unwrap();
    for (s, length) in (0..).zip(lengths) {
        batch.push(&values(*length * channels, seed + s)).unwrap();
    }
    batch
}

/// The least of the last row, sums taken as the sweep takes them.
fn plain<T: Element>(x: &[T], y: &[T], channels: usize) -> T {
    let point = |series: &[T], i: usize| series[i * channels..][..channels].to_vec();
    let (n, m) = (x.len() / channels, y.len() / channels);
    let mut above = vec![T::ZERO; m + 1];
    for i in 0..n {
        let mut row = vec![T::INFINITY];
        for j in 0..m {
            let cost = point(x, i).iter().zip(point(y, j)).fold(T::ZERO, |sum, (x, y)| sum + (*x - y).abs());
            let least = [above[j], above[j + 1], row[j]].into_iter().fold(T::INFINITY, |a, b| a.min(b));
            row.push(least + cost);
        }
        above = row;
    }
    above[1..].iter().fold(T::INFINITY, |a, b| a.min(*b))
}

fn check<T: Element>(x: SeriesBatch<'_, T>, y: SeriesBatch<'_, T>) {
    let spec = Spec::subsequence_dtw(LocalCost::Manhattan);
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
    let pairs = (0..x.len()).flat_map(|i| (0..y.len()).map(move |j| (i, j)));
    let expected: Vec<T> =
        pairs.map(|(i, j)| plain(x.get(i).values, y.get(j).values, x.channels())).collect();
    for isa in Isa::available() {
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        let mut out = vec![T::ZERO; expected.len()];
        Backend::<T>::plan(&backend, &problem).unwrap().distances(x, y, &mut out).unwrap();
        assert_eq!(out, expected, "{}", isa.name());
    }
}

fn all<T: Element>() {
    // Around the ends of strips and of registers; equal lengths, then all different.
    for (count, n, m) in [(1, 1, 1), (5, 8, 40), (17, 9, 33), (4, 31, 7), (16, 64, 65)] {
        for channels in [1, 3] {
            let (x, y) = (batch::<T>(&vec![n; count], channels, 1), batch::<T>(&[m; 5], channels, 900));
            check(x.batch(), y.batch());
        }
    }
    let lengths =
        |count: usize, most: usize| -> Vec<usize> { (0..count).map(|s| 1 + s * 13 % most).collect() };
    let (x, y) = (batch::<T>(&lengths(23, 30), 1, 5), batch::<T>(&lengths(11, 50), 1, 77));
    check(x.batch(), y.batch());
}

#[test]
fn costs_side_by_side_are_those_of_a_loop() {
    all::<f32>();
    all::<f64>();
}
