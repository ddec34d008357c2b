//! Strategies for property tests. Values are exact in `f32`; a failing case shrinks towards few short series of zeros
//! in the full grid. Some cases have long series, series far from zero, or constant ones.

use std::ops::RangeInclusive;

use dtw_core::measure::{Drawn, Parameter, Value};
use dtw_core::{Band, Measure, Pairing, Radius, SearchOptions, Spec};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::Union;

use super::{Case, kind};
use crate::batch::{Batch, pairs};
use crate::check::matches::Search;
use crate::oracle::{Cells, Ends};

/// Longest series of most cases.
const MOST_POINTS: usize = 24;
/// Lengths of the others, which have fewer series.
const LONG: RangeInclusive<usize> = 100..=500;
/// Lengths of long cases for gradients, whose oracle takes ten times as long.
const LONG_GRADIENTS: RangeInclusive<usize> = 60..=150;
/// Most series on a side of a long case.
const MOST_LONG_SERIES: usize = 2;
/// Most series on a side.
const MOST_SERIES: usize = 6;
/// Most channels.
const MOST_CHANNELS: usize = 4;

fn eighth() -> impl Strategy<Value = f64> {
    (-32i32..=32).prop_map(|value| f64::from(value) / 8.0)
}

fn value(spec: &Spec) -> BoxedStrategy<f64> {
    if spec.kind().has_threshold {
        eighth().boxed()
    } else {
        prop_oneof![2 => eighth(), 3 => (-4.0f32..4.0).prop_map(f64::from)].boxed()
    }
}

/// What the points of a batch have in common.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Nothing.
    Around(f64),
    /// Every value of a series is its first.
    Constant,
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        6 => Just(Place::Around(0.0)),
        1 => Just(Place::Around(1e3)),
        1 => Just(Place::Around(-1e3)),
        1 => Just(Place::Constant),
    ]
}

impl Place {
    fn of(self, mut series: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        match self {
            Place::Around(offset) => {
                // Rounded to single precision; multiples of an eighth stay such.
                let moved = |value: &mut f64| *value = f64::from((*value + offset) as f32);
                series.iter_mut().flatten().for_each(moved);
            }
            Place::Constant => {
                let first = series[0][0];
                series.iter_mut().flatten().for_each(|value| *value = first);
            }
        }
        series
    }
}

/// Specs of a key on the full grid, their parameters away from the hand-chosen ones.
fn spec(key: &str) -> BoxedStrategy<Spec> {
    let kind = kind(key);
    let names = kind.parameters.iter().map(|parameter| parameter.name);
    let values: Vec<BoxedStrategy<Value>> = kind.parameters.iter().map(setting).collect();
    let with = move |values: Vec<Value>| {
        let given: Vec<(&str, Value)> = names.clone().zip(values).collect();
        let value = |wanted: &Parameter| Some(given.iter().find(|(name, _)| *name == wanted.name)?.1);
        kind.spec(value).expect("parameters are drawn from their range")
    };
    values.prop_map(with).boxed()
}

/// Values of a parameter.
fn setting(parameter: &Parameter) -> BoxedStrategy<Value> {
    if let [off, on] = *parameter.choices {
        return any::<bool>().prop_map(move |is_on| Value::Choice(if is_on { on } else { off })).boxed();
    }
    if !parameter.choices.is_empty() {
        return Union::new(parameter.choices.iter().map(|choice| Just(Value::Choice(choice)))).boxed();
    }
    match parameter.drawn {
        Drawn::Eighths(from, to) => {
            (from..=to).prop_map(|value| Value::Number(f64::from(value) / 8.0)).boxed()
        }
        Drawn::Whole(from, to) => (from..=to).prop_map(|value| Value::Number(f64::from(value))).boxed(),
        Drawn::Evenly(from, to) => (from..to).prop_map(Value::Number).boxed(),
        Drawn::PowersOfTen(from, to) => {
            (from..to).prop_map(|exponent| Value::Number(10f64.powf(exponent))).boxed()
        }
        other => panic!("{}: nothing is known of {other:?}", parameter.name),
    }
}

/// Bands that fit any lengths (though they may leave no path, which must then be said).
fn band(most_points: usize) -> impl Strategy<Value = Band> {
    let radius = prop_oneof![
        3 => (0..=most_points).prop_map(Radius::Points),
        1 => (0.0f64..=1.0).prop_map(Radius::Fraction),
    ];
    prop_oneof![
        2 => Just(Band::Full),
        2 => radius.clone().prop_map(|radius| Band::SakoeChiba { radius }),
        2 => radius.prop_map(|radius| Band::Slanted { radius }),
        1 => (1.0f64..5.0).prop_map(|max_slope| Band::Itakura { max_slope }),
    ]
}

