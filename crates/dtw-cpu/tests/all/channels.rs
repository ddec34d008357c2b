//! Costs of several channels are priced in blocks of cells, and keep the bits of a plain loop over the channels where
//! no operation is fused: for every remainder of rows, columns, channels and lanes.

use dtw_core::{Backend, Band, EdrOutput, LocalCost, Measure, Pairing, Problem, SeriesBatch, Spec};
use dtw_cpu::{CpuBackend, Element, Isa};

/// Values of few digits, so that many distances are equal.
fn values<T: Element>(count: usize, seed: u64) -> Vec<T> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            T::from_f64(((state >> 50) as f64 * 0.1).round() * 0.1 - 80.0)
        })
        .collect()
}

/// Norms of the difference of two points, channel after channel.
fn norm<T: Element>(x: &[T], y: &[T], is_euclidean: bool) -> T {
    let term = |x: T, y: T| if is_euclidean { (x - y) * (x - y) } else { (x - y).max(y - x) };
    let sum = (1..x.len()).fold(term(x[0], y[0]), |sum, k| sum + term(x[k], y[k]));
    if is_euclidean { sum.sqrt() } else { sum }
}

/// The value of a pair, by a loop over all cells.
fn plain<T: Element>(measure: &Measure, x: &[T], y: &[T], channels: usize, band: &Band) -> T {
    let (n, m) = (x.len() / channels, y.len() / channels);
    let ranges = band.ranges(n, m, dtw_core::Anchor::Global).unwrap();
    let count = |count: usize| T::from_f64(count as f64);
    let is_edr = matches!(measure, Measure::Edr { .. });
    let mut above: Vec<T> = (0..=m).map(|j| if is_edr || j == 0 { count(j) } else { T::INFINITY }).collect();
    for i in 0..n {
        let mut row = vec![if is_edr { count(i + 1) } else { T::INFINITY }];
        for j in 0..m {
            let point = |values: &'_ [T], at: usize| values[at * channels..][..channels].to_vec();
            let (from_x, from_y) = (point(x, i), point(y, j));
            let [diagonal, up, left] = [above[j], above[j + 1], row[j]];
            let least = diagonal.min(up).min(left);
            let cell = match *measure {
                Measure::Dtw { .. } => least + norm(&from_x, &from_y, false),
                Measure::Frechet => least.max(norm(&from_x, &from_y, true)),
                Measure::Edr { epsilon, .. } => {
                    let differ = norm(&from_x, &from_y, true) > T::from_f64(epsilon);
                    (diagonal + count(usize::from(differ))).min(up + count(1)).min(left + count(1))
                }
                _ => unreachable!("these three are tested"),
            };
            row.push(if ranges.row(i).contains(&j) { cell } else { T::INFINITY });
        }
        above = row;
    }
    above[m]
}

fn check<T: Element>(pairs: usize, (n, m): (usize, usize), channels: usize, band: &Band) {
    let (x, y) = (values::<T>(pairs * n * channels, 3), values::<T>(pairs * m * channels, 4));
    let batch_x = SeriesBatch::equal(&x, pairs, n, channels).unwrap();
    let batch_y = SeriesBatch::equal(&y, pairs, m, channels).unwrap();
    // A threshold that a pair of points hits exactly.
    let epsilon = norm(&x[..channels], &y[(m - 1) * channels..][..channels], true).to_f64();
    for measure in [
        Measure::Dtw { cost: LocalCost::Manhattan },
        Measure::Frechet,
        Measure::Edr { epsilon, output: EdrOutput::Count },
    ] {
        let spec = Spec::new(measure).with_band(band.clone());
        let problem = Problem::of(spec, Pairing::Zipped, &batch_x, &batch_y).unwrap();
        let expected: Vec<f64> = (0..pairs)
            .map(|s| plain(&measure, batch_x.get(s).values, batch_y.get(s).values, channels, band).to_f64())
            .collect();
        for isa in Isa::available() {
            let backend = CpuBackend::with_threads(1).with_isa(isa);
            let mut out = vec![T::ZERO; pairs];
            Backend::<T>::plan(&backend, &problem).unwrap().distances(batch_x, batch_y, &mut out).unwrap();
            let out: Vec<f64> = out.iter().map(|value| value.to_f64()).collect();
            let what = format!("{} {measure:?} {n} x {m}, {channels} channels, {band:?}", isa.name());
            assert_eq!(out, expected, "{what}");
        }
    }
}

#[test]
fn channels_are_added_up_in_their_order() {
    for channels in [2, 3, 4, 5, 8, 17] {
        check::<f32>(18, (29, 34), channels, &Band::Full);
        check::<f64>(9, (34, 29), channels, &Band::Full);
    }
}

#[test]
fn every_remainder_of_rows_and_columns_is_priced() {
    for n in 1..=9 {
        for m in 1..=9 {
            check::<f32>(16, (n, m), 3, &Band::Full);
            check::<f64>(17, (n, m), 2, &Band::Full);
        }
    }
    for radius in 0..=5 {
        check::<f32>(16, (23, 22), 3, &Band::sakoe_chiba(radius));
        check::<f64>(8, (21, 23), 6, &Band::sakoe_chiba(radius));
    }
}
