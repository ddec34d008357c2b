//! Votes, accuracy and confusion counted by hand.

use dtw_core::{SeriesBatch, Spec};
use dtw_learn::{ConfusionMatrix, Context, accuracy, classify};

use crate::plain;

/// One-point series at these positions.
fn points(values: &[f64]) -> SeriesBatch<'_, f64> {
    SeriesBatch::equal(values, values.len(), 1, 1).unwrap()
}

#[test]
fn the_majority_wins_and_ties_go_to_the_nearest() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let train = [0.0, 1.0, 2.0, 3.0, 10.0];
    let labels = ["a", "b", "b", "c", "c"];
    let predict = |at: f64, k: usize| {
        classify(&context, &Spec::dtw(), points(&train), &labels, points(&[at]), k).unwrap().remove(0)
    };
    assert_eq!(predict(0.1, 1), "a");
    assert_eq!(predict(0.1, 3), "b");
    // a, b: one each, a is nearer.
    assert_eq!(predict(0.1, 2), "a");
    // c, b, b, a: the majority is not the nearest.
    assert_eq!(predict(2.8, 4), "b");
    // c, b, b, a, c: two each, and a c is the nearest.
    assert_eq!(predict(2.8, 5), "c");
}

#[test]
fn shapes_are_told_apart() {
    let (train, test) = (plain::three_shapes(1, 15, 30), plain::three_shapes(2, 12, 27));
    let names = ["peak", "step", "ramp"];
    let labels: Vec<&str> = (0..15).map(|s| names[s % 3]).collect();
    let expected: Vec<&str> = (0..12).map(|s| names[s % 3]).collect();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let predicted = classify(&context, &Spec::dtw(), train.batch(), &labels, test.batch(), 3).unwrap();
    assert_eq!(accuracy(&expected, &predicted).unwrap(), 1.0);
}

#[test]
fn accuracy_and_confusion_count() {
    let expected = ["b", "a", "b", "b"];
    let predicted = ["b", "b", "a", "c"];
    assert_eq!(accuracy(&expected, &predicted).unwrap(), 0.25);
    let confusion = ConfusionMatrix::new(&expected, &predicted).unwrap();
    assert_eq!(confusion.labels(), ["a", "b", "c"]);
    assert_eq!(confusion.counts(), [0, 1, 0, 1, 1, 1, 0, 0, 0]);
    assert_eq!((confusion.count(0, 1), confusion.count(1, 0), confusion.count(1, 2)), (1, 1, 1));
}
