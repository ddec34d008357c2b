//! Edges below a threshold against the entries of the brute-force matrix.

use dtw_core::measure::Kind;
use dtw_core::{Band, Error, LcssOutput, Measure, OwnedBatch, Pairing, Radius, Scalar, SeriesBatch, Spec};
use dtw_learn::{Context, Edges, Threshold, edges, pairwise};

use crate::plain;

/// The entries of a matrix that a threshold leaves, nearest first in each row.
fn brute<T: Scalar>(
    matrix: &[T],
    columns: usize,
    is_inside: impl Fn(T) -> bool,
    skips_own: bool,
    is_similarity: bool,
) -> Vec<(usize, usize, T)> {
    let mut all = Vec::new();
    for (i, row) in matrix.chunks_exact(columns).enumerate() {
        let mut own: Vec<_> = row.iter().copied().enumerate().map(|(j, d)| (i, j, d)).collect();
        own.retain(|(i, j, d)| is_inside(*d) && !(skips_own && i == j));
        own.sort_by(|a, b| {
            if is_similarity { b.2.partial_cmp(&a.2) } else { a.2.partial_cmp(&b.2) }.unwrap()
        });
        all.extend(own);
    }
    all
}

fn listed<T: Scalar>(found: &Edges<T>) -> Vec<(usize, usize, T)> {
    let [rows, _] = found.shape();
    assert_eq!((found.starts().len(), found.starts()[rows]), (rows + 1, found.len()));
    assert_eq!((found.indices().len(), found.distances().len()), (found.len(), found.len()));
    let all: Vec<_> = found.iter().collect();
    assert_eq!(all.len(), found.len());
    assert_eq!(found.is_empty(), all.is_empty());
    all
}

/// Thresholds that are distances of the matrix, and numbers beside them, and beyond all of them.
fn thresholds(matrix: &[f64]) -> Vec<f64> {
    let mut values = matrix.to_vec();
    values.sort_by(f64::total_cmp);
    let mut all = vec![f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1.0, 0.0, -0.0];
    for at in [0, values.len() / 5, values.len() / 2, values.len() - 1] {
        all.extend([values[at], values[at].next_down(), values[at].next_up()]);
    }
    all
}

#[test]
fn edges_are_the_entries_of_the_matrix_whatever_the_measure() {
    let here = plain::backend();
    let elsewhere = plain::Elsewhere(plain::backend());
    let lengths: Vec<usize> = (0..19).map(|k| 5 + k * 5 % 7).collect();
    let (alike, ragged) = (plain::ragged(21, &[9; 19], 1), plain::ragged(22, &lengths, 2));
    let others = plain::ragged(23, &lengths[..7], 2);
    let band = Band::SakoeChiba { radius: Radius::Fraction(0.3) };
    for kind in Kind::all() {
        let spec = Spec::new(kind.examples[0]);
        let specs = [spec.clone(), if kind.is_symmetric() { spec.with_band(band.clone()) } else { spec }];
        for (spec, (x, y)) in specs
            .iter()
            .flat_map(|s| [(&alike, None), (&ragged, None), (&ragged, Some(&others))].map(|b| (s, b)))
        {
            if x.batch().channels() > 1
                && pairwise(&Context::new(&here), spec, Pairing::Cross, x.batch(), x.batch()).is_err()
            {
                continue;
            }
            let is_own = y.is_none();
            let pairing = if is_own && kind.is_symmetric() { Pairing::SelfSymmetric } else { Pairing::Cross };
            let (x, y) = (x.batch(), y.unwrap_or(x).batch());
            let matrix = pairwise(&Context::new(&here), spec, pairing, x, y).unwrap();
            let is_similarity = spec.measure.is_similarity();
            for threshold in thresholds(&matrix) {
                let is_inside = |d: f64| if is_similarity { d >= threshold } else { d <= threshold };
                let expected = brute(&matrix, y.len(), is_inside, is_own, is_similarity);
                for limit in [1 << 15, 1 << 24] {
                    let context = Context::new(&here).with_memory_limit(limit);
                    let found = edges(&context, spec, pairing, x, y, Threshold::at(threshold)).unwrap();
                    assert_eq!(found.shape(), [x.len(), y.len()]);
                    let found = if is_own { found.without_own() } else { found };
                    assert_eq!(listed(&found), expected, "{spec:?} {threshold} {pairing:?}");
                }
                let context = Context::new(&elsewhere).with_memory_limit(1 << 15);
                let found = edges(&context, spec, pairing, x, y, Threshold::at(threshold)).unwrap();
                let found = if is_own { found.without_own() } else { found };
                assert_eq!(listed(&found), expected, "{spec:?} {threshold}, elsewhere");
            }
        }
    }
}

