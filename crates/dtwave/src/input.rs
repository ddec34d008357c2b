//! What counts as a series and as a batch of series: slices, vectors, `ndarray` views, and dtwave's own types.

use dtw_core::{OwnedBatch, Result, Scalar, Series, SeriesBatch};
use ndarray::{ArrayBase, Data, Ix1, Ix2, Ix3};

use crate::device::Float;

/// One series, borrowed where its memory allows and copied where not.
#[derive(Debug, Clone)]
pub enum Sequence<'a, T> {
    /// In place.
    Borrowed(Series<'a, T>),
    /// A copy in standard layout: values and channels.
    Copied(Vec<T>, usize),
}

impl<T: Scalar> Sequence<'_, T> {
    /// The series.
    pub fn series(&self) -> Series<'_, T> {
        match self {
            Self::Borrowed(series) => *series,
            Self::Copied(values, channels) => Series { values, channels: *channels, times: None },
        }
    }
}

/// A batch of series, borrowed where its memory allows and copied where not.
#[derive(Debug, Clone)]
pub enum Batched<'a, T> {
    /// In place.
    Borrowed(SeriesBatch<'a, T>),
    /// A copy.
    Owned(OwnedBatch<T>),
}

impl<T: Scalar> Batched<'_, T> {
    /// The batch.
    pub fn batch(&self) -> SeriesBatch<'_, T> {
        match self {
            Self::Borrowed(batch) => *batch,
            Self::Owned(owned) => owned.batch(),
        }
    }
}

/// Anything that is one series. Slices and one-dimensional arrays have one channel; two-dimensional arrays are
/// `[time, channel]`.
pub trait AsSeries<T> {
    /// The series.
    fn as_series(&self) -> Sequence<'_, T>;
}

impl<T: Float> AsSeries<T> for Series<'_, T> {
    fn as_series(&self) -> Sequence<'_, T> {
        Sequence::Borrowed(*self)
    }
}
impl<T: Float> AsSeries<T> for [T] {
    fn as_series(&self) -> Sequence<'_, T> {
        Sequence::Borrowed(Series::univariate(self))
    }
}
impl<T: Float, const N: usize> AsSeries<T> for [T; N] {
    fn as_series(&self) -> Sequence<'_, T> {
        self.as_slice().as_series()
    }
}
impl<T: Float> AsSeries<T> for Vec<T> {
    fn as_series(&self) -> Sequence<'_, T> {
        self.as_slice().as_series()
    }
}
impl<T: Float, S: Data<Elem = T>> AsSeries<T> for ArrayBase<S, Ix1> {
    fn as_series(&self) -> Sequence<'_, T> {
        match self.as_slice() {
            Some(values) => values.as_series(),
            None => Sequence::Copied(self.iter().copied().collect(), 1),
        }
    }
}
impl<T: Float, S: Data<Elem = T>> AsSeries<T> for ArrayBase<S, Ix2> {
    fn as_series(&self) -> Sequence<'_, T> {
        match self.as_slice() {
            Some(values) => Sequence::Borrowed(Series { values, channels: self.ncols(), times: None }),
            None => Sequence::Copied(self.iter().copied().collect(), self.ncols()),
        }
    }
}

/// Anything that is a batch of series. Vectors of vectors have one channel and may be ragged; two-dimensional arrays
/// are `[series, time]`, three-dimensional ones `[series, time, channel]`.
pub trait AsBatch<T> {
    /// The batch.
    ///
    /// # Errors
    /// [`dtw_core::Error::Invalid`] when an array has no channels.
    fn as_batch(&self) -> Result<Batched<'_, T>>;
}

impl<T: Float> AsBatch<T> for SeriesBatch<'_, T> {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        Ok(Batched::Borrowed(*self))
    }
}
impl<T: Float> AsBatch<T> for OwnedBatch<T> {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        Ok(Batched::Borrowed(self.batch()))
    }
}
impl<T: Float, R: AsRef<[T]>> AsBatch<T> for [R] {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        let mut owned = OwnedBatch::new(1)?;
        for series in self {
            owned.push(series.as_ref())?;
        }
        Ok(Batched::Owned(owned))
    }
}
impl<T: Float, R: AsRef<[T]>> AsBatch<T> for Vec<R> {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        self.as_slice().as_batch()
    }
}
impl<T: Float, R: AsRef<[T]>, const N: usize> AsBatch<T> for [R; N] {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        self.as_slice().as_batch()
    }
}

fn from_array<T: Float>(
    values: Option<&[T]>,
    copied: impl FnOnce() -> Vec<T>,
    (count, length, channels): (usize, usize, usize),
) -> Result<Batched<'_, T>> {
    if let Some(values) = values {
        return SeriesBatch::equal(values, count, length, channels).map(Batched::Borrowed);
    }
    let mut owned = OwnedBatch::new(channels)?;
    let values = copied();
    if length > 0 {
        for series in values.chunks_exact(length * channels) {
            owned.push(series)?;
        }
    } else {
        (0..count).try_for_each(|_| owned.push(&[]))?;
    }
    Ok(Batched::Owned(owned))
}

impl<T: Float, S: Data<Elem = T>> AsBatch<T> for ArrayBase<S, Ix2> {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        let (count, length) = self.dim();
        from_array(self.as_slice(), || self.iter().copied().collect(), (count, length, 1))
    }
}
impl<T: Float, S: Data<Elem = T>> AsBatch<T> for ArrayBase<S, Ix3> {
    fn as_batch(&self) -> Result<Batched<'_, T>> {
        from_array(self.as_slice(), || self.iter().copied().collect(), self.dim())
    }
}
