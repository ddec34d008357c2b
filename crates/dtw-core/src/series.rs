//! Borrowed batches of series: ragged, multichannel, no copy.
//!
//! Layout: the points of all series one after the other, each point its `channels` values together, so series `s` of
//! an equal-length batch is `values[s·length·channels ..][.. length·channels]` (shape `[n_series, length, channels]`,
//! row-major). A ragged batch carries `offsets` in points. Timestamps, where given, are one per point.

use crate::{Result, Scalar, bail_invalid};

/// One borrowed series of `len` points × `channels` values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Series<'a, T> {
    /// Values, shape `[len, channels]`, row-major.
    pub values: &'a [T],
    /// Values per point, at least 1.
    pub channels: usize,
    /// Timestamps, one per point, or `None` for 1, 2, …, len.
    pub times: Option<&'a [T]>,
}

impl<'a, T> Series<'a, T> {
    /// A series with one value per point.
    pub fn univariate(values: &'a [T]) -> Self {
        Self { values, channels: 1, times: None }
    }
    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len() / self.channels.max(1)
    }
    /// No points at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// The `channels` values at point `i`.
    pub fn point(&self, i: usize) -> &'a [T] {
        &self.values[i * self.channels..(i + 1) * self.channels]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Offsets<'a> {
    Equal {
        length: usize,
        count: usize,
    },
    /// Those of a slice are the whole batch's: the first need not be 0.
    Ragged(&'a [usize]),
}

/// A borrowed batch of series with the same number of channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesBatch<'a, T> {
    values: &'a [T],
    offsets: Offsets<'a>,
    channels: usize,
    times: Option<&'a [T]>,
}

impl<'a, T> SeriesBatch<'a, T> {
    /// `count` series of `length` points × `channels`: `values` has shape `[count, length, channels]`.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when the sizes do not multiply to `values.len()` or one of them is zero.
    pub fn equal(values: &'a [T], count: usize, length: usize, channels: usize) -> Result<Self> {
        let expected = count.checked_mul(length).and_then(|v| v.checked_mul(channels));
        if channels == 0 {
            bail_invalid!("a series needs at least one channel, got 0");
        }
        if expected != Some(values.len()) {
            bail_invalid!(
                "{count} series of {length} points x {channels} channels need {} values, got {}",
                expected.map_or_else(|| "too many".to_owned(), |v| v.to_string()),
                values.len()
            );
        }
        Ok(Self { values, offsets: Offsets::Equal { length, count }, channels, times: None })
    }

    /// Series of different lengths: series `s` is points `offsets[s] .. offsets[s + 1]`.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when `offsets` does not start at 0, decreases, or does not end at the last point.
    pub fn ragged(values: &'a [T], offsets: &'a [usize], channels: usize) -> Result<Self> {
        if channels == 0 {
            bail_invalid!("a series needs at least one channel, got 0");
        }
        if offsets.first() != Some(&0) {
            bail_invalid!("offsets must start with 0, got {:?}", offsets.first());
        }
        if let Some(at) = offsets.windows(2).position(|w| w[0] > w[1]) {
            bail_invalid!(
                "offsets must not decrease: offsets[{}] = {} after {}",
                at + 1,
                offsets[at + 1],
                offsets[at]
            );
        }
        let points = offsets[offsets.len() - 1];
        if points.checked_mul(channels) != Some(values.len()) {
            bail_invalid!(
                "offsets end at {points} points x {channels} channels, but there are {} values",
                values.len()
            );
        }
        Ok(Self { values, offsets: Offsets::Ragged(offsets), channels, times: None })
    }

    /// A batch of one series.
    pub fn single(series: Series<'a, T>) -> Self {
        let length = series.len();
        Self {
            values: series.values,
            offsets: Offsets::Equal { length, count: 1 },
            channels: series.channels,
            times: series.times,
        }
    }

    /// This batch with one timestamp per point (laid out as the points are).
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when there is not exactly one timestamp per point.
    pub fn with_times(mut self, times: &'a [T]) -> Result<Self> {
        let points = self.values.len() / self.channels;
        if times.len() != points {
            bail_invalid!("expected one timestamp per point ({points}), got {}", times.len());
        }
        self.times = Some(times);
        Ok(self)
    }

