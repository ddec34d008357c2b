//! k-medoids against every choice of medoids there is.

use dtw_core::{Error, LcssOutput, Measure, Pairing, Spec, Unobserved};
use dtw_learn::{
    ClaraOptions, Context, KMedoids, KMedoidsOptions, MedoidMethod, MedoidStart, kmedoids,
    kmedoids_of_matrix, medoid, pairwise,
};
use rand::Rng;

use crate::plain;

fn loss(matrix: &[f64], n: usize, medoids: &[usize]) -> f64 {
    (0..n).map(|s| medoids.iter().map(|m| matrix[m * n + s]).fold(f64::INFINITY, f64::min)).sum()
}

/// The least loss over all sets of `k` medoids.
fn best_of_all(matrix: &[f64], n: usize, k: usize) -> f64 {
    (0_u32..1 << n)
        .filter(|set| set.count_ones() as usize == k)
        .map(|set| {
            let medoids: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
            loss(matrix, n, &medoids)
        })
        .fold(f64::INFINITY, f64::min)
}

/// The result is what its medoids say, and no single swap improves it.
fn check(found: &KMedoids, matrix: &[f64], n: usize) {
    assert!(found.medoids.windows(2).all(|w| w[0] < w[1]));
    plain::assert_close(found.loss, loss(matrix, n, &found.medoids), 1e-12);
    for (s, label) in found.labels.iter().enumerate() {
        let own = matrix[found.medoids[*label] * n + s];
        assert!(found.medoids.iter().all(|m| own <= matrix[m * n + s]));
    }
    assert!(found.converged);
    for i in 0..found.medoids.len() {
        for c in (0..n).filter(|c| !found.medoids.contains(c)) {
            let mut swapped = found.medoids.clone();
            swapped[i] = c;
            assert!(loss(matrix, n, &swapped) >= found.loss - 1e-9, "swapping {i} for {c} improves");
        }
    }
}

#[test]
fn no_swap_improves_and_restarts_find_the_best_of_all() {
    let n = 9;
    let mut exact = 0;
    for seed in 0..20 {
        let mut rng = plain::rng(seed);
        // Not symmetric, not metric, partly negative: the search asks for nothing of the kind.
        let matrix: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..3.0)).collect();
        for k in 1..=n {
            let least = best_of_all(&matrix, n, k);
            let built = kmedoids_of_matrix(&matrix, n, &KMedoidsOptions::new(k), &Unobserved).unwrap();
            check(&built, &matrix, n);
            assert!(built.loss >= least - 1e-9);
            exact += usize::from(built.loss <= least + 1e-9);
            let start = MedoidStart::Random { restarts: 40, seed };
            let drawn =
                kmedoids_of_matrix(&matrix, n, &KMedoidsOptions::new(k).with_start(start), &Unobserved);
            let drawn = drawn.unwrap();
            check(&drawn, &matrix, n);
            assert!((drawn.loss - least).abs() < 1e-9, "seed {seed}, k {k}: {} {least}", drawn.loss);
        }
    }
    assert!(exact > 150, "one start finds the best of 180 mostly, here {exact} times");
}

#[test]
fn any_measure_separates_the_shapes() {
    let x = plain::three_shapes(71, 15, 24);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let measures = [
        Measure::DTW,
        Measure::Msm { c: 0.5 },
        Measure::Twed { nu: 0.001, lambda: 0.5, degree: 2.0 },
        Measure::Erp { gap: 0.0 },
        Measure::LogGak { sigma: 2.0 },
        Measure::Lcss { epsilon: 0.4, output: LcssOutput::Length },
        Measure::soft_dtw(0.5),
    ];
    for measure in measures {
        let spec = Spec::new(measure);
        let found = kmedoids(&context, &spec, x.batch(), &KMedoidsOptions::new(3)).unwrap();
        let sign = if measure.is_similarity() { -1.0 } else { 1.0 };
        let matrix: Vec<f64> = pairwise(&context, &spec, Pairing::SelfSymmetric, x.batch(), x.batch())
            .unwrap()
            .iter()
            .map(|d| sign * d)
            .collect();
        check(&found, &matrix, 15);
        for a in 0..15 {
            for b in 0..15 {
                let same = found.labels[a] == found.labels[b];
                assert_eq!(same, a % 3 == b % 3, "{measure:?}: {:?}", found.labels);
            }
        }
        let one = kmedoids(&context, &spec, x.batch(), &KMedoidsOptions::new(1)).unwrap();
        assert_eq!(one.medoids, [medoid(&context, &spec, x.batch(), None).unwrap()]);
    }
}

