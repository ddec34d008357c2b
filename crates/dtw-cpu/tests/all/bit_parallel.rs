//! LCSS and EDR as words of bits count what a loop over all cells counts: around the ends of words, of pairs that are
//! swept together and of pairs that are not.

use dtw_core::{Backend, EdrOutput, LcssOutput, Measure, OwnedBatch, Pairing, Problem, Spec};
use dtw_cpu::{CpuBackend, Element, Isa};

const EPSILON: f64 = 0.3;

/// Steps of 0.1 in 0..2: some pairs of points are as far apart as ε, and rounding decides.
fn values<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    let mut step = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f64((state >> 33) as f64 % 20.0 * 0.1)
    };
    (0..count).map(|_| step()).collect()
}

/// The length of the longest common subsequence, and the number of edits.
fn plain<T: Element>(x: &[T], y: &[T]) -> [usize; 2] {
    let mut above: Vec<[usize; 2]> = (0..=y.len()).map(|j| [0, j]).collect();
    for (i, x) in x.iter().enumerate() {
        let mut row = vec![[0, i + 1]];
        for (j, y) in y.iter().enumerate() {
            let is_match = (*x - *y).max(*y - *x) <= T::from_f64(EPSILON);
            let [diagonal, up, left] = [above[j], above[j + 1], row[j]];
            let common = if is_match { diagonal[0] + 1 } else { up[0].max(left[0]) };
            let edits = (diagonal[1] + usize::from(!is_match)).min(up[1] + 1).min(left[1] + 1);
            row.push([common, edits]);
        }
        above = row;
    }
    above[y.len()]
}

fn check<T: Element>(lengths: &[(usize, usize)]) {
    let mut batches = [OwnedBatch::<T>::new(1).unwrap(), OwnedBatch::new(1).unwrap()];
    for (pair, (n, m)) in (0..).zip(lengths) {
        batches[0].push(&values(*n, 2 * pair)).unwrap();
        batches[1].push(&values(*m, 2 * pair + 1)).unwrap();
    }
    let (x, y) = (batches[0].batch(), batches[1].batch());
    let counts: Vec<_> = (0..x.len()).map(|s| plain(x.get(s).values, y.get(s).values)).collect();
    for (k, measure) in [
        Measure::Lcss { epsilon: EPSILON, output: LcssOutput::Length },
        Measure::Edr { epsilon: EPSILON, output: EdrOutput::Count },
    ]
    .into_iter()
    .enumerate()
    {
        let problem = Problem::of(Spec::new(measure), Pairing::Zipped, &x, &y).unwrap();
        let expected: Vec<f64> = counts.iter().map(|counts| counts[k] as f64).collect();
        for isa in Isa::available() {
            let backend = CpuBackend::with_threads(1).with_isa(isa);
            let mut out = vec![T::ZERO; x.len()];
            Backend::<T>::plan(&backend, &problem).unwrap().distances(x, y, &mut out).unwrap();
            let out: Vec<f64> = out.iter().map(|value| value.to_f64()).collect();
            assert_eq!(out, expected, "{} {measure:?} {lengths:?}", isa.name());
        }
    }
}

#[test]
fn words_count_what_cells_do() {
    for n in [1, 2, 65, 150] {
        for m in [1, 2, 31, 32, 63, 64, 65, 127, 128, 129, 200] {
            check::<f32>(&[(n, m); 6]);
            check::<f64>(&[(m, n); 5]);
        }
    }
}

#[test]
fn pairs_of_other_lengths_are_counted_apart() {
    let lengths: Vec<_> = (0..40).map(|k| (1 + k * 7 % 90, 1 + k * 11 % 140)).collect();
    check::<f32>(&lengths);
    check::<f64>(&lengths);
    let mut one_longer = vec![(70, 130); 9];
    one_longer[2] = (71, 130);
    check::<f32>(&one_longer);
    check::<f64>(&one_longer);
}
