//! The recurrences against sums over every warping path, and against numbers worked out by hand.

use std::ops::Range;

use dtw_core::{Band, EdrOutput, LcssOutput, LocalCost, Measure, Radius, Spec};

use crate::cases::series::SplitMix;
use crate::cases::staircases::staircase;
use crate::oracle::band::{BandError, Cells, Ends};
use crate::oracle::{Oracle, OracleError, Pair, derivative, lcss, path, subsequence_dtw, wdtw, znormalize};

const SQUARED: LocalCost = LocalCost::SquaredEuclidean;

fn within(measure: Measure, band: &Band) -> Spec {
    Spec::new(measure).with_band(band.clone())
}

fn distance(measure: Measure, band: &Band, pair: &Pair<f64>) -> f64 {
    within(measure, band).distance(pair).unwrap()
}

fn series(values: &[f64]) -> Vec<Vec<f64>> {
    values.iter().map(|&value| vec![value]).collect()
}

fn pair(x: &[f64], y: &[f64]) -> Pair<f64> {
    Pair::new(series(x), series(y))
}

/// Every monotone path from (0, 0) to the far corner inside `rows`.
fn every_path(rows: &[Range<usize>], m: usize) -> Vec<Vec<(usize, usize)>> {
    fn extend(
        path: &mut Vec<(usize, usize)>,
        rows: &[Range<usize>],
        m: usize,
        out: &mut Vec<Vec<(usize, usize)>>,
    ) {
        let &(i, j) = path.last().unwrap();
        if i + 1 == rows.len() && j + 1 == m {
            out.push(path.clone());
        }
        for (a, b) in [(i + 1, j + 1), (i + 1, j), (i, j + 1)] {
            if a < rows.len() && rows[a].contains(&b) {
                path.push((a, b));
                extend(path, rows, m, out);
                path.pop();
            }
        }
    }
    let mut out = Vec::new();
    extend(&mut vec![(0, 0)], rows, m, &mut out);
    out
}

type CostOfPath<'a> = &'a dyn Fn(&Vec<(usize, usize)>) -> f64;

fn grids() -> Vec<(Pair<f64>, Band)> {
    let x = [0.5, -1.0, 2.0, 0.25, 1.5];
    let y = [1.0, 0.0, -0.5, 2.5];
    let mut grids = Vec::new();
    for (n, m) in [(1, 1), (1, 4), (5, 1), (2, 3), (4, 4), (5, 4)] {
        for band in [
            Band::Full,
            Band::SakoeChiba { radius: Radius::Points(0) },
            Band::SakoeChiba { radius: Radius::Points(1) },
            Band::Slanted { radius: Radius::Points(0) },
            Band::Slanted { radius: Radius::Points(1) },
            Band::Itakura { max_slope: 3.0 },
        ] {
            if band.rows(n, m, Ends::Global).is_ok() {
                grids.push((pair(&x[..n], &y[..m]), band));
            }
        }
    }
    grids
}

fn assert_close(got: f64, expected: f64) {
    assert!((got - expected).abs() <= 1e-12 * expected.abs().max(1.0), "got {got}, expected {expected}");
}

