//! The observer hears of the work and can end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dtw_core::{Backend, Error, Measure, Observer, Pairing, Problem, SeriesBatch, Spec};
use dtw_learn::*;

use crate::plain;

/// Counts cells; asks to stop once it has heard of `limit`.
struct Watch {
    cells: AtomicU64,
    limit: u64,
}

impl Watch {
    fn new(limit: u64) -> Arc<Self> {
        Arc::new(Self { cells: AtomicU64::new(0), limit })
    }
}

impl Observer for Watch {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }
    fn cancelled(&self) -> bool {
        self.cells.load(Ordering::Relaxed) >= self.limit
    }
}

#[test]
fn every_algorithm_reports_and_stops() {
    let x = plain::ragged(81, &[20, 25, 18, 22, 30, 21, 26, 19], 1);
    let x = x.batch();
    let backend = plain::backend();
    let dtw = Spec::dtw();
    let soft = Spec::soft_dtw(1.0);
    let divergence = Spec::new(Measure::soft_dtw_divergence(1.0));
    let options = BarycenterOptions::default();
    let batches = KMeansOptions::new(2).with_batch_size(Some(4));
    let sampled =
        KMedoidsOptions::new(2).with_method(MedoidMethod::Clara(ClaraOptions::new(2).with_sample_size(5)));
    type Run<'a> = Box<dyn Fn(&Context<'_, f64>) -> Result<(), Error> + 'a>;
    let elsewhere = plain::Elsewhere(plain::backend());
    let long = plain::ragged(84, &[400], 1);
    let long = long.batch().get(0);
    let windows = ProfileOptions::new(6);
    let runs: [(&str, Run<'_>); 12] = [
        ("nearest", Box::new(|c| nearest(c, &dtw, x, x, 2).map(drop))),
        ("pairwise", Box::new(|c| pairwise(c, &dtw, Pairing::SelfSymmetric, x, x).map(drop))),
        ("edges", Box::new(|c| edges(c, &dtw, Pairing::SelfSymmetric, x, x, Threshold::at(9.0)).map(drop))),
        ("dba", Box::new(|c| barycenter(c, &dtw, x, &options).map(drop))),
        ("soft", Box::new(|c| barycenter(c, &soft, x, &options).map(drop))),
        ("divergence", Box::new(|c| barycenter(c, &divergence, x, &options).map(drop))),
        ("kmeans", Box::new(|c| kmeans(c, &dtw, x, &KMeansOptions::new(2)).map(drop))),
        ("batches", Box::new(|c| kmeans(c, &dtw, x, &batches).map(drop))),
        ("kmedoids", Box::new(|c| kmedoids(c, &dtw, x, &KMedoidsOptions::new(2)).map(drop))),
        ("profile", Box::new(|c| profile(c, &dtw, long, &windows).map(drop))),
        (
            "profile by all distances",
            Box::new(|c| {
                let context = Context::new(&elsewhere).with_observer(c.observer().clone());
                profile(&context.with_memory_limit(1 << 16), &dtw, long, &windows).map(drop)
            }),
        ),
        ("clara", Box::new(|c| kmedoids(c, &dtw, x, &sampled).map(drop))),
    ];
    for (name, run) in runs {
        let watch = Watch::new(u64::MAX);
        run(&Context::new(&backend).with_observer(watch.clone())).unwrap();
        let all = watch.cells.load(Ordering::Relaxed);
        assert!(all > 8 * 20 * 20, "{name} reports its cells, got {all}");
        for limit in [0, all / 2] {
            let watch = Watch::new(limit);
            // Small tiles and chunks, so that there is something between which to stop.
            let context = Context::new(&backend).with_observer(watch.clone()).with_memory_limit(1 << 20);
            let result = run(&context);
            assert!(matches!(result, Err(Error::Cancelled)), "{name} at {limit} of {all}: {result:?}");
            assert!(watch.cells.load(Ordering::Relaxed) < all, "{name} stops early");
        }
    }
}

