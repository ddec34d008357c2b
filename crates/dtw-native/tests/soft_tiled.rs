//! Values of Soft-DTW of several channels, which come from a sweep in tiles: lengths round the edges of tiles, bands
//! that leave tiles out, ragged batches of every pairing. Judged as the suite judges its cases, and with little memory.
#![cfg(feature = "host")]

use dtw_conformance::batch::{Batch, Element};
use dtw_conformance::cases::Case;
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_conformance::check::{self, Stop};
use dtw_core::{Backend, Band, Pairing, Plan, Problem, Radius, SeriesBatch, Spec};
use dtw_native::{HostMachine, NativeBackend};
use numbers::noise;

mod numbers;

fn backend() -> NativeBackend<HostMachine> {
    NativeBackend::new(HostMachine::new(1 << 30))
}

fn case(spec: Spec, pairing: Pairing, lengths: [&[usize]; 2], channels: usize) -> Case {
    let mut random = SplitMix::new(11);
    let mut batch = |lengths: &[usize]| {
        let series = |length: &usize| series(Kind::Noise, *length, channels, &mut random);
        Batch::new(lengths.iter().map(series).collect())
    };
    let x = batch(lengths[0]);
    let y = if pairing == Pairing::SelfSymmetric { x.clone() } else { batch(lengths[1]) };
    Case { name: format!("{spec:?} {pairing:?} {lengths:?} of {channels} channels"), spec, pairing, x, y }
}

fn judge_as<T: Element>(case: &Case)
where
    NativeBackend<HostMachine>: Backend<T>,
{
    match check::distances::check::<T>(case, &backend()) {
        Ok(_) => {}
        Err(Stop::Failed(why)) => panic!("{}: {why}", case.name),
        Err(_) => panic!("{}: was not computed", case.name),
    }
}

fn judge(case: &Case) {
    judge_as::<f32>(case);
    judge_as::<f64>(case);
}

#[test]
fn lengths_round_the_edges_of_tiles() {
    for n in [31, 33, 64, 65, 130] {
        for m in [33, 64, 65, 129] {
            judge(&case(Spec::soft_dtw(1.0), Pairing::Zipped, [&[n], &[m]], 3));
        }
    }
}

#[test]
fn channels_of_any_number() {
    for channels in [2, 8, 31, 32, 33, 65] {
        judge(&case(Spec::soft_dtw(10.0), Pairing::Zipped, [&[70], &[66]], channels));
    }
}

#[test]
fn every_pairing_of_ragged_series() {
    let (x, y) = ([70, 1, 130, 64], [129, 65, 3, 90]);
    for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
        judge(&case(Spec::soft_dtw(0.1), pairing, [&x, &y], 5));
    }
}

#[test]
fn bands_that_leave_tiles_out() {
    for (n, m) in [(130, 130), (200, 70), (70, 200)] {
        for band in [
            Band::SakoeChiba { radius: Radius::Points(0) },
            Band::SakoeChiba { radius: Radius::Points(20) },
            Band::Slanted { radius: Radius::Points(2) },
            Band::Itakura { max_slope: 4.0 },
        ] {
            judge(&case(Spec::soft_dtw(1.0).with_band(band), Pairing::Zipped, [&[n], &[m]], 2));
        }
    }
}

/// With little memory a launch has few pairs; one by one they have the same bits.
#[test]
fn the_bits_do_not_depend_on_the_memory() {
    let values: Vec<f32> = noise(12 * 100 * 3, 5);
    let batch = SeriesBatch::equal(&values, 12, 100, 3).unwrap();
    for band in [Band::Full, Band::Slanted { radius: Radius::Points(4) }] {
        let spec = Spec::soft_dtw(1.0).with_band(band);
        let problem = Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap();
        let run = |problem: &Problem| {
            let mut plan: Box<dyn Plan<f32>> = backend().plan(problem).unwrap();
            let mut out = vec![f32::NAN; problem.output_len()];
            plan.distances(batch, batch, &mut out).unwrap();
            out
        };
        let whole = run(&problem);
        assert!(whole.iter().all(|value| value.is_finite()));
        assert_eq!(run(&problem.with_memory_limit(64 << 10)), whole);
    }
}
