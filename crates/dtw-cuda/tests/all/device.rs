//! On a GPU, against the CPU backend: every short length, ragged batches, the edges of strips, a very long pair,
//! repeats, threads, searches in blocks, totals of a centre with many series. Without a GPU only the error is looked
//! at; `cargo test -p dtw-cuda -- --ignored` runs the rest.

use dtw_conformance::trickle::Trickle;
use dtw_core::{
    Backend, Band, Gradients, LocalCost, Measure, OwnedBatch, Pairing, Problem, Scalar, SearchOptions,
    SeriesBatch, Spec,
};
use dtw_cpu::{CpuBackend, Element};
use dtw_cuda::CudaBackend;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn series<T: Scalar>(random: &mut ChaCha8Rng, length: usize) -> Vec<T> {
    let mut level = 0.0;
    (0..length)
        .map(|_| {
            level += random.random_range(-1.0..1.0);
            T::from_f64(level * 0.3)
        })
        .collect()
}

fn ragged<T: Scalar>(random: &mut ChaCha8Rng, lengths: &[usize]) -> (Vec<T>, Vec<usize>) {
    let mut offsets = vec![0];
    let mut values = Vec::new();
    for length in lengths {
        values.extend(series::<T>(random, *length));
        offsets.push(values.len());
    }
    (values, offsets)
}

fn distances<T: Scalar>(
    backend: &dyn Backend<T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
) -> Vec<T> {
    let problem = Problem::of(spec.clone(), pairing, &x, &y).unwrap();
    let mut out = vec![T::from_f64(-1.0); problem.output_len()];
    backend.plan(&problem).unwrap().distances(x, y, &mut out).unwrap();
    out
}

/// Both backends on the same pairs; `tolerance` is relative to the larger of the value and 1.
fn agree<T: Element>(
    gpu: &CudaBackend,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    tolerance: f64,
) where
    CudaBackend: Backend<T>,
{
    let ours = distances::<T>(gpu, spec, pairing, x, y);
    let theirs = distances::<T>(&CpuBackend::new(), spec, pairing, x, y);
    for (k, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        let (a, b) = (a.to_f64(), b.to_f64());
        assert!(
            (a - b).abs() <= tolerance * b.abs().max(1.0),
            "{spec:?} {pairing:?} output {k}: {a} and {b}"
        );
    }
}

fn specs() -> Vec<Spec> {
    let twed = Measure::Twed { nu: 0.01, lambda: 0.5, degree: 2.0 };
    vec![Spec::dtw(), Spec::new(twed)]
}

