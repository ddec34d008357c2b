//! Finite series whose distances, sums or means are not: one clear error each, no result that means nothing.

use dtw_core::{Error, Measure, Result, SeriesBatch, Spec};
use dtw_learn::*;

use crate::plain;

#[track_caller]
fn refused<R: std::fmt::Debug>(result: Result<R>, text: &str) {
    match result {
        Err(Error::Invalid(said)) => assert!(
            said.contains(text) && said.ends_with("scale or normalise the data") && !said.contains('\n'),
            "said: {said}"
        ),
        other => panic!("expected an error with {text:?}, got {other:?}"),
    }
}

/// Series of two points.
fn series(values: &[f64]) -> SeriesBatch<'_, f64> {
    SeriesBatch::equal(values, values.len() / 2, 2, 1).unwrap()
}

/// The square of 7e153 is finite, that of twice as much is not: series 1 and 3 are the one overflowing pair.
const OPPOSED: [f64; 8] = [0.0, 0.0, 7e153, 0.0, 1.0, 1.0, -7e153, 0.0];

/// An equilateral triangle: every distance is about 1.4e308, every sum of two overflows.
const APART: [f64; 6] = [0.0, 0.0, 1.18e154, 0.0, 0.59e154, 1.02e154];

#[test]
fn neighbours() {
    let backend = plain::backend();
    let context = Context::new(&backend).with_memory_limit(8 * 4);
    let (x, dtw) = (series(&OPPOSED), Spec::dtw());
    let text = "the distance of series 3 of x and series 0 of y is inf";
    let y = series(&OPPOSED[2..4]);
    refused(nearest(&context, &dtw, x, y, 1), text);
    refused(classify(&context, &dtw, x, &["a", "b", "a", "b"], y, 1), text);
    refused(assign(&context, &dtw, x, y), text);
    // The matrix shows what the measure gives.
    let matrix = pairwise(&Context::new(&backend), &dtw, dtw_core::Pairing::Cross, x, y).unwrap();
    assert!(matrix[3].is_infinite() && matrix[..3].iter().all(|d| d.is_finite()));
    assert_eq!(nearest(&context, &dtw, x, series(&OPPOSED[..2]), 4).unwrap().indices(0), [0, 2, 1, 3]);
}

#[test]
fn averages() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default();
    let soft = [Spec::soft_dtw(1.0), Spec::new(Measure::soft_dtw_divergence(1.0))];
    // Soft-DTW weighs detours too, so that more of its pairs overflow.
    for (spec, text) in [
        (&Spec::dtw(), "the distance of series 1 and 3 is inf"),
        (&soft[0], "the distance of series"),
        (&soft[1], "the distance of series"),
    ] {
        let ask = |x, options| barycenter(&context, spec, x, &options);
        refused(ask(series(&OPPOSED), options), text);
        refused(medoid(&context, spec, series(&OPPOSED), None), text);
        // A series of weight 0 is not looked at, and the others keep their numbers.
        let weights = Some(&[0.0, 1.0, 1.0, 1.0][..]);
        let weighted = options.with_weights(weights);
        refused(ask(series(&OPPOSED), weighted), text);
    }
    let dtw = |x, options| barycenter(&context, &Spec::dtw(), x, &options);
    let start = Start::Series(series(&OPPOSED).get(3));
    for max_iterations in [0, 100] {
        let from = options.with_start(start).with_max_iterations(max_iterations);
        refused(dtw(series(&OPPOSED), from), "the distance of the centre and series 1 is inf");
        let weights = Some(&[0.0, 1.0, 0.0, 0.0][..]);
        refused(
            dtw(series(&OPPOSED), from.with_weights(weights)),
            "the distance of the centre and series 1 is inf",
        );
    }
    // Each distance is finite, their sum is not.
    refused(medoid(&context, &Spec::dtw(), series(&APART), None), "the medoid's total distance is inf");
    let from = options.with_start(Start::Series(series(&APART).get(0)));
    refused(dtw(series(&APART), from), "the average's cost is inf");
    let weights = Some(&[0.0, 1e200, 1e200][..]);
    for spec in &soft {
        let far = [0.0, 0.0, 1e60, 0.0, 0.0, 1e60];
        let start = Start::Series(series(&far).get(0));
        let from = options.with_start(start).with_weights(weights);
        refused(barycenter(&context, spec, series(&far), &from), "the average's cost is inf");
    }
    // Equal series: no distance at all, but a mean of values whose sum overflows.
    refused(dtw(series(&[1e308; 8]), options), "the average has a value of inf");
}

#[test]
fn clusters() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let dtw = Spec::dtw();
    let soft = [Spec::soft_dtw(1.0), Spec::new(Measure::soft_dtw_divergence(1.0))];
    // Every pair overflows, whichever is drawn.
    let huge = [1e200, 1e200, -1e200, 1e200, 3e200, 1e200];
    for spec in [&dtw, &soft[0], &soft[1]] {
        for seed in 0..8 {
            let ask = |x, clusters| kmeans(&context, spec, x, &KMeansOptions::new(clusters).with_seed(seed));
            refused(ask(series(&huge), 1), "the distance of the centre of cluster 0 and series");
            refused(ask(series(&huge), 2), "is inf");
            refused(ask(series(&huge), 3), "the distance of series");
        }
    }
    let ask = |x, clusters, seed| {
        kmeans(&context, &dtw, x, &KMeansOptions::new(clusters).with_seed(seed).with_restarts(32))
    };
    refused(ask(series(&APART), 1, 0), "the inertia is inf");
    refused(ask(series(&APART), 2, 0), "the sum of the distances from the first centres overflows f64");
    refused(ask(series(&[1e308; 8]), 1, 0), "the average has a value of inf");
    let medoids = kmedoids(&context, &dtw, series(&OPPOSED), &KMedoidsOptions::new(2));
    match medoids {
        Err(Error::Invalid(said)) => assert!(said.contains("series 3 to series 1 is inf"), "said: {said}"),
        other => panic!("expected an error, got {other:?}"),
    }
    // In f32 as well, where 1e20 is enough.
    let narrow = [1e20_f32, 0.0, -1e20, 0.0];
    let x = SeriesBatch::equal(&narrow, 2, 2, 1).unwrap();
    let context = Context::<f32>::new(&backend);
    refused(kmeans(&context, &dtw, x, &KMeansOptions::new(2)), "is inf");
    refused(barycenter(&context, &dtw, x, &BarycenterOptions::default()), "series 0 and 1 is inf");
}
