//! Batches, and what a problem and its options say of them: counted by hand.

use dtw_core::derivative::Derivatives;
use dtw_core::{
    Band, Dtype, LocalCost, Measure, OwnedBatch, Pairing, PassResults, PathCounts, Problem, SearchOptions,
    SeriesBatch, Sides, SoftResult, Spec, Task,
};

const VALUES: [f64; 12] = [0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0, 49.0, 64.0, 81.0, 100.0, 121.0];

fn ragged<'a>(offsets: &'a [usize], channels: usize) -> SeriesBatch<'a, f64> {
    SeriesBatch::ragged(&VALUES[..offsets[offsets.len() - 1] * channels], offsets, channels).unwrap()
}

#[test]
fn a_ragged_batch_has_the_series_between_its_offsets() {
    let batch = ragged(&[0, 2, 2, 5], 2);
    let lengths: Vec<_> = (0..3).map(|s| (batch.offset(s), batch.length(s))).collect();
    assert_eq!((batch.len(), batch.max_length(), batch.is_equal_length()), (3, 3, false));
    assert_eq!((lengths, batch.get(2).values), (vec![(0, 2), (2, 0), (2, 3)], &VALUES[4..10]));
    let equal = SeriesBatch::equal(&VALUES, 3, 2, 2).unwrap();
    assert_eq!((equal.len(), equal.max_length(), equal.offset(2), equal.is_equal_length()), (3, 2, 4, true));
    for offsets in [&[][..], &[1, 5], &[0, 3, 2, 5], &[0, 4]] {
        assert!(SeriesBatch::ragged(&VALUES[..5], offsets, 1).is_err(), "{offsets:?}");
    }
}

#[test]
fn a_batch_is_another_only_in_the_same_memory_and_shape() {
    let equal = |count, length, channels| SeriesBatch::equal(&VALUES, count, length, channels).unwrap();
    let (batch, copy) = (equal(3, 4, 1), VALUES.to_vec());
    let (times, other_times) = (VALUES, copy.clone());
    assert!(batch.is(&equal(3, 4, 1)) && ragged(&[0, 5], 1).is(&ragged(&[0, 5], 1)));
    assert!(!batch.is(&SeriesBatch::equal(&copy, 3, 4, 1).unwrap()));
    assert!(
        !batch.is(&equal(4, 3, 1)) && !batch.is(&SeriesBatch::ragged(&VALUES, &[0, 4, 8, 12], 1).unwrap())
    );
    assert!(!equal(3, 2, 2).is(&SeriesBatch::equal(&VALUES[..6], 3, 2, 1).unwrap()));
    let timed = |times| equal(3, 4, 1).with_times(times).unwrap();
    assert!(timed(&times).is(&timed(&times)));
    assert!(!timed(&times).is(&timed(&other_times)) && !timed(&times).is(&batch));
    assert!(
        equal(3, 2, 2).with_times(&times[..5]).is_err() && equal(3, 2, 2).with_times(&times[..6]).is_ok()
    );
}

#[test]
fn an_owned_batch_grows_by_whole_series() {
    let mut batch = OwnedBatch::new(2).unwrap();
    batch.push(&VALUES[..4]).unwrap();
    assert!(batch.push(&VALUES[..3]).is_err() && batch.push_timed(&VALUES[..4], &VALUES[..2]).is_err());
    batch.push(&VALUES[..6]).unwrap();
    batch.series_mut(1)[5] = -1.0;
    assert_eq!((batch.len(), batch.series_mut(0).len(), batch.batch().get(1).values[5]), (2, 4, -1.0));
    assert_eq!((batch.batch().length(0), batch.batch().length(1)), (2, 3));
    let mut timed = OwnedBatch::new(2).unwrap();
    assert!(timed.push_timed(&VALUES[..4], &VALUES[..4]).is_err());
    timed.push_timed(&VALUES[..4], &VALUES[..2]).unwrap();
    assert!(timed.push(&VALUES[..4]).is_err() && timed.batch().has_times());
    assert_eq!((timed.len(), timed.is_empty(), Dtype::F32.bytes(), Dtype::F64.bytes()), (1, false, 4, 8));
}

#[test]
fn derivatives_are_those_of_the_paper() {
    // Of squares: ((2 i − 1) + 4 i / 2) / 2 at i, which is 2 i − 1/2.
    let derived = Derivatives::of(&ragged(&[0, 5, 8], 1));
    assert_eq!(derived.batch().get(0).values, [1.5, 3.5, 5.5]);
    assert_eq!((derived.batch().len(), derived.batch().get(1).values), (2, &[11.5][..]));
    // Of two channels: 0, 4, 16 and 1, 9, 25.
    let derived = Derivatives::of(&ragged(&[0, 3], 2));
    assert_eq!(derived.batch().get(0).values, [(4.0 + 8.0) / 2.0, (8.0 + 12.0) / 2.0]);
}

