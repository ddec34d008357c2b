//! The UCR/UEA `.ts` format.
//!
//! ```text
//! # comment
//! @problemName Name
//! @univariate false
//! @dimensions 2
//! @classLabel true a b
//! @data
//! x[0]ch0,x[1]ch0,…:x[0]ch1,x[1]ch1,…:a
//! ```
//!
//! One line per series, channels separated by `:`, the label last. Lengths may differ between series, not between the
//! channels of one. With timestamps a point is `(time,value)`; all channels of a series have the same times. Missing
//! values are refused.

use std::collections::HashSet;

use anyhow::{Context, Result, bail, ensure};

use super::dataset::counted;
use super::resample::{NEEDS_TIMES, even};
use super::text::{clean, numbered_lines, quoted};
use super::{Dataset, Missing, ReadOptions, Resample, Times, ts_values};

#[derive(Default)]
struct Header {
    timestamps: Option<bool>,
    univariate: Option<bool>,
    dimensions: Option<usize>,
    equal_length: Option<bool>,
    series_length: Option<usize>,
    has_label: bool,
    /// Empty where the header lists none; each once.
    classes: Vec<String>,
    known: HashSet<String>,
}

impl Header {
    /// Takes one `@key value…` line.
    fn read(&mut self, line: &str) -> Result<()> {
        let mut words = line.split_whitespace();
        let key = words.next().unwrap_or("").to_ascii_lowercase();
        let values: Vec<&str> = words.collect();
        let flag = || match values.first().map(|v| v.to_ascii_lowercase()).as_deref() {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            _ => bail!("{key} expects 'true' or 'false'"),
        };
        let count = || {
            let value = values.first().copied().unwrap_or("");
            match value.parse::<usize>() {
                Ok(n) if n > 0 => Ok(n),
                _ => bail!("{key} expects a positive whole number, got {}", quoted(value)),
            }
        };
        match key.as_str() {
            "@timestamps" => self.timestamps = Some(flag()?),
            "@univariate" => self.univariate = Some(flag()?),
            "@dimensions" | "@dimension" => self.dimensions = Some(count()?),
            "@equallength" => self.equal_length = Some(flag()?),
            "@serieslength" => self.series_length = Some(count()?),
            "@classlabel" => {
                ensure!(self.known.is_empty(), "@classLabel stands twice, and the first lists classes");
                self.has_label = flag()?;
                let (known, classes) = (&mut self.known, values[1..].iter());
                self.classes =
                    classes.filter(|s| known.insert((**s).to_owned())).map(|s| (*s).to_owned()).collect();
                ensure!(
                    self.has_label || self.classes.is_empty(),
                    "@classLabel false must not be followed by labels"
                );
            }
            "@targetlabel" => self.has_label = flag()?,
            // Names and descriptions; @missing is judged by the data itself.
            _ => {}
        }
        Ok(())
    }
}

pub(super) fn parse(name: String, bytes: &[u8], options: &ReadOptions) -> Result<Dataset> {
    let missing = options.missing;
    let mut header = Header::default();
    let mut in_data = false;
    let mut channels = None;
    let mut series: Vec<Vec<f64>> = Vec::new();
    let mut labels = Vec::new();
    let mut times = Vec::new();
    let mut clock = ts_values::Clock::default();
    for line in numbered_lines(bytes, Some(b'#')) {
        let (number, line) = line?;
        let line = line.trim();
        let place = || format!("line {number}");
        if !in_data {
            if line.eq_ignore_ascii_case("@data") {
                in_data = true;
                channels = match (header.univariate, header.dimensions) {
                    (Some(true), Some(d)) if d != 1 => {
                        bail!("line {number}: the header says @univariate true and @dimensions {d}")
                    }
                    (Some(true), _) => Some(1),
                    (_, dimensions) => dimensions,
                };
            } else if line.starts_with('@') {
                header.read(line).with_context(place)?;
            } else {
                bail!("line {number}: expected a header line ('@…') or @data, got {}", quoted(line));
            }
            continue;
        }
        let mut fields = ts_values::fields(line);
        labels.extend(label(&mut fields, &header, channels).with_context(place)?);
        let expected = *channels.get_or_insert(fields.len());
        ensure!(
            fields.len() == expected,
            "line {number}: {} where {expected} were expected",
            counted(fields.len(), "channel")
        );
        let points =
            ts_values::points(&fields, header.timestamps, missing != Missing::Error).with_context(place)?;
        let length = points.values.len() / expected;
        if let Some(wanted) = header.series_length {
            ensure!(
                length == wanted,
                "line {number}: {} where the header says @seriesLength {wanted}",
                counted(length, "point")
            );
        }
        if header.equal_length == Some(true) && !series.is_empty() {
            let first = series[0].len() / expected;
            ensure!(
                length == first,
                "line {number}: {} where the header says @equalLength true and the first series has {first}",
                counted(length, "point")
            );
        }
        clock.take(points.times.as_deref(), series.len()).with_context(place)?;
        if options.resample != Resample::None {
            times.push(points.times.with_context(|| format!("line {number}: {NEEDS_TIMES}"))?);
        }
        series.push(points.values);
    }
    ensure!(in_data, "no @data line; expected a header and then '@data'");
    ensure!(!series.is_empty(), "no series after @data");
    let mut dataset = Dataset::univariate(name, series);
    dataset.channels = channels.unwrap_or(1);
    if options.resample != Resample::None {
        dataset = even(dataset, &times, options.resample, missing)?;
    } else {
        dataset.times = clock.times();
    }
    match &dataset.times {
        Times::None => {}
        _ if options.resample != Resample::None => {}
        Times::Regular { step, .. } => dataset.notes.push(format!("the points are {step} apart in time")),
        Times::Irregular(place) => {
            dataset.notes.push(format!("the timestamps are not those of equally spaced points ({place})"));
        }
    }
    if header.has_label {
        dataset = dataset.with_labels(labels);
        if !header.classes.is_empty() {
            dataset.classes = header.classes;
        }
    }
    Ok(dataset)
}

