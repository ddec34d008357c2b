//! An observer stops a call within a few rows of the grid, also where the call is about one pair, and hears of every
//! cell once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use dtw_core::{
    Backend, Band, Error, Gradients, Measure, Observer, Pairing, Plan, Problem, SeriesBatch, Spec,
};
use dtw_cpu::CpuBackend;

const N: usize = 200;

/// Cells that may be swept between two questions: four rows of 48 columns in each of eight lanes.
const CELLS: usize = 4 * 48 * 8;

/// Says to stop when it is asked for the `at`-th time.
struct Stop {
    asked: AtomicUsize,
    at: usize,
}

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.at
    }
}

/// How often an observer is asked that never stops `call`; every answer to stop is heard.
fn questions(
    spec: &Spec,
    call: impl Fn(&mut dyn Plan<f64>, SeriesBatch<'_, f64>) -> dtw_core::Result<()>,
) -> usize {
    let values: Vec<f64> = (0..N).map(|i| (i as f64 * 0.7).sin()).collect();
    let batch = SeriesBatch::equal(&values, 1, N, 1).unwrap();
    let problem = Problem::of(spec.clone(), Pairing::Zipped, &batch, &batch).unwrap();
    let backend = CpuBackend::with_threads(1);
    let asked = |at: usize| {
        let stop = Arc::new(Stop { asked: AtomicUsize::new(0), at });
        let mut plan = Backend::<f64>::plan(&backend, &problem).unwrap();
        plan.observe(stop.clone());
        let result = call(&mut *plan, batch);
        (stop.asked.load(Ordering::Relaxed), result)
    };
    let (questions, result) = asked(usize::MAX);
    result.unwrap();
    for at in [1, 2, questions / 2, questions] {
        let (asked, result) = asked(at);
        assert!(matches!(result, Err(Error::Cancelled)), "question {at} of {questions}");
        assert_eq!(asked, at, "nothing is done after the answer");
    }
    questions
}

#[test]
fn gradients_of_one_pair_stop() {
    for spec in [Spec::soft_dtw(0.5), Spec::new(Measure::soft_dtw_divergence(0.5))] {
        let asked = questions(&spec, |plan, batch| {
            let (mut distances, mut grad_x, mut grad_y) = ([0.0], [0.0; N], [0.0; N]);
            let (grad_x, grad_y) = (&mut grad_x[..], &mut grad_y[..]);
            plan.gradients(
                batch,
                batch,
                Gradients { distances: &mut distances, grad_x, grad_y, upstream: None },
            )
        });
        // Values, weights, shares.
        assert!(asked >= 3 * N * N / CELLS, "{asked}");
    }
}

#[test]
fn an_expected_alignment_stops() {
    let asked =
        questions(&Spec::soft_dtw(0.5), |plan, batch| plan.alignment(batch.get(0), batch.get(0)).map(drop));
    assert!(asked >= 3 * N * N / CELLS, "{asked}");
}

#[derive(Default)]
struct Count(AtomicU64);

impl Observer for Count {
    fn advance(&self, cells: u64) {
        self.0.fetch_add(cells, Ordering::Relaxed);
    }
}

#[test]
fn gradients_tell_of_every_cell_once() {
    // Ragged, with sums that need a second sweep for their digits, which is not counted.
    let (lengths_x, lengths_y) = ([0, 60, 61, 261], [0, 50, 58, 300]);
    let values: Vec<f64> = (0..300).map(|i| (i as f64 * 0.3).cos()).collect();
    let x = SeriesBatch::ragged(&values[..261], &lengths_x, 1).unwrap();
    let y = SeriesBatch::ragged(&values, &lengths_y, 1).unwrap();
    for measure in [Measure::soft_dtw(1e6), Measure::soft_dtw_divergence(1e6)] {
        for band in [Band::Full, Band::sakoe_chiba(3)] {
            let problem =
                Problem::of(Spec::new(measure).with_band(band.clone()), Pairing::Zipped, &x, &y).unwrap();
            let count = Arc::new(Count::default());
            let mut plan = Backend::<f64>::plan(&CpuBackend::new(), &problem).unwrap();
            plan.observe(count.clone());
            let (mut distances, mut grad_x, mut grad_y) = ([0.0; 3], [0.0; 261], [0.0; 300]);
            let (grad_x, grad_y) = (&mut grad_x[..], &mut grad_y[..]);
            plan.gradients(x, y, Gradients { distances: &mut distances, grad_x, grad_y, upstream: None })
                .unwrap();
            assert_eq!(
                count.0.load(Ordering::Relaxed),
                problem.cells(&x, &y).unwrap(),
                "{measure:?} {band:?}"
            );
        }
    }
}