#[test]
fn warping_measures_are_the_least_and_the_soft_least_of_all_paths() {
    let grids = grids();
    assert!(grids.len() > 30);
    for (pair, band) in grids {
        let (n, m) = (pair.x.len(), pair.y.len());
        let paths = every_path(&band.rows(n, m, Ends::Global).unwrap(), m);
        let c = |i: usize, j: usize| (pair.x[i][0] - pair.y[j][0]).powi(2);
        let cost = |path: &Vec<(usize, usize)>| path.iter().map(|&(i, j)| c(i, j)).sum::<f64>();
        let least = |f: CostOfPath<'_>| paths.iter().map(f).fold(f64::INFINITY, f64::min);

        let dtw = Measure::Dtw { cost: SQUARED };
        assert_close(distance(dtw, &band, &pair), least(&cost));
        let path = within(dtw, &band).path(&pair).unwrap();
        assert!(paths.contains(&path));
        assert_close(cost(&path), least(&cost));

        let amerced = |path: &Vec<(usize, usize)>| {
            let off = path.windows(2).filter(|s| s[0].0 == s[1].0 || s[0].1 == s[1].1).count();
            cost(path) + 0.3 * off as f64
        };
        let adtw = Measure::Adtw { penalty: 0.3 };
        assert_close(distance(adtw, &band, &pair), least(&amerced));

        let weighted = |path: &Vec<(usize, usize)>| {
            path.iter().map(|&(i, j)| wdtw::weight(i, j, n, m, 0.4) * c(i, j)).sum::<f64>()
        };
        assert_close(distance(Measure::Wdtw { g: 0.4 }, &band, &pair), least(&weighted));

        for gamma in [0.1, 1.0, 30.0] {
            let soft = -gamma * paths.iter().map(|path| (-cost(path) / gamma).exp()).sum::<f64>().ln();
            assert_close(distance(Measure::soft_dtw(gamma), &band, &pair), soft);
        }

        let sigma = 1.5;
        let kernel = |path: &Vec<(usize, usize)>| {
            path.iter()
                .map(|&(i, j)| {
                    let half = (-c(i, j) / (2.0 * sigma * sigma)).exp();
                    half / (2.0 - half)
                })
                .product::<f64>()
        };
        let log_sum = paths.iter().map(kernel).sum::<f64>().ln();
        assert_close(distance(Measure::LogGak { sigma }, &band, &pair), log_sum);
    }
}

#[test]
fn ties_go_diagonal_then_up_then_left() {
    let constant = [1.0; 4];
    let path = |n: usize, m: usize| {
        within(Measure::Dtw { cost: SQUARED }, &Band::Full)
            .path(&pair(&constant[..n], &constant[..m]))
            .unwrap()
    };
    assert_eq!(path(3, 3), [(0, 0), (1, 1), (2, 2)]);
    assert_eq!(path(4, 2), [(0, 0), (1, 0), (2, 0), (3, 1)]);
    assert_eq!(path(2, 4), [(0, 0), (0, 1), (0, 2), (1, 3)]);
}

#[test]
fn derivative_estimate() {
    assert_eq!(derivative::derivative(&series(&[0.0, 1.0, 4.0, 9.0])), series(&[1.5, 3.5]));
    let linear = series(&[0.0, 2.0, 4.0, 6.0, 8.0]);
    assert_eq!(derivative::derivative(&linear), series(&[2.0, 2.0, 2.0]));
    let (x, y) = ([0.0, 1.0, 4.0, 9.0, 3.0], [1.0, 1.0, 2.0, 0.0]);
    let shortened = Pair::new(derivative::derivative(&series(&x)), derivative::derivative(&series(&y)));
    let weighted = distance(Measure::Wdtw { g: 0.3 }, &Band::Full, &shortened);
    assert_eq!(distance(Measure::Wddtw { g: 0.3 }, &Band::Full, &pair(&x, &y)), weighted);
    assert!(within(Measure::Ddtw { cost: SQUARED }, &Band::Full).distance(&pair(&x[..2], &y)).is_err());
}

#[test]
fn edit_measures_by_hand() {
    let full = &Band::Full;
    // x = (0, 1, 2), y = (0, 2): deleting the 1 costs |1 − gap|.
    let (x, y) = ([0.0, 1.0, 2.0], [0.0, 2.0]);
    assert_close(distance(Measure::Erp { gap: 0.25 }, full, &pair(&x, &y)), 0.75);
    assert_close(distance(Measure::Edr { epsilon: 0.5, output: EdrOutput::Count }, full, &pair(&x, &y)), 1.0);
    assert_close(
        distance(Measure::Edr { epsilon: 0.5, output: EdrOutput::Normalized }, full, &pair(&x, &y)),
        1.0 / 3.0,
    );
    assert_close(
        distance(Measure::Lcss { epsilon: 0.5, output: LcssOutput::Length }, full, &pair(&x, &y)),
        2.0,
    );
    assert_close(
        distance(Measure::Lcss { epsilon: 0.5, output: LcssOutput::Distance }, full, &pair(&x, &y)),
        0.0,
    );
    // The 1 moves to 2 at cost 1, and the two 2s merge at cost c.
    assert_close(distance(Measure::Msm { c: 0.4 }, full, &pair(&x, &y)), 1.4);
    // Two channels: the channels' distances add up, each with a warping of its own.
    let two =
        Pair::new(vec![vec![0.0, 5.0], vec![1.0, 5.0], vec![2.0, 6.0]], vec![vec![0.0, 5.0], vec![2.0, 6.0]]);
    assert_close(distance(Measure::Msm { c: 0.4 }, full, &two), 1.8);
    // TWED, ν = 0.1, λ = 1: match 0–0, match 1–2 (|1−2|, no difference before), delete the last (|2−1| + ν + λ).
    // Deleting the 1 instead would cost 2.1, and matching 2–2 after it 1.2.
    let twed = Measure::Twed { nu: 0.1, lambda: 1.0, degree: 2.0 };
    assert_close(distance(twed, full, &pair(&x, &y)), 1.0 + (1.0 + 0.1 + 1.0));
    // Equal points, the first seen half a unit later: both matches pay ν for it, as current and as predecessor.
    let mut shifted = pair(&y, &y);
    shifted.ty = Some(vec![1.5, 2.0]);
    assert_close(distance(twed, full, &shifted), 0.1 * 0.5 + 0.1 * 0.5);
}