#[test]
fn the_cells_of_a_problem_are_those_of_all_its_passes() {
    let (x, y) = (ragged(&[0, 2, 5], 1), ragged(&[0, 4, 5], 1));
    let cells = |measure: Measure, pairing| {
        let problem = Problem::of(Spec::new(measure), pairing, &x, &y).unwrap();
        (problem.output_len(), problem.cells(&x, &y).unwrap())
    };
    let soft = Measure::soft_dtw_divergence(1.0);
    assert_eq!(cells(Measure::soft_dtw(1.0), Pairing::Cross), (4, (2 + 3) * (4 + 1)));
    assert_eq!(cells(Measure::soft_dtw(1.0), Pairing::Zipped), (2, 2 * 4 + 3));
    assert_eq!(cells(soft, Pairing::Zipped), (2, 2 * 4 + 3 + (4 + 9) + (16 + 1)));
    // The upper half with the diagonal.
    assert_eq!(cells(Measure::soft_dtw(1.0), Pairing::SelfSymmetric), (4, 4 + 9 + 2 * 3));
}

#[test]
fn a_divergence_takes_half_of_each_own_distance() {
    // Pairs of single points have one path, so that nothing is to be made up for.
    let (x, y) = (ragged(&[0, 1, 2], 1), ragged(&[0, 1, 2, 3], 1));
    let made = |pairing, y: &SeriesBatch<'_, f64>, count: usize| {
        let mut out = vec![0.0; count];
        let problem = Problem::of(Spec::new(Measure::soft_dtw_divergence(2.0)), pairing, &x, y).unwrap();
        let mut results = PassResults::default();
        let swept = results.distances(&problem, pairing, &x, y, &mut out, |pass, _, _, out, _| {
            let base = match pass.sides {
                Sides::Both => 1000.0,
                Sides::OwnX => 2.0,
                Sides::OwnY => 60.0,
            };
            out.iter_mut().zip(1..).for_each(|(value, k)| *value = base * f64::from(k));
            Ok(())
        });
        swept.unwrap();
        (out, results.bytes() > 0)
    };
    let all = [969.0, 1939.0, 2909.0, 3968.0, 4938.0, 5908.0];
    assert_eq!(made(Pairing::Cross, &y, 6), (all.to_vec(), true));
    assert_eq!(made(Pairing::Zipped, &ragged(&[0, 1, 2], 1), 2).0, [969.0, 1938.0]);
    assert_eq!(made(Pairing::SelfSymmetric, &x, 4).0, [998.0, 1997.0, 2997.0, 3996.0]);
}

#[test]
fn results_are_made_of_excesses_and_of_the_numbers_of_paths() {
    let (soft, divergence) = (Measure::soft_dtw(2.0), Measure::soft_dtw_divergence(2.0));
    let (soft, divergence) = (SoftResult::of(&soft).unwrap(), SoftResult::of(&divergence).unwrap());
    let (counts, band, lengths) = (&mut PathCounts::default(), &Band::Full, (5, 4));
    let close = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-9, "{got} {expected}");
    // Delannoy's numbers of 4 and 3 steps, of 4 and 4, of 3 and 3.
    let [both, own_x, own_y] = [129.0_f64, 321.0, 63.0].map(f64::ln);
    close(divergence.from_value(900.0, counts, band, lengths).unwrap().unwrap(), 900.0 + 2.0 * both);
    assert_eq!(divergence.from_value(-2.0 * both, counts, band, lengths).unwrap(), None);
    close(soft.from_value(900.0, counts, band, lengths).unwrap().unwrap(), 900.0);
    close(soft.from_excess(3.0, 8.0, counts, band, lengths).unwrap(), 3.0 - 2.0 * both);
    close(soft.from_excess(f64::INFINITY, 8.0, counts, band, lengths).unwrap(), 8.0);
    close(divergence.from_excess(3.0, 8.0, counts, band, lengths).unwrap(), 3.0);
    close(divergence.from_excess(f64::INFINITY, 8.0, counts, band, lengths).unwrap(), 8.0 + 2.0 * both);
    let expected = 10.0 - 2.5 - 2.0 * (both - 0.5 * (own_x + own_y));
    close(divergence.divergence([10.0, 2.0, 3.0], counts, band, lengths).unwrap(), expected);
}

#[test]
fn a_problem_admits_what_its_measure_defines() {
    let x = ragged(&[0, 3, 6], 2);
    let admits = |spec: Spec, task| Problem::of(spec, Pairing::Cross, &x, &x).unwrap().admits(task).is_ok();
    let search = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    for (spec, gradients, alignment, paths) in [
        (Spec::dtw(), false, false, true),
        (Spec::soft_dtw(1.0), true, true, false),
        (search, false, false, true),
    ] {
        let expected = [(Task::Gradients, gradients), (Task::Alignment, alignment), (Task::Paths, paths)];
        for (task, is) in expected {
            assert_eq!(admits(spec.clone(), task), is, "{spec:?} {task:?}");
        }
    }
    let problem = |spec| Problem::of(spec, Pairing::Cross, &x, &x).unwrap();
    let (global, free) = (problem(Spec::dtw()), problem(Spec::subsequence_dtw(LocalCost::Manhattan)));
    assert_eq!((global.is_subsequence(), free.is_subsequence()), (false, true));
    let options = SearchOptions::default().with_top_k(7).with_exclusion(2).with_threshold(Some(3.0));
    assert_eq!((options.top_k, options.exclusion, options.threshold), (7, 2, Some(3.0)));
    let windows = options.with_normalized_window(Some(3));
    let fits = |options: &SearchOptions| [&free, &global].map(|problem| options.check(problem).is_ok());
    assert_eq!((fits(&options), fits(&windows)), ([true, false], [false, true]));
}