    /// Number of series.
    pub fn len(&self) -> usize {
        match self.offsets {
            Offsets::Equal { count, .. } => count,
            Offsets::Ragged(offsets) => offsets.len() - 1,
        }
    }
    /// No series.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Values per point.
    pub fn channels(&self) -> usize {
        self.channels
    }
    /// Whether `other` has the very same series: in the same memory, so that none is looked at.
    pub fn is(&self, other: &SeriesBatch<'_, T>) -> bool {
        let same_offsets = match (self.offsets, other.offsets) {
            (Offsets::Ragged(own), Offsets::Ragged(others)) => std::ptr::eq(own, others),
            (own, others) => own == others,
        };
        let same_times = match (self.times, other.times) {
            (None, None) => true,
            (Some(own), Some(others)) => std::ptr::eq(own, others),
            _ => false,
        };
        std::ptr::eq(self.values, other.values)
            && self.channels == other.channels
            && same_offsets
            && same_times
    }
    /// Whether explicit timestamps are attached.
    pub fn has_times(&self) -> bool {
        self.times.is_some()
    }
    /// All values, in storage order.
    pub fn values(&self) -> &'a [T] {
        self.values
    }
    /// Index of the first point of series `s` in storage order.
    pub fn offset(&self, s: usize) -> usize {
        match self.offsets {
            Offsets::Equal { length, .. } => s * length,
            Offsets::Ragged(offsets) => offsets[s] - offsets[0],
        }
    }
    /// Number of points of series `s`.
    pub fn length(&self, s: usize) -> usize {
        match self.offsets {
            Offsets::Equal { length, .. } => length,
            Offsets::Ragged(offsets) => offsets[s + 1] - offsets[s],
        }
    }
    /// Longest series, in points; 0 for an empty batch.
    pub fn max_length(&self) -> usize {
        match self.offsets {
            Offsets::Equal { length, count } => length * count.min(1),
            Offsets::Ragged(offsets) => offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
        }
    }
    /// Whether all series have the same length.
    pub fn is_equal_length(&self) -> bool {
        let max = self.max_length();
        (0..self.len()).all(|s| self.length(s) == max)
    }
    /// Series `s`.
    ///
    /// # Panics
    /// When `s >= self.len()`.
    pub fn get(&self, s: usize) -> Series<'a, T> {
        assert!(s < self.len(), "series {s} of a batch of {}", self.len());
        let (start, length) = (self.offset(s), self.length(s));
        Series {
            values: &self.values[start * self.channels..(start + length) * self.channels],
            channels: self.channels,
            times: self.times.map(|t| &t[start..start + length]),
        }
    }
    /// The series in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Series<'a, T>> {
        let batch = SeriesBatch { ..*self };
        (0..batch.len()).map(move |s| batch.get(s))
    }
    /// Series `range.start .. range.end` as a batch of their own; no copy.
    ///
    /// # Panics
    /// When the range is not within the batch.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        assert!(
            range.end <= self.len() && range.start <= range.end,
            "slice {range:?} of a batch of {}",
            self.len()
        );
        let points = match range.clone().next_back() {
            Some(last) => self.offset(range.start)..self.offset(last) + self.length(last),
            None => 0..0,
        };
        Self {
            values: &self.values[points.start * self.channels..points.end * self.channels],
            times: self.times.map(|t| &t[points]),
            channels: self.channels,
            offsets: match self.offsets {
                Offsets::Equal { length, .. } => Offsets::Equal { length, count: range.len() },
                Offsets::Ragged(offsets) => Offsets::Ragged(&offsets[range.start..=range.end]),
            },
        }
    }
}

impl<T: Scalar> SeriesBatch<'_, T> {
    /// Channel `k` of every series, copied into a batch of one channel. O(points).
    ///
    /// # Panics
    /// When `k >= self.channels()`.
    pub fn channel(&self, k: usize) -> OwnedBatch<T> {
        assert!(k < self.channels, "channel {k} of {}", self.channels);
        let mut offsets = vec![0];
        offsets.extend((0..self.len()).map(|s| self.offset(s) + self.length(s)));
        OwnedBatch {
            values: self.values.iter().skip(k).step_by(self.channels).copied().collect(),
            offsets,
            channels: 1,
            times: self.times.map(<[T]>::to_vec),
        }
    }
}

