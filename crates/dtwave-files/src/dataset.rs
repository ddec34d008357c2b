//! What every file becomes: series with as many channels each, their labels and their points of time.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use anyhow::{Result, bail};

/// Series with the same number of channels, and their class labels if the file has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The file's stem, or what the generator calls it.
    pub name: String,
    /// Values per point of time, at least 1.
    pub channels: usize,
    /// Row-major `[time][channel]` values of each series.
    pub series: Vec<Vec<f64>>,
    /// One label per series.
    pub labels: Option<Vec<String>>,
    /// The distinct labels: in the header's order where there is one, else as [`by_label`] sorts them.
    pub classes: Vec<String>,
    /// The points of time, where the file has any.
    pub times: Times,
    /// What the user should be told about how the file was understood.
    pub notes: Vec<String>,
    /// Notes on what is probably not what they want.
    pub warnings: Vec<String>,
}

/// The points of time of the values.
#[derive(Debug, Clone, PartialEq)]
pub enum Times {
    /// The file has none: points are counted.
    None,
    /// All series start at the same time, and their points are equally far apart.
    Regular {
        /// The time of the first points.
        start: f64,
        /// The time between two points.
        step: f64,
    },
    /// They are not; the text names the first place where they are not.
    Irregular(String),
}

impl Dataset {
    /// Builds a dataset of one-channel series without labels.
    pub fn univariate(name: String, series: Vec<Vec<f64>>) -> Self {
        Dataset {
            name,
            channels: 1,
            series,
            labels: None,
            classes: Vec::new(),
            times: Times::None,
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Attaches labels; `classes` lists the distinct ones as [`by_label`] sorts them. Different texts are different
    /// classes, also where they are the same number.
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        let mut distinct: Vec<&String> = labels.iter().collect();
        distinct.sort_unstable_by(|a, b| by_label(a, b));
        distinct.dedup();
        self.classes = distinct.into_iter().cloned().collect();
        self.labels = Some(labels);
        self
    }

    /// The number of series.
    #[expect(clippy::len_without_is_empty, reason = "a dataset that was read is never empty")]
    pub fn len(&self) -> usize {
        self.series.len()
    }

    /// The points of time of series `index`.
    ///
    /// # Panics
    /// When there is no such series.
    pub fn length(&self, index: usize) -> usize {
        self.series[index].len() / self.channels
    }

    /// The shortest and the longest length.
    pub fn lengths(&self) -> (usize, usize) {
        let lengths = (0..self.len()).map(|i| self.length(i));
        lengths.fold((usize::MAX, 0), |(low, high), n| (low.min(n), high.max(n)))
    }

    /// `1 series of 24 points`, `12 series of 7 to 29 points, 12 channels`.
    pub fn summary(&self) -> String {
        let (low, high) = self.lengths();
        let lengths = if low == high { counted(low, "point") } else { format!("{low} to {high} points") };
        let channels =
            if self.channels > 1 { format!(", {} channels", self.channels) } else { String::new() };
        format!("{} series of {lengths}{channels}", self.len())
    }

    /// Everything the file was understood to hold, in one line: the summary, channels and labels.
    pub fn described(&self) -> String {
        const SHOWN: usize = 6;
        let mut text = self.summary();
        if self.channels == 1 {
            text.push_str(", 1 channel");
        }
        if self.labels.is_none() {
            text.push_str(", no labels");
            return text;
        }
        let shown: Vec<String> = self.classes.iter().take(SHOWN).map(|c| crate::text::clean(c)).collect();
        let more = if self.classes.len() > SHOWN { ", …" } else { "" };
        let plural = if self.classes.len() == 1 { "class" } else { "classes" };
        let _ = write!(text, ", labels of {} {plural} ({}{more})", self.classes.len(), shown.join(", "));
        text
    }

    /// Refuses what no measure is defined on: no series, an empty series, NaN and infinities.
    pub(crate) fn checked(self) -> Result<Self> {
        if self.series.is_empty() {
            bail!("the file holds no series");
        }
        for (index, values) in self.series.iter().enumerate() {
            if values.is_empty() {
                bail!("series {index} is empty");
            }
            if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                let position = Position { at, channels: self.channels };
                bail!("series {index}, {position}: {}", crate::text::not_finite(values[at]));
            }
        }
        Ok(self)
    }
}

