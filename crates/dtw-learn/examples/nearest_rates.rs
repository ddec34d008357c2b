//! Processor time of nearest neighbours by several measures, in series that have neighbours and in noise.
//!
//! `cargo run --release -p dtw-learn --example nearest_rates [-- COUNT LENGTH ROUNDS [MEASURE …]]`
//!
//! `COUNT` series of `LENGTH` points are searched for in as many others, on one thread. `shapes` are made of ten smooth
//! classes, each warped, scaled and with noise, z-normalised; `noise` has nothing to prune. A row has the least
//! processor seconds of some rounds, a sum of all neighbours' numbers, and the sum of their distances.

use std::io::Write;

use dtw_core::{Band, EdrOutput, LcssOutput, Measure, Radius, SeriesBatch, Spec};
use dtw_learn::{Context, nearest};
use rand::{Rng, SeedableRng};

type Random = rand_chacha::ChaCha8Rng;

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn normalise(series: &mut [f64]) {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let deviation = (series.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    series.iter_mut().for_each(|v| *v = (*v - mean) / deviation);
}

/// Ten classes, each of four sines; a member has its time warped and noise added.
fn shapes(random: &mut Random, count: usize, length: usize) -> Vec<f64> {
    let mut classes = Random::seed_from_u64(1);
    let classes: Vec<[[f64; 3]; 4]> = (0..10)
        .map(|_| {
            std::array::from_fn(|_| {
                [
                    normal(&mut classes),
                    1.0 + 5.0 * classes.random::<f64>(),
                    std::f64::consts::TAU * classes.random::<f64>(),
                ]
            })
        })
        .collect();
    let mut values = Vec::new();
    for k in 0..count {
        let class = &classes[k % classes.len()];
        let (bend, shift, level) = (0.05 * normal(random), 0.02 * normal(random), 0.1);
        let mut series: Vec<f64> = (0..length)
            .map(|i| {
                let t = i as f64 / length as f64;
                let t = t + shift + bend * (std::f64::consts::PI * t).sin();
                let value: f64 =
                    class.iter().map(|[a, f, p]| a * (std::f64::consts::TAU * f * t + p).sin()).sum();
                value + level * normal(random)
            })
            .collect();
        normalise(&mut series);
        values.extend(series);
    }
    values
}

fn noise(random: &mut Random, count: usize, length: usize) -> Vec<f64> {
    (0..count)
        .flat_map(|_| {
            let mut series: Vec<f64> = (0..length).map(|_| normal(random)).collect();
            normalise(&mut series);
            series
        })
        .collect()
}

/// Nanoseconds that this process's threads have run.
fn processor_nanoseconds() -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("Linux tells of a process's threads");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok())
        .filter_map(|told| told.split(' ').next()?.parse::<u64>().ok())
        .sum()
}

fn main() -> Result<(), dtw_core::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, usual: usize| arguments.get(k).and_then(|a| a.parse().ok()).unwrap_or(usual);
    let (count, length, rounds) = (number(0, 500), number(1, 300), number(2, 3));
    let wanted = arguments.get(3..).unwrap_or_default();
    let measures = [
        Measure::Dtw { cost: dtw_core::LocalCost::SquaredEuclidean },
        Measure::Dtw { cost: dtw_core::LocalCost::Manhattan },
        Measure::Adtw { penalty: 0.1 },
        Measure::Wdtw { g: 0.05 },
        Measure::Erp { gap: 0.0 },
        Measure::Msm { c: 1.0 },
        Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 },
        Measure::Edr { epsilon: 0.25, output: EdrOutput::Normalized },
        Measure::Lcss { epsilon: 0.25, output: LcssOutput::Distance },
    ];
    let mut random = Random::seed_from_u64(2);
    let backend = dtw_cpu::CpuBackend::with_threads(1);
    let mut out = std::io::stdout().lock();
    for (data, make) in [("shapes", shapes as fn(&mut Random, usize, usize) -> Vec<f64>), ("noise", noise)] {
        let (x, y) = (make(&mut random, count, length), make(&mut random, count, length));
        let x = SeriesBatch::equal(&x, count, length, 1)?;
        let y = SeriesBatch::equal(&y, count, length, 1)?;
        for (name, band) in
            [("10%", Band::SakoeChiba { radius: Radius::Fraction(0.1) }), ("none", Band::Full)]
        {
            for measure in measures {
                if !wanted.is_empty() && !wanted.iter().any(|w| w == measure.key()) {
                    continue;
                }
                let spec = Spec { measure, ..Spec::dtw() }.with_band(band.clone());
                for (whose, y) in [("others", y), ("themselves", x)] {
                    let mut least = u64::MAX;
                    let mut found = None;
                    for _ in 0..rounds {
                        let before = processor_nanoseconds();
                        found =
                            Some(nearest(&Context::new(&backend), &spec, x, y, 1 + usize::from(y.is(&x)))?);
                        least = least.min(processor_nanoseconds() - before);
                    }
                    let found = found.expect("there are rounds");
                    let numbers: usize = found.all_indices().iter().sum();
                    let distances: f64 = found.all_distances().iter().sum();
                    writeln!(
                        out,
                        "{data:6} {name:4} {whose:10} {measure:?}: {:.4} s, {numbers} {distances}",
                        least as f64 * 1e-9
                    )
                    .expect("the output can be written");
                }
            }
        }
    }
    Ok(())
}