/// A threshold that is a distance has all pairs of that distance, whatever the tiles.
#[test]
fn ties_at_the_threshold_are_inside() {
    let values: Vec<f64> = [0.0, 1.0, 0.0, 1.0, 3.0, 1.0].to_vec();
    let x = SeriesBatch::equal(&values, 6, 1, 1).unwrap();
    let backend = plain::backend();
    let all = |t: f64, limit: u64| {
        let context = Context::new(&backend).with_memory_limit(limit);
        let found = edges(&context, &Spec::dtw(), Pairing::SelfSymmetric, x, x, Threshold::at(t)).unwrap();
        listed(&found).iter().map(|(i, j, _)| (*i, *j)).collect::<Vec<_>>()
    };
    for limit in [2048, 1 << 20] {
        let zeros = [(0, 2), (1, 3), (1, 5), (2, 0), (3, 1), (3, 5), (5, 1), (5, 3)];
        assert_eq!(all(0.0, limit), zeros);
        assert_eq!(all(1.0_f64.next_down(), limit), zeros);
        assert_eq!(all(1.0, limit).len(), 20);
        // Nearest first, of equal ones the smaller index.
        assert_eq!(all(1.0, limit)[..4], [(0, 2), (0, 1), (0, 3), (0, 5)]);
        assert_eq!(all(f64::INFINITY, limit).len(), 30);
        assert_eq!(all(-1.0, limit), []);
    }
}

#[test]
fn roots_are_compared_as_they_are_reported() {
    let backend = plain::backend();
    let x = plain::ragged(31, &[7; 24], 1);
    let narrow: Vec<f32> = x.batch().values().iter().map(|v| *v as f32).collect();
    let narrow = SeriesBatch::equal(&narrow, 24, 7, 1).unwrap();
    let spec = Spec::dtw();
    let matrix = pairwise(&Context::new(&backend), &spec, Pairing::SelfSymmetric, narrow, narrow).unwrap();
    let roots: Vec<f32> = matrix.iter().map(|d| f64::from(*d).sqrt() as f32).collect();
    for at in 0..roots.len() {
        // Of many roots, the square is less than the distance that it is the root of.
        let threshold = Threshold::at(f64::from(roots[at])).of_roots();
        let found =
            edges(&Context::new(&backend), &spec, Pairing::SelfSymmetric, narrow, narrow, threshold).unwrap();
        let expected = brute(&roots, 24, |d| d <= roots[at], true, false);
        assert_eq!(listed(&found), expected, "{at}");
    }
    // The threshold is rounded as distances are: 0.1 of f32 is more than 0.1.
    let pair = [0.0_f32, 0.1];
    let pair = SeriesBatch::equal(&pair, 2, 1, 1).unwrap();
    let at = Threshold::at(0.1).of_roots();
    let found = edges(&Context::new(&backend), &spec, Pairing::SelfSymmetric, pair, pair, at).unwrap();
    assert_eq!(found.distances(), [0.1_f32; 2]);
    for nothing in [f64::NEG_INFINITY, -0.5] {
        let at = Threshold::at(nothing).of_roots();
        let found = edges(&Context::new(&backend), &spec, Pairing::SelfSymmetric, pair, pair, at).unwrap();
        assert!(found.is_empty() && found.starts() == [0, 0, 0], "{nothing}");
    }
}

