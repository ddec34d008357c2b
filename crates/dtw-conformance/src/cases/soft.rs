//! Soft-DTW, its divergence and the alignment kernel where digits are easily lost: one path, two paths, equal series, γ
//! from very small to far larger than all costs; pairs by themselves, and matrices in which few or all pairs are such.

use super::Case;
use super::series::{Kind, Look, SplitMix, look, series};
use crate::batch::Batch;
use dtw_core::{Band, LocalCost, Measure, Pairing, Radius, Spec};

/// Smoothing from 10⁻³ to 10¹².
const GAMMAS: [f64; 6] = [1e-3, 1.0, 1e3, 1e6, 1e9, 1e12];
/// Smoothing with other costs.
const COSTS: [(f64, LocalCost); 3] =
    [(1e-3, LocalCost::Euclidean), (1.0, LocalCost::Manhattan), (1e6, LocalCost::Euclidean)];
/// Widths of the kernel.
const SIGMAS: [f64; 4] = [0.5, 30.0, 1e3, 1e6];

/// A band with exactly two paths: the diagonal, and one that leaves it for one cell.
fn two_paths(n: usize) -> Band {
    let row = |i: usize| i..(if i == n / 2 { i + 2 } else { i + 1 }).min(n);
    Band::Ranges((0..n).map(row).collect())
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut random = SplitMix::new(77);
    let mut cases = Vec::new();
    let measures = GAMMAS
        .into_iter()
        .flat_map(|gamma| [Measure::soft_dtw(gamma), Measure::soft_dtw_divergence(gamma)])
        .chain(SIGMAS.map(|sigma| Measure::LogGak { sigma }))
        .chain(COSTS.into_iter().flat_map(|(gamma, cost)| {
            [Measure::SoftDtw { gamma, cost }, Measure::SoftDtwDivergence { gamma, cost }]
        }));
    for measure in measures {
        alone(&measure, &mut random, &mut cases);
        together(&measure, &mut random, &mut cases);
        in_step(&measure, &mut random, &mut cases);
    }
    cases
}

/// Pairs of very unequal lengths, up to 10⁴ points, and series that stay on one level or a few: weights are equal
/// there, and equal weights round alike, so that errors add up.
fn in_step(measure: &Measure, random: &mut SplitMix, cases: &mut Vec<Case>) {
    // A divergence is of each series with itself, too.
    let most = if matches!(measure, Measure::SoftDtwDivergence { .. }) { 200 } else { 10_000 };
    let level = |value: f64, n: usize| vec![value; n];
    let levels = |values: [f64; 2], n: usize| (0..n).map(|i| values[i * 2 / n]).collect::<Vec<_>>();
    let mut sides = vec![
        ("level", level(0.75, most), level(0.0, 1)),
        ("low level", level(0.1_f32.into(), most / 10), level(0.0, 1)),
        ("level", level(0.75, 100), level(0.0, 1)),
        ("level and few points", level(0.3_f32.into(), most / 3), level(1.25, 3)),
        ("levels", levels([0.0, 0.75], 200), levels([0.5, 0.25], 200)),
        ("equal levels", level(0.75, 150), level(0.75, 150)),
    ];
    for (name, kind) in [
        ("plateaus", Look::Plateaus),
        ("walk", Look::Walk),
        ("free walk", Look::FreeWalk),
        ("noise", Look::Noise),
        ("spikes", Look::Spikes),
    ] {
        for (n, m) in [(most, 1), (most / 4, 5), (120, 90)] {
            sides.push((name, look(kind, n, random), look(kind, m, random)));
        }
    }
    for (name, x, y) in sides {
        let name = format!("{name} {}×{}", x.len(), y.len());
        let batch = |values: Vec<f64>| Batch::one(values.into_iter().map(|value| vec![value]).collect());
        cases.push(Case::zipped(name, &Spec::new(*measure), &Band::Full, [batch(x), batch(y)]));
    }
}

