//! Missing values: filled in as the user says, or their points left out.
//!
//! Readers give NaN for what is missing where it is to be filled in; here, once for every format, each channel of each
//! series is made whole.

use anyhow::{Result, ensure};

use crate::{Dataset, Times};

/// What is done about missing values: empty fields, `?`, `NA` and NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Missing {
    /// They are refused.
    #[default]
    Error,
    /// They lie on the line between the known values around them.
    Linear,
    /// They are the last known value before them.
    Previous,
    /// Their points are left out.
    Drop,
}

/// What was done about the missing values of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filled {
    /// Values that were missing.
    pub values: usize,
    /// Those before the first or behind the last known value of a channel.
    pub at_ends: usize,
    /// Points that were left out.
    pub dropped: usize,
}

/// Fills in the NaN of a series, row-major `[time][channel]`, channel by channel. What stands before the first known
/// value of a channel, or behind the last, becomes the nearest one. With [`Missing::Error`] nothing is changed.
///
/// # Errors
/// A channel, or with [`Missing::Drop`] the series, that has no known value.
pub fn fill(series: &mut Vec<f64>, channels: usize, how: Missing) -> Result<Filled> {
    let mut filled = Filled { values: series.iter().filter(|v| v.is_nan()).count(), ..Filled::default() };
    if filled.values == 0 || how == Missing::Error {
        return Ok(filled);
    }
    if how == Missing::Drop {
        let points = series.len() / channels;
        let kept: Vec<f64> = series
            .chunks_exact(channels)
            .filter(|p| !p.iter().any(|v| v.is_nan()))
            .flatten()
            .copied()
            .collect();
        ensure!(
            !kept.is_empty(),
            "every point has a missing value; leave the series out, or fill it in first"
        );
        filled.dropped = points - kept.len() / channels;
        *series = kept;
        return Ok(filled);
    }
    for channel in 0..channels {
        let mut values: Vec<f64> = series.iter().skip(channel).step_by(channels).copied().collect();
        let known: Vec<usize> = (0..values.len()).filter(|at| !values[*at].is_nan()).collect();
        let (Some(first), Some(last)) = (known.first().copied(), known.last().copied()) else {
            let of = if channels > 1 { format!("channel {channel} has") } else { "it has".to_owned() };
            anyhow::bail!("{of} missing values only; leave the series out, or fill it in first");
        };
        filled.at_ends += first + values.len() - 1 - last;
        let (start, end) = (values[first], values[last]);
        values[..first].fill(start);
        values[last + 1..].fill(end);
        for pair in known.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let (a, b) = (values[from], values[to]);
            for (step, value) in values[from + 1..to].iter_mut().enumerate() {
                let share = (step + 1) as f64 / (to - from) as f64;
                // Of two products, so that the difference of large values is not needed.
                *value = if how == Missing::Linear { a * (1.0 - share) + b * share } else { a };
            }
        }
        for (at, value) in values.into_iter().enumerate() {
            series[at * channels + channel] = value;
        }
    }
    Ok(filled)
}

