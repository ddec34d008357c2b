//! The weighted total of a centre's values with series that stay on the device: value and gradient are those of zipped
//! pairs, summed; a step copies the centre up and its value and gradient down; averages come out the same.

use crate::numbers::noise;
use dtw_core::{
    Backend, Band, Error, Gradients, Measure, Pairing, Plan, Problem, Radius, Result, SeriesBatch, Shape,
    Spec, Task,
};
use dtw_learn::{BarycenterOptions, Context, Start, soft_barycenter};
use dtw_native::{HostMachine, NativeBackend, Number};

/// The native backend without [`Backend::weighted_total`].
#[derive(Debug)]
struct Zipping(NativeBackend<HostMachine>);

impl<T: Number> Backend<T> for Zipping {
    fn name(&self) -> &'static str {
        "zipping"
    }
    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        Backend::<T>::supports(&self.0, problem, task)
    }
    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<T>>> {
        self.0.plan(problem)
    }
}

/// Series one after the other, with their weights.
struct Series<T> {
    values: Vec<T>,
    offsets: Vec<usize>,
    channels: usize,
    weights: Vec<f64>,
}

impl<T: Number> Series<T> {
    fn new(lengths: &[usize], channels: usize) -> Self {
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        }));
        let values = noise(offsets[lengths.len()] * channels, 11);
        let weights = (0..lengths.len()).map(|s| [0.5, 2.0, 0.125, 1.0 / 3.0][s % 4]).collect();
        Self { values, offsets, channels, weights }
    }

    fn batch(&self) -> SeriesBatch<'_, T> {
        SeriesBatch::ragged(&self.values, &self.offsets, self.channels).unwrap()
    }

    fn problem(&self, spec: &Spec, length: usize) -> Problem {
        let (count, batch) = (self.weights.len(), self.batch());
        let shape = Shape {
            n_x: count,
            n_y: count,
            max_length_x: length,
            max_length_y: batch.max_length(),
            channels: self.channels,
        };
        Problem::new(spec.clone(), Pairing::Zipped, shape).unwrap()
    }

    /// The total of zipped pairs.
    fn zipped(&self, spec: &Spec, center: &[T]) -> (f64, Vec<f64>) {
        let (count, length) = (self.weights.len(), center.len() / self.channels);
        let copies = center.repeat(count);
        let x = SeriesBatch::equal(&copies, count, length, self.channels).unwrap();
        let backend = NativeBackend::new(HostMachine::new(1 << 30));
        let mut plan = Backend::<T>::plan(&backend, &self.problem(spec, length)).unwrap();
        let mut distances = vec![T::ZERO; count];
        let (mut grad_x, mut grad_y) = (vec![T::ZERO; copies.len()], vec![T::ZERO; self.values.len()]);
        let out =
            Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
        plan.gradients(x, self.batch(), out).unwrap();
        let mut gradient = vec![0.0; center.len()];
        for (row, weight) in grad_x.chunks(center.len()).zip(&self.weights) {
            gradient.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value.to_f64());
        }
        (self.weights.iter().zip(&distances).map(|(w, value)| w * value.to_f64()).sum(), gradient)
    }
}

/// Compares the total with that of zipped pairs, twice, and looks at what crosses between host and device.
fn agrees<T: Number>(spec: &Spec, lengths: &[usize], length: usize, channels: usize, tolerance: f64) {
    let series = Series::<T>::new(lengths, channels);
    let machine = HostMachine::new(1 << 30);
    let backend = NativeBackend::new(machine.clone());
    let problem = series.problem(spec, length);
    let total = Backend::<T>::weighted_total(&backend, &problem, series.batch(), &series.weights).unwrap();
    let mut total = total.expect("all of it fits");
    let what = format!("{spec:?}, {channels} channels, {} series", lengths.len());
    let mut first = None;
    for seed in [5, 7, 5] {
        let center = noise::<T>(length * channels, seed);
        let mut gradient = vec![f64::NAN; center.len()];
        let before = machine.copied_bytes();
        let value = total.value_and_gradient(&center, &mut gradient).unwrap();
        let copied = [0, 1].map(|way: usize| machine.copied_bytes()[way] - before[way]);
        let (expected, gradients) = series.zipped(spec, &center);
        let weight: f64 = series.weights.iter().sum();
        assert!(
            (value - expected).abs() <= tolerance * weight.max(expected.abs()),
            "{what}: {value} {expected}"
        );
        let largest = gradients.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (got, expected) in gradient.iter().zip(&gradients) {
            assert!((got - expected).abs() <= tolerance * largest, "{what}: {got} {expected} of {largest}");
        }
        let bits: Vec<u64> = gradient.iter().chain([&value]).map(|value| value.to_bits()).collect();
        match &first {
            None => first = Some(bits),
            Some(first) => {
                assert_eq!(*first == bits, seed == 5, "{what}: the same centre, the same bits");
                let numbers = center.len();
                let expected = [numbers * size_of::<T>(), (numbers + 1) * size_of::<f64>()];
                assert_eq!(copied, expected.map(|bytes| bytes as u64), "{what}");
            }
        }
    }
    assert!(machine.used_bytes() <= problem.memory_limit_bytes());
}