/// One pair each.
fn alone(measure: &Measure, random: &mut SplitMix, cases: &mut Vec<Case>) {
    let shapes = [
        (1, 1, Band::Full),
        (50, 1, Band::Full),
        (1, 50, Band::Full),
        (2, 2, Band::Full),
        (300, 2, Band::Full),
        (20, 20, Band::Full),
        (31, 24, Band::Full),
        (90, 150, Band::Full),
        (50, 50, Band::sakoe_chiba(0)),
        (300, 300, Band::sakoe_chiba(0)),
        // Explicit ranges fit one pair of lengths, and these are square.
        (40, 40, two_paths(40)),
        (60, 60, Band::sakoe_chiba(3)),
        (33, 40, Band::Slanted { radius: Radius::Points(2) }),
    ];
    let mut zipped = |name: &str, band: &Band, x: Vec<Vec<f64>>, y: Vec<Vec<f64>>| {
        let name = format!("{name} {}×{} {band:?}", x.len(), y.len());
        let name = if name.len() > 80 { format!("{} points, two paths", x.len()) } else { name };
        cases.push(Case::zipped(name, &Spec::new(*measure), band, [x, y].map(Batch::one)));
    };
    for (n, m, band) in &shapes {
        for (name, kind) in [
            ("noise", Kind::Noise),
            ("tiny", Kind::Tiny),
            ("offset", Kind::Offset(1e3)),
            ("zeros", Kind::Constant(0.0)),
        ] {
            let x = series(kind, *n, 1, random);
            zipped(name, band, x, series(kind, *m, 1, random));
        }
        let x = series(Kind::Noise, *n, 2, random);
        if n == m {
            zipped("itself", band, x.clone(), x);
        } else {
            zipped("two channels", band, x, series(Kind::Noise, *m, 2, random));
        }
    }
    let x = series(Kind::Noise, 280, 1, random);
    zipped("noise", &Band::Full, x, series(Kind::Noise, 300, 1, random));
}

/// Matrices and rows of pairs.
fn together(measure: &Measure, random: &mut SplitMix, cases: &mut Vec<Case>) {
    let mut batch = |lengths: &[usize], channels: usize| {
        Batch::new(lengths.iter().map(|n| series(Kind::Noise, *n, channels, random)).collect())
    };
    // Series of as many lengths as there are; of one that differs, which makes one pair in nine one with a single path;
    // in a band.
    let mixed: &[usize] = &[1, 2, 3, 9, 30, 70];
    let one_short: &[usize] = &[30, 30, 30, 30, 1, 30, 30, 30, 30];
    let all_but_one_path = [&[30; 20][..], &[1]].concat();
    let cross = [
        (mixed, mixed, 1, Band::Full),
        (mixed, mixed, 3, Band::Full),
        (&[30, 31, 29][..], one_short, 1, Band::Full),
        (&[20; 3][..], &[20; 4][..], 2, Band::sakoe_chiba(0)),
        (&[20; 3][..], &[20; 4][..], 1, Band::sakoe_chiba(4)),
    ];
    for (lengths_x, lengths_y, channels, band) in cross {
        let name = format!("{}×{} of {channels} channels, {band:?}", lengths_x.len(), lengths_y.len());
        let (x, y) = (batch(lengths_x, channels), batch(lengths_y, channels));
        cases.push(Case { name, spec: Spec::new(*measure).with_band(band), pairing: Pairing::Cross, x, y });
    }
    for (lengths, channels, band) in
        [(mixed, 1, Band::Full), (&all_but_one_path, 1, Band::Full), (&[25; 5], 2, Band::sakoe_chiba(0))]
    {
        let name = format!("{} with themselves, {channels} channels, {band:?}", lengths.len());
        let (x, y) = (batch(lengths, channels), batch(&[1], channels));
        let spec = Spec::new(*measure).with_band(band);
        cases.push(Case { name, spec, pairing: Pairing::SelfSymmetric, x, y });
    }
    let name = "pairs of all lengths".to_owned();
    let reversed: Vec<usize> = mixed.iter().rev().copied().collect();
    let sides = [batch(mixed, 1), batch(&reversed, 1)];
    cases.push(Case::zipped(name, &Spec::new(*measure), &Band::Full, sides));
}
