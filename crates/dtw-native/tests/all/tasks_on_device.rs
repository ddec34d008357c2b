//! Paths and matches of series on the device: the same as of the same series on the host.

use crate::numbers::{noise, upload};
use dtw_core::{
    Band, Error, LocalCost, Match, Measure, Pairing, Path, Plan, Problem, Radius, SearchOptions, SeriesBatch,
    Spec,
};
use dtw_native::{Buffer, DeviceBatch, DeviceLayout, Format, HostMachine, Machine, NativePlan, Strided};

/// A batch on the host and the same on the device.
struct Side<'a> {
    batch: SeriesBatch<'a, f32>,
    buffer: <HostMachine as Machine>::Buffer,
    layout: DeviceLayout<'a>,
}

impl<'a> Side<'a> {
    fn new(machine: &HostMachine, values: &'a [f32], offsets: &'a [usize], ragged: bool) -> Self {
        let count = offsets.len() - 1;
        let length = offsets[1];
        let (batch, layout) = if ragged {
            (SeriesBatch::ragged(&values[..offsets[count]], offsets, 1), DeviceLayout::Ragged(offsets))
        } else {
            let values = &values[..count * length];
            (SeriesBatch::equal(values, count, length, 1), DeviceLayout::Equal { count, length })
        };
        let batch = batch.unwrap();
        Self { batch, buffer: upload(machine, batch.values()), layout }
    }

    fn on_device(&self) -> DeviceBatch<'_> {
        DeviceBatch::packed(self.buffer.address(), 1, self.layout)
    }
}

#[test]
fn paths_are_the_same() {
    let (a, b) = (noise(900, 3), noise(900, 4));
    let machine = HostMachine::new(1 << 30);
    let specs = [
        Spec::dtw(),
        Spec::dtw().with_band(Band::Itakura { max_slope: 3.0 }),
        Spec::new(Measure::Ddtw { cost: LocalCost::Manhattan }),
        Spec::new(Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 }),
        Spec::subsequence_dtw(LocalCost::SquaredEuclidean),
    ];
    for spec in specs {
        for ragged in [false, true] {
            let x = Side::new(&machine, &a, &[0, 60, 100, 170, 230], ragged);
            let y = Side::new(&machine, &b, &[0, 64, 120, 200, 290], ragged);
            let problem = Problem::of(spec.clone(), Pairing::Zipped, &x.batch, &y.batch).unwrap();
            for limit in [1 << 30, 60 << 10] {
                let problem = problem.clone().with_memory_limit(limit);
                let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
                let expected: Vec<Path<f32>> = plan.paths(x.batch, y.batch).unwrap();
                // SAFETY: the buffers hold what the layouts say.
                let found = unsafe { plan.paths_on_device(x.on_device(), y.on_device()) }.unwrap();
                assert_eq!(found, expected, "{} {ragged} {limit}", spec.key());
            }
        }
    }
    let soft = Spec::soft_dtw(1.0);
    let x = Side::new(&machine, &a, &[0, 60], false);
    let problem = Problem::of(soft, Pairing::Zipped, &x.batch, &x.batch).unwrap();
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
    // SAFETY: refused before an address is used.
    let refused = unsafe { plan.paths_on_device(x.on_device(), x.on_device()) };
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn matches_are_the_same() {
    let (a, b) = (noise(900, 5), noise(2000, 6));
    let machine = HostMachine::new(1 << 30);
    let spec = || Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let wide = Band::SakoeChiba { radius: Radius::Fraction(0.95) };
    for (spec, window) in
        [(spec(), None), (spec().with_band(wide), None), (Spec::dtw(), Some(25)), (Spec::dtw(), Some(700))]
    {
        for ragged in [false, true] {
            let queries = Side::new(&machine, &a, &[0, 20, 35, 60], ragged);
            let references = Side::new(&machine, &b, &[0, 500, 900, 1450], ragged);
            let problem =
                Problem::of(spec.clone(), Pairing::Cross, &queries.batch, &references.batch).unwrap();
            for top_k in [1, 4, 40] {
                let options = SearchOptions::default().with_top_k(top_k).with_exclusion(3);
                let options = options.with_normalized_window(window);
                let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
                let expected = plan.matches(queries.batch, references.batch, &options);
                // SAFETY: the buffers hold what the layouts say.
                let found =
                    unsafe { plan.matches_on_device(queries.on_device(), references.on_device(), &options) };
                let told = |found: &dtw_core::Result<Vec<Vec<Match<f32>>>>| match found {
                    Ok(_) => String::new(),
                    Err(error) => error.to_string(),
                };
                assert_eq!(told(&found), told(&expected), "{window:?} {ragged} {top_k}");
                if let (Ok(found), Ok(expected)) = (found, expected) {
                    assert_eq!(found, expected, "{window:?} {ragged} {top_k}");
                    assert!(expected.iter().all(|hits| !hits.is_empty()));
                } else {
                    assert_eq!(window, Some(700));
                }
            }
        }
    }
}

#[test]
fn what_matches_on_the_device_cannot_be_found_is_told() {
    let (a, b) = (noise(20, 5), noise(20_000, 6));
    let machine = HostMachine::new(1 << 30);
    let query = Side::new(&machine, &a, &[0, 20], false);
    let reference = Side::new(&machine, &b, &[0, 20_000], false);
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &query.batch, &reference.batch).unwrap();
    let small = problem.with_memory_limit(64 << 10);
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &small).unwrap();
    let options = SearchOptions::default();
    // On the host it is cut into blocks.
    plan.matches(query.batch, reference.batch, &options).unwrap();
    // SAFETY: the buffers hold what the layouts say.
    let refused = unsafe { plan.matches_on_device(query.on_device(), reference.on_device(), &options) };
    assert!(matches!(refused, Err(Error::OutOfMemory { .. })), "{refused:?}");
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &query.batch, &reference.batch).unwrap();
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
    let strided = Strided { format: Format::F32, series: 1, point: 1, channel: 1 };
    let backwards = DeviceBatch { strided: Some(strided), ..reference.on_device() };
    // SAFETY: as above.
    let refused = unsafe {
        plan.matches_on_device(query.on_device(), backwards, &options.with_normalized_window(Some(30)))
    };
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
}