/// Series that own their values: what readers fill and algorithms build up.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedBatch<T> {
    values: Vec<T>,
    offsets: Vec<usize>,
    channels: usize,
    times: Option<Vec<T>>,
}

impl<T: Scalar> OwnedBatch<T> {
    /// No series yet, of `channels` values per point.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] for zero channels.
    pub fn new(channels: usize) -> Result<Self> {
        if channels == 0 {
            bail_invalid!("a series needs at least one channel, got 0");
        }
        Ok(Self { values: Vec::new(), offsets: vec![0], channels, times: None })
    }

    /// Appends a series of `[length, channels]` values, row-major.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when the values are not whole points, or the batch has timestamps.
    pub fn push(&mut self, values: &[T]) -> Result<()> {
        if !values.len().is_multiple_of(self.channels) {
            bail_invalid!("{} values are not whole points of {} channels", values.len(), self.channels);
        }
        if self.times.is_some() {
            bail_invalid!("the other series have timestamps: give this one its own (push_timed)");
        }
        self.values.extend_from_slice(values);
        self.offsets.push(self.values.len() / self.channels);
        Ok(())
    }

    /// Appends a series with one timestamp per point.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] when the sizes do not fit, or earlier series have no timestamps.
    pub fn push_timed(&mut self, values: &[T], times: &[T]) -> Result<()> {
        if values.len() != times.len() * self.channels {
            bail_invalid!(
                "{} timestamps x {} channels need as many values, got {}",
                times.len(),
                self.channels,
                values.len()
            );
        }
        if self.times.is_none() && !self.is_empty() {
            bail_invalid!("the other series have no timestamps");
        }
        self.values.extend_from_slice(values);
        self.offsets.push(self.values.len() / self.channels);
        self.times.get_or_insert_default().extend_from_slice(times);
        Ok(())
    }

    /// The series as a batch.
    pub fn batch(&self) -> SeriesBatch<'_, T> {
        SeriesBatch {
            values: &self.values,
            offsets: Offsets::Ragged(&self.offsets),
            channels: self.channels,
            times: self.times.as_deref(),
        }
    }
    /// Number of series.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }
    /// No series.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Values per point.
    pub fn channels(&self) -> usize {
        self.channels
    }
    /// All values, in storage order, to be changed in place.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// The values of series `s`, to be changed in place.
    ///
    /// # Panics
    /// When `s >= self.len()`.
    pub fn series_mut(&mut self, s: usize) -> &mut [T] {
        &mut self.values[self.offsets[s] * self.channels..self.offsets[s + 1] * self.channels]
    }
}

impl<T: Scalar> SeriesBatch<'_, T> {
    /// Checks that every series has a point, every value is finite, and timestamps are finite and increase.
    ///
    /// `name` ("x", "y", "query" …) is what error texts call the batch. Cost: one pass over the values.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the batch, series, point and channel.
    pub fn check(&self, name: &str) -> Result<()> {
        for s in 0..self.len() {
            let series = self.get(s);
            if series.is_empty() {
                bail_invalid!("series {s} of {name} is empty: every series needs at least one point");
            }
            if let Some(at) = series.values.iter().position(|v| !v.finite()) {
                bail_invalid!(
                    "series {s} of {name} has {} at point {}, channel {}: expected finite numbers",
                    series.values[at],
                    at / self.channels,
                    at % self.channels
                );
            }
            if let Some(times) = series.times {
                if let Some(at) = times.iter().position(|v| !v.finite()) {
                    bail_invalid!(
                        "series {s} of {name} has timestamp {} at point {at}: expected finite numbers",
                        times[at]
                    );
                }
                if let Some(at) = times.windows(2).position(|w| w[1] < w[0]) {
                    bail_invalid!(
                        "timestamps of series {s} of {name} go back at point {}: {} after {}",
                        at + 1,
                        times[at + 1],
                        times[at]
                    );
                }
            }
        }
        Ok(())
    }
}
