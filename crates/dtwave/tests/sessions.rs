//! Sessions keep plans: results are those of fresh ones, whoever calls, from however many threads and in a forked
//! process.
#![cfg(feature = "cpu")]

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use dtwave::{Blocks, Device, Observer, SearchOptions, Session, Spec, TilePlan};
use ndarray::{Array3, s};

fn series(length: usize, seed: usize) -> Vec<f64> {
    (0..length).map(|i| ((i * 7 + seed * 13) % 11) as f64 * 0.25).collect()
}

#[test]
fn calls_of_all_kinds_in_any_order_give_what_a_fresh_session_gives() {
    let specs = [Spec::dtw(), Spec::soft_dtw(0.5)];
    for spec in specs {
        let kept = Session::new(spec.clone());
        for round in 0..3 {
            for (n, m) in [(5, 7), (7, 5), (5, 7), (90, 100), (1, 1)] {
                let (x, y) = (series(n, round), series(m, round + 1));
                let fresh = Session::new(spec.clone());
                let expected = fresh.distance(&x, &y).unwrap();
                assert_eq!(kept.distance(&x, &y).unwrap(), expected);
                assert_eq!(dtwave::distance(&x, &y, &spec).unwrap(), expected);
                let single = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<_>>();
                let (a, b) = (single(&x), single(&y));
                assert_eq!(kept.distance(&a, &b).unwrap(), fresh.distance(&a, &b).unwrap());
                let batch = vec![x, y];
                assert_eq!(kept.pairwise(&batch).unwrap(), fresh.pairwise(&batch).unwrap());
                assert_eq!(kept.cross(&batch, &batch).unwrap(), fresh.cross(&batch, &batch).unwrap());
            }
            kept.clear();
        }
    }
}

#[test]
fn larger_distances_than_a_cutoff_are_infinite() {
    let batch: Vec<Vec<f64>> = (0..9).map(|seed| series(30, seed * seed)).collect();
    for spec in [Spec::dtw(), Spec::soft_dtw(0.5)] {
        let all = Session::new(spec.clone());
        let matrix = all.pairwise(&batch).unwrap();
        let mut sorted = matrix.iter().copied().collect::<Vec<_>>();
        sorted.sort_by(f64::total_cmp);
        let cutoff = sorted[40];
        let some = all.clone().cutoff(Some(cutoff));
        let expected = matrix.mapv(|d| if d > cutoff { f64::INFINITY } else { d });
        assert!(expected.iter().any(|d| d.is_infinite()), "{matrix}");
        assert_eq!(some.pairwise(&batch).unwrap(), expected);
        let cross = all.cross(&batch, &batch).unwrap();
        let expected = cross.mapv(|d| if d > cutoff { f64::INFINITY } else { d });
        assert_eq!(some.cross(&batch, &batch).unwrap(), expected);
        assert_eq!(some.zipped(&batch, &batch[..9]).unwrap(), expected.diag().to_vec());
        let one = if cross[[0, 4]] > cutoff { f64::INFINITY } else { cross[[0, 4]] };
        assert_eq!(some.distance(&batch[0], &batch[4]).unwrap(), one);
        assert_eq!(some.cutoff(None).pairwise(&batch).unwrap(), matrix);
    }
}

#[test]
fn sessions_of_other_specs_share_plans_and_keep_their_own_spec() {
    let session = Session::new(Spec::dtw()).memory_limit(1 << 20);
    let (x, y) = (series(9, 1), series(8, 2));
    for spec in [Spec::soft_dtw(0.5), Spec::dtw(), Spec::soft_dtw(0.25)] {
        let other = session.with_spec(spec.clone());
        assert_eq!(other.spec(), &spec);
        let expected = Session::new(spec).distance(&x, &y).unwrap();
        assert_eq!(other.distance(&x, &y).unwrap(), expected);
    }
    assert_eq!(session.distance(&x, &y).unwrap(), dtwave::distance(&x, &y, &Spec::dtw()).unwrap());
}

