//! Strategies for property tests. Values are exact in `f32`; a failing case shrinks towards few short series of zeros
//! in the full grid.

use dtw_core::{Pairing, SearchOptions};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::{Case, variants};
use crate::batch::Batch;
use crate::check::matches::Search;
use crate::oracle::{Band, LocalCost, Measure, Radius};

/// Longest series.
const MOST_POINTS: usize = 24;
/// The same for half precision.
const MOST_HALF_POINTS: usize = 70;
/// Most series on a side.
const MOST_SERIES: usize = 6;
/// Most channels.
const MOST_CHANNELS: usize = 4;

fn eighth() -> impl Strategy<Value = f64> {
    (-32i32..=32).prop_map(|value| f64::from(value) / 8.0)
}

fn value(measure: &Measure) -> BoxedStrategy<f64> {
    if measure.has_threshold() {
        eighth().boxed()
    } else {
        prop_oneof![2 => eighth(), 3 => (-4.0f32..4.0).prop_map(f64::from)].boxed()
    }
}

/// Parameters of every measure, away from the hand-chosen ones; thresholds and penalties dyadic.
fn measure(key: &str) -> BoxedStrategy<Measure> {
    let dyadic = || (0u32..=24).prop_map(|value| f64::from(value) / 8.0);
    // 10^−3 to 10^3, evenly in the exponent.
    let smoothing = || (-3.0f64..3.0).prop_map(|exponent| 10f64.powf(exponent));
    let cost = || {
        prop_oneof![Just(LocalCost::SquaredEuclidean), Just(LocalCost::Euclidean), Just(LocalCost::Manhattan)]
    };
    match key {
        "dtw" => cost().prop_map(|cost| Measure::Dtw { cost }).boxed(),
        "ddtw" => cost().prop_map(|cost| Measure::Ddtw { cost }).boxed(),
        "subsequence_dtw" => cost().prop_map(|cost| Measure::SubsequenceDtw { cost }).boxed(),
        "wdtw" => (0.0..1.0).prop_map(|g| Measure::Wdtw { g }).boxed(),
        "wddtw" => (0.0..1.0).prop_map(|g| Measure::Wddtw { g }).boxed(),
        "adtw" => dyadic().prop_map(|penalty| Measure::Adtw { penalty }).boxed(),
        "erp" => eighth().prop_map(|gap| Measure::Erp { gap }).boxed(),
        "edr" => (dyadic(), any::<bool>())
            .prop_map(|(epsilon, normalized)| Measure::Edr { epsilon, normalized })
            .boxed(),
        "lcss" => (dyadic(), any::<bool>())
            .prop_map(
                |(epsilon, length)| {
                    if length { Measure::LcssLength { epsilon } } else { Measure::Lcss { epsilon } }
                },
            )
            .boxed(),
        "msm" => dyadic().prop_map(|c| Measure::Msm { c }).boxed(),
        "twed" => (dyadic(), dyadic(), 1u32..=4)
            .prop_map(|(nu, lambda, degree)| Measure::Twed { nu, lambda, degree: f64::from(degree) })
            .boxed(),
        "soft_dtw" => smoothing().prop_map(|gamma| Measure::SoftDtw { gamma }).boxed(),
        "soft_dtw_divergence" => smoothing().prop_map(|gamma| Measure::SoftDtwDivergence { gamma }).boxed(),
        "log_gak" => {
            (-1.0f64..2.0).prop_map(|exponent| Measure::LogGak { sigma: 10f64.powf(exponent) }).boxed()
        }
        _ => Union::new(variants(key).into_iter().map(Just)).boxed(),
    }
}

/// Bands that fit any lengths (though they may leave no path, which must then be said).
fn band() -> impl Strategy<Value = Band> {
    let radius = prop_oneof![
        3 => (0usize..=MOST_POINTS).prop_map(Radius::Points),
        1 => (0.0f64..=1.0).prop_map(Radius::Fraction),
    ];
    prop_oneof![
        2 => Just(Band::Full),
        2 => radius.clone().prop_map(Band::SakoeChiba),
        2 => radius.prop_map(Band::Slanted),
        1 => (1.0f64..5.0).prop_map(|max_slope| Band::Itakura { max_slope }),
    ]
}

fn batch(measure: &Measure, count: usize, channels: usize, equal: Option<usize>) -> BoxedStrategy<Batch> {
    let least = measure.min_length();
    let lengths = match equal {
        Some(length) => length.max(least)..=length.max(least),
        None => least..=MOST_POINTS,
    };
    let series = vec(vec(vec(value(measure), channels), lengths), count);
    if !matches!(measure, Measure::Twed { .. }) {
        return series.prop_map(Batch::new).boxed();
    }
    series
        .prop_flat_map(|series| {
            let steps: Vec<_> = series.iter().map(|series| vec(1u32..=16, series.len())).collect();
            (Just(series), steps)
        })
        .prop_map(|(series, steps)| {
            let stamps = |steps: Vec<u32>| {
                let mut now = 0.0;
                let stamp = |step: u32| {
                    now += f64::from(step) / 8.0;
                    now
                };
                steps.into_iter().map(stamp).collect::<Vec<f64>>()
            };
            Batch { series, times: Some(steps.into_iter().map(stamps).collect()) }
        })
        .boxed()
}

