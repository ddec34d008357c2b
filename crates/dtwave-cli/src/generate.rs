//! Cylinder–bell–funnel: three classes of noisy shapes for trying out classification.
//!
//! Saito, "Local feature extraction and its applications using a library of bases" (PhD thesis, Yale, 1994).
//! With onset a, duration b − a, and amplitude 6 + η:
//!
//! ```text
//! cylinder  (6 + η)·1[a ≤ t ≤ b]                     + ε(t)
//! bell      (6 + η)·1[a ≤ t ≤ b]·(t − a)/(b − a)     + ε(t)
//! funnel    (6 + η)·1[a ≤ t ≤ b]·(b − t)/(b − a)     + ε(t)
//! ```
//!
//! η and ε(t) are standard normal. For the original length of 128, a is uniform on 16..=32 and b − a on 32..=96;
//! other lengths scale these bounds. The same seed gives the same series on every machine.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::data::Dataset;

/// The classes, in the order in which series are generated.
pub(crate) const CLASSES: [&str; 3] = ["cylinder", "bell", "funnel"];

/// The length of the original problem.
pub(crate) const LENGTH: usize = 128;

/// `per_class` series of each class, class by class.
///
/// # Panics
/// If `length` is below 8, where the shapes have no room.
pub(crate) fn cylinder_bell_funnel(name: &str, per_class: usize, length: usize, seed: u64) -> Dataset {
    assert!(length >= 8, "cylinder-bell-funnel needs a length of at least 8, got {length}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut series = Vec::with_capacity(per_class * CLASSES.len());
    let mut labels = Vec::with_capacity(per_class * CLASSES.len());
    for class in CLASSES {
        for _ in 0..per_class {
            series.push(one(class, length, &mut rng));
            labels.push(class.to_owned());
        }
    }
    let mut dataset = Dataset::univariate(name.to_owned(), series).with_labels(labels);
    dataset.classes = CLASSES.map(str::to_owned).to_vec();
    dataset
}

fn one(class: &str, length: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let onset = rng.random_range(length / 8..=length / 4);
    let duration = rng.random_range(length / 4..=length * 3 / 4);
    let eta: f64 = StandardNormal.sample(rng);
    (0..length)
        .map(|t| {
            let noise: f64 = StandardNormal.sample(rng);
            if t < onset || t > onset + duration {
                return noise;
            }
            let rise = (t - onset) as f64 / duration as f64;
            let shape = match class {
                "cylinder" => 1.0,
                "bell" => rise,
                _ => 1.0 - rise,
            };
            (6.0 + eta) * shape + noise
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_reproducible_and_seeds_differ() {
        let a = cylinder_bell_funnel("cbf", 2, LENGTH, 7);
        assert_eq!(a, cylinder_bell_funnel("cbf", 2, LENGTH, 7));
        assert_ne!(a.series, cylinder_bell_funnel("cbf", 2, LENGTH, 8).series);
        assert_eq!(a.len(), 6);
        assert_eq!(a.lengths(), (LENGTH, LENGTH));
        assert_eq!(a.labels.unwrap(), ["cylinder", "cylinder", "bell", "bell", "funnel", "funnel"]);
    }

    #[test]
    fn classes_lean_as_their_formulas_say() {
        let dataset = cylinder_bell_funnel("cbf", 200, LENGTH, 1);
        let mut sums = [[0.0; 2]; 3];
        for (index, values) in dataset.series.iter().enumerate() {
            // a ≤ 32 and b ≥ 48 for every series: the first points inside and the first after 16 + 32.
            sums[index / 200][0] += values[32..40].iter().sum::<f64>() / (8.0 * 200.0);
            sums[index / 200][1] += values[0..16].iter().sum::<f64>() / (16.0 * 200.0);
        }
        let [cylinder, bell, funnel] = sums.map(|s| s[0]);
        assert!(bell < funnel && funnel < cylinder, "{sums:?}");
        assert!((cylinder - 6.0).abs() < 0.4, "{cylinder}");
        assert!(sums.iter().all(|s| s[1].abs() < 0.1), "{sums:?}");
    }
}
