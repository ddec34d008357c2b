//! Equal spacing, for series whose points have times.
//!
//! ```text
//! t'_k  =  t_0 + k·step                                    up to the last time
//! x'_k  =  the value at t'_k on the line between the points before and after it, channel by channel
//! ```
//!
//! A missing value has no point in its channel. Readers give NaN for it where it is to be filled in.

use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::dataset::counted;
use crate::{Dataset, Missing, Times};

/// Whether and how points are made equally spaced.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum Resample {
    /// They are not.
    #[default]
    None,
    /// By the median of the spacings of all series of the file.
    Median,
    /// By this step, in units of the times; of dates in seconds.
    Step(f64),
}

impl FromStr for Resample {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, f64); 5] =
            [("ms", 1e-3), ("min", 60.0), ("s", 1.0), ("h", 3600.0), ("d", 86_400.0)];
        let plain = text.trim().to_ascii_lowercase();
        match &*plain {
            "none" => return Ok(Resample::None),
            "median" => return Ok(Resample::Median),
            _ => {}
        }
        let unit = UNITS.iter().find(|(unit, _)| plain.ends_with(unit));
        let (number, scale) =
            unit.map_or((&*plain, 1.0), |(unit, scale)| (&plain[..plain.len() - unit.len()], *scale));
        match number.trim().parse::<f64>() {
            Ok(step) if step > 0.0 && (step * scale).is_finite() => Ok(Resample::Step(step * scale)),
            _ => Err(format!(
                "'{text}' is no spacing; expected none, median, a number above 0, or such as 5min or 0.5s"
            )),
        }
    }
}

/// What says that a file has no times.
pub(crate) const NEEDS_TIMES: &str = "--resample needs times: in the first column of a .csv file, whose other columns are series, or as timestamps of a .ts file";

/// A gap is where neighbours are further apart than so many steps, and than so many of the series' median spacings.
const GAP: f64 = 1.5;
/// A share of a step that is none.
const SAME: f64 = 1e-6;
/// Most points for each of a series: more is a step of another unit.
const MOST_FOLD: f64 = 1000.0;

/// A time: a number, or a date in seconds since 1970. Dates are as ISO 8601 writes them, with a `T` or a space; without
/// an offset they are taken as they are.
pub(crate) fn time_of(cell: &str) -> Result<f64> {
    if let Ok(number) = cell.parse::<f64>() {
        ensure!(number.is_finite(), "the time {number} is no number");
        return Ok(number);
    }
    let stamp = match cell.parse::<Timestamp>() {
        Ok(stamp) => stamp,
        Err(_) => {
            let civil = cell.parse::<DateTime>().ok().with_context(|| {
                format!(
                    "{} is no time; expected a number or a date such as 2024-01-31 12:00:00",
                    crate::text::quoted(cell)
                )
            })?;
            TimeZone::UTC.to_timestamp(civil)?
        }
    };
    Ok(stamp.as_second() as f64 + f64::from(stamp.subsec_nanosecond()) * 1e-9)
}

/// Gives all series of a dataset one spacing; `times` has the times of the points of each. A note says the step and how
/// many points lie in gaps.
pub(crate) fn even(
    mut dataset: Dataset,
    times: &[Vec<f64>],
    how: Resample,
    missing: Missing,
) -> Result<Dataset> {
    for (s, own) in times.iter().enumerate() {
        if let Some(at) = own.windows(2).position(|pair| pair[1] <= pair[0]) {
            bail!(
                "series {s}: the times must increase to be resampled, but point {} is not after the one before",
                at + 1
            );
        }
    }
    let step = match how {
        Resample::None => return Ok(dataset),
        Resample::Step(step) => step,
        Resample::Median => median(times.iter().flat_map(|own| spacings(own)).collect()),
    };
    let (mut gaps, mut touched, mut made) = (0, 0_usize, 0);
    for (s, (series, own)) in dataset.series.iter_mut().zip(times).enumerate() {
        let span = own.last().copied().unwrap_or(0.0) - own.first().copied().unwrap_or(0.0);
        ensure!(
            span / step <= MOST_FOLD * own.len() as f64,
            "--resample at a step of {step} would make {:.0} points of the {} of series {s}",
            span / step,
            own.len()
        );
        let (even, inside) =
            resampled(series, dataset.channels, own, step, missing).with_context(|| format!("series {s}"))?;
        *series = even;
        gaps += inside;
        touched += usize::from(inside > 0);
        made += series.len() / dataset.channels;
    }
    let inside = match gaps {
        0 => String::new(),
        _ => format!(
            "; {} of them in gaps of {touched} series, where neighbours are far apart",
            counted(gaps, "point")
        ),
    };
    dataset
        .notes
        .push(format!("resampled to {} that are {step} apart in time{inside}", counted(made, "point")));
    let first = times.first().and_then(|own| own.first().copied()).unwrap_or(0.0);
    dataset.times = match times.iter().position(|own| own.first() != Some(&first)) {
        None => Times::Regular { start: first, step },
        Some(s) => Times::Irregular(format!("series {s} does not start at the time of series 0")),
    };
    Ok(dataset)
}

