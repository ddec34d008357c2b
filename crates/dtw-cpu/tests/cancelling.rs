//! An observer stops a call within a few rows of the grid, also where the call is about one pair.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dtw_core::{Backend, Error, Gradients, Observer, Pairing, Plan, Problem, SeriesBatch, Spec};
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
    for spec in [Spec::soft_dtw(0.5), Spec::new(dtw_core::Measure::SoftDtwDivergence { gamma: 0.5 })] {
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
