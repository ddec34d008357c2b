//! Averages along the paths of measures other than dtw, against loops that share no code with them.

use dtw_core::{Measure, OwnedBatch, Series, Spec};
use dtw_learn::{
    Barycenter, BarycenterOptions, Context, KMeansOptions, Start, barycenter, has_average, kmeans,
};

use crate::plain;

fn measures() -> [Measure; 7] {
    [
        Measure::Ddtw { cost: dtw_core::LocalCost::SquaredEuclidean },
        Measure::Wdtw { g: 0.3 },
        Measure::Wddtw { g: 0.3 },
        Measure::Adtw { penalty: 0.2 },
        Measure::Erp { gap: 0.1 },
        Measure::Msm { c: 0.3 },
        Measure::Twed { nu: 0.01, lambda: 0.2, degree: 2.0 },
    ]
}

fn derivative(x: &[f64]) -> Vec<f64> {
    x.windows(3).map(|w| ((w[1] - w[0]) + (w[2] - w[0]) / 2.0) / 2.0).collect()
}

/// The distance of two series of one channel and its path, as the papers write them.
fn aligned(measure: &Measure, x: &[f64], y: &[f64]) -> (f64, Vec<(usize, usize)>) {
    let (n, m) = (x.len(), y.len());
    let closed = |_: usize, _: usize| f64::INFINITY;
    let weight = |g: f64, i: usize, j: usize| {
        1.0 / (1.0 + (-g * (i.abs_diff(j) as f64 - n.max(m) as f64 / 2.0)).exp())
    };
    match *measure {
        Measure::Dtw { .. } => plain::path((n, m), closed, |i, j| [(x[i] - y[j]).powi(2); 3]),
        Measure::Wdtw { g } => {
            plain::path((n, m), closed, |i, j| [weight(g, i, j) * (x[i] - y[j]).powi(2); 3])
        }
        Measure::Adtw { penalty } => plain::path((n, m), closed, |i, j| {
            let cost = (x[i] - y[j]).powi(2);
            [cost, cost + penalty, cost + penalty]
        }),
        Measure::Ddtw { .. } => aligned(&Measure::DTW, &derivative(x), &derivative(y)),
        Measure::Wddtw { g } => aligned(&Measure::Wdtw { g }, &derivative(x), &derivative(y)),
        Measure::Erp { gap } => plain::path(
            (n, m),
            |i, j| x[..i].iter().chain(&y[..j]).map(|v| (v - gap).abs()).sum(),
            |i, j| [(x[i] - y[j]).abs(), (x[i] - gap).abs(), (y[j] - gap).abs()],
        ),
        Measure::Msm { c } => plain::path((n, m), closed, |i, j| {
            let split = |a: f64, b: f64, d: f64| match (b <= a && a <= d) || (d <= a && a <= b) {
                true => c,
                false => c + (a - b).abs().min((a - d).abs()),
            };
            let up = if i > 0 { split(x[i], x[i - 1], y[j]) } else { f64::INFINITY };
            let left = if j > 0 { split(y[j], y[j - 1], x[i]) } else { f64::INFINITY };
            [(x[i] - y[j]).abs(), up, left]
        }),
        Measure::Twed { nu, lambda, .. } => plain::path((n, m), closed, |i, j| {
            let before = |s: &[f64], i: usize| if i > 0 { s[i - 1] } else { 0.0 };
            let here = (x[i] - y[j]).abs() + (before(x, i) - before(y, j)).abs();
            let shift = nu * 2.0 * i.abs_diff(j) as f64;
            [
                here + shift,
                (x[i] - before(x, i)).abs() + nu + lambda,
                (y[j] - before(y, j)).abs() + nu + lambda,
            ]
        }),
        _ => unreachable!(),
    }
}

/// What the paths say one point is: a value, how often, and whether a path moves through the point.
type Votes = Vec<(f64, f64)>;

fn middle(mut votes: Votes, former: f64) -> f64 {
    votes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half: f64 = votes.iter().map(|v| v.1).sum::<f64>() / 2.0;
    // The least value with at least half the weight up to it, and the greatest with at least half from it on.
    let low = votes
        .iter()
        .scan(0.0, |sum, v| {
            *sum += v.1;
            Some((*sum, v.0))
        })
        .find(|(sum, _)| *sum >= half);
    let high = votes
        .iter()
        .rev()
        .scan(0.0, |sum, v| {
            *sum += v.1;
            Some((*sum, v.0))
        })
        .find(|(sum, _)| *sum >= half);
    low.zip(high).map_or(former, |((_, low), (_, high))| (low + high) / 2.0)
}

fn mean(votes: &Votes, former: f64) -> f64 {
    let total: f64 = votes.iter().map(|v| v.1).sum();
    if total == 0.0 { former } else { votes.iter().map(|v| v.0 * v.1).sum::<f64>() / total }
}