/// How far apart neighbours are.
fn spacings(times: &[f64]) -> impl Iterator<Item = f64> {
    times.windows(2).map(|pair| pair[1] - pair[0])
}

/// The median; 1 of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 1.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.5 * (values[n / 2 - 1] + values[n / 2]),
    }
}

/// A series at equal spacing, and how many of its points lie in gaps.
fn resampled(
    series: &[f64],
    channels: usize,
    times: &[f64],
    step: f64,
    missing: Missing,
) -> Result<(Vec<f64>, usize)> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let count = ((last - first) / step + SAME).floor() as usize + 1;
    let grid: Vec<f64> = (0..count).map(|k| settled(first + step * k as f64, times, step)).collect();
    let reach = GAP * step.max(median(spacings(times).collect()));
    let mut even = vec![0.0; count * channels];
    let mut is_inside = vec![false; count];
    for channel in 0..channels {
        let mut points: Vec<(f64, f64)> =
            times.iter().copied().zip(series.iter().skip(channel).step_by(channels).copied()).collect();
        let known: Vec<(f64, f64)> = points.iter().copied().filter(|point| !point.1.is_nan()).collect();
        ensure!(
            !known.is_empty(),
            "there are missing values only; leave the series out, or fill it in first"
        );
        if missing == Missing::Previous {
            let mut held = known[0].1;
            for point in &mut points {
                held = if point.1.is_nan() { held } else { point.1 };
                point.1 = held;
            }
        } else {
            points.clone_from(&known);
        }
        for (k, time) in grid.iter().enumerate() {
            even[k * channels + channel] = on_line(&points, *time);
            let after = known.partition_point(|point| point.0 < *time);
            is_inside[k] |= match (after.checked_sub(1).map(|at| known[at].0), known.get(after)) {
                (_, Some(point)) if point.0 == *time => false,
                (Some(before), Some(point)) => point.0 - before > reach,
                _ => true,
            };
        }
    }
    Ok((even, is_inside.iter().filter(|inside| **inside).count()))
}

/// A time of the grid; a known time that it is but for rounding.
fn settled(time: f64, times: &[f64], step: f64) -> f64 {
    let after = times.partition_point(|known| *known < time);
    let near = [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|at| times.get(at));
    near.copied().find(|known| (known - time).abs() <= SAME * step).unwrap_or(time)
}

