//! Gradients beyond the suite's: lengths round the edges of lanes and strips, grids in blocks where memory is short,
//! long pairs, calls that are stopped. Judged as the suite judges its cases.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dtw_conformance::batch::Batch;
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::check::{self, Stop};
use dtw_core::{
    Backend, Band, Error, Gradients, LocalCost, Measure, Observer, Pairing, Plan, Problem, Radius, Result,
    SeriesBatch, Spec, Task,
};

use super::BACKEND;

/// The backend with so much memory.
#[derive(Debug)]
struct Limited(u64);

impl Backend<f32> for Limited {
    fn name(&self) -> &'static str {
        Backend::<f32>::name(&*BACKEND)
    }

    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        Backend::<f32>::supports(&*BACKEND, problem, task)
    }

    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<f32>>> {
        Backend::<f32>::plan(&*BACKEND, &problem.clone().with_memory_limit(self.0))
    }
}

fn case(spec: Spec, lengths: &[(usize, usize)], channels: usize) -> Case {
    let mut random = SplitMix::new(7);
    let mut batch = |lengths: Vec<usize>| {
        Batch::new(lengths.into_iter().map(|n| series(Kind::Noise, n, channels, &mut random)).collect())
    };
    let x = batch(lengths.iter().map(|lengths| lengths.0).collect());
    let y = batch(lengths.iter().map(|lengths| lengths.1).collect());
    Case { name: format!("{lengths:?} of {channels} channels"), spec, pairing: Pairing::Zipped, x, y }
}

#[track_caller]
fn accepted(case: &Case, what: &str, checked: check::Checked) {
    match checked {
        Ok(()) => {}
        Err(Stop::Failed(why)) => panic!("{what} {:?}, {}: {why}", case.spec, case.name),
        Err(_) => panic!("{what} {:?}, {}: was not computed", case.spec, case.name),
    }
}

/// Judges the gradients of a case in so much memory, and the alignment of its first pair if it has one.
#[track_caller]
fn judge(case: &Case, bytes: u64) {
    let backend = Limited(bytes);
    accepted(case, "gradients of", check::gradients::check::<f32>(case, &backend));
    if let Measure::SoftDtw { .. } = case.spec.measure {
        accepted(case, "alignment of", check::alignment::check::<f32>(case, &backend));
    }
}

const PLENTY: u64 = 1 << 30;

#[test]
fn lengths_round_the_edges_of_lanes_and_strips() {
    for m in [1, 2, 7, 8, 9, 63, 64, 65, 129, 513] {
        judge(&case(Spec::soft_dtw(1.0), &[(1, m), (m, 1), (m, m), (17, m)], 1), PLENTY);
    }
}

/// In a tile, gradients of short series take as much room as those of the longest.
#[test]
fn scratch_stays_within_the_limit() {
    let lengths: Vec<_> = (0..24).map(|k| (2, if k == 9 { 1500 } else { 2 })).collect();
    let case = case(Spec::soft_dtw(1.0), &lengths, 64);
    let (x, y) = (case.x.flat::<f32>(), case.y.flat::<f32>());
    let (x, y) = (x.batch().unwrap(), y.batch().unwrap());
    for limit in [9 << 20, 16 << 20] {
        let problem = Problem::of(case.spec.clone(), Pairing::Zipped, &x, &y).unwrap();
        let mut plan = Backend::<f32>::plan(&Limited(limit), &problem).unwrap();
        let mut distances = vec![0.0; lengths.len()];
        let (mut grad_x, mut grad_y) = (vec![0.0; x.values().len()], vec![0.0; y.values().len()]);
        let out =
            Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
        plan.gradients(x, y, out).unwrap();
        assert!(plan.scratch_bytes() <= limit, "{} bytes of {limit}", plan.scratch_bytes());
    }
    judge(&case, 9 << 20);
}

