//! Turns of loops: some drivers leave loops after too many of them, silently.

use std::sync::Arc;

use dtw_core::{Error, LocalCost, Measure, Pairing, Plan as _, Problem, SeriesBatch, Spec};

use super::shapes::{check, noise};
use super::{BACKEND, open};
use crate::gpu::lanes::Lanes;
use crate::launch::job::Job;
use crate::launch::speed::Speed;
use crate::plans::plan::WgpuPlan;
use crate::shaders::functor::Functor;
use crate::shaders::params::Params;
use crate::shaders::sweep::{Mode, Points, Sweep};

const TWED: Measure = Measure::Twed { nu: 0.625, lambda: 3.0, degree: 3.0 };

/// Groups of 8 of 64 lanes, 4 columns each.
fn sweep(measure: Measure, points: Points) -> Sweep {
    Sweep {
        functor: Functor::of(&Spec::new(measure)).unwrap(),
        points,
        lanes: Lanes::Workgroup(64),
        group: 8,
        width: 4,
        one_strip: true,
        band: false,
        mode: Mode::Distances,
    }
}

#[test]
fn turns_are_those_of_the_rows_and_of_the_lanes_before() {
    // A loop of 20 channels counts as 22; twed has four of them for each cell.
    assert_eq!(sweep(Measure::DTW, Points::Many).turns(20), 1 + 4 * 22);
    assert_eq!(sweep(TWED, Points::Many).turns(20), 1 + 4 * 4 * 22);
    assert_eq!(sweep(TWED, Points::Several(7)).turns(7), 1);
    let dtw = sweep(Measure::DTW, Points::Many);
    assert_eq!(dtw.turns_of_rows(1, 20), 9 * 89);
    assert_eq!(dtw.turns_of_rows(100, 20), 108 * 89);
    assert_eq!(dtw.turns_of_rows(u64::MAX, 20), u64::MAX);
}

#[test]
fn no_more_rows_would_fit() {
    let sweep = sweep(Measure::DTW, Points::Many);
    for (strips, channels) in [(1, 17), (1, 300), (3, 17), (7, 40)] {
        let turns = |rows| strips * sweep.turns_of_rows(rows, channels);
        for loops in (turns(1)..turns(1) + 50_000).step_by(997) {
            let rows = sweep.rows_in_turns(loops, strips, channels);
            assert!((turns(rows)..turns(rows + 1)).contains(&loops), "{strips} {channels} {loops}: {rows}");
        }
        assert_eq!(sweep.rows_in_turns(turns(1) - 1, strips, channels), 1);
        assert_eq!(sweep.rows_in_turns(0, strips, channels), 1);
    }
}

#[test]
fn tasks_and_pieces_are_as_many_as_the_turns_allow() {
    let job = |longest, one_strip| Job {
        sweep: Sweep { one_strip, ..sweep(Measure::DTW, Points::Many) },
        params: Params { channels: 20, ..Params::default() },
        tasks: 1000,
        longest,
        cells: 1,
        within_x: false,
    };
    // A pair takes 108 · 89 turns; 64 lanes have 8 pairs at a time.
    let whole = job((100, 20), true);
    assert_eq!(whole.whole_tasks(10, Some(3 * 108 * 89)), 3 * 10 * 8);
    assert_eq!(whole.whole_tasks(10, Some(3 * 108 * 89 - 1)), 2 * 10 * 8);
    assert_eq!(whole.whole_tasks(10, Some(1)), 10 * 8);
    assert_eq!(whole.whole_tasks(10, None), u64::MAX);

    // Three strips; at least 64 rows of all of them, or one strip.
    let cut = job((500, 90), false);
    let least = 3 * (64 + 8) * 89;
    let piece = |loops| {
        let piece = cut.piece(1 << 40, loops, 1 << 40).unwrap();
        (piece.rows, piece.strips)
    };
    assert_eq!(piece(None), (500, 3));
    assert_eq!(piece(Some(3 * 508 * 89)), (500, 3));
    assert_eq!(piece(Some(3 * 508 * 89 - 1)), (499, 3));
    assert_eq!(piece(Some(least)), (64, 3));
    assert_eq!(piece(Some(least - 1)), (3 * 72 - 1 - 8, 1));
}

/// Pieces of pairs have to be small enough, and whole pairs be left to pieces. From 17 channels on they are in a loop.
#[test]
fn no_loop_is_left_early() {
    let twed = |degree| Spec::new(Measure::Twed { nu: 0.625, lambda: 3.0, degree });
    let dtw = |cost| Spec::new(Measure::Dtw { cost });
    let specs = [
        (twed(3.0), [40, 60, 120, 250]),
        (twed(1.0), [40, 60, 120, 250]),
        (dtw(LocalCost::SquaredEuclidean), [60, 190, 300, 600]),
        (dtw(LocalCost::Manhattan), [60, 190, 300, 600]),
    ];
    for (spec, lengths) in specs {
        for (channels, n) in [17, 20].into_iter().flat_map(|channels| lengths.map(|n| (channels, n))) {
            check(&BACKEND, &spec, Pairing::Zipped, &noise([n], channels, 1), &noise([n], channels, 2));
            check(&BACKEND, &spec, Pairing::Zipped, &noise([4 * n], channels, 1), &noise([3], channels, 2));
        }
    }
}

/// Lanes get narrower with more channels, until not even a row of the narrowest is swept in one dispatch.
#[test]
fn points_of_as_many_channels_as_a_row_has_turns_for() {
    let gpu = open(None);
    let Some(limit) = gpu.loop_limit() else { return };
    let turns_of_lane = limit / (1 + u64::from(gpu.lanes().count()));
    let most_of = |width: u64| ((turns_of_lane - 1) / width - 2) as usize;
    let dtw = Spec::dtw();
    for channels in [most_of(8), most_of(8) + 1, most_of(4)] {
        let (x, y) = (noise([3], channels, 1), noise([8 * gpu.lanes().count() as usize + 1], channels, 2));
        check(&BACKEND, &dtw, Pairing::Cross, &x, &y);
    }
    let values = vec![1.0_f32; 70 * (most_of(4) + 1)];
    let batch = SeriesBatch::equal(&values, 1, 70, most_of(4) + 1).unwrap();
    let problem = Problem::of(dtw, Pairing::Cross, &batch, &batch).unwrap();
    let mut plan = WgpuPlan::new(gpu, Arc::new(Speed::of(1 << 40)), &problem).unwrap();
    let refused = plan.distances(batch, batch, &mut [0.0]);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}

/// More workgroups than any device takes at once: each takes one task after the other.
#[test]
fn more_pairs_than_a_dispatch_has_lanes() {
    let gpu = open(None);
    let lanes = u64::from(gpu.lanes().count());
    let most = u64::from(gpu.limits().max_compute_workgroups_per_dimension);
    let count = (lanes * most).isqrt() as usize + 1;
    let values: Vec<f32> = (0..count).map(|k| (k % 1009) as f32).collect();
    let batch = SeriesBatch::equal(&values, count, 1, 1).unwrap();
    let spec = Spec::new(Measure::Dtw { cost: LocalCost::Manhattan });
    let problem = Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap();
    let mut plan = WgpuPlan::new(gpu, Arc::new(Speed::of(1 << 40)), &problem).unwrap();
    let mut out = vec![f32::NAN; count * count];
    plan.distances(batch, batch, &mut out).unwrap();
    let at = out.iter().enumerate().position(|(k, d)| *d != (values[k / count] - values[k % count]).abs());
    assert_eq!(at, None, "of {}", out.len());
}