#[test]
fn a_matrix_reports_the_cells_that_its_problem_announces() {
    let (x, y) = (plain::ragged(82, &[20, 25, 18, 22, 30], 1), plain::ragged(83, &[20, 25, 18], 1));
    let (x, y) = (x.batch(), y.batch());
    let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
    let all = Problem::of(Spec::dtw(), Pairing::Cross, &x, &y).unwrap().cells(&x, &y).unwrap();
    let half = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &x, &x).unwrap().cells(&x, &x).unwrap();
    let backends: [&dyn Backend<f64>; 2] = [&here, &elsewhere];
    let whole = Problem::of(Spec::dtw(), Pairing::Cross, &x, &x).unwrap().cells(&x, &x).unwrap();
    // One that prunes tells of all pairs.
    let own = |backend: &dyn Backend<f64>| if backend.name() == "cpu" { whole } else { half };
    for (backend, (y, announced)) in backends.into_iter().flat_map(|b| [(b, (y, all)), (b, (x, own(b)))]) {
        let watch = Watch::new(u64::MAX);
        let context = Context::new(backend).with_observer(watch.clone()).with_memory_limit(4 * 4 * 8);
        nearest(&context, &Spec::dtw(), x, y, 1).unwrap();
        assert_eq!(watch.cells.load(Ordering::Relaxed), announced);
        assert_eq!(nearest_cells(&context, &Spec::dtw(), x, y).unwrap(), announced);
    }
}

/// Of noise, the CPU tries a few series and then ranks all distances; of series in groups it prunes all along.
#[test]
fn pruned_neighbours_report_the_cells_that_are_announced() {
    let noise = plain::ragged(84, &[20; 130], 1);
    let groups: Vec<f64> = (0..130 * 20).map(|v| f64::from(v / 20 % 13) + f64::from(v % 20) * 0.01).collect();
    let groups = SeriesBatch::equal(&groups, 130, 20, 1).unwrap();
    let backend = plain::backend();
    for measure in [Measure::Msm { c: 0.01 }, Measure::Erp { gap: 0.0 }] {
        let spec = Spec { measure, ..Spec::dtw() };
        for (x, y) in [(noise.batch(), noise.batch()), (groups, groups), (groups, noise.batch())] {
            let watch = Watch::new(u64::MAX);
            let context = Context::new(&backend).with_observer(watch.clone());
            let announced = nearest_cells(&context, &spec, x, y).unwrap();
            let found = nearest(&context, &spec, x, y, 3).unwrap();
            assert_eq!(watch.cells.load(Ordering::Relaxed), announced, "{measure:?}");
            let all = pairwise(&context, &spec, Pairing::Cross, x, y).unwrap();
            for j in 0..130 {
                let mut brute: Vec<(f64, usize)> = (0..130).map(|i| (all[i * 130 + j], i)).collect();
                brute.sort_by(|a, b| a.partial_cmp(b).unwrap());
                let (distances, indices): (Vec<f64>, Vec<usize>) = brute.into_iter().take(3).unzip();
                assert_eq!((found.distances(j), found.indices(j)), (&*distances, &*indices), "{measure:?}");
            }
        }
    }
}

#[test]
fn a_profile_reports_the_cells_that_it_announces() {
    let series = plain::ragged(85, &[200], 1);
    let series = series.batch().get(0);
    let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
    let backends: [&dyn Backend<f64>; 2] = [&here, &elsewhere];
    for (backend, other) in backends.into_iter().flat_map(|b| [(b, None), (b, Some(series))]) {
        // By bounds; by all distances within little memory, and of steps that are too long for bounds.
        for (step, limit) in [(1, 1 << 22), (3, 1 << 22), (1, 1 << 15), (9, 1 << 22)] {
            let options = ProfileOptions::new(7).with_step(step);
            let watch = Watch::new(u64::MAX);
            let context = Context::new(backend).with_observer(watch.clone()).with_memory_limit(limit);
            match other {
                None => profile(&context, &Spec::dtw(), series, &options).unwrap(),
                Some(other) => profile_join(&context, &Spec::dtw(), series, other, &options).unwrap(),
            };
            let announced = profile_cells(&context, &Spec::dtw(), series, other, &options).unwrap();
            assert_eq!(watch.cells.load(Ordering::Relaxed), announced);
        }
    }
}