/// Takes the label, if there has to be one, from the end of the fields.
fn label(fields: &mut Vec<&str>, header: &Header, channels: Option<usize>) -> Result<Option<String>> {
    const SHOWN: usize = 10;
    if !header.has_label {
        return Ok(None);
    }
    let missing = match channels {
        Some(expected) => fields.len() == expected,
        None => fields.len() == 1,
    };
    let label = if missing { None } else { fields.pop() };
    let Some(label) = label.filter(|l| !l.is_empty()) else {
        bail!("no class label after the last ':' (the header says @classLabel true)");
    };
    if !header.classes.is_empty() && !header.known.contains(label) {
        let mut shown: Vec<String> = header.classes.iter().take(SHOWN).map(|class| clean(class)).collect();
        if header.classes.len() > SHOWN {
            shown.push("…".to_owned());
        }
        bail!("class label {} is not among the header's ({})", quoted(label), shown.join(" "));
    }
    Ok(Some(label.to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::Times;
    use crate::tests::{read, refuses};

    const HEAD: &str =
        "#c\n@problemName P\n@timeStamps false\n@univariate false\n@classLabel true a b\n@data\n";

    #[test]
    fn channels_interleave_and_lengths_may_differ() {
        let dataset = read("p.ts", format!("{HEAD}1,2,3:4,5,6:a\r\n\n7,8:9,-1e1:b\n")).unwrap();
        assert_eq!(dataset.channels, 2);
        assert_eq!(dataset.series, [vec![1., 4., 2., 5., 3., 6.], vec![7., 9., 8., -10.]]);
        assert_eq!(dataset.labels.unwrap(), ["a", "b"]);
        assert_eq!(dataset.classes, ["a", "b"]);
    }

    #[test]
    fn comments_may_be_in_any_encoding() {
        let mut bytes = b"# caf\xe9\n@univariate true\n@classLabel false\n@data\n1,2\n".to_vec();
        assert_eq!(read("p.ts", &bytes).unwrap().series, [vec![1., 2.]]);
        bytes.extend(b"3,\xff\n");
        refuses("p.ts", bytes, &["line 6", "not UTF-8"]);
    }

    #[test]
    fn without_labels_there_are_none() {
        let dataset = read("p.ts", "@classLabel false\n@data\n1:2\n").unwrap();
        assert_eq!((dataset.channels, dataset.labels), (2, None));
    }

    #[test]
    fn a_regression_target_is_kept_as_the_label() {
        let dataset = read("p.ts", "@targetLabel true\n@data\n1,2:0.5\n").unwrap();
        assert_eq!(dataset.labels.unwrap(), ["0.5"]);
    }

    #[test]
    fn every_malformed_line_is_named() {
        let with = |data: &str| format!("{HEAD}1,2:3,4:a\n{data}\n");
        refuses("p.ts", with("1,?:3,4:a"), &["line 8", "channel 0", "position 1", "missing value"]);
        refuses("p.ts", with("1,x:3,4:a"), &["line 8", "channel 0", "position 1", "'x' is not a number"]);
        refuses("p.ts", with("1,NaN:3,4:a"), &["line 8", "channel 0", "position 1", "NaN"]);
        refuses("p.ts", with("1,2:3,-inf:a"), &["line 8", "channel 1", "position 1", "-inf"]);
        refuses("p.ts", with("1,2:3:a"), &["line 8", "channel 1 has 1 point where"]);
        refuses("p.ts", with("1,2:a"), &["line 8", "no class label"]);
        refuses("p.ts", with("1,2:3,4:5,6:a"), &["line 8", "3 channels where 2"]);
        refuses("p.ts", with("1,2:3,4:"), &["line 8", "no class label"]);
        refuses("p.ts", with("1,2:3,4:c"), &["line 8", "'c' is not among", "a b"]);
        refuses("p.ts", with(":3,4:a"), &["line 8", "channel 0", "empty"]);
        refuses("p.ts", with("(1,2),(3,4):3,4:a"), &["line 8", "channel 0", "@timeStamps false"]);
        refuses("p.ts", with("1,2,:3,4,5:a"), &["line 8", "position 2", "'' is not a number"]);
    }

    #[test]
    fn headers_are_checked_against_the_data() {
        let twice = "@classLabel true a b\n@classLabel true a\n@data\n1:b\n";
        refuses("p.ts", twice, &["line 2", "@classLabel stands twice"]);
        refuses("p.ts", "1,2\n", &["line 1", "@data"]);
        refuses("p.ts", "@univariate true\n", &["no @data"]);
        refuses("p.ts", "@univariate true\n@data\n", &["no series"]);
        refuses("p.ts", "@timeStamps true\n@data\n1,2\n", &["line 3", "channel 0", "@timeStamps true"]);
        refuses("p.ts", "@univariate maybe\n@data\n1\n", &["line 1", "'true' or 'false'"]);
        refuses("p.ts", "@dimensions 0\n@data\n1\n", &["line 1", "positive whole number"]);
        refuses("p.ts", "@univariate true\n@dimensions 2\n@data\n1:2\n", &["@dimensions 2"]);
        refuses("p.ts", "@univariate true\n@data\n1:2\n", &["line 3", "2 channels where 1"]);
        refuses("p.ts", "@univariate true\n@classLabel true a\n@data\n1,2\n", &["line 4", "no class label"]);
        refuses("p.ts", "@dimensions 3\n@data\n1:2\n", &["line 3", "2 channels where 3"]);
        refuses("p.ts", "@seriesLength 3\n@data\n1,2\n", &["line 3", "2 points", "@seriesLength 3"]);
        refuses("p.ts", "@equalLength true\n@data\n1,2\n1\n", &["line 4", "1 point where", "@equalLength"]);
    }

    #[test]
    fn timestamps_are_read() {
        let times =
            |data: &str| read("p.ts", format!("@timeStamps true\n@classLabel true\n@data\n{data}")).unwrap();
        let regular = times("(0,5),(0.5,6):(0,7),(0.5,8):a\n(0,1),(0.5,2),(1,3):(0,4),(0.5,5),(1.0,6):b\n");
        assert_eq!((regular.channels, regular.times), (2, Times::Regular { start: 0.0, step: 0.5 }));
        assert_eq!(regular.series, [vec![5., 7., 6., 8.], vec![1., 4., 2., 5., 3., 6.]]);
        assert_eq!(regular.classes, ["a", "b"]);
        assert!(regular.notes[0].contains("0.5 apart"));
        let said = |data: &str| match times(data).times {
            Times::Irregular(place) => place,
            other => panic!("{data:?}: {other:?}"),
        };
        assert!(said("(0,1),(1,2),(3,3):a\n").contains("series 0, position 1"));
        assert!(said("(0,1),(1,2):a\n(1,1),(2,2):a\n").contains("series 1 starts at 1"));
        assert!(said("(0,1),(1,2):a\n(0,1),(2,2):a\n").contains("series 1, position 1"));
    }

    #[test]
    fn bad_timestamps_are_named() {
        let refused =
            |data: &str, parts: &[&str]| refuses("p.ts", format!("@timeStamps true\n@data\n{data}\n"), parts);
        refused("(0,1),(0,2)", &["line 3", "position 1", "increase"]);
        refused("(2020-01-01 00:00:00,1)", &["line 3", "position 0", "'2020-01-01 00:00:00'", "number"]);
        refused("(0,1),(1,?)", &["line 3", "position 1", "missing value"]);
        refused("(0,1,2)", &["line 3", "position 0", "'1,2'"]);
        refused("(0)", &["line 3", "position 0", "(time,value)"]);
        refused("(0,1", &["line 3", "position 0", "(time,value)"]);
        refused("(0,1)(1,2)", &["line 3", "position 0", "(time,value)"]);
        refused("(0,1):(1,2)", &["line 3", "channel 1", "times of channel 0"]);
        refused("(nan,1)", &["line 3", "finite"]);
    }

    /// A header may list as many classes as the data has lines.
    #[test]
    fn many_classes_take_linear_time() {
        let classes: String = (0..100_000).map(|k| format!(" {k}")).collect();
        let data: String = (0..100_000).map(|k| format!("1:{k}\n")).collect();
        let dataset = read("p.ts", format!("@classLabel true{classes}\n@data\n{data}")).unwrap();
        assert_eq!(dataset.classes.len(), 100_000);
        assert_eq!(read("p.ts", "@classLabel true b a b\n@data\n1:a\n").unwrap().classes, ["b", "a"]);
    }

    /// A header's numbers are compared with, and nothing else.
    #[test]
    fn huge_claims_cost_nothing() {
        let most = usize::MAX;
        refuses("p.ts", format!("@dimensions {most}\n@data\n1:2\n"), &["2 channels where"]);
        refuses("p.ts", format!("@seriesLength {most}\n@data\n1,2\n"), &["2 points where"]);
        let (points, channels) = (vec!["1"; 50_000].join(","), vec!["1"; 50_000].join(":"));
        refuses("p.ts", format!("@data\n{points}:{channels}\n"), &["channel 1 has 1 point where"]);
    }
}