#[test]
fn a_band_of_radius_zero_keeps_the_cumulative_borders() {
    let zero = Band::SakoeChiba { radius: Radius::Points(0) };
    // Only the diagonal: each point is matched or, at the border, replaced by two gaps.
    let erp = distance(Measure::Erp { gap: 0.0 }, &zero, &pair(&[3.0, 1.0], &[-3.0, 1.0]));
    assert_close(erp, 6.0);
    let lcss = within(Measure::Lcss { epsilon: 0.1, output: LcssOutput::Length }, &zero)
        .distance(&pair(&[1.0, 2.0, 3.0], &[1.0, 0.0, 3.0]));
    assert_close(lcss.unwrap(), 2.0);
}

#[test]
fn subsequence_hits() {
    let query = [1.0, 2.0];
    let reference = [9.0, 1.0, 2.0, 9.0, 1.0, 2.0, 2.0, 9.0, 1.0, 3.0];
    let measure = Spec::subsequence_dtw(SQUARED);
    let pair = pair(&query, &reference);
    let hits = |k, exclusion| {
        let found = measure.matches(&pair, k, exclusion).unwrap();
        found.iter().map(|hit| (hit.cost, hit.start, hit.end)).collect::<Vec<_>>()
    };
    assert_eq!(hits(1, 0), [(0.0, 1, 2)]);
    assert_eq!(hits(3, 0), [(0.0, 1, 2), (0.0, 4, 5), (0.0, 4, 6)]);
    assert_eq!(hits(3, 1), [(0.0, 1, 2), (0.0, 4, 5), (1.0, 8, 8)]);
    assert_eq!(hits(20, 4), [(0.0, 1, 2), (1.0, 8, 8)]);
    assert_eq!(hits(20, 0).len(), reference.len());
    assert_eq!(measure.path(&pair).unwrap(), [(0, 1), (1, 2)]);
    let hit = subsequence_dtw::Match { cost: 0.0, start: 1, end: 2 };
    assert_eq!(measure.matches(&pair, 1, 3).unwrap(), [hit]);
    assert!(within(Measure::Dtw { cost: SQUARED }, &Band::Full).matches(&pair, 1, 0).is_err());
}

#[test]
fn normalised_windows() {
    // The query's shape occurs stretched by 10 and shifted by 5 at 2..=4, and as it is, but noisy, at 7..=9.
    let query = series(&[0.0, 1.0, 0.0]);
    let reference = series(&[3.0, 3.0, 5.0, 15.0, 5.0, 5.0, 5.0, 0.0, 1.0, 0.25]);
    let diagonal = Band::SakoeChiba { radius: Radius::Points(0) };
    let costs = subsequence_dtw::window_costs(&query, &reference, SQUARED, &diagonal, 3).unwrap();
    let hits = subsequence_dtw::window_matches(&costs, 3, 2, 2);
    assert_eq!(hits.iter().map(|hit| (hit.start, hit.end)).collect::<Vec<_>>(), [(2, 4), (7, 9)]);
    assert!(hits[0].cost < 1e-12 && hits[1].cost > 0.01);
    let costs = subsequence_dtw::window_costs(&query, &reference, SQUARED, &Band::Full, 11).unwrap();
    assert!(subsequence_dtw::window_matches(&costs, 11, 2, 0).is_empty());
}

