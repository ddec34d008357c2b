//! Owned batches in double precision, and the flat buffers a backend reads.
//!
//! Every value a generator makes is exactly representable in `f32`, so that both precisions see the same input and
//! all of a single-precision error is the computation's.

use crate::oracle::{Pair, Real};
use dtw_core::{Pairing, Scalar, SeriesBatch};

/// A number type that a backend can be judged in.
pub trait Element: Scalar + Real {}
impl Element for f32 {}
impl Element for f64 {}

/// Series of equal channel count, `[series][time][channel]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The series.
    pub series: Vec<Vec<Vec<f64>>>,
    /// `[series][time]`, or none.
    pub times: Option<Vec<Vec<f64>>>,
}

impl Batch {
    /// A batch without times.
    pub fn new(series: Vec<Vec<Vec<f64>>>) -> Self {
        Batch { series, times: None }
    }

    /// A batch of one series, without times.
    pub fn one(series: Vec<Vec<f64>>) -> Self {
        Batch::new(vec![series])
    }

    /// Series `s` of `x` with series `t` of `y`.
    pub fn pair(x: &Batch, s: usize, y: &Batch, t: usize) -> Pair<f64> {
        let times = |batch: &Batch, index: usize| batch.times.as_ref().map(|times| times[index].clone());
        Pair { x: x.series[s].clone(), y: y.series[t].clone(), tx: times(x, s), ty: times(y, t) }
    }

    /// The batch laid out for a backend.
    pub fn flat<T: Element>(&self) -> Flat<T> {
        let lengths: Vec<usize> = self.series.iter().map(Vec::len).collect();
        let mut offsets = vec![0];
        for length in &lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let equal = lengths.windows(2).all(|pair| pair[0] == pair[1]);
        Flat {
            values: self.series.iter().flatten().flatten().map(|&value| T::of(value)).collect(),
            times: self.times.as_ref().map(|times| times.iter().flatten().map(|&time| T::of(time)).collect()),
            channels: self.series[0][0].len(),
            equal_length: equal.then(|| lengths[0]),
            offsets,
        }
    }
}

/// The pairs of a pairing in the order of its output: `(s, t)` is series `s` of `x` with series `t` of `y`.
pub fn pairs(pairing: Pairing, n_x: usize, n_y: usize) -> Vec<(usize, usize)> {
    match pairing {
        Pairing::Zipped => (0..n_x).map(|s| (s, s)).collect(),
        Pairing::Cross => (0..n_x).flat_map(|s| (0..n_y).map(move |t| (s, t))).collect(),
        Pairing::SelfSymmetric => (0..n_x).flat_map(|s| (0..n_x).map(move |t| (s, t))).collect(),
    }
}

/// A batch as one buffer of points.
#[derive(Clone, Debug)]
pub struct Flat<T> {
    /// All values, series after series, point after point.
    pub values: Vec<T>,
    /// First point of each series, and one past the last point.
    pub offsets: Vec<usize>,
    times: Option<Vec<T>>,
    channels: usize,
    /// Set where the series are equally long: those batches go through the other constructor.
    equal_length: Option<usize>,
}

impl<T: Element> Flat<T> {
    /// The batch a backend sees.
    ///
    /// # Errors
    /// As the constructors of [`SeriesBatch`].
    pub fn batch(&self) -> dtw_core::Result<SeriesBatch<'_, T>> {
        let batch = match self.equal_length {
            Some(length) => SeriesBatch::equal(&self.values, self.offsets.len() - 1, length, self.channels)?,
            None => SeriesBatch::ragged(&self.values, &self.offsets, self.channels)?,
        };
        match &self.times {
            Some(times) => batch.with_times(times),
            None => Ok(batch),
        }
    }

    /// Other values in the same shape: each halved, with the other sign.
    pub fn changed(&self) -> Self {
        let values = self.values.iter().map(|&value| value * T::of(-0.5)).collect();
        Flat { values, ..self.clone() }
    }

    /// Where the values of series `s` lie in [`Flat::values`] (and in a gradient laid out like it).
    pub fn range(&self, s: usize) -> std::ops::Range<usize> {
        self.offsets[s] * self.channels..self.offsets[s + 1] * self.channels
    }
}
