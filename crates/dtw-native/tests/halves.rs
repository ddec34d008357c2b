//! Searches in half precision: every shape against a plain loop in double precision, and what is left undone where halves
//! cannot do; then the planner, which has what was left done in full.
#![cfg(feature = "host")]

use dtw_core::{Backend, LocalCost, Pairing, Plan, Precision, Problem, SeriesBatch, Spec};
use dtw_kernels::params::{self, Sweep};
use dtw_kernels::{Kernel, Pass, catalog};
use dtw_native::{Buffer, DeviceBatch, DeviceLayout, HostMachine, Machine, NativeBackend, NativePlan};
use launch::{Launch, noise, odd};

mod launch;

/// What the least cost of a column may be off by, as a part of it, and a long column's cells on average: a rounding in 2048 of
/// what was added within a lane and its neighbours, some hundred columns, for each of a path's steps; roundings up and
/// down make up for each other, but a minimum prefers those down.
const ERROR: f64 = 1e-2;
/// The same for queries of 2,000 points that look like what is measured.
const LONG_ERROR: f64 = 2e-3;
/// What any cell may be off by: steps beside a spike that cost less than half a unit of the spike's last place vanish, in up to two
/// lanes of 64 columns and rows, each with less than 2^-11 of it.
const MOST_ERROR: f64 = 128.0 / 2048.0;

/// A z-normalised walk that is drawn back to zero: smooth, unlike noise.
fn smooth(length: usize, seed: u64) -> Vec<f64> {
    let mut at = 0.0;
    let mut walk: Vec<f64> = noise(length, seed)
        .into_iter()
        .map(|step| {
            at = 0.97 * at + step;
            at
        })
        .collect();
    let mean = walk.iter().sum::<f64>() / length as f64;
    let deviation = (walk.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / length as f64).sqrt();
    walk.iter_mut().for_each(|v| *v = f64::from(((*v - mean) / deviation.max(1e-9)) as f32));
    walk
}

/// The last column of subsequence DTW by its definition.
fn last_column(x: &[f64], y: &[f64]) -> Vec<f64> {
    let mut above = vec![f64::INFINITY; y.len() + 1];
    above[0] = 0.0;
    let mut last = Vec::new();
    for point in x {
        let mut row = vec![0.0; y.len() + 1];
        for (j, other) in y.iter().enumerate() {
            row[j + 1] = (point - other).powi(2) + above[j].min(above[j + 1]).min(row[j]);
        }
        last.push(row[y.len()]);
        above = row;
    }
    last
}

fn kernels() -> Vec<&'static Kernel> {
    catalog::kernels()
        .iter()
        .filter(|kernel| kernel.pass == Pass::Sweep && kernel.key == "open_dtw_half")
        .collect()
}

/// The last column of every query in every reference, as they are numbered; `None`: left undone.
fn sweep(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
    let mut launch = Launch::new();
    let gaps = |series: &[f64]| vec![0.0; series.len()];
    let (x, y) = (launch.side::<f32>(xs, gaps), launch.side::<f32>(ys, gaps));
    let (tasks, stride) = (xs.len() * ys.len(), (x.length as usize).next_multiple_of(32));
    let couples = xs.len() * ys.len().div_ceil(2);
    let p = Sweep {
        x,
        y,
        out: launch.hold(&vec![0.0_f32; tasks]),
        out_stride: ys.len() as u64,
        tasks: tasks as u64,
        pairing: params::CROSS,
        channels: 1,
        spread: 1,
        edges: launch.hold(&vec![f32::NAN; tasks * stride]),
        links: launch.hold(&vec![0_u64; couples * stride * 2]),
        edge_stride: stride as u64,
        ticket: launch.hold(&[0_u64]),
        strips: y.length.div_ceil(kernel.width()),
        only_strip: params::ALL_STRIPS,
        keep_last: 1,
        ..Sweep::default()
    };
    launch.run(kernel, &p, couples as u32);
    let (verdicts, edges) = (launch.read::<f32>(p.out, tasks), launch.read::<f32>(p.edges, tasks * stride));
    (0..tasks)
        .map(|k| {
            let column = &edges[k * stride..][..xs[k / ys.len()].len()];
            (!verdicts[k].is_nan()).then(|| column.to_vec())
        })
        .collect()
}

