//! k-means: shapes are found, results agree with themselves, seeds fix them.

use dtw_core::{Measure, OwnedBatch, SeriesBatch, Spec};
use dtw_learn::{Context, KMeans, KMeansOptions, Optimizer, assign, kmeans};

use crate::plain;

fn specs() -> [Spec; 3] {
    [Spec::dtw(), Spec::soft_dtw(0.5), Spec::new(Measure::soft_dtw_divergence(0.5))]
}

/// Labels, inertia and distances are those of the centres, by plain loops.
fn check(found: &KMeans<f64>, spec: &Spec, x: SeriesBatch<'_, f64>) {
    let channels = x.channels();
    let d = |c: &[f64], x: &[f64]| match spec.measure {
        Measure::SoftDtw { gamma, .. } => plain::soft_dtw(c, x, channels, gamma),
        Measure::SoftDtwDivergence { gamma, .. } => plain::divergence(c, x, channels, gamma),
        _ => plain::dtw(c, x, channels, None).0,
    };
    let mut inertia = 0.0;
    for (s, series) in x.iter().enumerate() {
        let all: Vec<f64> = found.centers.batch().iter().map(|c| d(c.values, series.values)).collect();
        let own = all[found.labels[s]];
        assert!((own - found.distances[s]).abs() < 1e-8, "series {s}: {own} {}", found.distances[s]);
        assert!(all.iter().all(|other| own <= other + 1e-9), "series {s}: {all:?} {}", found.labels[s]);
        inertia += own;
    }
    assert!((inertia - found.inertia).abs() < 1e-7 * inertia.abs().max(1.0));
    for k in 0..found.centers.len() {
        assert!(found.labels.contains(&k), "cluster {k} is empty");
    }
}

#[test]
fn three_shapes_are_separated() {
    let x = plain::three_shapes(61, 18, 32);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        for seed in 0..3 {
            let options = KMeansOptions::new(3).with_seed(seed);
            let found = kmeans(&context, &spec, x.batch(), &options).unwrap();
            assert!(found.converged);
            check(&found, &spec, x.batch());
            for a in 0..18 {
                for b in 0..18 {
                    let same = found.labels[a] == found.labels[b];
                    assert_eq!(same, a % 3 == b % 3, "{} seed {seed}: {:?}", spec.key(), found.labels);
                }
            }
        }
    }
}

#[test]
fn results_agree_with_themselves_on_ragged_multichannel_series() {
    let x = plain::ragged(62, &[6, 9, 7, 8, 5, 9, 6, 7, 10], 2);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        for clusters in [1, 2, 4, 9] {
            let options = KMeansOptions::new(clusters).with_restarts(2).with_max_iterations(20);
            let found = kmeans(&context, &spec, x.batch(), &options).unwrap();
            assert_eq!((found.centers.len(), found.labels.len()), (clusters, 9));
            check(&found, &spec, x.batch());
        }
    }
}

#[test]
fn a_seed_fixes_the_result() {
    let x = plain::ragged(63, &[8; 14], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        let run = |seed, restarts| {
            let options = KMeansOptions::new(4).with_seed(seed).with_restarts(restarts);
            kmeans(&context, &spec, x.batch(), &options).unwrap()
        };
        assert_eq!(run(5, 2), run(5, 2));
        let singles: Vec<f64> = (0..8).map(|seed| run(seed, 1).inertia).collect();
        assert!(singles.iter().any(|i| *i != singles[0]), "seeds lead to different starts: {singles:?}");
        // The first of several starts is the only one of a single start.
        assert!((0..8).all(|seed| run(seed, 4).inertia <= singles[seed as usize]));
    }
}

#[test]
fn more_rounds_never_raise_the_inertia() {
    let x = plain::ragged(64, &[11; 12], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        let inertia: Vec<f64> = (1..8)
            .map(|max_iterations| {
                let options = KMeansOptions::new(3).with_restarts(1).with_max_iterations(max_iterations);
                kmeans(&context, &spec, x.batch(), &options).unwrap().inertia
            })
            .collect();
        assert!(inertia.windows(2).all(|w| w[1] <= w[0]) && inertia[6] < inertia[0], "{inertia:?}");
    }
}

/// Where paths count more than costs, clusters run empty, and a series that moves there may be further from itself than
/// from the centre that it leaves.
#[test]
fn a_round_that_gains_nothing_is_not_taken() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    for seed in 8..16 {
        let x = plain::ragged(seed, &[3, 6, 4, 9, 2, 7, 5, 8], 1);
        for gamma in [1.0, 10.0] {
            let after = |rounds| {
                let options = KMeansOptions::new(7).with_restarts(1).with_max_iterations(rounds);
                kmeans(&context, &Spec::soft_dtw(gamma), x.batch(), &options.with_center_iterations(2))
                    .unwrap()
            };
            let inertia: Vec<f64> = (1..6).map(|rounds| after(rounds).inertia).collect();
            assert!(inertia.is_sorted_by(|a, b| a >= b), "γ = {gamma}, seed {seed}: {inertia:?}");
        }
    }
}

#[test]
fn no_cluster_is_left_empty() {
    // Two distinct series and three clusters: k-means++ must take a duplicate, whose cluster then loses every tie.
    let mut x = OwnedBatch::new(1).unwrap();
    for s in 0..6 {
        x.push(&[f64::from(u8::from(s < 3)), 0.5, 0.0]).unwrap();
    }
    let backend = plain::backend();
    let context = Context::new(&backend);
    let found = kmeans(&context, &Spec::dtw(), x.batch(), &KMeansOptions::new(3)).unwrap();
    assert_eq!(found.inertia, 0.0);
    let sizes: Vec<usize> = (0..3).map(|k| found.labels.iter().filter(|l| **l == k).count()).collect();
    assert!(sizes.iter().all(|s| *s > 0) && found.converged, "{sizes:?}");
}

#[test]
fn one_cluster_is_the_average_and_adam_will_do() {
    let x = plain::ragged(65, &[9; 5], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = KMeansOptions::new(1).with_optimizer(Optimizer::Adam { learning_rate: 0.05 });
    let adam = kmeans(&context, &Spec::soft_dtw(1.0), x.batch(), &options).unwrap();
    assert_eq!(adam.labels, [0; 5]);
    let one = kmeans(&context, &Spec::soft_dtw(1.0), x.batch(), &KMeansOptions::new(1)).unwrap();
    assert!((adam.inertia - one.inertia).abs() < 0.05 * one.inertia.abs().max(1.0));
    let labelled = assign(&context, &Spec::soft_dtw(1.0), one.centers.batch(), x.batch()).unwrap();
    assert_eq!(labelled.all_distances(), one.distances);
}