/// One round: the cost of a centre, and the next centre.
fn step(measure: &Measure, center: &[f64], x: &OwnedBatch<f64>, weights: &[f64]) -> (f64, Vec<f64>) {
    let n = center.len();
    let mut cost = 0.0;
    let mut cells: Vec<Votes> = vec![Vec::new(); n];
    let mut matched: Vec<Votes> = vec![Vec::new(); n];
    let mut deleted = vec![0.0; n];
    for (series, w) in x.batch().iter().zip(weights) {
        let y = series.values;
        let (d, path) = aligned(measure, center, y);
        cost += w * d;
        let is_derivative = matches!(measure, Measure::Ddtw { .. } | Measure::Wddtw { .. });
        let y = if is_derivative { derivative(y) } else { y.to_vec() };
        let longest = if is_derivative { (n - 2).max(y.len()) } else { n.max(y.len()) };
        let mut seen = vec![false; n];
        for (at, &(i, j)) in path.iter().enumerate() {
            let share = match *measure {
                Measure::Wdtw { g } | Measure::Wddtw { g } => {
                    1.0 / (1.0 + (-g * (i.abs_diff(j) as f64 - longest as f64 / 2.0)).exp())
                }
                _ => 1.0,
            };
            cells[i].push((y[j], w * share));
            let previous = if at > 0 { Some(path[at - 1]) } else { None };
            if previous.is_none_or(|(a, b)| a < i && b < j) {
                matched[i].push((y[j], *w));
                seen[i] = true;
                if let (Some(_), Measure::Twed { .. }) = (previous, measure) {
                    matched[i - 1].push((y[j - 1], *w));
                }
            } else if previous.is_some_and(|(a, _)| a < i) {
                deleted[i] += w;
            }
        }
        if let Measure::Erp { gap } = *measure {
            (0..n).filter(|i| !seen[*i]).for_each(|i| matched[i].push((gap, *w)));
        }
    }
    let next = match measure {
        Measure::Erp { .. } => (0..n).map(|i| middle(matched[i].clone(), center[i])).collect(),
        Measure::Msm { .. } => (0..n)
            .map(|i| middle(if matched[i].is_empty() { &cells[i] } else { &matched[i] }.clone(), center[i]))
            .collect(),
        Measure::Twed { .. } => {
            let mut next = center.to_vec();
            for _ in 0..8 {
                for i in 0..n {
                    let mut votes = matched[i].clone();
                    if i > 0 && deleted[i] > 0.0 {
                        votes.push((next[i - 1], deleted[i]));
                    }
                    if i + 1 < n && deleted[i + 1] > 0.0 {
                        votes.push((next[i + 1], deleted[i + 1]));
                    }
                    next[i] = middle(votes, center[i]);
                }
            }
            next
        }
        Measure::Ddtw { .. } | Measure::Wddtw { .. } => {
            let now = derivative(center);
            let wanted: Vec<f64> = (0..n - 2).map(|i| mean(&cells[i], now[i])).collect();
            nearest_with(center, &wanted)
        }
        _ => (0..n).map(|i| mean(&cells[i], center[i])).collect(),
    };
    (cost, next)
}

/// The series nearest to `former` whose derivative is `wanted`: by Gauss's elimination of the whole normal equations.
fn nearest_with(former: &[f64], wanted: &[f64]) -> Vec<f64> {
    let rows = wanted.len();
    let d = |i: usize, j: usize| match j.checked_sub(i) {
        Some(0) => -0.75,
        Some(1) => 0.5,
        Some(2) => 0.25,
        _ => 0.0,
    };
    let mut system: Vec<Vec<f64>> = (0..rows)
        .map(|a| {
            let square = (0..rows).map(|b| (0..former.len()).map(|j| d(a, j) * d(b, j)).sum());
            let now: f64 = (0..former.len()).map(|j| d(a, j) * former[j]).sum();
            square.chain([wanted[a] - now]).collect()
        })
        .collect();
    for pivot in 0..rows {
        for other in (0..rows).filter(|other| *other != pivot) {
            let share = system[other][pivot] / system[pivot][pivot];
            let row = system[pivot].clone();
            system[other].iter_mut().zip(&row).for_each(|(entry, known)| *entry -= share * known);
        }
    }
    let lambda: Vec<f64> = (0..rows).map(|i| system[i][rows] / system[i][i]).collect();
    (0..former.len()).map(|j| former[j] + (0..rows).map(|i| d(i, j) * lambda[i]).sum::<f64>()).collect()
}

fn found(measure: Measure, x: &OwnedBatch<f64>, options: &BarycenterOptions<'_, f64>) -> Barycenter<f64> {
    let backend = plain::backend();
    barycenter(&Context::new(&backend), &Spec::new(measure), x.batch(), options).unwrap()
}