/// Cases of one measure for distances: any pairing, ragged or equal lengths, any band.
pub fn distances(key: &'static str) -> BoxedStrategy<Case> {
    let sides = (1..=MOST_SERIES, 1..=MOST_SERIES, 1..=MOST_CHANNELS, 0..3usize);
    let equal = proptest::option::of(1..=MOST_POINTS);
    let in_bands = (measure(key), band(), sides, equal).prop_flat_map(
        |(measure, band, (n_x, n_y, channels, pairing), equal)| {
            let pairing = match pairing {
                0 => Pairing::Zipped,
                1 if measure.is_symmetric() => Pairing::SelfSymmetric,
                _ => Pairing::Cross,
            };
            let n_y = if pairing == Pairing::Cross { n_y } else { n_x };
            (batch(&measure, n_x, channels, equal), batch(&measure, n_y, channels, equal)).prop_map(
                move |(x, y)| Case {
                    name: "random".to_owned(),
                    measure: measure.clone(),
                    band: band.clone(),
                    pairing,
                    x,
                    y,
                },
            )
        },
    );
    prop_oneof![5 => in_bands, 1 => explicit_ranges(key)].boxed()
}

/// Cases of a measure that may be computed in half precision: univariate, in the full grid, longer than other cases.
pub fn halves(measure: &Measure) -> BoxedStrategy<Case> {
    let measure = measure.clone();
    let pairings = if measure.is_symmetric() { 3usize } else { 2 };
    let units = prop_oneof![Just(1.0), Just(1e-6), Just(1e6)];
    let lengths = (1..=MOST_HALF_POINTS, 1..=MOST_HALF_POINTS, any::<bool>());
    ((1..=MOST_SERIES, 1..=MOST_SERIES), lengths, units, 0..pairings)
        .prop_flat_map(move |((n_x, n_y), (most_x, most_y, equal), unit, pairing)| {
            let pairing = [Pairing::Cross, Pairing::Zipped, Pairing::SelfSymmetric][pairing];
            let n_y = if pairing == Pairing::Cross { n_y } else { n_x };
            let point = prop_oneof![8 => -4.0f32..4.0, 4 => Just(1.25f32), 1 => -60.0f32..60.0]
                .prop_map(move |value| vec![f64::from(value * unit)]);
            let batch = move |count, most| {
                let lengths = if equal { most..=most } else { 1..=most };
                vec(vec(point.clone(), lengths), count).prop_map(Batch::new)
            };
            let measure = measure.clone();
            (batch(n_x, most_x), batch(n_y, most_y)).prop_map(move |(x, y)| Case {
                name: "random".to_owned(),
                measure: measure.clone(),
                band: Band::Full,
                pairing,
                x,
                y,
            })
        })
        .boxed()
}

/// One pair in explicit ranges round a staircase, often with dead ends, sometimes without a path.
fn explicit_ranges(key: &'static str) -> impl Strategy<Value = Case> {
    let lengths = (1usize..=12, 1usize..=12);
    (measure(key), lengths, 1..=MOST_CHANNELS)
        .prop_flat_map(|(measure, (n, m), channels)| {
            // The divergence sweeps x with itself and y with itself in the same ranges.
            let m = if matches!(measure, Measure::SoftDtwDivergence { .. }) { n } else { m };
            let dropped = measure.min_length() - 1;
            (
                batch(&measure, 1, channels, Some(n + dropped)),
                batch(&measure, 1, channels, Some(m + dropped)),
                vec((0usize..=4, 1usize..=4), n),
                Just((measure, n, m)),
            )
        })
        .prop_map(|(x, y, widths, (measure, n, m))| {
            let row = |(i, (below, above)): (usize, (usize, usize))| {
                let on_diagonal = i * m / n;
                let end = if i + 1 == n { m } else { (on_diagonal + above).min(m) };
                on_diagonal.saturating_sub(below)..end
            };
            let band = Band::Ranges(widths.into_iter().enumerate().map(row).collect());
            Case { name: "random".to_owned(), measure, band, pairing: Pairing::Zipped, x, y }
        })
}

/// Zipped cases of one measure in bands that always leave a path, for gradients and paths.
pub fn zipped(key: &'static str, most_channels: usize) -> BoxedStrategy<Case> {
    let bands =
        band().prop_filter("a band that always has a path", |band| !matches!(band, Band::Itakura { .. }));
    (measure(key), bands, 1..=MOST_SERIES, 1..=most_channels)
        .prop_flat_map(|(measure, band, count, channels)| {
            (batch(&measure, count, channels, None), batch(&measure, count, channels, None)).prop_map(
                move |(x, y)| Case {
                    name: "random".to_owned(),
                    measure: measure.clone(),
                    band: band.clone(),
                    pairing: Pairing::Zipped,
                    x,
                    y,
                },
            )
        })
        .boxed()
}

/// Searches of one query in one reference.
pub fn searches() -> BoxedStrategy<Search> {
    let options = (1usize..=5, 0usize..=10, proptest::option::of(1usize..=12));
    let shape = (1usize..=10, 1usize..=60, 1..=MOST_CHANNELS);
    (measure("subsequence_dtw"), shape, options)
        .prop_flat_map(|(measure, (n, m, channels), (top_k, exclusion, normalized_window))| {
            let options = SearchOptions { top_k, exclusion, normalized_window };
            let x = batch(&measure, 1, channels, Some(n));
            let y = batch(&measure, 1, channels, Some(m));
            (x, y, Just((measure, options)))
        })
        .prop_map(|(x, y, (measure, options))| {
            let name = "random".to_owned();
            let case = Case { name, measure, band: Band::Full, pairing: Pairing::Zipped, x, y };
            Search { case, options, exact: false }
        })
        .boxed()
}