/// The dataset without missing values, and a note on what was done about them.
pub(crate) fn filled(mut dataset: Dataset, how: Missing) -> Result<Dataset> {
    if how == Missing::Error {
        return Ok(dataset);
    }
    let (mut all, mut touched) = (Filled::default(), 0_usize);
    for (index, values) in dataset.series.iter_mut().enumerate() {
        let done = fill(values, dataset.channels, how).map_err(|e| e.context(format!("series {index}")))?;
        touched += usize::from(done.values > 0);
        all.values += done.values;
        all.at_ends += done.at_ends;
        all.dropped += done.dropped;
    }
    if all.values == 0 {
        return Ok(dataset);
    }
    let missing =
        if all.values == 1 { "1 missing value".to_owned() } else { format!("{} missing values", all.values) };
    let of = format!("{missing} in {touched} series");
    let were = if all.values == 1 { "was" } else { "were" };
    let ends = match all.at_ends {
        0 => String::new(),
        count => format!("; {count} at the start or end became the nearest known value"),
    };
    let done = match how {
        Missing::Linear => format!("{of} {were} interpolated{ends}"),
        Missing::Previous => format!("{of} became the last known value before{ends}"),
        Missing::Drop | Missing::Error => {
            let points = if all.dropped == 1 {
                "1 point was".to_owned()
            } else {
                format!("{} points were", all.dropped)
            };
            format!("{of}: {points} left out")
        }
    };
    dataset.notes.push(done);
    if all.dropped > 0 && dataset.times != Times::None {
        dataset.times = Times::Irregular("points with missing values were left out".to_owned());
    }
    Ok(dataset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npy::tests::npy;
    use crate::tests::{options, read_with, refuses, refuses_with};
    use crate::{CsvLayout, IndexColumn, ReadOptions};

    const NAN: f64 = f64::NAN;

    fn by(missing: Missing) -> ReadOptions {
        ReadOptions { missing, ..options() }
    }

    #[test]
    fn gaps_are_filled_channel_by_channel() {
        let done = |series: &[f64], channels, how| {
            let mut series = series.to_vec();
            fill(&mut series, channels, how)
                .map(|filled| (series, filled.values, filled.at_ends, filled.dropped))
        };
        let gaps = [NAN, 1.0, NAN, NAN, 4.0, NAN];
        assert_eq!(done(&gaps, 1, Missing::Linear).unwrap(), (vec![1., 1., 2., 3., 4., 4.], 4, 2, 0));
        assert_eq!(done(&gaps, 1, Missing::Previous).unwrap(), (vec![1., 1., 1., 1., 4., 4.], 4, 2, 0));
        assert_eq!(done(&gaps, 1, Missing::Drop).unwrap(), (vec![1., 4.], 4, 0, 4));
        let two = [1.0, 10.0, NAN, 20.0, 3.0, NAN];
        assert_eq!(done(&two, 2, Missing::Linear).unwrap(), (vec![1., 10., 2., 20., 3., 20.], 2, 1, 0));
        assert_eq!(done(&two, 2, Missing::Drop).unwrap(), (vec![1., 10.], 2, 0, 2));
        assert!(done(&[1.0, NAN], 2, Missing::Linear).unwrap_err().to_string().contains("channel 1 has"));
        assert!(done(&[NAN, NAN], 1, Missing::Previous).is_err() && done(&[NAN], 1, Missing::Drop).is_err());
        // The difference of these is beyond f64.
        assert_eq!(done(&[-1e308, NAN, 1e308], 1, Missing::Linear).unwrap().0, [-1e308, 0.0, 1e308]);
    }

    /// However it is written and in whichever format; the note counts.
    #[test]
    fn every_format_is_filled() {
        let series = vec![vec![1., 2., 3.], vec![5., 5., 7.]];
        let array = npy(&[2, 3], &[1.0, NAN, 3.0, NAN, 5.0, 7.0]);
        let mut files: Vec<(&str, Vec<u8>)> = vec![("a.npy", array)];
        for gap in ["", "?", "NA", "NaN", "nan", "null"] {
            files.push(("a.csv", format!("1,{gap},3\n{gap},5,7\n").into_bytes()));
            files.push(("a.tsv", format!("a\t1\t{gap}\t3\nb\t{gap}\t5\t7\n").into_bytes()));
        }
        files.push(("a.ts", b"@data\n1,?,3\nNaN,5,7\n".to_vec()));
        for (name, bytes) in files {
            let read = read_with(name, &bytes, &by(Missing::Linear)).unwrap();
            assert_eq!(read.series, series, "{name} {}", String::from_utf8_lossy(&bytes));
            let note = "2 missing values in 2 series were interpolated; 1 at the start or end became the nearest known value";
            assert_eq!(read.notes, [note], "{name}");
            let dropped = read_with(name, &bytes, &by(Missing::Drop)).unwrap();
            assert_eq!(dropped.series, [vec![1., 3.], vec![5., 7.]], "{name}");
            assert_eq!(dropped.notes, ["2 missing values in 2 series: 2 points were left out"]);
            refuses(name, &bytes, &["--missing"]);
        }
    }

    #[test]
    fn columns_and_lines_may_be_empty() {
        let columns = ReadOptions { csv_layout: CsvLayout::Columns, ..by(Missing::Previous) };
        let read = read_with("a.csv", "a,b\n1,\n\n,5\n4\n", &columns).unwrap();
        assert_eq!(read.series, [vec![1., 1., 1., 4.], vec![5., 5., 5., 5.]]);
        let alone = read_with("a.csv", "mV\n1\n\n\n4\n?\n", &by(Missing::Linear)).unwrap();
        assert_eq!(alone.series, [[1., 2., 3., 4., 4.]]);
        // A trailing empty field is a gap too; a shorter row is a shorter series.
        let rows = read_with("a.csv", "1,2,\n3,4\n", &by(Missing::Previous)).unwrap();
        assert_eq!(rows.series, [vec![1., 2., 2.], vec![3., 4.]]);
        let labelled = ReadOptions { labels: Some("last".parse().unwrap()), ..by(Missing::Linear) };
        let read = read_with("a.csv", "1,,3,a\n?,5,7,b\n", &labelled).unwrap();
        assert_eq!((read.series, read.classes.len()), (vec![vec![1., 2., 3.], vec![5., 5., 7.]], 2));
        let first = ReadOptions { labels: Some("first".parse().unwrap()), ..by(Missing::Linear) };
        for name in ["a.csv", "a.tsv"] {
            refuses_with(name, ",1,2.5\nb,3,4\n", &first, &["line 1: no class label in the first column"]);
        }
    }

    #[test]
    fn what_cannot_be_filled_is_named() {
        refuses_with("a.csv", "1,2\n?,?\n", &by(Missing::Linear), &["series 1", "missing values only"]);
        refuses_with("a.npy", npy(&[1, 2], &[NAN, NAN]), &by(Missing::Drop), &["series 0", "every point"]);
        refuses_with("a.csv", "1,inf\n", &by(Missing::Linear), &["line 1, column 2", "inf"]);
        refuses_with("a.csv", "1,x\n", &by(Missing::Linear), &["line 1, column 2", "'x'"]);
        let read = read_with("a.csv", "1,2\n3,4\n", &by(Missing::Linear)).unwrap();
        assert_eq!(read.notes, [""; 0]);
    }

    /// Times that are no longer equally spaced are said to be so.
    #[test]
    fn dropped_points_take_their_times_along() {
        let text = "@timeStamps true\n@data\n(0,1),(1,?),(2,3),(3,4)\n";
        assert!(matches!(read_with("a.ts", text, &by(Missing::Drop)).unwrap().times, Times::Irregular(_)));
        assert!(matches!(
            read_with("a.ts", text, &by(Missing::Linear)).unwrap().times,
            Times::Regular { .. }
        ));
    }

    #[test]
    fn dates_lead_to_the_index() {
        let dates = "2020-01-01,1,2\n2020-01-02,3,4\n";
        refuses("a.csv", dates, &["line 1, column 1: '2020-01-01' is a date", "--csv-index yes"]);
        refuses("a.csv", "date,a,b\n2020-01-01,1,2\n", &["--csv-layout", "--csv-index yes", "holds dates"]);
        let left = ReadOptions { index: IndexColumn::Yes, ..options() };
        assert_eq!(read_with("a.csv", dates, &left).unwrap().series, [[1., 2.], [3., 4.]]);
        let tsv = read_with("a.tsv", dates, &options()).unwrap();
        assert!(tsv.warnings[0].contains("holds dates") && tsv.warnings[0].contains("--csv-index yes"));
    }
}
