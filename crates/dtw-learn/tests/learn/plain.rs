//! Data, and full-matrix loops that share no code with the crates under test.

use dtw_core::{Backend, OwnedBatch, Plan, Problem, Result, SeriesBatch, Task};
use dtw_cpu::CpuBackend;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) fn backend() -> CpuBackend {
    CpuBackend::with_threads(2)
}

/// The CPU as a device that leaves the caller's cores idle.
#[derive(Debug)]
pub(crate) struct Elsewhere(pub(crate) CpuBackend);

impl Backend<f64> for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }
    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        Backend::<f64>::supports(&self.0, problem, task)
    }
    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<f64>>> {
        self.0.plan(problem)
    }
    fn computes_elsewhere(&self) -> bool {
        true
    }
}

pub(crate) fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random series, `[length, channels]`.
pub(crate) fn series(rng: &mut impl Rng, length: usize, channels: usize) -> Vec<f64> {
    (0..length * channels).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Random series of these lengths.
pub(crate) fn ragged(seed: u64, lengths: &[usize], channels: usize) -> OwnedBatch<f64> {
    let mut rng = rng(seed);
    let mut batch = OwnedBatch::new(channels).unwrap();
    for length in lengths {
        batch.push(&series(&mut rng, *length, channels)).unwrap();
    }
    batch
}

/// Squared Euclidean costs, `[n, m]`; `None` outside a Sakoe–Chiba band of this radius.
fn costs(x: &[f64], y: &[f64], channels: usize, radius: Option<usize>) -> Vec<Vec<Option<f64>>> {
    let (n, m) = (x.len() / channels, y.len() / channels);
    (0..n)
        .map(|i| {
            (0..m)
                .map(|j| {
                    // |i − j| ≤ radius, the longer side's limit widened by the difference of the lengths.
                    let allowed = radius
                        .is_none_or(|r| i <= j + r + n.saturating_sub(m) && j <= i + r + m.saturating_sub(n));
                    allowed.then(|| {
                        (0..channels).map(|k| (x[i * channels + k] - y[j * channels + k]).powi(2)).sum()
                    })
                })
                .collect()
        })
        .collect()
}

/// The DTW cost of two series and its path, ties diagonal, up, left.
pub(crate) fn dtw(
    x: &[f64],
    y: &[f64],
    channels: usize,
    radius: Option<usize>,
) -> (f64, Vec<(usize, usize)>) {
    let cost = costs(x, y, channels, radius);
    let (n, m) = (cost.len(), cost[0].len());
    let mut d = vec![vec![f64::INFINITY; m + 1]; n + 1];
    d[0][0] = 0.0;
    for i in 0..n {
        for j in 0..m {
            if let Some(c) = cost[i][j] {
                d[i + 1][j + 1] = c + d[i][j].min(d[i][j + 1]).min(d[i + 1][j]);
            }
        }
    }
    let (mut i, mut j) = (n, m);
    let mut path = Vec::new();
    while i > 0 {
        path.push((i - 1, j - 1));
        let best = d[i - 1][j - 1].min(d[i - 1][j]).min(d[i][j - 1]);
        (i, j) = if d[i - 1][j - 1] == best {
            (i - 1, j - 1)
        } else if d[i - 1][j] == best {
            (i - 1, j)
        } else {
            (i, j - 1)
        };
    }
    path.reverse();
    (d[n][m], path)
}

/// A path through cells where arrivals cost what `arrivals(i, j)` says (diagonal, up, left; 0-based), walked back with
/// ties diagonal, up, left. The border costs `border(i, j)`, of which one is 0 (1-based).
pub(crate) fn path(
    (n, m): (usize, usize),
    border: impl Fn(usize, usize) -> f64,
    arrivals: impl Fn(usize, usize) -> [f64; 3],
) -> (f64, Vec<(usize, usize)>) {
    let mut d = vec![vec![0.0_f64; m + 1]; n + 1];
    let sums = |d: &[Vec<f64>], i: usize, j: usize| {
        let cost = arrivals(i - 1, j - 1);
        [d[i - 1][j - 1] + cost[0], d[i - 1][j] + cost[1], d[i][j - 1] + cost[2]]
    };
    for i in 0..=n {
        for j in 0..=m {
            d[i][j] = match (i, j) {
                (0, 0) => 0.0,
                (0, _) | (_, 0) => border(i, j),
                _ => sums(&d, i, j).into_iter().fold(f64::INFINITY, f64::min),
            };
        }
    }
    let (mut i, mut j) = (n, m);
    let mut path = Vec::new();
    while i > 0 && j > 0 {
        path.push((i - 1, j - 1));
        let costs = sums(&d, i, j);
        let step = costs.iter().position(|cost| *cost == d[i][j]).unwrap();
        (i, j) = [(i - 1, j - 1), (i - 1, j), (i, j - 1)][step];
    }
    path.reverse();
    (d[n][m], path)
}

/// The Soft-DTW value of two series.
pub(crate) fn soft_dtw(x: &[f64], y: &[f64], channels: usize, gamma: f64) -> f64 {
    let cost = costs(x, y, channels, None);
    let (n, m) = (cost.len(), cost[0].len());
    let mut d = vec![vec![f64::INFINITY; m + 1]; n + 1];
    d[0][0] = 0.0;
    for i in 0..n {
        for j in 0..m {
            let arrivals = [d[i][j], d[i][j + 1], d[i + 1][j]];
            let least = arrivals.iter().copied().fold(f64::INFINITY, f64::min);
            let sum: f64 = arrivals.iter().map(|a| (-(a - least) / gamma).exp()).sum();
            d[i + 1][j + 1] = cost[i][j].unwrap() + least - gamma * sum.ln();
        }
    }
    d[n][m]
}

/// `s(x, y) − ½ (s(x, x) + s(y, y))`.
pub(crate) fn divergence(x: &[f64], y: &[f64], channels: usize, gamma: f64) -> f64 {
    let s = |x: &[f64], y: &[f64]| soft_dtw(x, y, channels, gamma);
    s(x, y) - 0.5 * (s(x, x) + s(y, y))
}

/// Σ w·d(center, x).
pub(crate) fn total(
    center: &[f64],
    x: SeriesBatch<'_, f64>,
    weights: &[f64],
    d: impl Fn(&[f64], &[f64]) -> f64,
) -> f64 {
    x.iter().zip(weights).map(|(series, w)| w * d(center, series.values)).sum()
}

#[track_caller]
pub(crate) fn assert_close(got: f64, expected: f64, relative: f64) {
    assert!(
        (got - expected).abs() <= relative * expected.abs().max(1e-300),
        "got {got}, expected {expected} within {relative} relative"
    );
}

/// Three shapes — a peak, a step, a ramp down — shifted and noisy; series `s` has shape `s % 3`.
pub(crate) fn three_shapes(seed: u64, count: usize, length: usize) -> OwnedBatch<f64> {
    let mut rng = rng(seed);
    let mut batch = OwnedBatch::new(1).unwrap();
    for s in 0..count {
        let shift: f64 = rng.random_range(-0.08..0.08);
        let values: Vec<f64> = (0..length)
            .map(|i| {
                let t = i as f64 / (length - 1) as f64 + shift;
                let noise: f64 = rng.random_range(-0.1..0.1);
                noise
                    + match s % 3 {
                        0 => 3.0 * (-((t - 0.5) / 0.1).powi(2)).exp(),
                        1 => 2.0 * f64::from(u8::from(t > 0.4)) - 1.0,
                        _ => 2.0 - 4.0 * t,
                    }
            })
            .collect();
        batch.push(&values).unwrap();
    }
    batch
}
