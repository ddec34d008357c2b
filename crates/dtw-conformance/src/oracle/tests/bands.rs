//! Band rules on hand-drawn grids, and their promises on every small grid.

use std::ops::Range;

use dtw_core::{Band, Radius};

use crate::oracle::band::{BandError, Cells, Ends, points};

/// Rows written with inclusive ends, as one reads them off a drawing.
fn drawn(rows: &[(usize, usize)]) -> Vec<Range<usize>> {
    rows.iter().map(|&(first, last)| first..last + 1).collect()
}

fn rows(band: &Band, n: usize, m: usize) -> Vec<Range<usize>> {
    band.rows(n, m, Ends::Global).unwrap()
}

#[test]
fn slanted_five_by_eight() {
    let slanted = |radius| Band::Slanted { radius: Radius::Points(radius) };
    assert_eq!(rows(&slanted(0), 5, 8), drawn(&[(0, 0), (1, 2), (3, 4), (5, 6), (7, 7)]));
    assert_eq!(rows(&slanted(1), 5, 8), drawn(&[(0, 1), (1, 2), (3, 4), (5, 6), (6, 7)]));
    assert_eq!(rows(&slanted(2), 5, 8), drawn(&[(0, 2), (0, 3), (2, 5), (4, 7), (5, 7)]));
}

#[test]
fn sakoe_chiba_widens_the_longer_side() {
    let band = Band::SakoeChiba { radius: Radius::Points(1) };
    assert_eq!(rows(&band, 3, 5), drawn(&[(0, 3), (0, 4), (1, 4)]));
    assert_eq!(rows(&band, 5, 3), drawn(&[(0, 1), (0, 2), (0, 2), (0, 2), (1, 2)]));
    assert_eq!(rows(&Band::SakoeChiba { radius: Radius::Points(0) }, 3, 3), drawn(&[(0, 0), (1, 1), (2, 2)]));
}

#[test]
fn itakura_parallelogram() {
    let itakura = |max_slope| Band::Itakura { max_slope };
    assert_eq!(rows(&itakura(2.0), 5, 5), drawn(&[(0, 0), (1, 2), (1, 3), (2, 3), (4, 4)]));
    assert_eq!(rows(&itakura(1.0), 3, 3), drawn(&[(0, 0), (1, 1), (2, 2)]));
    // 1.7 · 10 is 16.999… in binary; the slope is decimal, so column 17 counts as reached.
    assert_eq!(rows(&itakura(1.7), 21, 21)[10], 6..15);
    assert_eq!(rows(&itakura(1.7), 31, 31)[10].end - 1, 17);
    assert!(matches!(itakura(1.0).rows(3, 4, Ends::Global), Err(BandError::NoPath(_))));
    assert!(matches!(itakura(0.5).rows(3, 3, Ends::Global), Err(BandError::Invalid(_))));
    assert!(matches!(itakura(f64::NAN).rows(3, 3, Ends::Global), Err(BandError::Invalid(_))));
}

#[test]
fn fractions_round_down_but_not_below_the_decimal() {
    assert_eq!(points(Radius::Fraction(0.29), 100, 7), 29);
    assert_eq!(points(Radius::Fraction(0.1), 5, 19), 1);
    assert_eq!(points(Radius::Fraction(1.0), 5, 19), 19);
    let band = Band::SakoeChiba { radius: Radius::Fraction(1.5) };
    assert!(matches!(band.rows(3, 3, Ends::Global), Err(BandError::Invalid(_))));
}

#[test]
fn ranges_lose_cells_no_path_can_use() {
    let band = Band::Ranges(vec![0..3, 1..2, 0..5, 3..5]);
    assert_eq!(rows(&band, 4, 5), vec![0..2, 1..2, 1..5, 3..5]);
}

#[test]
fn ranges_without_a_path() {
    let no_path = |ranges: &[Range<usize>], ends| {
        matches!(Band::Ranges(ranges.to_vec()).rows(ranges.len(), 4, ends), Err(BandError::NoPath(_)))
    };
    assert!(no_path(&[0..4, 2..2, 0..4], Ends::Global), "an empty row");
    assert!(no_path(&[0..1, 2..4], Ends::Global), "rows that do not touch");
    assert!(no_path(&[2..4, 0..2, 2..4], Ends::Free), "backwards only");
    assert!(no_path(&[1..4, 1..4], Ends::Global), "first corner");
    assert!(no_path(&[0..4, 0..3], Ends::Global), "last corner");
    assert!(!no_path(&[1..4, 1..3], Ends::Free), "free ends need no corners");
    let short = Band::Ranges(vec![0..4, 0..4]);
    assert!(matches!(short.rows(3, 4, Ends::Global), Err(BandError::Invalid(_))));
    let wide = Band::Ranges(vec![0..4, 0..5]);
    assert!(matches!(wide.rows(2, 4, Ends::Global), Err(BandError::Invalid(_))));
}

/// Whether a monotone path connects the corners inside `rows`, found by flooding the grid.
fn connected(rows: &[Range<usize>], m: usize) -> bool {
    let mut reached = vec![vec![false; m]; rows.len()];
    for i in 0..rows.len() {
        for j in 0..m {
            let before = (i == 0 && j == 0)
                || (i > 0 && j > 0 && reached[i - 1][j - 1])
                || (i > 0 && reached[i - 1][j])
                || (j > 0 && reached[i][j - 1]);
            reached[i][j] = before && rows[i].contains(&j);
        }
    }
    reached[rows.len() - 1][m - 1]
}

#[test]
fn every_small_grid_keeps_the_promises() {
    for n in 1..=12 {
        for m in 1..=12 {
            for radius in 0..=13 {
                for slanted in [false, true] {
                    let kind =
                        |radius| if slanted { Band::Slanted { radius } } else { Band::SakoeChiba { radius } };
                    let rows = rows(&kind(Radius::Points(radius)), n, m);
                    assert!(connected(&rows, m), "{n}×{m} radius {radius}");
                    if n == m {
                        for (i, range) in rows.iter().enumerate() {
                            assert_eq!(*range, i.saturating_sub(radius)..(i + radius + 1).min(m));
                        }
                    }
                    let transposed = self::rows(&kind(Radius::Points(radius)), m, n);
                    for (i, range) in rows.iter().enumerate() {
                        for (j, across) in transposed.iter().enumerate() {
                            assert_eq!(range.contains(&j), across.contains(&i), "{n}×{m} ({i}, {j})");
                        }
                    }
                    if radius >= n.max(m) {
                        assert!(rows.iter().all(|range| *range == (0..m)));
                    }
                }
            }
        }
    }
}

#[test]
fn itakura_has_a_path_exactly_when_it_says_so() {
    let mut refused = 0;
    for n in 1..=12 {
        for m in 1..=12 {
            for max_slope in [1.0, 1.2, 1.5, 2.0, 3.0, 1e30] {
                match (Band::Itakura { max_slope }).rows(n, m, Ends::Global) {
                    Ok(rows) => assert!(connected(&rows, m), "{n}×{m} slope {max_slope}"),
                    Err(error) => {
                        assert!(matches!(error, BandError::NoPath(_)), "{error}");
                        assert!(n != m, "{n}×{m} slope {max_slope}: the diagonal is always inside");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 0);
}