fn batch(spec: &Spec, count: usize, channels: usize, lengths: RangeInclusive<usize>) -> BoxedStrategy<Batch> {
    let least = spec.measure.min_length();
    let lengths = (*lengths.start()).max(least)..=(*lengths.end()).max(least);
    let series = vec(vec(vec(value(spec), channels), lengths), count);
    let series = (series, place())
        .prop_map(|(batch, place)| batch.into_iter().map(|series| place.of(series)).collect::<Vec<_>>());
    if !spec.measure.takes_times() {
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

/// Cases of one measure for distances: any pairing, ragged or equal lengths, any band, some of them long.
pub fn distances(key: &'static str) -> BoxedStrategy<Case> {
    let usual = in_bands(key, MOST_SERIES, MOST_CHANNELS, 1..=MOST_POINTS);
    let long = in_bands(key, MOST_LONG_SERIES, 2, LONG);
    prop_oneof![24 => usual, 5 => explicit_ranges(key), 2 => long].boxed()
}

fn in_bands(
    key: &'static str,
    most_series: usize,
    most_channels: usize,
    lengths: RangeInclusive<usize>,
) -> BoxedStrategy<Case> {
    let sides = (1..=most_series, 1..=most_series, 1..=most_channels, 0..3usize);
    let equal = proptest::option::of(lengths.clone());
    // Few bands shall leave no path.
    let has_path = proptest::bool::weighted(0.9);
    (spec(key), band(*lengths.end()), sides, equal, has_path)
        .prop_flat_map(move |(spec, band, (n_x, n_y, channels, pairing), equal, has_path)| {
            let pairing = match pairing {
                0 => Pairing::Zipped,
                1 if spec.kind().is_symmetric() => Pairing::SelfSymmetric,
                _ => Pairing::Cross,
            };
            let n_y = if pairing == Pairing::Cross { n_y } else { n_x };
            let lengths = equal.map_or(lengths.clone(), |length| length..=length);
            (batch(&spec, n_x, channels, lengths.clone()), batch(&spec, n_y, channels, lengths)).prop_map(
                move |(x, y)| {
                    let spec = spec.clone().with_band(band.clone());
                    let case = Case { name: "random".to_owned(), spec, pairing, x, y };
                    if has_path { with_path(case) } else { case }
                },
            )
        })
        .boxed()
}

/// The case as it is if its Itakura band leaves every pair a path; else in the least steep band of some that does, or
/// with all series cut to one length.
fn with_path(mut case: Case) -> Case {
    let Band::Itakura { max_slope } = case.spec.band else { return case };
    let slopes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(|factor| factor * max_slope);
    if let Some(max_slope) = slopes.into_iter().find(|&max_slope| leaves_a_path(&case, max_slope)) {
        case.spec.band = Band::Itakura { max_slope };
        return case;
    }
    let lengths = case.x.series.iter().chain(&case.y.series).map(Vec::len);
    let shortest = lengths.min().unwrap_or_default();
    for batch in [&mut case.x, &mut case.y] {
        batch.series.iter_mut().for_each(|series| series.truncate(shortest));
        batch.times.iter_mut().flatten().for_each(|times| times.truncate(shortest));
    }
    case
}

fn leaves_a_path(case: &Case, max_slope: f64) -> bool {
    let dropped = case.spec.measure.preparation().dropped();
    let band = Band::Itakura { max_slope };
    let ends = if case.spec.kind().is_symmetric() { Ends::Global } else { Ends::Free };
    let y = if case.pairing == Pairing::SelfSymmetric { &case.x } else { &case.y };
    pairs(case.pairing, case.x.series.len(), y.series.len()).into_iter().all(|(s, t)| {
        let (n, m) = (case.x.series[s].len() - dropped, y.series[t].len() - dropped);
        band.rows(n, m, ends).is_ok()
    })
}

/// One pair in explicit ranges round a staircase, often with dead ends, sometimes without a path.
fn explicit_ranges(key: &'static str) -> impl Strategy<Value = Case> {
    let lengths = (1usize..=12, 1usize..=12);
    (spec(key), lengths, 1..=MOST_CHANNELS)
        .prop_flat_map(|(spec, (n, m), channels)| {
            // The divergence sweeps x with itself and y with itself in the same ranges.
            let m = if matches!(spec.measure, Measure::SoftDtwDivergence { .. }) { n } else { m };
            let dropped = spec.measure.preparation().dropped();
            (
                batch(&spec, 1, channels, n + dropped..=n + dropped),
                batch(&spec, 1, channels, m + dropped..=m + dropped),
                vec((0usize..=4, 1usize..=4), n),
                Just((spec, n, m)),
            )
        })
        .prop_map(|(x, y, widths, (spec, n, m))| {
            let row = |(i, (below, above)): (usize, (usize, usize))| {
                let on_diagonal = i * m / n;
                let end = if i + 1 == n { m } else { (on_diagonal + above).min(m) };
                on_diagonal.saturating_sub(below)..end
            };
            let mut ranges: Vec<_> = widths.into_iter().enumerate().map(row).collect();
            if Band::Ranges(ranges.clone()).check_order().is_err() && spec.kind().has_open_borders {
                for i in 1..n {
                    ranges[i].end = ranges[i].end.max(ranges[i - 1].end);
                }
            }
            Case::zipped("random".to_owned(), &spec, &Band::Ranges(ranges), [x, y])
        })
}

/// Zipped cases of one measure in bands that always leave a path, for paths.
pub fn zipped(key: &'static str, most_channels: usize) -> BoxedStrategy<Case> {
    prop_oneof![
        30 => zipped_of(key, MOST_SERIES, most_channels, 1..=MOST_POINTS),
        1 => zipped_of(key, 1, most_channels, LONG),
    ]
    .boxed()
}

/// Random cases of gradients.
pub fn gradients(key: &'static str, most_channels: usize) -> BoxedStrategy<Case> {
    prop_oneof![
        30 => zipped_of(key, MOST_SERIES, most_channels, 1..=MOST_POINTS),
        1 => zipped_of(key, 1, most_channels, LONG_GRADIENTS),
    ]
    .boxed()
}

fn zipped_of(
    key: &'static str,
    most_series: usize,
    most_channels: usize,
    lengths: RangeInclusive<usize>,
) -> BoxedStrategy<Case> {
    let bands = band(*lengths.end())
        .prop_filter("a band that always has a path", |band| !matches!(band, Band::Itakura { .. }));
    (spec(key), bands, 1..=most_series, 1..=most_channels)
        .prop_flat_map(move |(spec, band, count, channels)| {
            let batch = || batch(&spec, count, channels, lengths.clone());
            (batch(), batch()).prop_map(move |(x, y)| Case::zipped("random".to_owned(), &spec, &band, [x, y]))
        })
        .boxed()
}

/// Searches of one query in one reference.
pub fn searches() -> BoxedStrategy<Search> {
    let options = || {
        (
            prop_oneof![4 => 1usize..=5, 1 => Just(100)],
            0usize..=10,
            proptest::option::weighted(0.3, 0.0..20.0),
            proptest::option::of(1usize..=12),
        )
            .prop_map(|(top_k, exclusion, threshold, normalized_window)| {
                SearchOptions::default()
                    .with_top_k(top_k)
                    .with_exclusion(exclusion)
                    .with_threshold(threshold)
                    .with_normalized_window(normalized_window)
            })
    };
    let usual = (1usize..=10, 1usize..=60, 1..=MOST_CHANNELS);
    let long = (1usize..=60, LONG, 1..=2usize);
    prop_oneof![
        20 => searches_of(usual, options()),
        1 => searches_of(long, options()),
    ]
    .boxed()
}

fn searches_of(
    shape: impl Strategy<Value = (usize, usize, usize)> + 'static,
    options: impl Strategy<Value = SearchOptions> + 'static,
) -> BoxedStrategy<Search> {
    (spec("subsequence_dtw"), shape, options)
        .prop_flat_map(|(spec, (n, m, channels), options)| {
            let x = batch(&spec, 1, channels, n..=n);
            let y = batch(&spec, 1, channels, m..=m);
            (x, y, Just((spec, options)))
        })
        .prop_map(|(x, y, (spec, options))| {
            let case = Case::zipped("random".to_owned(), &spec, &Band::Full, [x, y]);
            Search { case, options, exact: false }
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    use super::*;

    fn drawn(key: &'static str, count: usize) -> Vec<Case> {
        let strategy = distances(key);
        let random = crate::seed::random(crate::seed::USUAL, "drawn");
        let mut runner = TestRunner::new_with_rng(proptest::test_runner::Config::default(), random);
        (0..count).map(|_| strategy.new_tree(&mut runner).expect("no filter").current()).collect()
    }

    #[test]
    fn few_itakura_bands_leave_no_path() {
        for key in ["dtw", "ddtw", "subsequence_dtw"] {
            let cases = drawn(key, 2000);
            let slope = |case: &Case| match case.spec.band {
                Band::Itakura { max_slope } => Some(leaves_a_path(case, max_slope)),
                _ => None,
            };
            let with = cases.iter().filter_map(slope).filter(|has_path| *has_path).count();
            let without = cases.iter().filter_map(slope).count() - with;
            assert!(
                with > 150 && without > 0 && without < with / 10,
                "{key}: {with} with, {without} without"
            );
        }
    }

    #[test]
    fn random_cases_are_of_all_kinds() {
        let cases = drawn("dtw", 2000);
        let count =
            |is: fn(&Vec<Vec<f64>>) -> bool| cases.iter().filter(|case| case.x.series.iter().any(is)).count();
        let constant = count(|series| series.len() > 3 && series.iter().all(|point| *point == series[0]));
        let (high, low) = (count(|series| series[0][0] > 900.0), count(|series| series[0][0] < -900.0));
        let long = count(|series| series.len() > 400);
        assert!([constant, high, low].iter().all(|&kind| kind > 100), "{constant} {high} {low}");
        assert!(long > 10, "{long}");
        let values = || cases.iter().flat_map(|case| case.x.series.iter().flatten().flatten());
        assert!(values().all(|value| f64::from(*value as f32) == *value), "exact in single precision");
    }
}
