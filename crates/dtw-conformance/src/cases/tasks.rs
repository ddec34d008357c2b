//! Cases for gradients, alignments, paths and searches.

use dtw_core::{Band, LocalCost, Measure, Pairing, Radius, SearchOptions, Spec};

use super::series::{Kind, SplitMix, series};
use super::staircases::staircases;
use super::{Case, MANY_CHANNELS, variants, with_path};
use crate::batch::Batch;
use crate::check::matches::Search;
use crate::check::paths::Identity;
use crate::oracle::Cells;

/// One series of each kind and length.
fn pair(kinds: [Kind; 2], (n, m): (usize, usize), channels: usize, random: &mut SplitMix) -> [Batch; 2] {
    [(kinds[0], n), (kinds[1], m)].map(|(kind, length)| Batch::one(series(kind, length, channels, random)))
}

/// Series of random lengths.
fn ragged(
    kind: Kind,
    count: usize,
    (low, high): (usize, usize),
    channels: usize,
    random: &mut SplitMix,
) -> Batch {
    let lengths: Vec<usize> = (0..count).map(|_| random.between(low, high)).collect();
    Batch::new(lengths.into_iter().map(|length| series(kind, length, channels, random)).collect())
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
                let sides = pair([kind_x, kind_y], (n, m), channels, &mut random);
                let name = format!("{kind_x:?} {kind_y:?} {n}×{m}×{channels}");
                cases.push(Case::zipped(name, &spec, &Band::Full, sides));
            }
        }
        for channels in MANY_CHANNELS {
            for (kind, n, m) in [(Kind::Noise, 20, 17), (Kind::Offset(1e3), 9, 8), (Kind::Noise, 66, 70)] {
                let sides = pair([kind; 2], (n, m), channels, &mut random);
                cases.push(Case::zipped(format!("{kind:?} {n}×{m}×{channels}"), &spec, &Band::Full, sides));
            }
        }
        for band in bands() {
            for (n, m) in [(8, 8), (15, 17), (33, 20), (64, 65)] {
                if fits(&band, n, m) {
                    let sides = pair([Kind::Noise; 2], (n, m), 1, &mut random);
                    cases.push(Case::zipped(format!("{band:?} {n}×{m}"), &spec, &band, sides));
                }
            }
        }
        for count in [2, 5, 8, 17] {
            let sides = [(); 2].map(|()| ragged(Kind::Noise, count, (1, 30), 2, &mut random));
            cases.push(Case::zipped(format!("{count} ragged pairs"), &spec, &Band::Full, sides));
        }
    }
    let spec = &variants(key)[0];
    // Enough pairs to be side by side in the lanes of any register, of more than a tile of them.
    for band in [Band::Full, Band::sakoe_chiba(3), Band::Itakura { max_slope: 3.0 }] {
        let mut one = |length| series(Kind::Noise, length, 1, &mut random);
        let sides = [60, 57].map(|length| Batch::new((0..16).map(|_| one(length)).collect()));
        cases.push(Case::zipped(format!("16 pairs, {band:?} 60×57"), spec, &band, sides));
    }
    for (n, m) in [(512, 300), (300, 513), (1025, 64)] {
        let sides = pair([Kind::Noise; 2], (n, m), 1, &mut random);
        cases.push(Case::zipped(format!("long {n}×{m}"), spec, &Band::Full, sides));
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
            let sides = pair([kind; 2], (n + dropped, m + dropped), 1, &mut random);
            let name = format!("{} {what} {n}×{m} {band:?}", spec.key());
            cases.push((Case::zipped(name, &spec, band, sides), identity));
        };
        let has_threshold = spec.kind().has_threshold;
        let noise = if has_threshold { Kind::Eighths } else { Kind::Noise };
        let noise_identity = if has_threshold { Identity::Exact } else { random_identity };
        for (n, m) in [(1, 1), (1, 9), (9, 1), (2, 3), (16, 16), (17, 33), (65, 31)] {
            for band in bands() {
                if fits(&band, n, m) {
                    add("noise", noise, &band, n, m, noise_identity);
                    add("ties", Kind::Ternary, &band, n, m, exact_identity);
                    add("constant", Kind::Constant(0.5), &band, n, m, exact_identity);
                }
            }
        }
        for (n, m, ranges) in staircases(&mut SplitMix::new(9)) {
            let band = Band::Ranges(ranges);
            add("staircase, noise", noise, &band, n, m, noise_identity);
            add("staircase, ties", Kind::Ternary, &band, n, m, exact_identity);
        }
        add("long ties", Kind::Ternary, &Band::Full, 400, 380, exact_identity);
        let slanted = Band::Slanted { radius: Radius::Points(40) };
        add("long ties", Kind::Ternary, &slanted, 600, 400, exact_identity);
        add("long constant", Kind::Constant(1.0), &Band::Full, 370, 400, exact_identity);
        if !has_threshold {
            add("long noise", Kind::Noise, &Band::Full, 700, 300, random_identity);
        }
        // Large enough that the small memory limit rules out a table of the whole grid.
        if spec == variants(spec.key())[0] {
            add("very long ties", Kind::Ternary, &Band::Full, 2300, 2200, exact_identity);
        }
        for channels in MANY_CHANNELS.into_iter().filter(|channels| spec.kind().has_path(*channels)) {
            let dropped = spec.measure.preparation().dropped();
            let sides = pair([noise; 2], (21 + dropped, 35 + dropped), channels, &mut random);
            let name = format!("{} of {channels} channels", spec.key());
            cases.push((Case::zipped(name, &spec, &Band::Full, sides), Identity::NotRequired));
        }
    }
    for count in [3, 8, 17] {
        let sides = [(); 2].map(|()| ragged(Kind::Ternary, count, (1, 40), 1, &mut random));
        let name = format!("dtw {count} ragged pairs");
        cases.push((Case::zipped(name, &Spec::dtw(), &Band::Full, sides), Identity::Exact));
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
                    let sides = pair([kind; 2], (n, m), 1, &mut random);
                    for threshold in [None, Some(0.0), Some(n as f64 / 4.0)] {
                        let within = threshold.map_or(String::new(), |most| format!(" within {most}"));
                        let name = format!("{kind:?} {n} in {m}, best {top_k} apart {exclusion}{within}");
                        let case = Case::zipped(name, &spec, &Band::Full, sides.clone());
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
            for band in [Band::Full, Band::sakoe_chiba(0), Band::sakoe_chiba(2)] {
                for (top_k, exclusion) in [(1, 0), (4, 3)] {
                    let mut sides = pair([Kind::Noise; 2], (n, m), channels, &mut random);
                    // A flat stretch: windows without a deviation to divide by.
                    let reference = &mut sides[1].series[0];
                    let flat = reference[m / 2].clone();
                    reference[m / 2..(m / 2 + length + 2).min(m)].fill(flat);
                    let name = format!(
                        "{n} in windows of {length} of {m}, {band:?}, best {top_k} apart {exclusion}"
                    );
                    let case = Case::zipped(name, &spec, &band, sides);
                    let options = SearchOptions::default()
                        .with_top_k(top_k)
                        .with_exclusion(exclusion)
                        .with_normalized_window(Some(length));
                    searches.push(Search { case, options, exact: false });
                }
            }
        }
        for channels in MANY_CHANNELS {
            for window in [None, Some(11)] {
                let sides = pair([Kind::Noise; 2], (10, 75), channels, &mut random);
                let name = format!("{channels} channels, windows of {window:?}");
                let case = Case::zipped(name, &spec, &Band::Full, sides);
                let options =
                    SearchOptions::default().with_top_k(3).with_exclusion(4).with_normalized_window(window);
                searches.push(Search { case, options, exact: false });
            }
        }
        let [x, y] = [(3, (1, 9)), (5, (9, 70))]
            .map(|(count, lengths)| ragged(Kind::Ternary, count, lengths, 2, &mut random));
        let name = "3 queries in 5 references".to_owned();
        let case = Case { name, spec: spec.clone(), pairing: Pairing::Cross, x, y };
        let options = SearchOptions::default().with_top_k(4).with_exclusion(3);
        let exact = spec != Spec::subsequence_dtw(LocalCost::Euclidean);
        searches.push(Search { case, options, exact });
    }
    searches
}
