//! Cells a second of the wgpu backend, series and results in main memory: `rate [MEASURE [LENGTH [X [Y [CHANNELS]]]]]`
//! for all pairs of X and Y series. The figures of benchmarks/record are from it.

#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::time::Instant;

use dtw_core::{Backend, Measure, Pairing, Problem, SeriesBatch, Spec};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, or: usize| args.get(k).map_or(Ok(or), |text| text.parse());
    let measure = match args.first().map(String::as_str) {
        None | Some("dtw") => Measure::DTW,
        Some("adtw") => Measure::Adtw { penalty: 1.0 },
        Some("erp") => Measure::Erp { gap: 0.0 },
        Some("msm") => Measure::Msm { c: 1.0 },
        Some("twed") => Measure::Twed { nu: 0.001, lambda: 1.0, degree: 2.0 },
        Some("soft_dtw") => Measure::soft_dtw(1.0),
        Some(_) => return Err("a measure is dtw, adtw, erp, msm, twed or soft_dtw".into()),
    };
    let (length, n_x, n_y, channels) = (number(1, 511)?, number(2, 64)?, number(3, 4096)?, number(4, 1)?);
    let mut state = 1_u64;
    let mut noise = |count: usize| -> Vec<f32> {
        (0..count * length * channels)
            .map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 40) as f32 / (1 << 24) as f32 - 0.5
            })
            .collect()
    };
    let (x, y) = (noise(n_x), noise(n_y));
    let (x, y) =
        (SeriesBatch::equal(&x, n_x, length, channels)?, SeriesBatch::equal(&y, n_y, length, channels)?);
    let backend = dtw_wgpu::WgpuBackend::new()?;
    let problem = Problem::of(Spec::new(measure), Pairing::Cross, &x, &y)?;
    let mut plan = Backend::<f32>::plan(&backend, &problem)?;
    let mut out = vec![0.0; n_x * n_y];
    let mut best = f64::INFINITY;
    for _ in 0..6 {
        let begun = Instant::now();
        plan.distances(x, y, &mut out)?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    let cells = (n_x * n_y * length * length) as f64;
    println!("{args:?} {:.3} ms {:.3} TCUPS, first {}", best * 1e3, cells / best / 1e12, out[0]);
    Ok(())
}
