//! One side of a diagonal sweep: a single series, channel by channel, so that neighbouring points of a channel are
//! neighbouring lanes.
//!
//! Along an anti-diagonal the row grows as the column falls, so y is stored back to front. Both sides carry the zero
//! point `x₀`, and [`PAD`] zeros at either end for the lanes that hang over.

use dtw_core::recurrence::{One, Point, Recurrence, Sample};
use dtw_core::{Scalar, Series};

use crate::lanes::Register;

/// Values readable beyond either end; at least as many as a strip of the diagonal sweep has rows.
pub(crate) const PAD: usize = 64;

/// A series ready for the diagonal sweep.
#[derive(Debug, Default)]
pub(crate) struct Line<T> {
    points: Vec<T>,
    times: Vec<T>,
    stride: usize,
    channels: usize,
    length: usize,
    reversed: bool,
}

/// A point of as many neighbours as there are lanes, read channel by channel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided<'a, V: Register> {
    token: V::Token,
    points: &'a [V::Scalar],
    stride: usize,
    channels: usize,
    at: usize,
}

impl<V: Register> Point<V> for Strided<'_, V> {
    const UNIVARIATE: bool = false;
    #[inline(always)]
    fn channels(&self) -> usize {
        self.channels
    }
    #[inline(always)]
    fn get(&self, k: usize) -> V {
        V::load(self.token, &self.points[k * self.stride + self.at..])
    }
}

/// A point type that can be read from a [`Line`].
pub(crate) trait Read<'a, V: Register + 'a>: Point<V> {
    /// The points from slot `at` on, one per lane.
    fn read(token: V::Token, line: &'a Line<V::Scalar>, at: usize) -> Self;
}

impl<'a, V: Register + 'a> Read<'a, V> for One<V> {
    #[inline(always)]
    fn read(token: V::Token, line: &'a Line<V::Scalar>, at: usize) -> Self {
        One(V::load(token, &line.points[at..]))
    }
}

impl<'a, V: Register + 'a> Read<'a, V> for Strided<'a, V> {
    #[inline(always)]
    fn read(token: V::Token, line: &'a Line<V::Scalar>, at: usize) -> Self {
        Self { token, points: &line.points, stride: line.stride, channels: line.channels, at }
    }
}

impl<T: Scalar> Line<T> {
    /// Holds this series, back to front if `reversed`.
    pub(crate) fn fill(&mut self, series: Series<'_, T>, reversed: bool) {
        let (length, channels) = (series.len(), series.channels);
        self.stride = length + 1 + 2 * PAD;
        (self.channels, self.length, self.reversed) = (channels, length, reversed);
        self.points.clear();
        self.points.resize(self.stride * channels, T::ZERO);
        self.times.clear();
        self.times.resize(self.stride, T::ZERO);
        for i in 1..=length {
            let slot = self.slot(i);
            for (k, value) in series.point(i - 1).iter().enumerate() {
                self.points[k * self.stride + slot] = *value;
            }
            self.times[slot] = series.times.map_or_else(|| T::from_f64(i as f64), |times| times[i - 1]);
        }
    }

    /// Points of the series.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Values per point.
    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    /// Where point `i` (1-based, 0 the zero point) is.
    #[inline(always)]
    pub(crate) fn slot(&self, i: usize) -> usize {
        PAD + if self.reversed { self.length - i } else { i }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.points.capacity() + self.times.capacity()) * size_of::<T>()
    }

    /// What a recurrence sees of the points from slot `at` on, but for their gaps.
    #[inline(always)]
    fn ungapped<'a, V, P, R>(&'a self, token: V::Token, at: usize) -> Sample<V, P>
    where
        V: Register<Scalar = T> + 'a,
        P: Read<'a, V>,
        R: Recurrence<V, P>,
    {
        let before = if self.reversed { at + 1 } else { at - 1 };
        let zero = V::splat(token, T::ZERO);
        Sample {
            point: P::read(token, self, at),
            previous: P::read(token, self, before),
            time: if R::TIMES { V::load(token, &self.times[at..]) } else { zero },
            previous_time: if R::TIMES { V::load(token, &self.times[before..]) } else { zero },
            gap: zero,
        }
    }

    /// What a recurrence sees of the points from slot `at` on, one per lane.
    #[inline(always)]
    pub(crate) fn sample<'a, V, P, R>(&'a self, token: V::Token, gaps: &[T], at: usize) -> Sample<V, P>
    where
        V: Register<Scalar = T> + 'a,
        P: Read<'a, V>,
        R: Recurrence<V, P>,
    {
        let mut sample = self.ungapped::<V, P, R>(token, at);
        if R::GAPS {
            sample.gap = V::load(token, &gaps[at..]);
        }
        sample
    }

    /// The gap costs of all slots, where the recurrence has them; else nothing.
    #[inline(always)]
    pub(crate) fn gaps<'a, V, P, R>(&'a self, token: V::Token, recurrence: &R) -> Vec<T>
    where
        V: Register<Scalar = T> + 'a,
        P: Read<'a, V>,
        R: Recurrence<V, P>,
    {
        if !R::GAPS {
            return Vec::new();
        }
        let mut gaps = vec![T::ZERO; self.stride];
        let (first, end) = (PAD, PAD + self.length + 1);
        for at in (first..end).step_by(V::LANES) {
            recurrence.gap(&self.ungapped::<V, P, R>(token, at)).store(&mut gaps[at..]);
        }
        gaps
    }
}
