//! Cases for gradients, alignments, paths and searches.

use dtw_core::{Band, LocalCost, Measure, Pairing, Radius, SearchOptions, Spec};

use super::series::{Kind, SplitMix, series};
use super::staircases::staircases;
use super::{Case, variants, with_path};
use crate::batch::Batch;
use crate::check::matches::Search;
use crate::check::paths::Identity;
use crate::oracle::Cells;

fn zipped(name: String, spec: &Spec, band: &Band, x: Batch, y: Batch) -> Case {
    Case { name, spec: spec.clone().with_band(band.clone()), pairing: Pairing::Zipped, x, y }
}

fn bands() -> Vec<Band> {
    vec![
        Band::Full,
        Band::SakoeChiba { radius: Radius::Points(0) },
        Band::SakoeChiba { radius: Radius::Points(3) },
        Band::SakoeChiba { radius: Radius::Fraction(0.2) },
        Band::Slanted { radius: Radius::Points(1) },
        Band::Itakura { max_slope: 3.0 },
    ]
}

/// Whether `band` leaves a path between these lengths.
fn fits(band: &Band, n: usize, m: usize) -> bool {
    band.rows(n, m, crate::oracle::band::Ends::Global).is_ok()
}

/// Cases for gradients of `key` (`soft_dtw` or `soft_dtw_divergence`).
pub fn gradients(key: &str) -> Vec<Case> {
    let mut random = SplitMix::new(41);
    let mut cases = Vec::new();
    for spec in variants(key) {
        for (kind_x, kind_y) in [
            (Kind::Noise, Kind::Noise),
            (Kind::Ternary, Kind::Ternary),
            (Kind::Constant(0.5), Kind::Constant(0.5)),
            (Kind::Offset(1e3), Kind::Offset(1e3)),
            (Kind::Offset(1e3), Kind::Noise),
        ] {
            for (n, m, channels) in [(1, 1, 1), (1, 7, 2), (7, 1, 1), (12, 12, 1), (9, 17, 3)] {
                let x = Batch::new(vec![series(kind_x, n, channels, &mut random)]);
                let y = Batch::new(vec![series(kind_y, m, channels, &mut random)]);
                cases.push(zipped(
                    format!("{kind_x:?} {kind_y:?} {n}×{m}×{channels}"),
                    &spec,
                    &Band::Full,
                    x,
                    y,
                ));
            }
        }
        for band in bands() {
            for (n, m) in [(8, 8), (15, 17), (33, 20), (64, 65)] {
                if fits(&band, n, m) {
                    let x = Batch::new(vec![series(Kind::Noise, n, 1, &mut random)]);
                    let y = Batch::new(vec![series(Kind::Noise, m, 1, &mut random)]);
                    cases.push(zipped(format!("{band:?} {n}×{m}"), &spec, &band, x, y));
                }
            }
        }
        for count in [2, 5, 8, 17] {
            let mut batch = || {
                let lengths: Vec<usize> = (0..count).map(|_| random.between(1, 30)).collect();
                Batch::new(
                    lengths.into_iter().map(|length| series(Kind::Noise, length, 2, &mut random)).collect(),
                )
            };
            let (x, y) = (batch(), batch());
            cases.push(zipped(format!("{count} ragged pairs"), &spec, &Band::Full, x, y));
        }
    }
    let spec = &variants(key)[0];
    // Enough pairs to be side by side in the lanes of any register, of more than a tile of them.
    for band in [Band::Full, Band::sakoe_chiba(3), Band::Itakura { max_slope: 3.0 }] {
        let mut batch = |length: usize| {
            Batch::new((0..16).map(|_| series(Kind::Noise, length, 1, &mut random)).collect())
        };
        let (x, y) = (batch(60), batch(57));
        cases.push(zipped(format!("16 pairs, {band:?} 60×57"), spec, &band, x, y));
    }
    for (n, m) in [(512, 300), (300, 513), (1025, 64)] {
        let x = Batch::new(vec![series(Kind::Noise, n, 1, &mut random)]);
        let y = Batch::new(vec![series(Kind::Noise, m, 1, &mut random)]);
        cases.push(zipped(format!("long {n}×{m}"), spec, &Band::Full, x, y));
    }
    cases
}

/// Whether all sums are exact in `f32` on multiples of 1/8 in one channel.
fn is_exact_on_eighths(measure: &Measure) -> bool {
    match *measure {
        Measure::Wdtw { g } | Measure::Wddtw { g } => g == 0.0,
        Measure::Twed { nu, degree, .. } => nu != 0.001 && degree <= 2.0,
        _ => true,
    }
}

