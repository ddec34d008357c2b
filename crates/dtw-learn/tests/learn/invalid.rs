//! Bad input: one clear line each, naming what was expected and where.

use dtw_core::{
    Anchor, EdrOutput, Error, LocalCost, Measure, OwnedBatch, Pairing, Radius, Result, Series, SeriesBatch,
    Spec, Unobserved,
};
use dtw_learn::*;

use crate::plain;

#[track_caller]
fn invalid<R: std::fmt::Debug>(result: Result<R>, text: &str) {
    match result {
        Err(Error::Invalid(said)) => assert!(said.contains(text) && !said.contains('\n'), "said: {said}"),
        other => panic!("expected an error with {text:?}, got {other:?}"),
    }
}

#[test]
fn neighbours_and_labels() {
    let (x, y) = (plain::ragged(1, &[4, 5, 6], 1), plain::ragged(2, &[3, 4], 1));
    let none = OwnedBatch::<f64>::new(1).unwrap();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let dtw = Spec::dtw();
    let ask = |x: &OwnedBatch<f64>, k| nearest(&context, &dtw, x.batch(), y.batch(), k);
    invalid(ask(&x, 0), "k >= 1, got 0");
    invalid(ask(&x, 4), "4 nearest neighbours were asked for, but x has only 3 series");
    invalid(ask(&none, 1), "x has only 0 series");
    invalid(ask(&plain::ragged(1, &[4, 0, 6], 1), 1), "series 1 of x is empty");
    invalid(ask(&plain::ragged(1, &[4], 2), 1), "x has 2 channels, y has 1");
    invalid(nearest(&context, &Spec::soft_dtw(0.0), x.batch(), y.batch(), 1), "gamma > 0");
    invalid(
        for_each_tile(&context, &dtw, Pairing::Zipped, x.batch(), x.batch(), |_, _| Ok(())),
        "nothing to tile",
    );
    let search = Spec { anchor: Anchor::Subsequence, ..Spec::dtw() };
    invalid(pairwise(&context, &search, Pairing::SelfSymmetric, x.batch(), x.batch()), "not symmetric");
    // No series to ask about is no error, and no answer.
    assert_eq!(nearest(&context, &dtw, x.batch(), none.batch(), 2).unwrap().len(), 0);

    let label = |labels: &[&str]| classify(&context, &dtw, x.batch(), labels, y.batch(), 1);
    invalid(label(&["a", "b"]), "one label per training series (3), got 2");
    invalid(accuracy(&["a"], &["a", "b"]), "as many predicted labels as true ones (1), got 2");
    invalid(accuracy::<&str, &str>(&[], &[]), "no labels to compare");
    invalid(ConfusionMatrix::new(&["a", "b"], &["a"]), "(2), got 1");
    let left = |spec: &Spec, labels: &[&str], k, radii: &[Radius]| {
        leave_one_out(&context, spec, x.batch(), labels, k, radii)
    };
    let (labels, radii) = (["a", "b", "a"], [Radius::Points(1)]);
    invalid(left(&dtw, &["a"], 1, &radii), "one label per series (3), got 1");
    invalid(left(&dtw, &labels, 3, &radii), "needs 1 to 2 neighbours, got 3");
    invalid(left(&dtw, &labels, 0, &radii), "needs 1 to 2 neighbours, got 0");
    invalid(left(&dtw, &labels, 1, &[]), "at least one radius");
    invalid(left(&Spec::soft_dtw(1.0), &labels, 1, &radii), "the cost of one path, got soft_dtw");
    let found = ask(&x, 3).unwrap();
    invalid(vote(&found, &["a"]), "there are only 1 labels");
}