/// Parts and turned arrays are copied; whole ones are not.
#[test]
fn arrays_may_lie_in_memory_as_they_like() {
    let session = Session::new(Spec::dtw());
    let whole = Array3::from_shape_fn((3, 8, 2), |(k, i, c)| ((5 * k + 3 * i * i + 7 * c) % 11) as f64);
    let turned = Array3::from_shape_fn((2, 8, 3), |(c, i, k)| whole[(k, i, c)]).reversed_axes();
    let expected = session.pairwise(&whole).unwrap();
    assert_eq!(expected.dim(), (3, 3));
    assert_eq!(session.pairwise(&turned).unwrap(), expected);
    let every_other = whole.slice(s![.., ..;2, ..]);
    assert_eq!(session.pairwise(&every_other).unwrap(), session.pairwise(&every_other.to_owned()).unwrap());
}

#[test]
fn paths_of_pairs_are_those_of_each_pair() {
    let session = Session::new(Spec::dtw());
    let (x, y): (Vec<_>, Vec<_>) = (0..5).map(|k| (series(9 + k, k), series(8, k + 3))).unzip();
    let all = session.align_all(&x, &y).unwrap();
    let each: Vec<_> = x.iter().zip(&y).map(|(x, y)| session.align(x, y).unwrap()).collect();
    assert_eq!(all, each);
}

#[test]
fn a_matrix_is_cut_by_memory_and_by_time() {
    let cut = |limit: u64, length: usize, count: usize| {
        let values = vec![0.0; length * count];
        let x = dtwave::SeriesBatch::equal(&values, count, length, 1).unwrap();
        let session = Session::new(Spec::dtw()).memory_limit(limit);
        session.tile_plan(dtwave::Pairing::Cross, &x, &x).map(|plan| plan.side())
    };
    // A tenth of the memory is the tile's.
    assert_eq!(cut(10 * 8 * 49, 3, 100).unwrap(), 7);
    assert_eq!(cut(10 * 8 * 49 - 1, 3, 100).unwrap(), 6);
    assert_eq!(cut(1 << 30, 3, 100).unwrap(), 100);
    // 2^33 cells: 128 rows and columns of pairs of 2^19 cells.
    assert_eq!(cut(1 << 30, 725, 300).unwrap(), 127);
    assert!(matches!(cut(79, 3, 100), Err(dtwave::Error::OutOfMemory { .. })));
}

/// A matrix of more bytes than addresses: no system gives them, and none ends the process for the question.
#[test]
#[cfg(target_pointer_width = "64")]
fn a_matrix_that_the_system_has_no_room_for_is_an_error() {
    let values = vec![0.0_f32; 6_000_000];
    let x = dtwave::SeriesBatch::equal(&values, values.len(), 1, 1).unwrap();
    let refused = Session::new(Spec::dtw()).cross(&x, &x).unwrap_err();
    assert!(
        matches!(refused, dtwave::Error::MemoryRefused { requested_bytes: 144_000_000_000_000, .. }),
        "{refused}"
    );
    assert_eq!(
        refused.to_string(),
        "out of memory: the 6000000 x 6000000 distance matrix needs 144000000000000 bytes, which the system does not \
         give"
    );
    let problem = dtwave::Problem::of(Spec::dtw(), dtwave::Pairing::Cross, &x, &x).unwrap();
    let plan = dtwave::Backend::<f32>::plan(&dtw_cpu::CpuBackend::new(), &problem);
    assert!(matches!(plan.map(drop), Err(dtwave::Error::MemoryRefused { .. })));
}

#[test]
fn threads_use_one_session_at_once() {
    let session = Session::new(Spec::dtw());
    let pairs: Vec<_> = (0..40).map(|k| (series(60 + k % 3, k), series(50, k + 1))).collect();
    let expected: Vec<_> =
        pairs.iter().map(|(x, y)| Session::new(Spec::dtw()).distance(x, y).unwrap()).collect();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    for ((x, y), expected) in pairs.iter().zip(&expected) {
                        assert_eq!(session.distance(x, y).unwrap(), *expected);
                    }
                }
            });
        }
    });
}

struct Stop;

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn an_observer_hears_of_its_own_session_only() {
    let (x, y) = (series(20, 1), series(20, 2));
    let session = Session::new(Spec::dtw());
    session.distance(&x, &y).unwrap();
    let stopped = session.clone().observer(Arc::new(Stop));
    assert!(matches!(stopped.distance(&x, &y), Err(dtwave::Error::Cancelled)));
    session.distance(&x, &y).unwrap();
}