#[test]
fn rounds_follow_the_equations() {
    let weights = [1.0, 0.5, 2.0, 1.0, 0.25];
    for measure in measures() {
        for seed in [71, 72, 73] {
            let x = plain::ragged(seed, &[9, 6, 11, 8, 8], 1);
            let start = plain::series(&mut plain::rng(seed + 100), 8, 1);
            let (mut center, mut costs) = (start.clone(), Vec::new());
            for iterations in 0..4 {
                let options = BarycenterOptions::default()
                    .with_weights(Some(&weights))
                    .with_start(Start::Series(Series::univariate(&start)))
                    .with_max_iterations(iterations)
                    .with_tolerance(0.0);
                let got = found(measure, &x, &options);
                let (cost, next) = step(&measure, &center, &x, &weights);
                if costs.last().is_some_and(|last| cost >= last * (1.0 - 1e-12)) {
                    // Nothing is gained from here on: the centre before is the result.
                    assert!(got.converged, "{measure:?}");
                    plain::assert_close(got.cost(), *costs.last().unwrap(), 1e-9);
                    break;
                }
                costs.push(cost);
                assert_eq!(got.costs.len(), costs.len(), "{measure:?} {seed}");
                for (got, expected) in got.costs.iter().zip(&costs) {
                    plain::assert_close(*got, *expected, 1e-9);
                }
                for (got, expected) in got.center.iter().zip(&center) {
                    assert!((got - expected).abs() < 1e-9, "{measure:?} {seed}: {got} {expected}");
                }
                center = next;
            }
            assert!(costs.len() > 1, "{measure:?} {seed}: no round gained anything");
        }
    }
}

/// For fixed paths no centre costs less under these, so that the cost falls until nothing is gained.
#[test]
fn costs_only_fall() {
    for measure in measures() {
        for seed in 80..86 {
            let x = plain::ragged(seed, &[12, 9, 14, 10, 11, 13], 1);
            let got = found(measure, &x, &BarycenterOptions::default().with_tolerance(0.0));
            assert!(
                got.converged && got.costs.windows(2).all(|w| w[1] < w[0]),
                "{measure:?}: {:?}",
                got.costs
            );
            let (cost, next) = step(&measure, &got.center, &x, &[1.0; 6]);
            plain::assert_close(got.cost(), cost, 1e-9);
            if matches!(measure, Measure::Msm { .. } | Measure::Twed { .. }) {
                continue;
            }
            // What the equations say of the result is no better, and no worse.
            let (after, _) = step(&measure, &next, &x, &[1.0; 6]);
            plain::assert_close(after, cost, 1e-6);
        }
    }
}

#[test]
fn weights_are_repetitions() {
    for measure in measures() {
        let x = plain::ragged(91, &[9, 7, 8], 1);
        let mut repeated = OwnedBatch::new(1).unwrap();
        for (series, times) in x.batch().iter().zip([2, 1, 2]) {
            (0..times).for_each(|_| repeated.push(series.values).unwrap());
        }
        // One round, and no weight that is half of all: where several centres cost the same, rounding decides which is
        // the last.
        let options = BarycenterOptions::default().with_max_iterations(1);
        let weighted = found(measure, &x, &options.with_weights(Some(&[2.0, 1.0, 2.0])));
        let repeated = found(measure, &repeated, &options);
        plain::assert_close(weighted.cost(), repeated.cost(), 1e-9);
        for (a, b) in weighted.center.iter().zip(&repeated.center) {
            assert!((a - b).abs() < 1e-9, "{measure:?}: {a} {b}");
        }
    }
}

#[test]
fn several_channels() {
    for measure in measures() {
        let x = plain::ragged(95, &[9, 7, 8, 10], 2);
        let got = found(measure, &x, &BarycenterOptions::default());
        assert_eq!(got.channels, 2);
        assert!(got.costs.windows(2).all(|w| w[1] < w[0]), "{measure:?}: {:?}", got.costs);
        let again =
            BarycenterOptions::default().with_start(Start::Series(got.series())).with_max_iterations(0);
        plain::assert_close(found(measure, &x, &again).cost(), got.cost(), 1e-9);
        if let Measure::Msm { .. } = measure {
            // Each channel's own average.
            let mut first = OwnedBatch::new(1).unwrap();
            for series in x.batch().iter() {
                first.push(&series.values.iter().step_by(2).copied().collect::<Vec<f64>>()).unwrap();
            }
            let start: Vec<f64> =
                found(measure, &x, &BarycenterOptions::default().with_max_iterations(0)).center;
            let start: Vec<f64> = start.into_iter().step_by(2).collect();
            let own = BarycenterOptions::default().with_start(Start::Series(Series::univariate(&start)));
            let own = found(measure, &first, &own).center;
            assert_eq!(got.center.iter().step_by(2).copied().collect::<Vec<f64>>(), own);
        }
    }
}

#[test]
fn clusters_have_such_centres() {
    let backend = plain::backend();
    let x = plain::three_shapes(7, 24, 30);
    for measure in measures() {
        let spec = Spec::new(measure);
        assert!(has_average(spec.kind()));
        let found = kmeans(&Context::new(&backend), &spec, x.batch(), &KMeansOptions::new(3)).unwrap();
        let own: Vec<usize> = (0..3).map(|shape| found.labels[shape]).collect();
        assert!((0..24).all(|s| found.labels[s] == own[s % 3]), "{measure:?}: {:?}", found.labels);
    }
}