#[test]
fn averages() {
    let x = plain::ragged(1, &[4, 5, 6], 1);
    let none = OwnedBatch::<f64>::new(1).unwrap();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let options = BarycenterOptions::default();
    let specs = [Spec::dtw(), Spec::soft_dtw(1.0), Spec::new(Measure::soft_dtw_divergence(1.0))];
    for spec in &specs {
        let ask = |options: BarycenterOptions<'_, f64>| barycenter(&context, spec, x.batch(), &options);
        let weigh = |weights: &[f64]| ask(options.with_weights(Some(weights)));
        invalid(weigh(&[1.0, 1.0]), "one weight per series (3), got 2");
        invalid(weigh(&[1.0, -0.5, 1.0]), "the weight of series 1 is -0.5");
        invalid(weigh(&[1.0, 1.0, f64::NAN]), "the weight of series 2 is NaN");
        invalid(weigh(&[0.0; 3]), "all 3 weights are 0");
        invalid(weigh(&[1e308; 3]), "the weights' sum overflows");
        invalid(ask(options.with_start(Start::Mean)), "series 0 has 4 points and series 1 has 5");
        invalid(ask(options.with_sample_size(0)), "at least 1 series, got 0");
        invalid(ask(options.with_tolerance(-1.0)), "tolerance must be a finite number >= 0");
        let from = |values: &'static [f64], channels| {
            ask(options.with_start(Start::Series(Series { values, channels, times: None })))
        };
        invalid(from(&[1.0, 2.0], 2), "the starting centre has 2 channels, the series have 1");
        invalid(from(&[], 1), "series 0 of start is empty");
        invalid(from(&[1.0, f64::INFINITY], 1), "series 0 of start has inf at point 1");
        invalid(barycenter(&context, spec, none.batch(), &options), "at least one series");
        let mut broken = plain::ragged(1, &[4, 5, 6], 1);
        broken.series_mut(2)[3] = f64::NAN;
        invalid(barycenter(&context, spec, broken.batch(), &options), "series 2 of x has NaN at point 3");
        let times: Vec<f64> = (0..15).map(f64::from).collect();
        let timed = x.batch().with_times(&times).unwrap();
        invalid(barycenter(&context, spec, timed, &options), "timestamps");
    }
    let under = |spec: &Spec| barycenter(&context, spec, x.batch(), &options);
    let edr = Measure::Edr { epsilon: 1.0, output: EdrOutput::Count };
    invalid(under(&Spec::new(edr)), "got edr, which counts points");
    invalid(under(&Spec::new(Measure::Frechet)), "got frechet, whose value is one difference");
    invalid(under(&Spec::new(Measure::LogGak { sigma: 1.0 })), "got log_gak, which sums over paths");
    let twed = Spec::new(Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 });
    let times: Vec<f64> = (0..15).map(f64::from).collect();
    let timed = x.batch().with_times(&times).unwrap();
    invalid(barycenter(&context, &twed, timed, &options), "an average has no timestamps");
    invalid(under(&Spec::new(Measure::Dtw { cost: LocalCost::Manhattan })), "got Manhattan");
    let soft = |cost| Spec::new(Measure::SoftDtw { gamma: 1.0, cost });
    invalid(under(&soft(LocalCost::Euclidean)), "got Euclidean");
    invalid(soft_barycenter(&context, &soft(LocalCost::Manhattan), x.batch(), &options), "got Manhattan");
    invalid(under(&Spec::subsequence_dtw(LocalCost::SquaredEuclidean)), "global anchor");
    invalid(under(&Spec::soft_dtw(-1.0)), "gamma > 0");
    invalid(dba(&context, &specs[1], x.batch(), &options), "soft_dtw has none");
    invalid(soft_barycenter(&context, &specs[0], x.batch(), &options), "got dtw");
    let by = |optimizer| barycenter(&context, &specs[1], x.batch(), &options.with_optimizer(optimizer));
    invalid(by(Optimizer::Lbfgs { history: 0 }), "at least 1 correction");
    invalid(by(Optimizer::Adam { learning_rate: 0.0 }), "learning rate > 0, got 0");
    invalid(by(Optimizer::Adam { learning_rate: f64::NAN }), "got NaN");
    invalid(by(Optimizer::Adam { learning_rate: 1e200 }), "lower the learning rate");
    let huge = [1e200, -1e200, 1e200, 1e200];
    let huge = SeriesBatch::equal(&huge, 2, 2, 1).unwrap();
    let start = Start::Series(huge.get(0));
    invalid(barycenter(&context, &specs[1], huge, &options.with_start(start)), "overflows f64");
    invalid(medoid(&context, &Spec::dtw(), none.batch(), None), "at least one series");
}

