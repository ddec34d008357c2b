//! Sessions on several devices: what one device gives, as matrices, as tiles, as lists.
#![cfg(feature = "cpu")]

use std::collections::HashMap;

use dtwave::{Device, Pairing, SearchOptions, SeriesBatch, Session, Spec, TilePlan};

const COUNT: usize = 130;
const LENGTH: usize = 120;

fn values() -> Vec<f64> {
    (0..COUNT * LENGTH).map(|k| (k as f64 * 0.37).sin() + (k / LENGTH) as f64 * 0.01).collect()
}

fn sessions(spec: &Spec) -> [Session; 2] {
    let one = Device::cpu_with_threads(1).unwrap();
    let two = Device::named("cpu,cpu", 1).unwrap();
    assert_eq!((two.name(), two.members().len()), ("cpu", 2));
    [one, two].map(|device| Session::new(spec.clone()).on(device))
}

#[test]
fn matrices_lists_and_searches_are_those_of_one_device() {
    let values = values();
    let x = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let [one, two] = sessions(&Spec::dtw());
    assert_eq!(one.pairwise(&x).unwrap(), two.pairwise(&x).unwrap());
    let few = x.slice(0..3);
    let wide = SeriesBatch::equal(&values, COUNT / 10, LENGTH * 10, 1).unwrap();
    assert_eq!(one.cross(&few, &wide).unwrap(), two.cross(&few, &wide).unwrap());
    assert_eq!(one.cross(&wide, &x).unwrap(), two.cross(&wide, &x).unwrap());
    let long = wide.slice(0..12);
    assert_eq!(one.align_all(&long, &long).unwrap(), two.align_all(&long, &long).unwrap());
    let options = SearchOptions::default().with_top_k(3);
    let found = [&one, &two].map(|session| session.search_all(&x, &wide, &options).unwrap());
    assert_eq!(found[0], found[1]);
    let cut = [&one, &two].map(|session| session.clone().cutoff(Some(20.0)).pairwise(&x).unwrap());
    assert_eq!(cut[0], cut[1]);
    assert!(cut[0].iter().any(|d| d.is_infinite()) && cut[0].iter().any(|d| d.is_finite()));
}

#[test]
fn tiles_are_those_of_one_device_each_once() {
    let values = values();
    let x = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    for pairing in [Pairing::SelfSymmetric, Pairing::Cross] {
        let plan = TilePlan::new(pairing, COUNT, COUNT, 8, 8 * 40 * 40).unwrap();
        let tiles = sessions(&Spec::dtw()).map(|session| {
            let mut tiles = HashMap::new();
            let skip = |tile: &dtwave::Tile| tile.index == 2;
            let sink = |tile: &dtwave::Tile, values: &[f64]| {
                let earlier = tiles.insert(tile.index, values.to_vec());
                assert!(earlier.is_none(), "tile {} twice", tile.index);
                Ok::<(), dtwave::Error>(())
            };
            session.tiled(&plan, &x, &x, skip, sink).unwrap();
            tiles
        });
        assert_eq!(tiles[0].len(), plan.len() - 1);
        assert_eq!(tiles[0], tiles[1]);
    }
}

#[test]
fn what_stops_a_sink_stops_all_devices() {
    let values = values();
    let x = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let plan = TilePlan::new(Pairing::Cross, COUNT, COUNT, 8, 8 * 16 * 16).unwrap();
    let [_, two] = sessions(&Spec::dtw());
    let mut seen = 0;
    let full = |_: &dtwave::Tile, _: &[f64]| {
        seen += 1;
        if seen == 3 { Err(dtwave::Error::Invalid("the disk is full".to_owned())) } else { Ok(()) }
    };
    let error = two.tiled(&plan, &x, &x, |_| false, full).unwrap_err().to_string();
    assert_eq!((error.as_str(), seen), ("the disk is full", 3));
}

#[test]
fn names_that_are_no_devices_are_refused() {
    let refused = |name: &str| Device::named(name, 0).unwrap_err().to_string();
    assert!(refused("cpu,1").contains("cuda:0,1"));
    assert!(refused("cpu:all").contains("cuda:all"));
    assert!(refused("cpu,abacus").contains("unknown backend"));
    assert!(Device::several([]).unwrap_err().to_string().contains("one device or more"));
}