/// A column of halves is right: its least cost, its cells on average if there are many, and each of them. `floor`: what may be
/// added to anything.
fn assert_right(got: &[f64], expected: &[f64], error: f64, floor: f64, what: &str) {
    let each = || got.iter().zip(expected).map(|(g, e)| ((g - e).abs() - floor).max(0.0) / e.max(1e-30));
    // Not `max`, which would overlook NaN.
    let most = each().fold(0.0, |most: f64, e| if e <= most { most } else { e });
    let mean = each().sum::<f64>() / got.len() as f64;
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let best = ((least(got) - least(expected)).abs() - floor).max(0.0) / least(expected).max(1e-30);
    assert!(got.iter().all(|v| *v >= 0.0), "{what}: {got:?}");
    assert!(
        best <= error && (mean <= error || got.len() < 100) && most <= MOST_ERROR,
        "{what}: the best is off by {best}, cells by {mean} on average and by {most} at most"
    );
}

/// Whether all tasks are done; those that are must be right.
fn check(kernel: &'static Kernel, xs: &[Vec<f64>], ys: &[Vec<f64>], error: f64) -> bool {
    let all = sweep(kernel, xs, ys);
    for (k, got) in all.iter().enumerate() {
        let (x, y) = (&xs[k / ys.len()], &ys[k % ys.len()]);
        if let Some(got) = got {
            let what = format!("{} task {k}, {} in {}", kernel.symbol, y.len(), x.len());
            assert_right(got, &last_column(x, y), error, 0.0, &what);
        }
    }
    all.iter().all(Option::is_some)
}

#[test]
fn every_shape_does_all_lengths() {
    for kernel in kernels() {
        let (k, width) = (kernel.columns as usize, kernel.width() as usize);
        let columns = [
            k,
            k * (k - 1) + 1,
            k * k - 1,
            k * k,
            width - 1,
            width,
            width + 1,
            width + k,
            width + k + 1,
            2 * width - 1,
            2 * width + 3,
        ];
        for m in columns {
            // An odd number of queries, references of different lengths.
            let ys: Vec<_> = (0..3).map(|q| noise(m, (m + q) as u64)).collect();
            for n in [1, 2, 31, 70] {
                let xs: Vec<_> = (0..2).map(|r| smooth(n + 3 * r, (n + r) as u64)).collect();
                assert!(check(kernel, &xs, &ys, ERROR), "{}: {m} in {n} is left undone", kernel.symbol);
            }
        }
    }
}

#[test]
fn queries_that_do_not_fit_are_left_undone() {
    for kernel in kernels() {
        let k = kernel.columns as usize;
        let x = [noise(50, 1)];
        for m in [1, 2, k - 1, k + 1, 2 * k - 2] {
            let ys = [noise(m, 2), noise(m, 3)];
            let done = sweep(kernel, &x, &ys).iter().flatten().count();
            assert_eq!(done, if m == 2 * k - 1 { 2 } else { 0 }, "{} {m}", kernel.symbol);
        }
        // Couples of different lengths; the last is by itself.
        let ys = [k * k, k * k + 1, k * k, k * k, k * k].map(|m| noise(m, m as u64));
        let done: Vec<bool> = sweep(kernel, &x, &ys).iter().map(Option::is_some).collect();
        assert_eq!(done, [false, false, true, true, true], "{}", kernel.symbol);
        assert!(!check(kernel, &x, &ys, ERROR));
    }
}

#[test]
fn long_queries_keep_three_digits() {
    for kernel in kernels() {
        for series in [noise as fn(usize, u64) -> Vec<f64>, smooth] {
            let x = series(5000, 1);
            // The first is found again, warped and with noise.
            let found: Vec<f64> = (0..2000_usize)
                .zip(noise(2000, 9))
                .map(|(k, e)| x[1500 + k + (k / 100) % 3] + 0.1 * e)
                .collect();
            assert!(check(kernel, &[x], &[found, series(2000, 2)], LONG_ERROR), "{}", kernel.symbol);
        }
    }
}