#[test]
fn one_series_and_none_have_no_edges_among_themselves() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let at = Threshold::at(f64::INFINITY);
    for count in [0, 1] {
        let x = plain::ragged(41, &vec![5; count], 1);
        for pairing in [Pairing::SelfSymmetric, Pairing::Cross] {
            let Ok(found) = edges(&context, &Spec::dtw(), pairing, x.batch(), x.batch(), at) else {
                assert!(pairwise(&context, &Spec::dtw(), pairing, x.batch(), x.batch()).is_err());
                continue;
            };
            assert_eq!(found.len(), if pairing == Pairing::Cross { count } else { 0 });
            let found = found.without_own();
            assert_eq!((found.shape(), listed(&found)), ([count; 2], vec![]));
        }
    }
    // A copy of a series is another series.
    let (x, y) = (plain::ragged(42, &[5], 1), plain::ragged(42, &[5], 1));
    let found = edges(&context, &Spec::dtw(), Pairing::Cross, x.batch(), y.batch(), at).unwrap();
    assert_eq!(listed(&found), [(0, 0, 0.0)]);
    let (starts, indices, distances) = found.into_parts();
    assert_eq!((starts, indices, distances), (vec![0, 1], vec![0], vec![0.0]));
}

#[test]
fn what_is_no_graph_is_refused() {
    let backend = plain::backend();
    let x = plain::ragged(51, &[20; 60], 1);
    let x = x.batch();
    let own = |limit: u64, threshold: f64| {
        let context = Context::new(&backend).with_memory_limit(limit);
        edges(&context, &Spec::dtw(), Pairing::SelfSymmetric, x, x, Threshold::at(threshold))
    };
    let error = own(1 << 20, f64::NAN).unwrap_err().to_string();
    assert_eq!(error, "a threshold is a number, got NaN");
    // All 1770 pairs do not fit; a smaller threshold does.
    let error = own(1 << 15, f64::INFINITY).unwrap_err();
    let Error::OutOfMemory { requested_bytes, available_bytes, .. } = &error else { panic!("{error}") };
    assert!(*available_bytes == 1 << 14 && requested_bytes > available_bytes, "{error}");
    let text = error.to_string();
    assert!(text.contains("edges found so far") && text.contains("fewer edges"), "{text}");
    let few = own(1 << 15, 2.0).unwrap();
    assert!(!few.is_empty() && few.len() < 700, "{}", few.len());
    let subsequence = Spec::subsequence_dtw(dtw_core::LocalCost::SquaredEuclidean);
    let error =
        edges(&Context::new(&backend), &subsequence, Pairing::SelfSymmetric, x, x, Threshold::at(1.0));
    assert!(error.unwrap_err().to_string().contains("not symmetric"));
    assert!(edges(&Context::new(&backend), &Spec::dtw(), Pairing::Zipped, x, x, Threshold::at(1.0)).is_err());

    // A distance that left the number type is no edge, unless all are wanted; NaN is refused with its place.
    let mut batch = OwnedBatch::new(1).unwrap();
    [[1e200, 0.0], [-1e200, 0.0], [1e200, 1.0]].iter().for_each(|s| batch.push(s).unwrap());
    let large = |threshold: f64| {
        let x = batch.batch();
        edges(&Context::new(&backend), &Spec::dtw(), Pairing::SelfSymmetric, x, x, Threshold::at(threshold))
    };
    assert_eq!(listed(&large(5.0).unwrap()), [(0, 2, 1.0), (2, 0, 1.0)]);
    let error = large(f64::INFINITY).unwrap_err().to_string();
    assert!(error.contains("series 0 of x and series 1 of y is inf"), "{error}");
    let broken = SeriesBatch::equal(&[0.0, f64::NAN], 2, 1, 1).unwrap();
    let error = edges(
        &Context::new(&backend),
        &Spec::dtw(),
        Pairing::SelfSymmetric,
        broken,
        broken,
        Threshold::at(1.0),
    );
    assert!(error.unwrap_err().to_string().contains("NaN"));
}

#[test]
fn similarities_are_edges_from_the_threshold_on() {
    let x = plain::ragged(61, &[8; 9], 1);
    let spec = Spec::new(Measure::Lcss { epsilon: 0.3, output: LcssOutput::Length });
    let backend = plain::backend();
    let context = Context::new(&backend);
    let matrix = pairwise(&context, &spec, Pairing::SelfSymmetric, x.batch(), x.batch()).unwrap();
    // Whole numbers: many are at the threshold.
    for threshold in [0.0, 3.0, 4.0, 5.0, 8.0, 9.0] {
        let found =
            edges(&context, &spec, Pairing::SelfSymmetric, x.batch(), x.batch(), Threshold::at(threshold));
        assert_eq!(listed(&found.unwrap()), brute(&matrix, 9, |s| s >= threshold, true, true), "{threshold}");
    }
}