#[test]
fn without_a_gpu_there_is_an_error_that_says_why() {
    if let Err(error) = CudaBackend::new() {
        let text = error.to_string();
        let told = ["no CUDA driver", "too old", "no CUDA device", "kernels not built"];
        assert!(told.iter().any(|reason| text.contains(reason)), "{text}");
    }
    assert!(!dtw_cuda::devices().is_empty());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_pair_of_short_lengths() {
    let gpu = CudaBackend::new().unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let lengths: Vec<usize> = (1..=70).collect();
    let ((x, at_x), (y, at_y)) = (ragged::<f64>(random, &lengths), ragged::<f64>(random, &lengths));
    let narrow = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<_>>();
    let (x32, y32) = (narrow(&x), narrow(&y));
    for spec in specs() {
        let (a, b) = (SeriesBatch::ragged(&x, &at_x, 1).unwrap(), SeriesBatch::ragged(&y, &at_y, 1).unwrap());
        agree(&gpu, &spec, Pairing::Cross, a, b, 1e-9);
        let (a, b) =
            (SeriesBatch::ragged(&x32, &at_x, 1).unwrap(), SeriesBatch::ragged(&y32, &at_y, 1).unwrap());
        agree(&gpu, &spec, Pairing::Cross, a, b, 2e-5);
        // One by one: other kernels than those of a batch.
        for (n, m) in (1..=70).flat_map(|n| (1..=70).map(move |m| (n, m))) {
            let a = SeriesBatch::equal(&x[at_x[n - 1]..at_x[n]], 1, n, 1).unwrap();
            let b = SeriesBatch::equal(&y[at_y[m - 1]..at_y[m]], 1, m, 1).unwrap();
            if (n + m) % 7 == 0 {
                agree(&gpu, &spec, Pairing::Zipped, a, b, 1e-9);
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_thousand_ragged_batches() {
    let gpu = CudaBackend::new().unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(2);
    for round in 0..1000 {
        let most = [8, 40, 150, 700][round % 4];
        let mut lengths =
            |count: usize| -> Vec<usize> { (0..count).map(|_| random.random_range(1..=most)).collect() };
        let (own, other) = (lengths(7), lengths(5));
        let ((x, at_x), (y, at_y)) = (ragged::<f64>(random, &own), ragged::<f64>(random, &other));
        let (x, y) = (SeriesBatch::ragged(&x, &at_x, 1).unwrap(), SeriesBatch::ragged(&y, &at_y, 1).unwrap());
        let band = if round % 3 == 0 { Band::sakoe_chiba(random.random_range(0..20)) } else { Band::Full };
        let spec = specs()[round % 2].clone().with_band(band);
        agree(&gpu, &spec, Pairing::Cross, x, y, 1e-9);
        agree(&gpu, &spec, Pairing::SelfSymmetric, x, x, 1e-9);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn lengths_at_the_edges_of_strips() {
    let gpu = CudaBackend::new().unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(3);
    let edges =
        [32, 64, 96, 128, 256, 384, 512, 768, 896, 1024, 1152, 1280, 1536, 1792, 2048, 2176, 4096, 8192];
    for length in edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1]) {
        let (x, y) = (series::<f32>(random, 3 * length), series::<f32>(random, 3 * length));
        let batch = |values| SeriesBatch::equal(values, 3, length, 1).unwrap();
        for spec in specs() {
            agree(&gpu, &spec, Pairing::Cross, batch(&x), batch(&y), 1e-4);
        }
        let search = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
        agree(&gpu, &search, Pairing::Cross, batch(&x), batch(&y), 1e-4);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_very_long_pair() {
    let gpu = CudaBackend::new().unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(4);
    let (x, y) = (series::<f64>(random, 262_144), series::<f64>(random, 262_144));
    let batch = |values| SeriesBatch::equal(values, 1, 262_144, 1).unwrap();
    agree(&gpu, &Spec::dtw(), Pairing::Zipped, batch(&x), batch(&y), 1e-9);
    agree(
        &gpu,
        &specs()[1].clone().with_band(Band::sakoe_chiba(5000)),
        Pairing::Zipped,
        batch(&x),
        batch(&y),
        1e-9,
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_same_bits_every_time_from_any_thread() {
    let gpu = CudaBackend::new().unwrap();
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let lengths: Vec<usize> = (0..40).map(|_| random.random_range(1..=3000)).collect();
    let (x, at) = ragged::<f32>(random, &lengths);
    let batch = || SeriesBatch::ragged(&x, &at, 1).unwrap();
    let specs = [Spec::dtw(), Spec::soft_dtw(1.0), specs()[1].clone()];
    let compute = |spec: &Spec| -> Vec<u32> {
        let values = distances::<f32>(&gpu, spec, Pairing::SelfSymmetric, batch(), batch());
        values.iter().map(|value| value.to_bits()).collect()
    };
    let first: Vec<_> = specs.iter().map(&compute).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for (spec, first) in specs.iter().zip(&first) {
                    assert_eq!(&compute(spec), first, "{spec:?}");
                }
            });
        }
    });
}

/// Matches of any length, in the whole and in blocks; `levels`: equal costs, and matches that start many blocks before
/// they end.
fn blocks<T: Element>(gpu: &CudaBackend, cost: LocalCost, channels: usize, points: usize, levels: bool)
where
    CudaBackend: Backend<T>,
{
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut values = series::<T>(&mut random, points * channels);
    if levels {
        let held = |k: usize| T::from_f64((k / (1500 * channels) % 5) as f64 * 0.7);
        values = (0..values.len()).map(held).collect();
    }
    let reference = SeriesBatch::equal(&values, 1, points, channels).unwrap();
    let mut queries = OwnedBatch::<T>::new(channels).unwrap();
    for length in [1, 40, 257, 2000, 300] {
        let start = (points - length) / 2 * channels;
        queries.push(&values[start..start + length * channels]).unwrap();
    }
    let queries = queries.batch();
    let problem = Problem::of(Spec::subsequence_dtw(cost), Pairing::Cross, &queries, &reference).unwrap();
    // Too little for a row of the reference.
    let little = problem.clone().with_memory_limit(1 << 20);
    for (top_k, exclusion) in [(5, 30), (100, 2)] {
        let options = SearchOptions::default().with_top_k(top_k).with_exclusion(exclusion);
        let whole = Backend::<T>::plan(gpu, &problem).unwrap().matches(queries, reference, &options).unwrap();
        assert!(whole.iter().all(|hits| hits.len() == top_k));
        let cut = Backend::<T>::plan(gpu, &little).unwrap().matches(queries, reference, &options).unwrap();
        assert_eq!(cut, whole, "{cost:?}, {channels} channels, little memory");
        for most in [251, 4000, 1 << 20] {
            let mut source = Trickle { values: &values, channels, most };
            let mut plan = Backend::<T>::plan(gpu, &problem).unwrap();
            let read = plan.matches_in_blocks(queries, &mut source, &options).unwrap();
            assert_eq!(read, whole, "{cost:?}, {channels} channels, {most} at a time");
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_search_does_not_depend_on_how_the_reference_is_cut() {
    let gpu = CudaBackend::new().unwrap();
    for cost in [LocalCost::SquaredEuclidean, LocalCost::Euclidean, LocalCost::Manhattan] {
        for channels in [1, 3] {
            blocks::<f32>(&gpu, cost, channels, 60_000, channels == 1);
            blocks::<f64>(&gpu, cost, channels, 60_000, channels == 3);
        }
    }
    blocks::<f32>(&gpu, LocalCost::SquaredEuclidean, 1, 1_200_000, false);
}

/// The total that the GPU sums, against gradients of zipped pairs on the CPU, summed here.
fn total_is_that_of_zipped_pairs<T: Element>(gpu: &CudaBackend, measure: Measure, tolerance: f64)
where
    CudaBackend: Backend<T>,
{
    let (length, mut random) = (90, ChaCha8Rng::seed_from_u64(21));
    let lengths: Vec<usize> = (0..300).map(|s| 40 + s % 131).collect();
    let (values, offsets) = ragged::<T>(&mut random, &lengths);
    let y = SeriesBatch::ragged(&values, &offsets, 1).unwrap();
    let center = series::<T>(&mut random, length);
    let copies = center.repeat(lengths.len());
    let x = SeriesBatch::equal(&copies, lengths.len(), length, 1).unwrap();
    let weights: Vec<f64> = (0..lengths.len()).map(|s| 0.25 + (s % 5) as f64).collect();
    let problem = Problem::of(Spec::new(measure), Pairing::Zipped, &x, &y).unwrap();
    let mut distances = vec![T::ZERO; lengths.len()];
    let (mut grad_x, mut grad_y) = (vec![T::ZERO; copies.len()], vec![T::ZERO; values.len()]);
    let out =
        Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
    CpuBackend::new().plan(&problem).unwrap().gradients(x, y, out).unwrap();
    let mut total = gpu.weighted_total(&problem, y, &weights).unwrap().expect("all of it fits");
    let mut gradient = vec![0.0; length];
    let value = total.value_and_gradient(&center, &mut gradient).unwrap();
    let expected: f64 = weights.iter().zip(&distances).map(|(w, d)| w * d.to_f64()).sum();
    assert!((value - expected).abs() <= tolerance * expected.abs(), "{measure:?}: {value} {expected}");
    let of = |i: usize| -> f64 {
        weights.iter().zip(grad_x.chunks(length)).map(|(w, row)| w * row[i].to_f64()).sum()
    };
    let largest = (0..length).map(|i| of(i).abs()).fold(0.0, f64::max);
    for (i, got) in gradient.iter().enumerate() {
        assert!((got - of(i)).abs() <= tolerance * largest, "{measure:?}, point {i}: {got} {}", of(i));
    }
    let mut again = vec![0.0; length];
    assert_eq!(total.value_and_gradient(&center, &mut again).unwrap().to_bits(), value.to_bits());
    assert_eq!(again, gradient);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn totals_are_those_of_zipped_pairs() {
    let gpu = CudaBackend::new().unwrap();
    for measure in [Measure::soft_dtw(0.1), Measure::soft_dtw(1.0), Measure::soft_dtw_divergence(1.0)] {
        total_is_that_of_zipped_pairs::<f32>(&gpu, measure, 1e-4);
        total_is_that_of_zipped_pairs::<f64>(&gpu, measure, 1e-11);
    }
}
