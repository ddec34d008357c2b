//! Leaving one out in many bands, against the whole matrix of each band.

use dtw_core::{Band, Error, Measure, Pairing, Radius, Spec};
use dtw_learn::{Context, leave_one_out, pairwise};
use rand::Rng;

use crate::plain;

#[test]
fn every_band_has_the_accuracy_of_its_whole_matrix() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let radii = [
        Radius::Points(0),
        Radius::Fraction(0.1),
        Radius::Points(7),
        Radius::Fraction(1.0),
        Radius::Points(2),
        Radius::Fraction(0.0),
    ];
    let (n, lengths) = (14, [12, 9, 15, 12, 11, 14, 13, 10, 12, 9, 8, 16, 12, 12]);
    for (seed, measure) in [(1, Measure::DTW), (2, Measure::Msm { c: 0.2 }), (3, Measure::Erp { gap: 0.0 })] {
        let x = plain::ragged(seed, &lengths, 1);
        let mut rng = plain::rng(seed + 50);
        let labels: Vec<&str> = (0..n).map(|_| ["a", "b", "c"][rng.random_range(0..3)]).collect();
        for k in [1, 3] {
            let spec = Spec::new(measure);
            let found = leave_one_out(&context, &spec, x.batch(), &labels, k, &radii).unwrap();
            for (radius, share) in radii.iter().zip(&found) {
                let spec = spec.clone().with_band(Band::SakoeChiba { radius: *radius });
                let matrix = pairwise(&context, &spec, Pairing::SelfSymmetric, x.batch(), x.batch()).unwrap();
                let right = (0..n).filter(|i| {
                    let mut others: Vec<usize> = (0..n).filter(|j| j != i).collect();
                    others.sort_by(|a, b| matrix[i * n + a].total_cmp(&matrix[i * n + b]).then(a.cmp(b)));
                    let near: Vec<&str> = others[..k].iter().map(|j| labels[*j]).collect();
                    let votes = |label: &&str| near.iter().filter(|other| *other == label).count();
                    let most = near.iter().map(votes).max().unwrap();
                    near.iter().find(|label| votes(label) == most) == Some(&labels[*i])
                });
                assert_eq!(*share, right.count() as f64 / n as f64, "{measure:?} {k} {radius:?}");
            }
        }
    }
}

#[test]
fn matrices_beyond_the_limit_are_refused() {
    let backend = plain::backend();
    let x = plain::ragged(4, &[5; 40], 1);
    let context = Context::new(&backend).with_memory_limit(20_000);
    let found = leave_one_out(&context, &Spec::dtw(), x.batch(), &["a"; 40], 1, &[Radius::Points(1)]);
    assert!(matches!(found, Err(Error::OutOfMemory { requested_bytes: 14_400, .. })), "{found:?}");
}
