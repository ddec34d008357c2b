//! The headline figures of one GPU as CSV: inputs on the device, CUDA events, the median of 20 calls, random data, values
//! checked against the CPU first.
//!
//! `cargo run --release -p dtw-cuda --example figures -- COMMIT DATE DRIVER`

#![expect(clippy::print_stdout, reason = "an example talks to its user")]

use std::time::Instant;

use dtw_core::{
    Backend, Band, LocalCost, Measure, Pairing, Problem, Radius, Result, Scalar, SeriesBatch, Shape, Spec,
};
use dtw_cuda::{CudaBackend, CudaMachine, DeviceBatch, NativePlan, Number};
use dtw_native::{Buffer, DeviceLayout, Machine};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ROUNDS: usize = 20;

/// One row: counts and lengths of x and y.
struct Work {
    name: &'static str,
    spec: Spec,
    pairing: Pairing,
    x: (usize, usize),
    y: (usize, usize),
}

struct Figures {
    backend: CudaBackend,
    origin: String,
}

fn raw<T>(values: &[T]) -> &[u8] {
    // SAFETY: plain numbers seen as bytes.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn raw_mut<T>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: plain numbers seen as bytes; any bytes are numbers.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

fn normal<T: Scalar>(seed: u64, len: usize) -> Vec<T> {
    // A block of random numbers, read from another place for every series: enough to be random, and quick to make.
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let block: Vec<T> = (0..1 << 20)
        .map(|_| T::from_f64((0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0))
        .collect();
    (0..len).map(|k| block[(k * 7919 + (k >> 13) * 13) & ((1 << 20) - 1)]).collect()
}

impl Figures {
    fn row(&self, name: &str, dtype: &str, what: &str, times: &mut [f64], cells: f64) {
        times.sort_by(f64::total_cmp);
        let (median, best) = (times[times.len() / 2], times[0]);
        println!(
            "{},{name},{dtype},{what},{},{median:.4e},{best:.4e},{:.4}",
            self.origin,
            times.len(),
            cells / median / 1e12
        );
    }

    /// Inputs and output on the device.
    fn resident<T: Number>(&self, work: &Work) -> Result<f64> {
        let machine: CudaMachine = self.backend.machine().own_queue()?;
        let (x, y) = (normal::<T>(1, work.x.0 * work.x.1), normal::<T>(2, work.y.0 * work.y.1));
        let shape = Shape {
            n_x: work.x.0,
            n_y: work.y.0,
            max_length_x: work.x.1,
            max_length_y: work.y.1,
            channels: 1,
        };
        let problem = Problem::new(work.spec.clone(), work.pairing, shape)?.with_memory_limit(32 << 30);
        let mut plan = NativePlan::<T, CudaMachine>::new(machine.clone(), &problem)?;
        let (on_x, on_y) = (machine.allocate(size_of_val(&*x))?, machine.allocate(size_of_val(&*y))?);
        machine.upload(&on_x, 0, raw(&x))?;
        machine.upload(&on_y, 0, raw(&y))?;
        let out = machine.allocate(problem.output_len() * size_of::<T>())?;
        let batch = |buffer: &dtw_cuda::CudaBuffer, (count, length): (usize, usize)| DeviceBatch {
            values: buffer.address(),
            times: 0,
            channels: 1,
            layout: DeviceLayout::Equal { count, length },
        };
        let timer = machine.timer()?;
        let rounds = if work.x.1 > 300_000 { 3 } else { ROUNDS };
        let mut times = Vec::new();
        for round in 0..=rounds {
            timer.start()?;
            // SAFETY: the buffers hold what the layouts say.
            unsafe { plan.distances_on_device(batch(&on_x, work.x), batch(&on_y, work.y), out.address())? };
            let seconds = timer.stop()?;
            if round > 0 {
                times.push(seconds);
            }
        }
        self.check::<T>(work, &machine, &out, &x, &y)?;
        let pairs = match work.pairing {
            Pairing::SelfSymmetric => work.x.0 * (work.x.0 + 1) / 2,
            _ => problem.output_len(),
        };
        let cells =
            work.spec.band.ranges(work.x.1, work.y.1, work.spec.anchor)?.cells() as f64 * pairs as f64;
        self.row(work.name, T::DTYPE.name(), "resident", &mut times, cells);
        Ok(times[times.len() / 2])
    }

    /// The first and the last output against the CPU, where that does not take minutes.
    fn check<T: Number>(
        &self,
        work: &Work,
        machine: &CudaMachine,
        out: &dtw_cuda::CudaBuffer,
        x: &[T],
        y: &[T],
    ) -> Result<()> {
        if work.x.1 * work.y.1 > 300_000_000 {
            return Ok(());
        }
        let mut values = vec![T::ZERO; out.bytes() / size_of::<T>()];
        machine.download(out, 0, raw_mut(&mut values))?;
        let columns = if work.pairing == Pairing::SelfSymmetric { work.x.0 } else { work.y.0 };
        for (i, j) in [(0, columns - 1), (work.x.0 - 1, 0)] {
            let y = if work.pairing == Pairing::SelfSymmetric { x } else { y };
            let wide = |values: &[T]| values.iter().map(|v| v.to_f64()).collect::<Vec<_>>();
            let (a, b) = (wide(&x[i * work.x.1..][..work.x.1]), wide(&y[j * work.y.1..][..work.y.1]));
            let a = SeriesBatch::equal(&a, 1, work.x.1, 1)?;
            let b = SeriesBatch::equal(&b, 1, work.y.1, 1)?;
            let mut expected = [0.0];
            let problem = Problem::of(work.spec.clone(), Pairing::Cross, &a, &b)?;
            Backend::<f64>::plan(&dtw_cpu::CpuBackend::new(), &problem)?.distances(a, b, &mut expected)?;
            let got = values[i * columns + j].to_f64();
            let allowed = if size_of::<T>() == 4 { 1e-4 } else { 1e-9 };
            assert!(
                (got - expected[0]).abs() <= allowed * expected[0].abs(),
                "{}: {got} {expected:?}",
                work.name
            );
        }
        Ok(())
    }

    /// Inputs and output in host memory, everything included but making the plan.
    fn end_to_end(&self, name: &str, count: usize, length: usize) -> Result<()> {
        let x = normal::<f32>(3, count * length);
        let batch = SeriesBatch::equal(&x, count, length, 1)?;
        let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &batch, &batch)?;
        let mut plan = Backend::<f32>::plan(&self.backend, &problem)?;
        let mut out = vec![0.0_f32; count * count];
        let mut times = Vec::new();
        for round in 0..=ROUNDS {
            let begin = Instant::now();
            plan.distances(batch, batch, &mut out)?;
            if round > 0 {
                times.push(begin.elapsed().as_secs_f64());
            }
        }
        self.row(name, "f32", "host", &mut times, (count * (count + 1) / 2 * length * length) as f64);
        Ok(())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let backend = CudaBackend::new()?;
    let [commit, date, driver] = std::array::from_fn(|k| arguments.get(k).cloned().unwrap_or_default());
    let device = backend.machine().properties().description;
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    let cpu = cpu.trim_start_matches([' ', '\t', ':']);
    let figures = Figures { backend, origin: format!("{date},{cpu},{device},{driver},{commit}") };
    println!("date,cpu,device,driver,commit,work,dtype,data,rounds,median_secs,best_secs,tcups");
    for (name, count, length) in
        [("dtw_200x96", 200, 96), ("dtw_200x500", 200, 500), ("dtw_100x1460", 100, 1460)]
    {
        figures.end_to_end(name, count, length)?;
    }
    let cross = |name, spec: &Spec, x, y| Work { name, spec: spec.clone(), pairing: Pairing::Cross, x, y };
    let dtw = Spec::dtw();
    for (name, n_x, length) in [
        ("dtw_127", 512, 127),
        ("dtw_128", 512, 128),
        ("dtw_255", 256, 255),
        ("dtw_511", 128, 511),
        ("dtw_512", 128, 512),
        ("dtw_1023", 64, 1023),
        ("dtw_1024", 64, 1024),
        ("dtw_1025", 64, 1025),
        ("dtw_1500", 32, 1500),
        ("dtw_2047", 32, 2047),
        ("dtw_2048", 32, 2048),
        ("dtw_2049", 32, 2049),
        ("dtw_4096", 16, 4096),
    ] {
        figures.resident::<f32>(&cross(name, &dtw, (n_x, length), (2048, length)))?;
    }
    figures.resident::<f32>(&cross("dtw_one_to_many_1023", &dtw, (1, 1023), (1 << 18, 1023)))?;
    let band = dtw.clone().with_band(Band::SakoeChiba { radius: Radius::Fraction(0.05) });
    figures.resident::<f32>(&cross("dtw_band5_2047", &band, (32, 2047), (2048, 2047)))?;
    figures.resident::<f32>(&cross("dtw_full_4000x256", &dtw, (4000, 256), (4000, 256)))?;
    let half = Work {
        pairing: Pairing::SelfSymmetric,
        ..cross("dtw_symmetric_4000x256", &dtw, (4000, 256), (4000, 256))
    };
    figures.resident::<f32>(&half)?;
    figures.resident::<f64>(&cross("dtw_511", &dtw, (64, 511), (2048, 511)))?;
    let soft = Spec::soft_dtw(1.0);
    for (name, length) in [("soft_dtw_127", 127), ("soft_dtw_512", 512), ("soft_dtw_1024", 1024)] {
        figures.resident::<f32>(&cross(name, &soft, (64, length), (2048, length)))?;
    }
    let search = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    figures.resident::<f32>(&cross("subsequence_512x2000x100000", &search, (512, 2000), (1, 100_000)))?;
    let twed = Spec::new(Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 });
    figures.resident::<f64>(&cross("twed_all_pairs_600x60", &twed, (600, 60), (600, 60)))?;
    for (name, length) in [
        ("twed_1024", 1024),
        ("twed_8192", 8192),
        ("twed_65536", 65_536),
        ("twed_524288", 524_288),
        ("twed_1048576", 1_048_576),
    ] {
        figures.resident::<f64>(&cross(name, &twed, (1, length), (1, length)))?;
    }
    Ok(())
}
