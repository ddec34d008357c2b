//! Nearest neighbours against sorting the brute-force matrix.

use dtw_core::measure::Kind;
use dtw_core::{Band, LcssOutput, Measure, Pairing, Radius, SeriesBatch, Spec};
use dtw_learn::{Context, nearest, pairwise};

use crate::plain;

#[test]
fn neighbours_are_the_sorted_brute_force_distances() {
    let (x, y) = (plain::ragged(3, &[5, 9, 4, 7, 7, 6, 8], 2), plain::ragged(4, &[6, 3, 8, 5], 2));
    let backend = plain::backend();
    for limit in [8 * 4, 8 * 4 * 4, 1 << 20] {
        let context = Context::new(&backend).with_memory_limit(limit);
        for k in 1..=x.len() {
            let found = nearest(&context, &Spec::dtw(), x.batch(), y.batch(), k).unwrap();
            assert_eq!((found.len(), found.k()), (y.len(), k));
            for (j, y) in y.batch().iter().enumerate() {
                let mut brute: Vec<(f64, usize)> = x
                    .batch()
                    .iter()
                    .enumerate()
                    .map(|(i, x)| (plain::dtw(x.values, y.values, 2, None).0, i))
                    .collect();
                brute.sort_by(|a, b| a.partial_cmp(b).unwrap());
                for (rank, (distance, index)) in brute[..k].iter().enumerate() {
                    assert_eq!(found.indices(j)[rank], *index);
                    plain::assert_close(found.distances(j)[rank], *distance, 1e-12);
                }
            }
        }
    }
}

/// Half of the distances of series with themselves give what all of them give, bit by bit.
#[test]
fn among_themselves_series_have_the_neighbours_of_all_pairs() {
    let here = plain::backend();
    let elsewhere = plain::Elsewhere(plain::backend());
    let alike = plain::ragged(11, &[12; 23], 1);
    let lengths: Vec<usize> = (0..23).map(|k| 9 + k * 5 % 7).collect();
    let (ragged, wide) = (plain::ragged(12, &lengths, 1), plain::ragged(13, &lengths, 3));
    let radius = Radius::Fraction(0.3);
    let bands =
        [Band::Full, Band::SakoeChiba { radius }, Band::Slanted { radius }, Band::Itakura { max_slope: 3.0 }];
    for kind in Kind::all().iter().filter(|kind| kind.is_symmetric()) {
        for (x, band) in [&alike, &ragged, &wide].into_iter().flat_map(|x| bands.iter().map(move |b| (x, b)))
        {
            let spec = Spec::new(kind.examples[0]).with_band(band.clone());
            let x = x.batch();
            let copy = x.values().to_vec();
            let offsets: Vec<usize> = (0..=x.len()).map(|s| x.offset(s)).collect();
            let y = SeriesBatch::ragged(&copy, &offsets, x.channels()).unwrap();
            assert!(x.is(&x) && !x.is(&y));
            let all = nearest(&Context::new(&here), &spec, x, y, 5).unwrap();
            for limit in [8 * 4 * 40, 1 << 20] {
                let own = nearest(&Context::new(&here).with_memory_limit(limit), &spec, x, x, 5);
                assert_eq!(own.unwrap(), all, "{spec:?}");
                let own = nearest(&Context::new(&elsewhere).with_memory_limit(limit), &spec, x, x, 5);
                assert_eq!(own.unwrap(), all, "{spec:?}");
            }
        }
    }
}

#[test]
fn equal_distances_come_by_index() {
    let values = [1.0_f64, 0.0, 1.0, 0.0, 0.0, 1.0];
    let x = SeriesBatch::equal(&values, 6, 1, 1).unwrap();
    let y = SeriesBatch::equal(&[0.0], 1, 1, 1).unwrap();
    let backend = plain::backend();
    // Tiles of one value: the order of arrival must not matter either.
    for limit in [8 * 4, 1 << 20] {
        let context = Context::new(&backend).with_memory_limit(limit);
        let found = nearest(&context, &Spec::dtw(), x, y, 5).unwrap();
        assert_eq!(found.indices(0), [1, 3, 4, 0, 2]);
        assert_eq!(found.distances(0), [0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}

#[test]
fn similarities_are_ranked_the_other_way_round() {
    let (x, y) = (plain::ragged(5, &[8; 6], 1), plain::ragged(6, &[8; 3], 1));
    let backend = plain::backend();
    let context = Context::new(&backend);
    for measure in
        [Measure::LogGak { sigma: 1.0 }, Measure::Lcss { epsilon: 0.3, output: LcssOutput::Length }]
    {
        let spec = Spec::new(measure);
        let matrix = pairwise(&context, &spec, Pairing::Cross, x.batch(), y.batch()).unwrap();
        let found = nearest(&context, &spec, x.batch(), y.batch(), 4).unwrap();
        for j in 0..y.len() {
            let mut order: Vec<usize> = (0..x.len()).collect();
            order.sort_by(|a, b| matrix[b * 3 + j].partial_cmp(&matrix[a * 3 + j]).unwrap().then(a.cmp(b)));
            assert_eq!(found.indices(j), &order[..4], "{measure:?}");
            assert!(found.distances(j).windows(2).all(|w| w[0] >= w[1]));
        }
    }
}

#[test]
fn single_precision_finds_the_same_neighbours() {
    let (x, y) = (plain::ragged(7, &[9; 8], 1), plain::ragged(8, &[9; 4], 1));
    let narrow = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<_>>();
    let (x32, y32) = (narrow(x.batch().values()), narrow(y.batch().values()));
    let backend = plain::backend();
    let wide = nearest(&Context::new(&backend), &Spec::dtw(), x.batch(), y.batch(), 3).unwrap();
    let found = nearest(
        &Context::<f32>::new(&backend),
        &Spec::dtw(),
        SeriesBatch::equal(&x32, 8, 9, 1).unwrap(),
        SeriesBatch::equal(&y32, 4, 9, 1).unwrap(),
        3,
    )
    .unwrap();
    assert_eq!(found.all_indices(), wide.all_indices());
}

#[test]
fn many_series_are_searched_for_in_parts() {
    let backend = plain::backend();
    let context = Context::new(&backend);
    let values: Vec<f64> = (0..10_200).map(|k: u64| (k * k * 7919 % 10_007) as f64).collect();
    let x = SeriesBatch::equal(&values[..2200], 1100, 2, 1).unwrap();
    let y = SeriesBatch::equal(&values[2200..], 4000, 2, 1).unwrap();
    let found = nearest(&context, &Spec::dtw(), x, y, 3).unwrap();
    assert_eq!(found.len(), 4000);
    for j in [0, 1, 3811, 3812, 3813, 3814, 3999] {
        let alone = nearest(&context, &Spec::dtw(), x, y.slice(j..j + 1), 3).unwrap();
        assert_eq!(
            (found.indices(j), found.distances(j)),
            (alone.indices(0), alone.distances(0)),
            "series {j}"
        );
    }
}