/// `1 point`, `3 points`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The order of labels: numbers by value, before all others; equal numbers and other labels by their text.
///
/// A total order; only equal texts are equal.
pub fn by_label(a: &str, b: &str) -> Ordering {
    // NaN and infinities are words here.
    let number = |label: &str| label.parse::<f64>().ok().filter(|value| value.is_finite());
    match (number(a), number(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
    .then_with(|| a.cmp(b))
}

/// The place of a flat index, as a reader counts: time from 0, and the channel if there are several.
pub(crate) struct Position {
    pub(crate) at: usize,
    pub(crate) channels: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position {}", self.at / self.channels)?;
        if self.channels > 1 {
            write!(f, ", channel {}", self.at % self.channels)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn classes(labels: &[&str]) -> Vec<String> {
        let labels: Vec<String> = labels.iter().map(|l| (*l).to_owned()).collect();
        Dataset::univariate("x".into(), vec![vec![0.0]; labels.len()]).with_labels(labels).classes
    }

    #[test]
    fn labels_sort_by_value_then_by_text() {
        assert_eq!(classes(&["10", "9", "-1", "9"]), ["-1", "9", "10"]);
        assert_eq!(classes(&["b", "1a", "10", "9", "a"]), ["9", "10", "1a", "a", "b"]);
        assert_eq!(classes(&["1.5", "1", "nan", "-inf", "2"]), ["1", "1.5", "2", "-inf", "nan"]);
    }

    #[test]
    fn different_texts_are_different_classes() {
        assert_eq!(classes(&["1", "01", "1", "1.0", "01"]), ["01", "1", "1.0"]);
        assert_eq!(classes(&["-0", "0"]), ["-0", "0"]);
    }

    /// Numbers and words mixed in more than 20 series, where the standard library notices an order that is none.
    #[test]
    fn mixed_labels_of_many_series_are_classes_once_each() {
        let labels: Vec<&str> = ["9", "10", "1a"].into_iter().cycle().take(63).collect();
        assert_eq!(classes(&labels), ["9", "10", "1a"]);
    }

    proptest! {
        #[test]
        fn labels_have_a_total_order(labels in proptest::collection::vec("[-+]?[0-9]{0,3}[.a]?[0-9]?", 3)) {
            let [a, b, c] = [&labels[0], &labels[1], &labels[2]];
            prop_assert_eq!(by_label(a, b), by_label(b, a).reverse());
            prop_assert_eq!(by_label(a, b) == Ordering::Equal, a == b);
            if by_label(a, b).is_le() && by_label(b, c).is_le() {
                prop_assert!(by_label(a, c).is_le());
            }
        }
    }

    #[test]
    fn lengths_count_points_of_time() {
        let mut dataset = Dataset::univariate("x".into(), vec![vec![0.0; 6], vec![0.0; 4]]);
        dataset.channels = 2;
        assert_eq!(dataset.lengths(), (2, 3));
        assert_eq!(dataset.described(), "2 series of 2 to 3 points, 2 channels, no labels");
    }

    #[test]
    fn a_description_says_what_labels_there_are() {
        let one = Dataset::univariate("x".into(), vec![vec![0.0]]);
        assert_eq!(one.described(), "1 series of 1 point, 1 channel, no labels");
        let labels: Vec<String> = (0..8).map(|k| k.to_string()).collect();
        let many = Dataset::univariate("x".into(), vec![vec![0.0; 2]; 8]).with_labels(labels);
        assert!(many.described().ends_with("1 channel, labels of 8 classes (0, 1, 2, 3, 4, 5, …)"));
        let same = one.with_labels(vec!["a\u{1b}[2J".into()]);
        assert!(same.described().ends_with("labels of 1 class (a\u{fffd}[2J)"));
    }
}