fn totals_are_those_of_zipped_pairs<T: Number>(tolerance: f64) {
    let measures = [
        Measure::soft_dtw(0.01),
        Measure::soft_dtw(1.0),
        Measure::soft_dtw_divergence(0.5),
        Measure::soft_dtw_divergence(100.0),
    ];
    for measure in measures {
        for channels in [1, 3] {
            let spec = Spec::new(measure);
            agrees::<T>(&spec, &[40, 3, 66, 1, 70], 67, channels, tolerance);
            agrees::<T>(&spec, &[20; 3], 20, channels, tolerance);
            let spec = spec.with_band(Band::SakoeChiba { radius: Radius::Points(5) });
            agrees::<T>(&spec, &[20, 23, 19], 21, channels, tolerance);
        }
        agrees::<T>(&Spec::new(measure), &[1], 1, 1, tolerance);
    }
}

#[test]
fn totals_are_those_of_zipped_pairs_in_floats() {
    totals_are_those_of_zipped_pairs::<f32>(2e-5);
}

#[test]
fn totals_are_those_of_zipped_pairs_in_doubles() {
    totals_are_those_of_zipped_pairs::<f64>(1e-12);
}

#[test]
fn many_series_are_summed_in_pieces() {
    // One more than a piece of rows, and the two rows of a divergence's own term at its end.
    for (count, measure) in [
        (256, Measure::soft_dtw(0.5)),
        (257, Measure::soft_dtw(0.5)),
        (255, Measure::soft_dtw_divergence(0.5)),
        (600, Measure::soft_dtw_divergence(0.5)),
    ] {
        let lengths: Vec<usize> = (0..count).map(|s| 1 + s % 4).collect();
        agrees::<f64>(&Spec::new(measure), &lengths, 3, 3, 1e-12);
    }
}

#[test]
fn what_does_not_fit_is_left_to_the_caller() {
    let series = Series::<f32>::new(&[50, 40, 60], 2);
    let backend = NativeBackend::new(HostMachine::new(1 << 30));
    let problem = series.problem(&Spec::soft_dtw(1.0), 50);
    let total = |limit, weights: &[f64]| {
        let problem = problem.clone().with_memory_limit(limit);
        let total = Backend::<f32>::weighted_total(&backend, &problem, series.batch(), weights);
        total.map(|total| total.is_some())
    };
    assert!(!total(10_000, &series.weights).unwrap());
    assert!(total(1 << 20, &series.weights).unwrap());
    let error = total(1 << 20, &series.weights[1..]).unwrap_err();
    assert!(matches!(&error, Error::Invalid(text) if text.contains("2 weights")), "{error}");
    let dtw = series.problem(&Spec::dtw(), 50);
    assert!(Backend::<f32>::weighted_total(&backend, &dtw, series.batch(), &series.weights).is_err());
    let mut total =
        Backend::<f32>::weighted_total(&backend, &problem, series.batch(), &series.weights).unwrap().unwrap();
    for (center, gradient) in [(vec![0.0; 100], 99), (vec![f32::NAN; 100], 100), (vec![0.0; 98], 100)] {
        let error = total.value_and_gradient(&center, &mut vec![0.0; gradient]).unwrap_err();
        assert!(matches!(error, Error::Invalid(_)), "{error}");
    }
}

#[test]
fn averages_are_those_of_zipped_pairs() {
    let (machine, other) = (HostMachine::new(1 << 30), HostMachine::new(1 << 30));
    let (taking_in, zipping) = (NativeBackend::new(machine.clone()), Zipping(NativeBackend::new(other)));
    let series = Series::<f64>::new(&[12, 15, 9, 12], 2);
    let weights = [1.0, 0.0, 2.0, 0.5];
    let start = noise::<f64>(11 * 2, 3);
    for measure in [Measure::soft_dtw(0.2), Measure::soft_dtw_divergence(1.0)] {
        for band in [Band::Full, Band::SakoeChiba { radius: Radius::Points(4) }] {
            let spec = Spec::new(measure).with_band(band);
            let start = Start::Series(dtw_core::Series { values: &start, channels: 2, times: None });
            let options = BarycenterOptions::default()
                .with_weights(Some(&weights))
                .with_start(start)
                .with_max_iterations(6);
            let of = |backend: &dyn Backend<f64>| {
                soft_barycenter(&Context::new(backend), &spec, series.batch(), &options).unwrap()
            };
            let (here, there) = (of(&taking_in), of(&zipping));
            assert_eq!(here.costs.len(), there.costs.len());
            assert!(here.cost() < here.costs[0]);
            for (a, b) in here.costs.iter().zip(&there.costs).chain(here.center.iter().zip(&there.center)) {
                assert!((a - b).abs() <= 1e-8 * b.abs().max(1.0), "{spec:?}: {a} {b}");
            }
        }
    }
    let down = machine.copied_bytes()[1];
    assert_eq!(down % ((11 * 2 + 1) * 8), 0, "nothing but values and gradients of the centre: {down} bytes");
}