/// A reference that somebody computes when it is asked for.
struct Computed {
    ask: Sender<()>,
    blocks: Receiver<Vec<f64>>,
    left: usize,
}

impl Blocks<f64> for Computed {
    fn channels(&self) -> usize {
        1
    }

    fn read(&mut self, _: usize, block: &mut Vec<f64>) -> dtwave::Result<()> {
        if self.left > 0 {
            self.left -= 1;
            self.ask.send(()).unwrap();
            let answer = self.blocks.recv_timeout(Duration::from_secs(20));
            block.extend(answer.map_err(|_| dtwave::Error::Invalid("nobody answers".to_owned()))?);
        }
        Ok(())
    }
}

#[test]
fn a_reference_may_wait_for_another_call_on_the_same_threads() {
    let session = || Session::new(Spec::dtw()).on(Device::cpu_with_threads(1).unwrap());
    let all: Vec<_> = (0..60).map(|k| series(50, k)).collect();
    let (ask, asked) = channel();
    let (answer, blocks) = channel();
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            let session = session();
            for () in asked {
                // Nobody listens where the search has failed.
                let _ = answer.send(session.pairwise(&all).unwrap().row(0).to_vec());
            }
        });
        let mut reference = Computed { ask, blocks, left: 3 };
        session().search_blocks(&[&[0.0, 1.0][..]], &mut reference, &SearchOptions::default())
    });
    let row = session().pairwise(&all).unwrap().row(0).to_vec();
    let whole = session().search(&[0.0, 1.0], &row.repeat(3), &SearchOptions::default()).unwrap();
    assert_eq!(found.unwrap(), [whole]);
}

#[test]
fn tiles_are_parts_of_the_whole_matrix() {
    let all: Vec<_> = (0..23).map(|k| series(10 + k % 4, k)).collect();
    let session = Session::new(Spec::dtw());
    let whole = session.pairwise(&all).unwrap();
    let mut batch = dtwave::OwnedBatch::new(1).unwrap();
    all.iter().for_each(|series| batch.push(series).unwrap());
    let batch = batch.batch();
    let mut values = vec![f64::NAN; 23 * 23];
    session.distances_into(dtwave::Pairing::SelfSymmetric, &batch, &batch, &mut values).unwrap();
    assert!(whole.iter().eq(&values));
    assert!(session.distances_into(dtwave::Pairing::Zipped, &batch, &batch, &mut values).is_err());
    let tiles = TilePlan::new(dtwave::Pairing::SelfSymmetric, 23, 23, 8, 8 * 25).unwrap();
    let mut seen = 0;
    session
        .tiled(
            &tiles,
            &batch,
            &batch,
            |_| false,
            |tile, values| {
                for (k, value) in values.iter().enumerate() {
                    let (i, j) = (k / tile.columns.len(), k % tile.columns.len());
                    assert_eq!(whole[(tile.rows.start + i, tile.columns.start + j)], *value);
                }
                seen += values.len();
                Ok::<_, dtwave::Error>(())
            },
        )
        .unwrap();
    // Five rows and columns of tiles; those below the diagonal are mirrored ones.
    assert_eq!(seen, (23 * 23 + 4 * 25 + 9) / 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_forked_process_computes_with_threads_of_its_own() {
    let all: Vec<_> = (0..60).map(|k| series(100, k)).collect();
    let session = Session::new(Spec::dtw()).on(Device::cpu_with_threads(2).unwrap());
    let sum = || session.pairwise(&all).map(|matrix| matrix.sum());
    let expected = sum().unwrap();
    // SAFETY: the child runs what a forked child may here: code that waits for no lock that another thread of this
    // process can hold but the allocator's, which the system's C library keeps usable; and it leaves by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process: {}", std::io::Error::last_os_error());
    if child == 0 {
        let again =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| sum().is_ok_and(|s| s == expected)));
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(if matches!(again, Ok(true)) { 7 } else { 1 }) }
    }
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let mut status = 0;
    // SAFETY: the child is ours, and the status has a place.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if std::time::Instant::now() > until {
            // SAFETY: the child is ours and has not been waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((libc::WIFEXITED(status), libc::WEXITSTATUS(status)), (true, 7));
    assert_eq!(sum().unwrap(), expected);
}
