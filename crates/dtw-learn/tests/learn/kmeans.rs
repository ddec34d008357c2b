//! k-means: shapes are found, results agree with themselves, seeds fix them.

use dtw_core::{Band, Measure, OwnedBatch, Radius, SeriesBatch, Spec};
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

#[test]
fn weights_pull_centres_and_series_without_weight_change_nothing() {
    let x = plain::ragged(66, &[8; 12], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let weights: Vec<f64> = (0..12).map(|s| f64::from(s % 3)).collect();
    let mut heavy = OwnedBatch::new(1).unwrap();
    let kept: Vec<usize> = (0..12).filter(|s| weights[*s] > 0.0).collect();
    kept.iter().for_each(|s| heavy.push(x.batch().get(*s).values).unwrap());
    let heavy_weights: Vec<f64> = kept.iter().map(|s| weights[*s]).collect();
    for spec in specs() {
        let run = |x: SeriesBatch<'_, f64>, weights: Option<&[f64]>| {
            kmeans(&context, &spec, x, &KMeansOptions::new(3).with_weights(weights)).unwrap()
        };
        let all = run(x.batch(), Some(&weights));
        let only = run(heavy.batch(), Some(&heavy_weights));
        assert_eq!((&all.centers, all.inertia), (&only.centers, only.inertia));
        for (at, s) in kept.iter().enumerate() {
            assert_eq!((all.labels[*s], all.distances[*s]), (only.labels[at], only.distances[at]));
        }
        let sum: f64 = all.distances.iter().zip(&weights).map(|(d, w)| w * d).sum();
        plain::assert_close(all.inertia, sum, 1e-12);
        let nearest = assign(&context, &spec, all.centers.batch(), x.batch()).unwrap();
        assert_eq!(nearest.all_indices(), all.labels);
        assert_ne!(all.centers, run(x.batch(), None).centers);
        assert_eq!(run(x.batch(), Some(&[1.0; 12])), run(x.batch(), None));
    }
}

/// Sculley's step: a centre moves by the share that its batch has of all that it has seen.
#[test]
fn a_mini_batch_moves_centres_by_its_share() {
    let x = plain::three_shapes(67, 15, 12);
    let backend = plain::backend();
    let context = Context::new(&backend);
    // Without room to warp, the average is the mean.
    let spec = Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(0) });
    let after = |rounds, batch| {
        let options = KMeansOptions::new(3).with_restarts(1).with_max_iterations(rounds).with_tolerance(0.0);
        kmeans(&context, &spec, x.batch(), &options.with_batch_size(batch)).unwrap()
    };
    let mut totals = [0.0; 3];
    // All series at once without batches: the labels by the seeds.
    let mut before = after(1, None);
    for rounds in 1..6 {
        let now = after(rounds, Some(15));
        for (k, total) in totals.iter_mut().enumerate() {
            let members: Vec<usize> = (0..15).filter(|s| before.labels[*s] == k).collect();
            *total += members.len() as f64;
            let share = members.len() as f64 / *total;
            for i in 0..12 {
                let sum: f64 = members.iter().map(|s| x.batch().get(*s).values[i]).sum();
                let (mean, center) = (sum / members.len() as f64, before.centers.batch().get(k).values[i]);
                let moved = now.centers.batch().get(k).values[i];
                assert!(
                    (moved - (center + share * (mean - center))).abs() < 1e-12,
                    "round {rounds}, centre {k}"
                );
            }
        }
        before = now;
    }
}

#[test]
fn mini_batches_and_sampled_starts_find_the_shapes_and_follow_their_seed() {
    let x = plain::three_shapes(68, 60, 24);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for spec in specs() {
        let options = KMeansOptions::new(3).with_sample_size(20).with_batch_size(Some(15));
        let run = |seed| kmeans(&context, &spec, x.batch(), &options.with_seed(seed)).unwrap();
        let found = run(1);
        assert_eq!(found, run(1));
        assert!(found.centers != run(2).centers, "another seed draws other batches");
        for s in 3..60 {
            assert_eq!(found.labels[s], found.labels[s % 3], "{}: {:?}", spec.key(), found.labels);
        }
        check(&found, &spec, x.batch());
        // A sample of all is no sample.
        let whole = KMeansOptions::new(3);
        let of = |size| kmeans(&context, &spec, x.batch(), &whole.with_sample_size(size)).unwrap();
        assert_eq!(of(60), of(usize::MAX));
    }
}

#[test]
fn a_band_as_wide_as_the_series_is_none() {
    let x = plain::ragged(69, &[20; 40], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let under = |spec: Spec| kmeans(&context, &spec, x.batch(), &KMeansOptions::new(4)).unwrap();
    let wide = under(Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(19) }));
    assert_eq!(wide, under(Spec::dtw()));
    let narrow = under(Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(1) }));
    assert!(narrow.inertia > wide.inertia);
}