#[test]
fn clusters() {
    let x = plain::ragged(1, &[4, 5, 6], 1);
    let none = OwnedBatch::<f64>::new(1).unwrap();
    let backend = plain::backend();
    let context = Context::new(&backend);
    let dtw = Spec::dtw();
    let means = |options: KMeansOptions<'_>| kmeans(&context, &dtw, x.batch(), &options);
    invalid(means(KMeansOptions::new(0)), "at least 1 cluster, got 0");
    invalid(means(KMeansOptions::new(4)), "4 clusters were asked for, but there are only 3 series");
    invalid(means(KMeansOptions::new(2).with_restarts(0)), "0 restarts");
    invalid(means(KMeansOptions::new(2).with_max_iterations(0)), "at least 1 iteration");
    invalid(means(KMeansOptions::new(2).with_tolerance(f64::NAN)), "tolerance");
    invalid(
        means(KMeansOptions::new(2).with_batch_size(Some(0))),
        "a mini-batch needs at least 1 series, got 0",
    );
    invalid(means(KMeansOptions::new(2).with_sample_size(1)), "as many series as clusters (2), got 1");
    let weigh = |weights: &[f64]| means(KMeansOptions::new(2).with_weights(Some(weights)));
    invalid(weigh(&[1.0, 1.0]), "one weight per series (3), got 2");
    invalid(weigh(&[1.0, -0.5, 1.0]), "the weight of series 1 is -0.5");
    invalid(weigh(&[0.0, 1.0, 0.0]), "2 clusters were asked for, but only 1 series have a weight above 0");
    invalid(kmeans(&context, &dtw, none.batch(), &KMeansOptions::new(1)), "got none");
    invalid(kmeans(&context, &Spec::new(Measure::Frechet), x.batch(), &KMeansOptions::new(2)), "got frechet");

    let medoids = |options: KMedoidsOptions| kmedoids(&context, &dtw, x.batch(), &options);
    invalid(medoids(KMedoidsOptions::new(0)), "at least 1 cluster, got 0");
    invalid(medoids(KMedoidsOptions::new(4)), "only 3 series");
    let start = MedoidStart::Random { restarts: 0, seed: 1 };
    invalid(medoids(KMedoidsOptions::new(2).with_start(start)), "0 restarts");
    let sampled = |sampling| KMedoidsOptions::new(2).with_method(MedoidMethod::Clara(sampling));
    let sampling = ClaraOptions::new(2);
    invalid(medoids(sampled(sampling.with_samples(0))), "at least 1 sample, got 0");
    invalid(
        medoids(sampled(sampling.with_sample_size(1))),
        "as many series as there are clusters (2), got 1",
    );
    let of_matrix = kmedoids_of_matrix(&[0.0; 9], 3, &sampled(sampling), &Unobserved);
    invalid(of_matrix, "CLARA does without a matrix");
    invalid(kmedoids(&context, &dtw, none.batch(), &KMedoidsOptions::new(1)), "got none");
    let of = |matrix: &[f64], n| kmedoids_of_matrix(matrix, n, &KMedoidsOptions::new(1), &Unobserved);
    invalid(of(&[0.0; 5], 2), "2 x 2 dissimilarities was expected, got 5 values");
    invalid(of(&[0.0, f64::NAN, 1.0, 0.0], 2), "the dissimilarity of series 1 to series 0 is NaN");
    invalid(of(&[], 0), "got none");
    // Each is finite, but their sums would be compared as infinities: every medoid would do.
    let far = [0.0, 1e308, 1e308, 1e308, 0.0, 1.0, 1e308, 1.0, 0.0];
    invalid(of(&far, 3), "the dissimilarities to series 0 add up beyond f64");
}
