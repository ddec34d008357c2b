//! Calls that do not wait give the same bits as those that do.

use dtw_conformance::batch::{Batch, Flat};
use dtw_conformance::cases::series::{Kind, SplitMix, series};
use dtw_core::{
    Backend, Band, Error, LocalCost, Measure, Pairing, Plan, Problem, Radius, SearchOptions, SeriesBatch,
    Spec,
};
use dtw_wgpu::{Choice, WgpuBackend};
use pollster::block_on;

fn backend() -> WgpuBackend {
    block_on(WgpuBackend::open_async(&Choice::Performance)).expect("a Vulkan driver: mesa-vulkan-drivers")
}

/// Noise of these lengths.
fn noise(channels: usize, lengths: &[usize], seed: u64) -> Flat<f32> {
    let mut random = SplitMix::new(seed);
    let one = |length: &usize| series(Kind::Noise, *length, channels, &mut random);
    Batch::new(lengths.iter().map(one).collect()).flat()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn distances_are_the_same_bits() {
    let backend = backend();
    let banded = Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(7) });
    let ddtw = Measure::Ddtw { cost: LocalCost::Manhattan };
    let wdtw = Measure::Wdtw { g: 0.05 };
    for (spec, channels) in
        [(Spec::dtw(), 1), (Spec::dtw(), 3), (banded, 1), (Spec::new(ddtw), 2), (Spec::new(wdtw), 1)]
    {
        let lengths = [3, 64, 65, 1500, 17];
        let [x, y] = [noise(channels, &lengths, 1), noise(channels, &lengths, 2)];
        let (x, y) = (x.batch().unwrap(), y.batch().unwrap());
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
            let problem = Problem::of(spec.clone(), pairing, &x, &y).unwrap();
            let mut waited = vec![f32::NAN; problem.output_len()];
            let mut found = waited.clone();
            let mut plan: Box<dyn Plan<f32>> = backend.plan(&problem).unwrap();
            plan.distances(x, y, &mut waited).unwrap();
            let mut plan = backend.plan_async(&problem).unwrap();
            block_on(plan.distances(x, y, &mut found)).unwrap();
            assert_eq!(bits(&found), bits(&waited), "{spec:?} {pairing:?}");
        }
    }
}

#[test]
fn matches_are_the_same() {
    let backend = backend();
    let [queries, references] = [noise(1, &[1, 5, 40], 1), noise(1, &[900, 30, 2100], 2)];
    let (queries, references) = (queries.batch().unwrap(), references.batch().unwrap());
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &queries, &references).unwrap();
    for options in [
        SearchOptions::default(),
        SearchOptions::default().with_top_k(0),
        SearchOptions::default().with_top_k(7).with_exclusion(20),
        SearchOptions::default().with_top_k(900).with_threshold(Some(0.5)),
    ] {
        let mut plan: Box<dyn Plan<f32>> = backend.plan(&problem).unwrap();
        let waited = plan.matches(queries, references, &options).unwrap();
        let mut plan = backend.plan_async(&problem).unwrap();
        let found = block_on(plan.matches(queries, references, &options)).unwrap();
        assert_eq!(found.len(), 9);
        assert_eq!(found, waited, "{options:?}");
    }
}

#[test]
fn what_needs_several_sweeps_is_refused_by_name() {
    let backend = backend();
    let values = [0.0_f32, 1.0, 2.0];
    let batch = SeriesBatch::equal(&values, 1, 3, 1).unwrap();
    let problem = |spec| Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap();
    let refused = |error: Error| match &error {
        Error::Unsupported { backend: "wgpu", .. } => error.to_string(),
        error => panic!("{error:?}"),
    };
    let soft = refused(backend.plan_async(&problem(Spec::soft_dtw(1.0))).unwrap_err());
    assert!(soft.contains("soft_dtw") && soft.contains("cpu"), "{soft}");

    let search = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let mut plan = backend.plan_async(&problem(search)).unwrap();
    let distances = refused(block_on(plan.distances(batch, batch, &mut [0.0])).unwrap_err());
    assert!(distances.contains("matches"), "{distances}");

    let mut plan = backend.plan_async(&problem(Spec::dtw())).unwrap();
    let options = SearchOptions::default().with_normalized_window(Some(2));
    let windows = refused(block_on(plan.matches(batch, batch, &options)).unwrap_err());
    assert!(windows.contains("windows"), "{windows}");
}