/// The value at a time on the line between the points before and after it; beyond them, that of the nearest.
fn on_line(points: &[(f64, f64)], time: f64) -> f64 {
    let after = points.partition_point(|point| point.0 < time);
    let Some(&(later, end)) = points.get(after) else { return points[points.len() - 1].1 };
    let Some(&(earlier, start)) = after.checked_sub(1).map(|at| &points[at]) else { return end };
    if later == time {
        return end;
    }
    let share = (time - earlier) / (later - earlier);
    // Of two products, so that the difference of large values is not needed.
    start * (1.0 - share) + end * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{options, read_with, refuses_with};
    use crate::{CsvLayout, Format, IndexColumn, ReadOptions};

    fn by(how: &str) -> ReadOptions {
        ReadOptions { resample: how.parse().unwrap(), ..options() }
    }

    #[test]
    fn spacings_are_numbers_or_durations() {
        for (text, expected) in [
            ("none", Resample::None),
            ("median", Resample::Median),
            ("0.5", Resample::Step(0.5)),
            ("5min", Resample::Step(300.0)),
            ("250ms", Resample::Step(0.25)),
            ("2 s", Resample::Step(2.0)),
            ("1h", Resample::Step(3600.0)),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in ["", "0", "-1", "mean", "min", "nan", "inf", "1e308h"] {
            assert!(text.parse::<Resample>().unwrap_err().contains("is no spacing"), "{text}");
        }
    }

    #[test]
    fn times_are_numbers_or_dates() {
        let noon = 1_706_702_400.0;
        for text in
            ["2024-01-31 12:00", "2024-01-31T12:00:00", "2024-01-31T12:00:00Z", "2024-01-31T14:00:00+02:00"]
        {
            assert_eq!(time_of(text).unwrap(), noon, "{text}");
        }
        assert_eq!(time_of("2024-01-31").unwrap(), noon - 43_200.0);
        assert_eq!(time_of("2024-01-31 12:00:00.25").unwrap(), noon + 0.25);
        assert_eq!(time_of("-1.5").unwrap(), -1.5);
        for text in ["31.1.2024", "2024-02-30", "12:00", "", "nan"] {
            assert!(time_of(text).is_err(), "{text}");
        }
    }

    const UNEVEN: &str = "t,a,b\n0,0,1\n1,1,1\n2,4,1\n3,9,1\n8,4,1\n9,3,1\n";

    #[test]
    fn a_column_of_times_makes_columns_even() {
        let found = read_with("a.csv", UNEVEN, &by("median")).unwrap();
        assert_eq!(found.series[0], [0., 1., 4., 9., 8., 7., 6., 5., 4., 3.]);
        assert_eq!(found.series[1], [1.; 10]);
        assert_eq!(found.times, Times::Regular { start: 0.0, step: 1.0 });
        let note = "resampled to 20 points that are 1 apart in time; 8 points of them in gaps of 2 series, where neighbours \
                    are far apart";
        assert!(found.notes.iter().any(|said| said == note), "{:?}", found.notes);
        let wide = read_with("a.csv", UNEVEN, &by("2.5")).unwrap();
        assert_eq!(wide.series[0], [0., 6.5, 7., 4.5]);
        // Dates, one of them beyond the end of a month; a step in seconds.
        let dated = "time;x\n2024-02-28 23:00;0\n2024-02-29 00:00;2\n2024-02-29 02:00;4\n";
        let found = read_with("a.csv", dated, &by("30min")).unwrap();
        assert_eq!(found.series, [[0., 1., 2., 2.5, 3., 3.5, 4.]]);
        // Even points stay as they are, and nothing is said of gaps.
        let even = "t,x\n0.1,5\n0.2,6\n0.30000000000000004,8\n0.4,1\n";
        let found = read_with("a.csv", even, &by("median")).unwrap();
        assert_eq!(found.series, [[5., 6., 8., 1.]]);
        assert!(found.notes.iter().all(|said| !said.contains("gaps")), "{:?}", found.notes);
    }

    #[test]
    fn missing_values_are_gaps() {
        let text = "t,x\n0,0\n1,\n2,4\n3,5\n";
        let filled = |missing| read_with("a.csv", text, &ReadOptions { missing, ..by("median") });
        assert_eq!(filled(Missing::Linear).unwrap().series, [[0., 2., 4., 5.]]);
        assert_eq!(filled(Missing::Drop).unwrap().series, [[0., 2., 4., 5.]]);
        assert_eq!(filled(Missing::Previous).unwrap().series, [[0., 0., 4., 5.]]);
        assert!(filled(Missing::Linear).unwrap().notes.iter().any(|said| said.contains("1 point of them")));
        refuses_with("a.csv", text, &by("median"), &["line 3, column 2: empty cell"]);
    }

    #[test]
    fn timestamps_of_ts_files_count_too() {
        let text = "@univariate true\n@classLabel true a b\n@timeStamps true\n@data\n(0,0),(1,2),(4,8):a\n(0,1),(2,5):b\n";
        let found = read_with("a.ts", text, &by("1")).unwrap();
        assert_eq!(found.series, [vec![0., 2., 4., 6., 8.], vec![1., 3., 5.]]);
        assert_eq!(found.times, Times::Regular { start: 0.0, step: 1.0 });
    }

    #[test]
    fn what_cannot_be_resampled_is_told() {
        refuses_with("a.csv", "1\n2\n", &by("median"), &["--resample needs times"]);
        refuses_with(
            "a.npy",
            crate::npy::tests::npy(&[2], &[1.0, 2.0]),
            &by("1"),
            &["--resample needs times"],
        );
        refuses_with("a.tsv", "a\t1\t2\n", &by("1"), &["--resample needs times"]);
        refuses_with("a.ts", "@classLabel false\n@data\n1,2\n", &by("1"), &["--resample needs times"]);
        refuses_with("a.csv", "t,x\n0,1\n0,2\n", &by("1"), &["must increase", "point 1"]);
        refuses_with("a.csv", "t,x\nnoon,1\n1,2\n", &by("1"), &["line 2, column 1", "'noon' is no time"]);
        refuses_with("a.csv", "t,x\n0,1\n100000,2\n", &by("1"), &["would make 100000 points of the 2"]);
        let rows = ReadOptions { csv_layout: CsvLayout::Rows, ..by("1") };
        refuses_with("a.csv", UNEVEN, &rows, &["--csv-layout rows"]);
        let no_index = ReadOptions { index: IndexColumn::No, ..by("1") };
        refuses_with("a.csv", UNEVEN, &no_index, &["--csv-index no"]);
        let stream = ReadOptions { format: Some(Format::Npz), ..by("1") };
        refuses_with("-", "PK", &stream, &["--resample needs times"]);
    }
}