#[test]
fn units_do_not_matter() {
    for kernel in kernels() {
        let m = kernel.columns.pow(2) as usize;
        for (size, offset) in [(1e-6, 0.0), (1e9, 0.0), (1.0, 1000.0), (30.0, -1e4)] {
            let place = |series: Vec<f64>| -> Vec<f64> {
                series.into_iter().map(|v| f64::from((v * size + offset) as f32)).collect()
            };
            let x = [place(noise(90, 4))];
            assert!(check(kernel, &x, &[place(noise(m, 5)), place(noise(m, 6))], ERROR), "{}", kernel.symbol);
        }
        let alike = [vec![2.5; 90]];
        let got = sweep(kernel, &alike, &[vec![2.5; m], vec![2.5; m]]);
        assert!(got.iter().all(|column| column.as_ref().unwrap().iter().all(|v| *v == 0.0)), "{got:?}");
    }
}

/// Either right or left undone, whatever leaves the range of halves.
#[test]
fn what_halves_cannot_hold_is_left_undone() {
    for kernel in kernels() {
        let m = kernel.width() as usize + 40;
        let spike = |at: usize, height: f64, seed: u64| {
            let mut series = noise(m, seed);
            series[at] = height;
            series
        };
        // A point that is not finite, or a range whose squares are not.
        for height in [f64::NAN, f64::INFINITY, 1e30] {
            let got = sweep(kernel, &[noise(60, 1)], &[spike(m / 2, height, 2), noise(m, 3), noise(m, 4)]);
            assert_eq!(got.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true], "{height}");
            let got = sweep(kernel, &[spike(5, height, 2)], &[noise(m, 3), noise(m, 4)]);
            assert!(got.iter().all(Option::is_none), "{height}");
        }
        // A plateau and a higher one. The reference stays up long after the path did, so that the last cells of the low part
        // are left behind: by as many rows, or as many columns, of a difference that halves can hold 1034 of. Points go up and
        // down a little: those of plateaus would not even be tried.
        let plateaus = |low: usize, high: usize| -> Vec<f64> {
            let levels = [vec![-1.96; low], vec![1.96; high]].concat();
            levels.iter().enumerate().map(|(k, v)| v + if k % 2 == 0 { 0.03 } else { -0.03 }).collect()
        };
        for (low, fits) in [(900, true), (1200, false)] {
            let query = plateaus(low, 9);
            let got = sweep(kernel, &[plateaus(low + 100, low + 100)], &[query.clone(), query]);
            assert!(got.iter().all(|column| column.is_some() == fits), "{} {low}", kernel.symbol);
        }
    }
}

#[test]
fn odd_series_are_right_or_left_undone() {
    let mut done = 0;
    for kernel in kernels() {
        for seed in 0..8 {
            let m = kernel.columns.pow(2) as usize + 100 * seed as usize;
            let x = odd(1500, seed, true);
            // The last, by itself, is in the reference, as it is: its cost is zero.
            let copy = x[300..][..m.min(1200)].to_vec();
            let ys = [odd(copy.len(), 100 + seed, true), odd(copy.len(), 200 + seed, true), copy];
            let reach = x.iter().chain(&ys[0]).fold(0.0, |most: f64, v| most.max(v.abs()));
            // What rounding points to eleven bits may add to every step.
            let floor = (reach / 1024.0).powi(2) * m as f64;
            for (got, y) in sweep(kernel, std::slice::from_ref(&x), &ys).into_iter().zip(&ys) {
                let Some(got) = got else { continue };
                done += 1;
                assert_right(
                    &got,
                    &last_column(&x, y),
                    ERROR,
                    floor,
                    &format!("{} seed {seed}", kernel.symbol),
                );
            }
        }
    }
    assert!(done * 2 > kernels().len() * 24, "{done} of {} are done", 24 * kernels().len());
}

