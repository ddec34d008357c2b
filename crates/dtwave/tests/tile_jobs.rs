//! A matrix whose tiles are computed elsewhere: what travels as data, and that each tile is that of the whole.

use dtwave::measure::Kind;
use dtwave::{Anchor, Band, Pairing, Radius, Session, Spec, Tile, TilePlan};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn travelled<V: Serialize + DeserializeOwned>(value: &V) -> V {
    let text = serde_json::to_string(value).unwrap();
    assert!(text.len() < 400, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn refused<V: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    serde_json::from_str::<V>(text).unwrap_err().to_string()
}

fn series(count: usize) -> Vec<Vec<f64>> {
    (0..count).map(|s| (0..11 + s % 5).map(|t| ((s * 7 + t * t) % 13) as f64 / 4.0).collect()).collect()
}

#[test]
fn specs_of_every_measure_and_band_come_back_as_they_were() {
    let bands = [
        Band::Full,
        Band::sakoe_chiba(3),
        Band::SakoeChiba { radius: Radius::Fraction(0.1) },
        Band::Slanted { radius: Radius::Points(0) },
        Band::Itakura { max_slope: 1.7 },
        Band::Ranges(vec![0..2, 1..3]),
    ];
    for spec in Kind::all().iter().flat_map(Kind::specs) {
        for band in &bands {
            let spec = spec.clone().with_band(band.clone());
            assert_eq!(travelled(&spec), spec);
        }
    }
    let awkward = Spec::soft_dtw(0.1 + 0.2);
    assert_eq!(travelled(&awkward), awkward);
}

#[test]
fn what_is_left_out_has_its_default() {
    let read = |text: &str| serde_json::from_str::<Spec>(text).unwrap();
    assert_eq!(read(r#"{"measure": "dtw"}"#), Spec::dtw());
    assert_eq!(read(r#"{"measure": "subsequence_dtw"}"#).anchor, Anchor::Subsequence);
    let banded = read(
        r#"{"measure": "soft_dtw", "parameters": {"gamma": 2}, "band": {"sakoe_chiba": {"radius": {"points": 4}}}}"#,
    );
    assert_eq!(banded, Spec::soft_dtw(2.0).with_band(Band::sakoe_chiba(4)));
}

#[test]
fn bad_specs_are_refused_by_name() {
    for (text, expected) in [
        (r#"{"measure": "dwt"}"#, "unknown measure `dwt`; expected one of dtw"),
        (r#"{"measure": "dtw", "parameters": {"gamma": 1}}"#, "dtw has no parameter `gamma`; it has"),
        (r#"{"measure": "edr"}"#, "edr needs epsilon"),
        (r#"{"measure": "soft_dtw", "parameters": {"gamma": -1}}"#, "gamma > 0, got -1"),
        (r#"{"measure": "soft_dtw", "parameters": {"gamma": "small"}}"#, "soft_dtw needs gamma > 0"),
        (r#"{"measure": "edr", "parameters": {"epsilon": 1, "output": "colour"}}"#, "colour"),
        (r#"{"measure": "dtw", "bend": "full"}"#, "unknown field `bend`"),
        (r#"{"measure": "dtw", "band": {"itakura": {"max_slope": 0.5}}}"#, "max_slope >= 1, got 0.5"),
        (r#"{"measure": "dtw", "band": {"sakoe_chiba": {"radius": {"fraction": 7}}}}"#, "between 0 and 1"),
        (r#"{"measure": "dtw", "band": {"sakoe_chiba": {"width": 7}}}"#, "unknown field `width`"),
    ] {
        let message = refused::<Spec>(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn bad_plans_are_refused() {
    for (text, expected) in [
        (r#"{"pairing": "cross", "rows": 5, "columns": 5, "side": 0}"#, "side of at least 1, got 0"),
        (r#"{"pairing": "zipped", "rows": 5, "columns": 5, "side": 2}"#, "not a matrix"),
        (r#"{"pairing": "self_symmetric", "rows": 5, "columns": 4, "side": 2}"#, "square, got 5 x 4"),
        (
            r#"{"pairing": "cross", "rows": 9223372036854775808, "columns": 4, "side": 1}"#,
            "more than can be counted",
        ),
        (r#"{"pairing": "cross", "rows": -1, "columns": 4, "side": 1}"#, "invalid value"),
        (r#"{"pairing": "cross", "rows": 1, "columns": 4}"#, "missing field `side`"),
    ] {
        let message = refused::<TilePlan>(text);
        assert!(message.contains(expected), "{text}: {message}");
    }
    let large = r#"{"pairing": "cross", "rows": 4, "columns": 4, "side": 18446744073709551615}"#;
    let large: TilePlan = serde_json::from_str(large).unwrap();
    assert_eq!(large.tiles().map(|tile| (tile.rows, tile.columns)).collect::<Vec<_>>(), [(0..4, 0..4)]);
}

#[test]
fn tiles_of_other_processes_make_the_matrix_of_one() {
    let (x, y) = (series(13), series(9));
    for (spec, pairing, y) in [
        (Spec::dtw().with_band(Band::sakoe_chiba(4)), Pairing::SelfSymmetric, &x),
        (Spec::soft_dtw(0.5), Pairing::Cross, &y),
    ] {
        let session = Session::new(spec.clone());
        let whole =
            if pairing == Pairing::Cross { session.cross(&x, y) } else { session.pairwise(&x) }.unwrap();
        let plan = TilePlan::new(pairing, x.len(), y.len(), 8, 8 * 4 * 4).unwrap();
        assert!(plan.len() > 6);
        let (mut seen, mut cells) = (0, 0);
        for index in 0..plan.len() {
            // A worker knows what it was sent.
            let (session, plan) = (Session::new(travelled(&spec)), travelled(&plan));
            let tile: Tile = travelled(&plan.tile(index).unwrap());
            assert_eq!(tile.index, index);
            let values = session.run_tile(&plan, index, &x, y).unwrap();
            assert_eq!(values.dim(), (tile.rows.len(), tile.columns.len()));
            for ((i, j), value) in values.indexed_iter() {
                let expected = whole[(tile.rows.start + i, tile.columns.start + j)];
                assert_eq!(value.to_bits(), expected.to_bits(), "tile {index}, {i}, {j}");
            }
            seen += tile.len() * if tile.is_mirrored(pairing) { 2 } else { 1 };
            cells += session.tile_cells(&plan, index, &x, y).unwrap();
        }
        assert_eq!(seen, whole.len());
        let one = TilePlan::new(pairing, x.len(), y.len(), 8, 1 << 20).unwrap();
        assert_eq!((one.len(), cells), (1, session.tile_cells(&one, 0, &x, y).unwrap()));
    }
}

#[test]
fn a_tile_that_is_not_there_and_other_series_are_refused() {
    let x = series(6);
    let session = Session::new(Spec::dtw());
    let plan = TilePlan::new(Pairing::SelfSymmetric, 6, 6, 8, 8 * 3 * 3).unwrap();
    let error = session.run_tile(&plan, 3, &x, &x).unwrap_err().to_string();
    assert!(error.contains("there are 3 tiles, counted from 0: there is no tile 3"), "{error}");
    let error = session.run_tile(&plan, 0, &x, &series(5)).unwrap_err().to_string();
    assert!(error.contains("those of 6 x 6 series, got 6 x 5"), "{error}");
    let mut other = x.clone();
    other[4][0] += 1.0;
    let error = session.run_tile(&plan, 1, &x, &other).unwrap_err().to_string();
    assert!(error.contains("the same series: series 4 differs"), "{error}");
}
