//! What `dtw-core` prepares for every backend, against the oracles: bands, derivatives, z-normalisation; and its
//! cost matrices.

use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::oracle::band::Ends;
use dtw_conformance::oracle::{self, Cells, Oracle, Pair, derivative, znormalize};
use dtw_core::derivative::Derivatives;
use dtw_core::{Anchor, Band, CostMatrix, Measure, Radius, Series, SeriesBatch, Spec};

/// Compares both definitions of a band; returns whether it has a path.
fn agree(band: &Band, n: usize, m: usize) -> bool {
    let mut has_path = false;
    for (ends, anchor) in [(Ends::Global, Anchor::Global), (Ends::Free, Anchor::Subsequence)] {
        let oracle = band.rows(n, m, ends);
        let core = band.ranges(n, m, anchor);
        match (oracle, core) {
            (Ok(rows), Ok(ranges)) => {
                let got: Vec<_> = (0..n).map(|i| ranges.row(i)).collect();
                assert_eq!(got, rows, "{band:?} on {n}×{m}, {anchor:?}");
                has_path = true;
            }
            (Err(oracle::BandError::NoPath(_)), Err(error)) => {
                assert!(error.to_string().contains("no path"), "{band:?} on {n}×{m}: {error}");
            }
            (Err(_), Err(_)) => {}
            (oracle, core) => panic!("{band:?} on {n}×{m}, {anchor:?}: oracle {oracle:?}, core {core:?}"),
        }
    }
    has_path
}

#[test]
fn every_band_on_every_small_grid() {
    for n in 1..=14 {
        for m in 1..=14 {
            assert!(agree(&Band::Full, n, m));
            for radius in 0..=15 {
                for radius in [Radius::Points(radius), Radius::Fraction(radius as f64 / 15.0)] {
                    assert!(agree(&Band::SakoeChiba { radius }, n, m));
                    assert!(agree(&Band::Slanted { radius }, n, m));
                }
            }
            for max_slope in [1.0, 1.1, 4.0 / 3.0, 1.5, 1.7, 2.0, 3.0, 10.0, 1e300] {
                agree(&Band::Itakura { max_slope }, n, m);
            }
            for bad in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
                assert!(!agree_on_refusal(&Band::Itakura { max_slope: bad }, n, m));
            }
        }
    }
}

/// Parameters out of range are refused by `Spec::check`, before any grid is known.
fn agree_on_refusal(band: &Band, n: usize, m: usize) -> bool {
    let core = Spec::dtw().with_band(band.clone()).check().is_ok();
    assert_eq!(band.rows(n, m, Ends::Global).is_ok(), core, "{band:?}");
    core
}

#[test]
fn bands_on_long_and_lopsided_grids() {
    for (n, m) in [(1, 1000), (1000, 1), (2, 999), (1000, 731), (1025, 1024), (640, 2000)] {
        for radius in [0, 1, 7, 100, 5000, usize::MAX / 4] {
            agree(&Band::SakoeChiba { radius: Radius::Points(radius) }, n, m);
            agree(&Band::Slanted { radius: Radius::Points(radius) }, n, m);
        }
        for max_slope in [1.01, 1.3, 2.0, 7.77] {
            agree(&Band::Itakura { max_slope }, n, m);
        }
    }
}

#[test]
fn explicit_ranges() {
    let mut random = SplitMix::new(5);
    let mut with_path = 0;
    for _ in 0..20_000 {
        let (n, m) = (random.between(1, 6), random.between(1, 6));
        let ranges = (0..n)
            .map(|i| {
                let on_diagonal = i * m / n;
                on_diagonal.saturating_sub(random.between(0, 4))..on_diagonal + random.between(0, 4)
            })
            .collect();
        with_path += usize::from(agree(&Band::Ranges(ranges), n, m));
    }
    assert!((1_000..19_000).contains(&with_path), "{with_path} of 20000 have a path");
}

#[test]
fn z_normalisation() {
    let mut random = SplitMix::new(6);
    for kind in [Kind::Noise, Kind::Constant(0.1), Kind::Offset(1e3), Kind::Ternary, Kind::Tiny] {
        for (length, channels) in [(1, 1), (2, 3), (50, 1), (33, 2)] {
            let points = series(kind, length, channels, &mut random);
            let mut got: Vec<f64> = points.iter().flatten().copied().collect();
            dtw_core::normalize::z_normalize(&mut got, channels);
            for (got, expected) in got.iter().zip(znormalize::znormalize(&points).iter().flatten()) {
                assert!((got - expected).abs() <= 1e-9, "{kind:?} {length}×{channels}: {got} {expected}");
            }
        }
    }
}

#[test]
fn derivatives() {
    let mut random = SplitMix::new(7);
    for (length, channels) in [(3, 1), (4, 2), (40, 3)] {
        let points = series(Kind::Noise, length, channels, &mut random);
        let values: Vec<f64> = points.iter().flatten().copied().collect();
        let derived = Derivatives::of(&SeriesBatch::equal(&values, 1, length, channels).unwrap());
        let got = derived.batch().values();
        let expected: Vec<f64> = derivative::derivative(&points).into_iter().flatten().collect();
        assert_eq!(got.len(), expected.len());
        for (got, expected) in got.iter().zip(&expected) {
            assert!((got - expected).abs() <= 1e-15, "{got} {expected}");
        }
    }
}

#[test]
fn the_last_entry_of_a_cost_matrix_is_the_distance() {
    let mut random = SplitMix::new(11);
    let bands = [Band::Full, Band::sakoe_chiba(2), Band::Slanted { radius: Radius::Fraction(0.3) }];
    let mut compared = 0;
    let specs = dtw_core::measure::Kind::all().iter().flat_map(|kind| kind.specs());
    for spec in specs.filter(|spec| !matches!(spec.measure, Measure::SoftDtwDivergence { .. })) {
        for kind in [Kind::Noise, Kind::Ternary, Kind::Constant(0.75), Kind::Offset(1e3)] {
            for (n, m, channels) in [(3, 3, 1), (9, 9, 2), (12, 7, 1), (5, 13, 3), (40, 40, 17)] {
                let pair =
                    Pair::new(series(kind, n, channels, &mut random), series(kind, m, channels, &mut random));
                let (x, y) = (pair.x.concat(), pair.y.concat());
                let [x, y] = [&x, &y].map(|values| Series { values, channels, times: None });
                for band in &bands {
                    let spec = spec.clone().with_band(band.clone());
                    let Ok(expected) = spec.distance(&pair) else {
                        assert!(CostMatrix::new(&spec, x, y).is_err(), "{spec:?} of {n} x {m}");
                        continue;
                    };
                    let matrix = CostMatrix::new(&spec, x, y).unwrap();
                    let last_row = &matrix.values[matrix.values.len() - matrix.shape[1]..];
                    let got = match spec.anchor {
                        Anchor::Global => last_row[last_row.len() - 1],
                        _ => last_row.iter().copied().fold(f64::INFINITY, f64::min),
                    };
                    let same = got == expected || (got - expected).abs() <= 1e-9 * (1.0 + expected.abs());
                    assert!(same, "{spec:?}, {kind:?}, {n} x {m} x {channels}: {got}, not {expected}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
}