#[test]
fn divergence_of_a_series_with_itself_is_zero() {
    let x = [0.3, -1.0, 2.0];
    let divergence = Measure::soft_dtw_divergence(0.5);
    assert_eq!(distance(divergence, &Band::Full, &pair(&x, &x)), 0.0);
    assert!(distance(divergence, &Band::Full, &pair(&x, &[0.5, 0.1])) > 0.0);
}

#[test]
fn z_normalisation() {
    let two = vec![vec![1.0, 0.1], vec![3.0, 0.1], vec![5.0, 0.1]];
    let root = 1.5f64.sqrt();
    let expected = [[-root, 0.0], [0.0, 0.0], [root, 0.0]];
    for (got, expected) in znormalize::znormalize(&two).iter().flatten().zip(expected.iter().flatten()) {
        assert_close(*got, *expected);
    }
}

/// The most matches in a chain of matching cells of the band, each to the right of and below the one before; `from` is
/// the first cell that the next may be.
fn longest_chain(pair: &Pair<f64>, rows: &[Range<usize>], from: (usize, usize)) -> usize {
    let (n, m) = (pair.x.len(), pair.y.len());
    (from.0..n)
        .flat_map(|i| (from.1..m).map(move |j| (i, j)))
        .filter(|&(i, j)| rows[i].contains(&j) && pair.x[i] == pair.y[j])
        .map(|(i, j)| 1 + longest_chain(pair, rows, (i + 1, j + 1)))
        .max()
        .unwrap_or(0)
}

#[test]
fn a_band_of_lcss_restricts_its_matches_only() {
    // Two matches that no warping path of the band connects: (0, 0), and (1, 2) from outside.
    let by_hand = pair(&[1.0, 2.0], &[1.0, 0.0, 2.0]);
    let corner = Band::Ranges(vec![0..1, 1..3]);
    assert_close(
        distance(Measure::Lcss { epsilon: 0.0, output: LcssOutput::Length }, &corner, &by_hand),
        2.0,
    );

    let mut random = SplitMix::new(17);
    let mut wider = 0;
    for _ in 0..2000 {
        let (n, m) = (random.between(1, 6), random.between(1, 6));
        let mut letters = |length| (0..length).map(|_| random.between(0, 2) as f64).collect::<Vec<f64>>();
        let pair = pair(&letters(n), &letters(m));
        let rows = staircase(n, m, &mut random);
        let band = Band::Ranges(rows.clone());
        let length = distance(Measure::Lcss { epsilon: 0.0, output: LcssOutput::Length }, &band, &pair);
        assert_close(length, longest_chain(&pair, &rows, (0, 0)) as f64);
        let path =
            within(Measure::Lcss { epsilon: 0.0, output: LcssOutput::Length }, &band).path(&pair).unwrap();
        path::check(&path, n, m, true).unwrap();
        assert_eq!(lcss::matches(&pair.x, &pair.y, 0.0, &rows, &path) as f64, length);
        wider += usize::from(path.iter().any(|(i, j)| !rows[*i].contains(j)));
    }
    assert!(wider > 50, "{wider} of 2000 paths leave the band");
}

#[test]
fn ranges_that_would_lose_cells_are_refused_where_that_matters() {
    let pair = pair(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]);
    let band = Band::Ranges(vec![0..3, 1..2, 0..3]);
    for measure in [
        Measure::Lcss { epsilon: 1.0, output: LcssOutput::Distance },
        Measure::Edr { epsilon: 1.0, output: EdrOutput::Count },
        Measure::Erp { gap: 0.0 },
    ] {
        let refused = within(measure, &band).distance(&pair);
        assert!(matches!(refused, Err(OracleError::Band(BandError::Invalid(_)))), "{measure:?}");
    }
    assert!(within(Measure::Dtw { cost: LocalCost::SquaredEuclidean }, &band).distance(&pair).is_ok());
}