#[test]
fn all_series_as_medoids_are_their_own_clusters() {
    let x = plain::ragged(72, &[5, 7, 6, 8], 1);
    let backend = plain::backend();
    let found = kmedoids(&Context::new(&backend), &Spec::dtw(), x.batch(), &KMedoidsOptions::new(4)).unwrap();
    assert_eq!((found.medoids, found.labels, found.loss), (vec![0, 1, 2, 3], vec![0, 1, 2, 3], 0.0));
}

#[test]
fn a_seed_fixes_the_result() {
    let x = plain::ragged(73, &[6; 12], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    let run = |seed| {
        let start = MedoidStart::Random { restarts: 1, seed };
        let options = KMedoidsOptions::new(4).with_start(start).with_max_iterations(0);
        kmedoids(&context, &Spec::dtw(), x.batch(), &options).unwrap()
    };
    assert_eq!(run(3), run(3));
    assert!((0..10).any(|seed| run(seed).medoids != run(3).medoids));
    assert!(!run(3).converged && run(3).iterations == 0);
}

fn clara(clusters: usize, samples: usize, sample_size: usize, seed: u64) -> KMedoidsOptions {
    let sampling =
        ClaraOptions::new(clusters).with_samples(samples).with_sample_size(sample_size).with_seed(seed);
    KMedoidsOptions::new(clusters).with_method(MedoidMethod::Clara(sampling))
}

#[test]
fn a_sample_of_all_series_is_the_whole_search() {
    let x = plain::ragged(74, &[7; 20], 1);
    let backend = plain::backend();
    let context = Context::new(&backend);
    for measure in [Measure::DTW, Measure::Msm { c: 0.5 }, Measure::LogGak { sigma: 2.0 }] {
        let spec = Spec::new(measure);
        let whole = kmedoids(&context, &spec, x.batch(), &KMedoidsOptions::new(4)).unwrap();
        let sampled = kmedoids(&context, &spec, x.batch(), &clara(4, 1, 20, 3)).unwrap();
        assert_eq!((&whole.medoids, &whole.labels), (&sampled.medoids, &sampled.labels), "{measure:?}");
        plain::assert_close(sampled.loss, whole.loss, 1e-12);
    }
}

#[test]
fn clara_finds_the_shapes_in_memory_that_holds_no_matrix() {
    let x = plain::three_shapes(75, 300, 20);
    let backend = plain::backend();
    // 300 × 300 distances need 720,000 bytes.
    let context = Context::new(&backend).with_memory_limit(200_000);
    let refused = kmedoids(&context, &Spec::dtw(), x.batch(), &KMedoidsOptions::new(3)).unwrap_err();
    assert!(
        matches!(&refused, Error::OutOfMemory { what, requested_bytes: 720_000, .. } if what.contains("clara"))
    );
    let run = |options| kmedoids(&context, &Spec::dtw(), x.batch(), &options).unwrap();
    let found = run(clara(3, 4, 40, 5));
    assert_eq!(found, run(clara(3, 4, 40, 5)));
    assert!((0..8).any(|seed| run(clara(3, 1, 9, seed)).medoids != run(clara(3, 1, 9, 9)).medoids));
    for s in 3..300 {
        assert_eq!(found.labels[s], found.labels[s % 3]);
    }
    // What is told is so of all series.
    let mut loss = 0.0;
    for (s, series) in x.batch().iter().enumerate() {
        let all: Vec<f64> = found
            .medoids
            .iter()
            .map(|m| plain::dtw(x.batch().get(*m).values, series.values, 1, None).0)
            .collect();
        assert!(all.iter().all(|d| all[found.labels[s]] <= d + 1e-12));
        loss += all[found.labels[s]];
    }
    plain::assert_close(found.loss, loss, 1e-12);
    // More samples are never worse: the first ones are the same.
    let losses: Vec<f64> = (1..6).map(|samples| run(clara(3, samples, 12, 5)).loss).collect();
    assert!(losses.is_sorted_by(|a, b| a >= b), "{losses:?}");
    assert!(losses[4] < losses[0], "later samples help here: {losses:?}");
}