fn distances(precision: Precision, x: SeriesBatch<'_, f32>, y: SeriesBatch<'_, f32>, limit: u64) -> Vec<f32> {
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap();
    let problem = problem.with_precision(precision).with_memory_limit(limit);
    let backend = NativeBackend::new(HostMachine::new(1 << 30));
    let mut plan: Box<dyn Plan<f32>> = backend.plan(&problem).unwrap();
    let mut out = vec![f32::NAN; problem.output_len()];
    plan.distances(x, y, &mut out).unwrap();
    let again = out.clone();
    plan.distances(x, y, &mut out).unwrap();
    assert_eq!(again, out, "the second call");
    assert!(plan.scratch_bytes() <= limit, "{} bytes of {limit}", plan.scratch_bytes());
    out
}

#[test]
fn series_on_the_device_give_the_same_bits() {
    let narrow = |series: Vec<f64>| -> Vec<f32> { series.into_iter().map(|value| value as f32).collect() };
    let (queries, reference) = (narrow(noise(5 * 1050, 1)), narrow(noise(1500, 2)));
    let x = SeriesBatch::equal(&queries, 5, 1050, 1).unwrap();
    let y = SeriesBatch::equal(&reference, 1, 1500, 1).unwrap();
    let expected = distances(Precision::Half, x, y, 1 << 30);
    assert_ne!(expected, distances(Precision::Full, x, y, 1 << 30));
    let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
    let problem = Problem::of(spec, Pairing::Cross, &x, &y).unwrap().with_precision(Precision::Half);
    let machine = HostMachine::new(1 << 30);
    let hold = |values: &[f32]| {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let buffer = machine.allocate(raw.len()).unwrap();
        machine.upload(&buffer, 0, &raw).unwrap();
        buffer
    };
    let (on_x, on_y, out) = (hold(&queries), hold(&reference), hold(&[f32::NAN; 5]));
    let batch = |values: u64, count, length| DeviceBatch {
        values,
        times: 0,
        channels: 1,
        layout: DeviceLayout::Equal { count, length },
    };
    let mut plan = NativePlan::<f32, _>::new(machine.clone(), &problem).unwrap();
    let (at_x, at_y) = (batch(on_x.address(), 5, 1050), batch(on_y.address(), 1, 1500));
    // SAFETY: the buffers hold what the layouts say, and `out` a value for each query.
    unsafe { plan.distances_on_device(at_x, at_y, out.address()) }.unwrap();
    let mut got = vec![0; 5 * size_of::<f32>()];
    machine.download(&out, 0, &mut got).unwrap();
    let got: Vec<f32> = got.chunks(4).map(|raw| f32::from_ne_bytes(raw.try_into().unwrap())).collect();
    assert_eq!(got, expected);
}

#[test]
fn a_plan_does_in_full_what_halves_left() {
    let narrow = |series: Vec<f64>| series.into_iter().map(|v| v as f32).collect::<Vec<f32>>();
    // Lengths: a couple alike, one unlike, one far too short, the last by itself.
    let lengths = [1100, 1100, 1100, 1090, 3, 5, 1050];
    let (mut queries, mut ends) = (Vec::new(), vec![0]);
    for (k, length) in lengths.into_iter().enumerate() {
        queries.extend(narrow(smooth(length, k as u64)));
        ends.push(queries.len());
    }
    queries[7] = 1e15;
    let queries = SeriesBatch::ragged(&queries, &ends, 1).unwrap();
    let references = narrow([noise(1500, 40), noise(1300, 41)].concat());
    let references = SeriesBatch::ragged(&references, &[0, 1500, 2800], 1).unwrap();
    let full = distances(Precision::Full, queries, references, 1 << 30);
    let half = distances(Precision::Half, queries, references, 1 << 30);
    for (k, (half, full)) in half.iter().zip(&full).enumerate() {
        let in_full = k / 2 != 6;
        assert_eq!(half == full, in_full, "{k}: {half} {full}");
        assert!((half - full).abs() <= LONG_ERROR as f32 * full, "{k}: {half} {full}");
    }
    // In tiles of a few queries.
    for (tiled, full) in distances(Precision::Half, queries, references, 1 << 19).iter().zip(&full) {
        assert!((tiled - full).abs() <= LONG_ERROR as f32 * full, "{tiled} {full}");
    }
}