#[test]
fn blocks_of_rows_where_memory_is_short() {
    let bands = [
        Band::Full,
        Band::SakoeChiba { radius: Radius::Points(9) },
        Band::Itakura { max_slope: 4.0 },
        Band::SakoeChiba { radius: Radius::Fraction(0.1) },
    ];
    // A cell of 72 × 72 takes 12 bytes, and grids an eighth of the memory: some pairs, one, or a part of one.
    for bytes in [2 << 20, 400 << 10, 120 << 10] {
        for band in &bands {
            let spec = Spec::soft_dtw(0.5).with_band(band.clone());
            judge(&case(spec.clone(), &[(72, 72), (72, 72), (72, 72)], 1), bytes);
            judge(&case(spec, &[(72, 65), (40, 41), (71, 72), (8, 9)], 2), bytes);
        }
        for cost in [LocalCost::Euclidean, LocalCost::Manhattan] {
            let ragged = [(72, 60), (1, 1), (9, 30)];
            judge(&case(Spec::new(Measure::SoftDtw { gamma: 1.0, cost }), &ragged, 3), bytes);
            judge(&case(Spec::new(Measure::SoftDtwDivergence { gamma: 1.0, cost }), &ragged, 1), bytes);
        }
    }
}

#[test]
fn long_pairs_whole_and_in_blocks() {
    for bytes in [PLENTY, 16 << 20] {
        judge(&case(Spec::soft_dtw(1.0), &[(1500, 1600)], 1), bytes);
        judge(&case(Spec::soft_dtw(1.0), &[(3000, 5), (5, 3000)], 2), bytes);
    }
}

/// There is one path, so a gradient is twice a sum of differences. Equal ones round alike: errors would add up.
#[test]
fn sums_over_many_points_keep_their_digits() {
    let (one, many) = ([0.0_f32], vec![0.1_f32; 20_000]);
    let expected = 2.0 * many.len() as f64 * f64::from(many[0]);
    for (x, y) in [(&one[..], &many[..]), (&many[..], &one[..])] {
        let (a, b) =
            (SeriesBatch::equal(x, 1, x.len(), 1).unwrap(), SeriesBatch::equal(y, 1, y.len(), 1).unwrap());
        let problem = Problem::of(Spec::soft_dtw(1e6), Pairing::Zipped, &a, &b).unwrap();
        let (mut distances, mut grad_x, mut grad_y) = ([0.0], vec![0.0; x.len()], vec![0.0; y.len()]);
        let out =
            Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
        Limited(PLENTY).plan(&problem).unwrap().gradients(a, b, out).unwrap();
        let found = f64::from(if x.len() == 1 { grad_x[0] } else { grad_y[0] });
        assert!((found.abs() - expected).abs() < 1e-6 * expected, "{found}, expected {expected}");
    }
}

/// Stops a call after having been asked so many times; counts cells.
#[derive(Default)]
struct Watch {
    asked: AtomicU64,
    most: u64,
    cells: AtomicU64,
}

impl Observer for Watch {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed) >= self.most
    }
}

/// Gradients of one pair of 300 points with this watch and this memory.
fn watched(watch: &Arc<Watch>, bytes: u64) -> Result<()> {
    let case = case(Spec::soft_dtw(1.0), &[(300, 300)], 1);
    let (x, y) = (case.x.flat::<f32>(), case.y.flat::<f32>());
    let (x, y) = (x.batch().expect("a batch"), y.batch().expect("a batch"));
    let problem = Problem::of(case.spec, Pairing::Zipped, &x, &y)?;
    let mut plan = Limited(bytes).plan(&problem)?;
    plan.observe(Arc::clone(watch) as Arc<dyn Observer>);
    let (mut distances, mut grad_x, mut grad_y) = ([0.0], [0.0; 300], [0.0; 300]);
    let out =
        Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
    plan.gradients(x, y, out)
}

#[test]
fn a_call_is_stopped_between_dispatches() {
    let watch = Arc::new(Watch { most: u64::MAX, ..Watch::default() });
    watched(&watch, 1 << 20).unwrap();
    assert_eq!(watch.cells.load(Ordering::Relaxed), 300 * 300);
    let asked = watch.asked.load(Ordering::Relaxed);
    assert!(asked > 10, "{asked}");
    for most in [0, 1, asked / 2, asked - 1] {
        let watch = Arc::new(Watch { most, ..Watch::default() });
        let stopped = watched(&watch, 1 << 20);
        assert!(matches!(stopped, Err(Error::Cancelled)), "{most}: {stopped:?}");
    }
}

#[test]
fn what_no_block_fits_is_refused_with_numbers() {
    let refused = watched(&Arc::new(Watch { most: u64::MAX, ..Watch::default() }), 100_000);
    let Err(Error::OutOfMemory { what, requested_bytes, available_bytes }) = refused else {
        panic!("{refused:?}");
    };
    assert!(what.contains("300") && requested_bytes > available_bytes, "{what}");
}
