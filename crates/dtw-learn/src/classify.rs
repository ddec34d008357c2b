//! k-nearest-neighbour classification, and how well it did.
//!
//! ```text
//! label(y)  =  the label most frequent among the k nearest series;
//!              of equally frequent ones, the one whose nearest member is nearest
//! ```
//!
//! Cover & Hart 1967, 10.1109/TIT.1967.1053964. Labels are text; the module knows no files.
//!
//! ```
//! use dtw_core::{SeriesBatch, Spec};
//! use dtw_learn::{Context, accuracy, classify};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let train = SeriesBatch::equal(&[0.0_f64, 1.0, 0.0, 1.0, 0.0, 1.0], 2, 3, 1)?;
//! let test = SeriesBatch::equal(&[0.1, 0.9, 0.1], 1, 3, 1)?;
//! let predicted = classify(&Context::new(&backend), &Spec::dtw(), train, &["peak", "dip"], test, 1)?;
//! assert_eq!(predicted, ["peak"]);
//! assert_eq!(accuracy(&["peak"], &predicted)?, 1.0);
//! # Ok::<(), dtw_core::Error>(())
//! ```

use std::collections::{BTreeSet, HashMap};

use dtw_core::{Result, Scalar, SeriesBatch, Spec, bail_invalid};

use crate::Context;
use crate::nearest::{Neighbors, nearest};

/// The label of each series of `test` by the majority of its `k` nearest series of `train`.
///
/// `labels` holds one label per training series. Cost: as [`nearest`].
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when the numbers of labels and training series differ; otherwise as [`nearest`].
pub fn classify<T: Scalar, L: AsRef<str>>(
    context: &Context<'_, T>,
    spec: &Spec,
    train: SeriesBatch<'_, T>,
    labels: &[L],
    test: SeriesBatch<'_, T>,
    k: usize,
) -> Result<Vec<String>> {
    if labels.len() != train.len() {
        bail_invalid!("expected one label per training series ({}), got {}", train.len(), labels.len());
    }
    vote(&nearest(context, spec, train, test, k)?, labels)
}

/// The majority label among each series' neighbours; ties go to the label of the nearest neighbour among them.
///
/// Time: O(k) per series.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when a neighbour's index has no label.
pub fn vote<T, L: AsRef<str>>(neighbors: &Neighbors<T>, labels: &[L]) -> Result<Vec<String>> {
    (0..neighbors.len())
        .map(|j| {
            let mut votes: HashMap<&str, usize> = HashMap::new();
            let mut ballot = Vec::with_capacity(neighbors.k());
            for &index in neighbors.indices(j) {
                let Some(label) = labels.get(index) else {
                    bail_invalid!(
                        "series {index} is a neighbour, but there are only {} labels",
                        labels.len()
                    );
                };
                *votes.entry(label.as_ref()).or_default() += 1;
                ballot.push(label.as_ref());
            }
            let most = votes.values().max().copied().unwrap_or(0);
            // Nearest first, so the first label with the most votes wins its ties.
            Ok(ballot.into_iter().find(|label| votes[label] == most).unwrap_or_default().to_owned())
        })
        .collect()
}

/// The fraction of labels predicted right.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] when there are no labels or the numbers differ.
pub fn accuracy<E: AsRef<str>, P: AsRef<str>>(expected: &[E], predicted: &[P]) -> Result<f64> {
    check_labels(expected, predicted)?;
    let right = expected.iter().zip(predicted).filter(|(e, p)| e.as_ref() == p.as_ref()).count();
    Ok(right as f64 / expected.len() as f64)
}

fn check_labels<E, P>(expected: &[E], predicted: &[P]) -> Result<()> {
    if expected.len() != predicted.len() {
        bail_invalid!(
            "expected as many predicted labels as true ones ({}), got {}",
            expected.len(),
            predicted.len()
        );
    }
    if expected.is_empty() {
        bail_invalid!("there are no labels to compare");
    }
    Ok(())
}

/// How often each label was predicted as each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfusionMatrix {
    labels: Vec<String>,
    counts: Vec<usize>,
}

impl ConfusionMatrix {
    /// Counts pairs of true and predicted labels.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] when there are no labels or the numbers differ.
    pub fn new<E: AsRef<str>, P: AsRef<str>>(expected: &[E], predicted: &[P]) -> Result<Self> {
        check_labels(expected, predicted)?;
        let labels: BTreeSet<&str> =
            expected.iter().map(AsRef::as_ref).chain(predicted.iter().map(AsRef::as_ref)).collect();
        let numbers: HashMap<&str, usize> = labels.iter().enumerate().map(|(k, label)| (*label, k)).collect();
        let mut counts = vec![0; labels.len() * labels.len()];
        for (e, p) in expected.iter().zip(predicted) {
            counts[numbers[e.as_ref()] * labels.len() + numbers[p.as_ref()]] += 1;
        }
        Ok(Self { labels: labels.into_iter().map(str::to_owned).collect(), counts })
    }

    /// All labels that occur, true or predicted, in order of their bytes.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }
    /// All counts, shape `[n_labels, n_labels]`, row-major: a row per true label, a column per predicted one.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }
    /// Series of the `expected`-th label that were predicted as the `predicted`-th.
    ///
    /// # Panics
    /// When a number is not below the number of labels.
    pub fn count(&self, expected: usize, predicted: usize) -> usize {
        assert!(predicted < self.labels.len(), "label {predicted} of {}", self.labels.len());
        self.counts[expected * self.labels.len() + predicted]
    }
}
