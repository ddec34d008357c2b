//! A matrix is the same whatever its tiles.

use dtw_core::{Backend, Band, Error, Measure, Pairing, Radius, Spec};
use dtw_learn::{Context, for_each_tile, pairwise};

use crate::plain;

#[test]
fn any_tiling_gives_the_same_matrix() {
    let (x, y) = (plain::ragged(1, &[4, 7, 1, 5, 6], 2), plain::ragged(2, &[3, 8, 5], 2));
    let (here, elsewhere) = (plain::backend(), plain::Elsewhere(plain::backend()));
    let spec = Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(2) });
    let backends: [(&dyn Backend<f64>, u64); 2] = [(&here, 1), (&elsewhere, 2)];
    for ((backend, at_once), pairing) in
        backends.into_iter().flat_map(|each| [Pairing::Cross, Pairing::SelfSymmetric].map(|p| (each, p)))
    {
        let y = if pairing == Pairing::Cross { y.batch() } else { x.batch() };
        let brute: Vec<f64> = x
            .batch()
            .iter()
            .flat_map(|x| y.iter().map(move |y| plain::dtw(x.values, y.values, 2, Some(2)).0))
            .collect();
        for values_per_tile in [1, 4, 9, 1000] {
            // A quarter of the limit goes to tiles; the matrix itself must fit too.
            let limit = values_per_tile * 8 * 4 * at_once + 25 * 8;
            let context = Context::new(backend).with_memory_limit(limit);
            let mut tiles = 0;
            for_each_tile(&context, &spec, pairing, x.batch(), y, |tile, values| {
                assert_eq!(tile.index, tiles, "they come in order");
                tiles += 1;
                assert_eq!(values.len(), tile.len());
                Ok(())
            })
            .unwrap();
            if values_per_tile == 1 {
                assert!(tiles > 3, "the limit cuts the matrix, got {tiles} tiles");
            }
            let matrix = pairwise(&context, &spec, pairing, x.batch(), y).unwrap();
            assert_eq!(matrix.len(), brute.len());
            for (got, expected) in matrix.iter().zip(&brute) {
                assert!((got - expected).abs() <= 1e-12, "{pairing:?}, {values_per_tile}: {got} {expected}");
            }
        }
    }
}

#[test]
fn a_matrix_beyond_the_limit_is_refused_with_numbers() {
    let x = plain::ragged(1, &[4; 10], 1);
    let backend = plain::backend();
    let context = Context::new(&backend).with_memory_limit(799);
    let refused = pairwise(&context, &Spec::dtw(), Pairing::SelfSymmetric, x.batch(), x.batch());
    assert!(
        matches!(refused, Err(Error::OutOfMemory { requested_bytes: 800, available_bytes: 799, .. })),
        "{refused:?}"
    );
}

#[test]
fn errors_name_the_series_of_the_batch_not_of_the_tile() {
    let mut x = plain::ragged(1, &[3; 9], 1);
    x.series_mut(7)[2] = f64::NAN;
    let backend = plain::backend();
    let context = Context::new(&backend).with_memory_limit(8 * 4 * 4);
    let error = for_each_tile(
        &context,
        &Spec::new(Measure::DTW),
        Pairing::SelfSymmetric,
        x.batch(),
        x.batch(),
        |_, _| Ok(()),
    )
    .unwrap_err();
    assert!(error.to_string().contains("series 7 of x"), "{error}");
}
