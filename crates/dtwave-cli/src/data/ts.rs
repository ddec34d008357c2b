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
//! One line per series, channels separated by `:`, the label last. Lengths may differ between series, not
//! between the channels of one. Explicit timestamps and missing values are refused.

use anyhow::{Context, Result, bail, ensure};

use super::{Dataset, numbered_lines, quoted};

/// What the header promises about the data lines.
#[derive(Default)]
struct Header {
    univariate: Option<bool>,
    dimensions: Option<usize>,
    equal_length: Option<bool>,
    series_length: Option<usize>,
    has_label: bool,
    /// Empty where the header lists none.
    classes: Vec<String>,
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
            "@timestamps" => ensure!(!flag()?, "explicit timestamps (@timeStamps true) are not supported"),
            "@univariate" => self.univariate = Some(flag()?),
            "@dimensions" | "@dimension" => self.dimensions = Some(count()?),
            "@equallength" => self.equal_length = Some(flag()?),
            "@serieslength" => self.series_length = Some(count()?),
            "@classlabel" => {
                self.has_label = flag()?;
                self.classes = values[1..].iter().map(|s| (*s).to_owned()).collect();
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

/// Parses the bytes of a `.ts` file.
pub(super) fn parse(name: String, bytes: &[u8]) -> Result<Dataset> {
    let mut header = Header::default();
    let mut in_data = false;
    let mut channels = None;
    let mut series: Vec<Vec<f64>> = Vec::new();
    let mut labels = Vec::new();
    for line in numbered_lines(bytes, Some(b'#')) {
        let (number, line) = line?;
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
        let (values, label) = data_line(line, &header, &mut channels).with_context(place)?;
        let length = values.len() / channels.unwrap_or(1);
        if let Some(expected) = header.series_length {
            ensure!(
                length == expected,
                "line {number}: {length} points where the header says @seriesLength {expected}"
            );
        }
        if header.equal_length == Some(true) && !series.is_empty() {
            let first = series[0].len() / channels.unwrap_or(1);
            ensure!(
                length == first,
                "line {number}: {length} points where the header says @equalLength true and the first series has {first}"
            );
        }
        series.push(values);
        labels.extend(label);
    }
    ensure!(in_data, "no @data line; expected a header and then '@data'");
    ensure!(!series.is_empty(), "no series after @data");
    let mut dataset = Dataset::univariate(name, series);
    dataset.channels = channels.unwrap_or(1);
    if header.has_label {
        dataset = dataset.with_labels(labels);
        if !header.classes.is_empty() {
            dataset.classes = header.classes;
        }
    }
    Ok(dataset)
}

/// Reads `ch0:ch1:…[:label]`; the first line fixes the number of channels unless the header does.
fn data_line(
    line: &str,
    header: &Header,
    channels: &mut Option<usize>,
) -> Result<(Vec<f64>, Option<String>)> {
    let mut fields: Vec<&str> = line.split(':').map(str::trim).collect();
    let label = if header.has_label {
        let missing = match *channels {
            Some(expected) => fields.len() == expected,
            None => fields.len() == 1,
        };
        let label = if missing { None } else { fields.pop() };
        let Some(label) = label.filter(|l| !l.is_empty()) else {
            bail!("no class label after the last ':' (the header says @classLabel true)");
        };
        ensure!(
            header.classes.is_empty() || header.classes.iter().any(|c| c == label),
            "class label {} is not among the header's ({})",
            quoted(label),
            header.classes.join(" ")
        );
        Some(label.to_owned())
    } else {
        None
    };
    let expected = *channels.get_or_insert(fields.len());
    ensure!(fields.len() == expected, "{} channels where {expected} were expected", fields.len());

    let parsed: Vec<Vec<f64>> = fields
        .iter()
        .enumerate()
        .map(|(channel, field)| channel_values(field).with_context(|| format!("channel {channel}")))
        .collect::<Result<_>>()?;
    let length = parsed[0].len();
    for (channel, values) in parsed.iter().enumerate() {
        ensure!(
            values.len() == length,
            "channel {channel} has {} points where channel 0 has {length}",
            values.len()
        );
    }
    let mut values = Vec::with_capacity(length * expected);
    for time in 0..length {
        values.extend(parsed.iter().map(|channel| channel[time]));
    }
    Ok((values, label))
}

fn channel_values(field: &str) -> Result<Vec<f64>> {
    ensure!(!field.is_empty(), "the series is empty");
    field
        .split(',')
        .map(str::trim)
        .enumerate()
        .map(|(position, cell)| match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => bail!("position {position}: {value} where a finite number was expected"),
            Err(_) if cell == "?" => bail!("position {position}: missing value '?'; fill it in first"),
            Err(_) if cell.starts_with('(') => {
                bail!("position {position}: explicit timestamps '(time,value)' are not supported")
            }
            Err(_) => bail!("position {position}: {} is not a number", quoted(cell)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{read, refuses};

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
        refuses("p.ts", with("1,2:3:a"), &["line 8", "channel 1 has 1 points"]);
        refuses("p.ts", with("1,2:a"), &["line 8", "no class label"]);
        refuses("p.ts", with("1,2:3,4:5,6:a"), &["line 8", "3 channels where 2"]);
        refuses("p.ts", with("1,2:3,4:"), &["line 8", "no class label"]);
        refuses("p.ts", with("1,2:3,4:c"), &["line 8", "'c' is not among", "a b"]);
        refuses("p.ts", with(":3,4:a"), &["line 8", "channel 0", "empty"]);
        refuses("p.ts", with("(1,2),(3,4):3,4:a"), &["line 8", "timestamps"]);
        refuses("p.ts", with("1,2,:3,4,5:a"), &["line 8", "position 2", "'' is not a number"]);
    }

    #[test]
    fn headers_are_checked_against_the_data() {
        refuses("p.ts", "1,2\n", &["line 1", "@data"]);
        refuses("p.ts", "@univariate true\n", &["no @data"]);
        refuses("p.ts", "@univariate true\n@data\n", &["no series"]);
        refuses("p.ts", "@timeStamps true\n@data\n(1,2)\n", &["line 1", "not supported"]);
        refuses("p.ts", "@univariate maybe\n@data\n1\n", &["line 1", "'true' or 'false'"]);
        refuses("p.ts", "@dimensions 0\n@data\n1\n", &["line 1", "positive whole number"]);
        refuses("p.ts", "@univariate true\n@dimensions 2\n@data\n1:2\n", &["@dimensions 2"]);
        refuses("p.ts", "@univariate true\n@data\n1:2\n", &["line 3", "2 channels where 1"]);
        refuses("p.ts", "@univariate true\n@classLabel true a\n@data\n1,2\n", &["line 4", "no class label"]);
        refuses("p.ts", "@dimensions 3\n@data\n1:2\n", &["line 3", "2 channels where 3"]);
        refuses("p.ts", "@seriesLength 3\n@data\n1,2\n", &["line 3", "2 points", "@seriesLength 3"]);
        refuses("p.ts", "@equalLength true\n@data\n1,2\n1\n", &["line 4", "1 points", "@equalLength"]);
    }
}
