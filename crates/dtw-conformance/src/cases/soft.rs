//! Soft-DTW, its divergence and the alignment kernel where digits are easily lost: one path, two paths, equal series, γ from
//! very small to far larger than all costs.

use super::series::{Kind, SplitMix, series};
use super::{Case, Measure};
use crate::batch::Batch;
use crate::oracle::{Band, Radius};
use dtw_core::Pairing;

/// Smoothing from 10⁻³ to 10¹².
const GAMMAS: [f64; 6] = [1e-3, 1.0, 1e3, 1e6, 1e9, 1e12];
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
    let radius = |points| Band::SakoeChiba(Radius::Points(points));
    let shapes = [
        (1, 1, Band::Full),
        (50, 1, Band::Full),
        (1, 50, Band::Full),
        (2, 2, Band::Full),
        (300, 2, Band::Full),
        (20, 20, Band::Full),
        (31, 24, Band::Full),
        (90, 150, Band::Full),
        (50, 50, radius(0)),
        (40, 40, two_paths(40)),
        (60, 60, radius(3)),
        (33, 40, Band::Slanted(Radius::Points(2))),
    ];
    let measures = GAMMAS
        .into_iter()
        .flat_map(|gamma| [Measure::SoftDtw { gamma }, Measure::SoftDtwDivergence { gamma }])
        .chain(SIGMAS.map(|sigma| Measure::LogGak { sigma }));
    for measure in measures {
        for (n, m, band) in &shapes {
            // Explicit ranges fit one pair of lengths, and these are square.
            for (name, kind) in [
                ("noise", Kind::Noise),
                ("tiny", Kind::Tiny),
                ("offset", Kind::Offset(1e3)),
                ("zeros", Kind::Constant(0.0)),
            ] {
                let x = series(kind, *n, 1, &mut random);
                let y = series(kind, *m, 1, &mut random);
                cases.push(zipped(format!("{name} {n}×{m} {band:?}"), &measure, band, x, y));
            }
            let x = series(Kind::Noise, *n, 2, &mut random);
            if n == m {
                cases.push(zipped(format!("itself {n}×{m} {band:?}"), &measure, band, x.clone(), x));
            } else {
                let y = series(Kind::Noise, *m, 2, &mut random);
                cases.push(zipped(format!("two channels {n}×{m} {band:?}"), &measure, band, x, y));
            }
        }
    }
    cases
}

fn zipped(name: String, measure: &Measure, band: &Band, x: Vec<Vec<f64>>, y: Vec<Vec<f64>>) -> Case {
    let (x, y) = (Batch::new(vec![x]), Batch::new(vec![y]));
    Case { name, measure: measure.clone(), band: band.clone(), pairing: Pairing::Zipped, x, y }
}