/// Cases for paths, every measure that has them, and when each must equal the oracle's.
pub fn paths() -> Vec<(Case, Identity)> {
    let mut random = SplitMix::new(42);
    let mut cases = Vec::new();
    for spec in with_path().flat_map(|kind| kind.specs()) {
        let random_identity = if spec.kind().commutes { Identity::NotRequired } else { Identity::Double };
        let exact_identity =
            if is_exact_on_eighths(&spec.measure) { Identity::Exact } else { Identity::NotRequired };
        let mut add = |what: &str, kind: Kind, band: &Band, n: usize, m: usize, identity: Identity| {
            let dropped = spec.measure.preparation().dropped();
            let x = Batch::new(vec![series(kind, n + dropped, 1, &mut random)]);
            let y = Batch::new(vec![series(kind, m + dropped, 1, &mut random)]);
            let case = zipped(format!("{} {what} {n}×{m} {band:?}", spec.key()), &spec, band, x, y);
            cases.push((case, identity));
        };
        for (n, m) in [(1, 1), (1, 9), (9, 1), (2, 3), (16, 16), (17, 33), (65, 31)] {
            for band in bands() {
                if fits(&band, n, m) {
                    let noise = if spec.kind().has_threshold { Kind::Eighths } else { Kind::Noise };
                    let identity = if spec.kind().has_threshold { Identity::Exact } else { random_identity };
                    add("noise", noise, &band, n, m, identity);
                    add("ties", Kind::Ternary, &band, n, m, exact_identity);
                    add("constant", Kind::Constant(0.5), &band, n, m, exact_identity);
                }
            }
        }
        for (n, m, ranges) in staircases(&mut SplitMix::new(9)) {
            let noise = if spec.kind().has_threshold { Kind::Eighths } else { Kind::Noise };
            let identity = if spec.kind().has_threshold { Identity::Exact } else { random_identity };
            let band = Band::Ranges(ranges);
            add("staircase, noise", noise, &band, n, m, identity);
            add("staircase, ties", Kind::Ternary, &band, n, m, exact_identity);
        }
        add("long ties", Kind::Ternary, &Band::Full, 400, 380, exact_identity);
        add(
            "long ties",
            Kind::Ternary,
            &Band::Slanted { radius: Radius::Points(40) },
            600,
            400,
            exact_identity,
        );
        add("long constant", Kind::Constant(1.0), &Band::Full, 370, 400, exact_identity);
        if !spec.kind().has_threshold {
            add("long noise", Kind::Noise, &Band::Full, 700, 300, random_identity);
        }
        // Large enough that the small memory limit rules out a table of the whole grid.
        if spec == variants(spec.key())[0] {
            add("very long ties", Kind::Ternary, &Band::Full, 2300, 2200, exact_identity);
        }
    }
    for count in [3, 8, 17] {
        let mut batch = || {
            let lengths: Vec<usize> = (0..count).map(|_| random.between(1, 40)).collect();
            Batch::new(
                lengths.into_iter().map(|length| series(Kind::Ternary, length, 1, &mut random)).collect(),
            )
        };
        let (x, y) = (batch(), batch());
        let spec = Spec::dtw();
        cases.push((zipped(format!("dtw {count} ragged pairs"), &spec, &Band::Full, x, y), Identity::Exact));
    }
    cases
}

/// Searches for subsequences, plain and in z-normalised windows.
pub fn searches() -> Vec<Search> {
    let mut random = SplitMix::new(43);
    let mut searches = Vec::new();
    for spec in variants("subsequence_dtw") {
        for (kind, exact) in [(Kind::Noise, false), (Kind::Ternary, true), (Kind::Constant(0.5), true)] {
            for (n, m) in [(1, 1), (1, 20), (5, 1), (6, 4), (4, 60), (16, 130), (33, 257)] {
                for (top_k, exclusion) in [(1, 0), (3, 0), (3, 5), (50, 2), (2, 1000)] {
                    let x = Batch::new(vec![series(kind, n, 1, &mut random)]);
                    let y = Batch::new(vec![series(kind, m, 1, &mut random)]);
                    for threshold in [None, Some(0.0), Some(n as f64 / 4.0)] {
                        let within = threshold.map_or(String::new(), |most| format!(" within {most}"));
                        let name = format!("{kind:?} {n} in {m}, best {top_k} apart {exclusion}{within}");
                        let case = zipped(name, &spec, &Band::Full, x.clone(), y.clone());
                        let options = SearchOptions::default()
                            .with_top_k(top_k)
                            .with_exclusion(exclusion)
                            .with_threshold(threshold);
                        searches.push(Search { case, options, exact });
                    }
                }
            }
        }
        for (n, m, length, channels) in
            [(5, 40, 5, 1), (8, 64, 10, 1), (12, 90, 9, 2), (4, 4, 4, 1), (3, 2, 5, 1)]
        {
            for band in [Band::Full, Band::SakoeChiba { radius: Radius::Points(2) }] {
                for (top_k, exclusion) in [(1, 0), (4, 3)] {
                    let x = Batch::new(vec![series(Kind::Noise, n, channels, &mut random)]);
                    let mut reference = series(Kind::Noise, m, channels, &mut random);
                    // A flat stretch: windows without a deviation to divide by.
                    let flat = reference[m / 2].clone();
                    reference[m / 2..(m / 2 + length + 2).min(m)].fill(flat);
                    let name = format!(
                        "{n} in windows of {length} of {m}, {band:?}, best {top_k} apart {exclusion}"
                    );
                    let case = zipped(name, &spec, &band, x, Batch::new(vec![reference]));
                    let options = SearchOptions::default()
                        .with_top_k(top_k)
                        .with_exclusion(exclusion)
                        .with_normalized_window(Some(length));
                    searches.push(Search { case, options, exact: false });
                }
            }
        }
        let mut batch = |count: usize, low: usize, high: usize| {
            let lengths: Vec<usize> = (0..count).map(|_| random.between(low, high)).collect();
            Batch::new(
                lengths.into_iter().map(|length| series(Kind::Ternary, length, 2, &mut random)).collect(),
            )
        };
        let (x, y) = (batch(3, 1, 9), batch(5, 9, 70));
        let mut case = zipped("3 queries in 5 references".to_owned(), &spec, &Band::Full, x, y);
        case.pairing = Pairing::Cross;
        let options = SearchOptions::default().with_top_k(4).with_exclusion(3);
        let exact = spec != Spec::subsequence_dtw(LocalCost::Euclidean);
        searches.push(Search { case, options, exact });
    }
    searches
}
