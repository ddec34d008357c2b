//! One side of a batched sweep: the series of all lanes, interleaved so that a point of all lanes is one register.
//!
//! Layout: point `i` (1-based; point 0 is zero, the `x₀` of the recurrences), channel `k` at `points[i·channels + k]`.
//! Lanes with shorter series are padded with zeros; what is computed from the padding is never read.

use dtw_core::recurrence::{One, Point, Recurrence, Sample};
use dtw_core::vector::Vector;
use dtw_core::{Scalar, Series};

use crate::lanes::{MOST_LANES, Register};

/// A point type that can be read from interleaved storage.
pub(crate) trait Stored<'a, V: Vector + 'a>: Point<V> {
    /// Point `i` of `points`.
    fn at(points: &'a [V], channels: usize, i: usize) -> Self;
}

impl<'a, V: Vector + 'a> Stored<'a, V> for One<V> {
    #[inline(always)]
    fn at(points: &'a [V], _: usize, i: usize) -> Self {
        One(points[i])
    }
}

impl<'a, V: Vector + 'a> Stored<'a, V> for &'a [V] {
    #[inline(always)]
    fn at(points: &'a [V], channels: usize, i: usize) -> Self {
        &points[i * channels..(i + 1) * channels]
    }
}

/// Interleaved series with what a recurrence wants to know of each point.
#[derive(Debug)]
pub(crate) struct Side<V> {
    points: Vec<V>,
    times: Vec<V>,
    channels: usize,
    length: usize,
}

impl<V: Register> Side<V> {
    /// Room for nothing yet.
    pub(crate) fn new() -> Self {
        Self { points: Vec::new(), times: Vec::new(), channels: 1, length: 0 }
    }

    /// Values per point.
    pub(crate) fn channels(&self) -> usize {
        self.channels
    }

    /// The points, as they lie.
    pub(crate) fn points(&self) -> &[V] {
        &self.points
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        (self.points.len() + self.times.len()) * size_of::<V>()
    }

    /// Fills lane `l` with `series[l]`; `length` is the longest, and `padding` more points are readable. Lanes beyond
    /// repeat the last series, so that their arithmetic is as harmless as any other's.
    #[inline(always)]
    pub(crate) fn fill(
        &mut self,
        token: V::Token,
        series: &[Series<'_, V::Scalar>],
        length: usize,
        padding: usize,
    ) {
        let channels = series[0].channels;
        (self.channels, self.length) = (channels, length);
        let zero = V::splat(token, V::Scalar::ZERO);
        let rows = length + 1 + padding;
        if self.points.len() < rows * channels {
            self.points.resize(rows * channels, zero);
        }
        if self.times.len() < rows {
            self.times.resize(rows, zero);
        }
        self.points[..channels].fill(zero);
        let end = (length + 1) * channels;
        let first = series[0];
        if first.len() == length && series[1..].iter().all(|s| std::ptr::eq(s.values, first.values)) {
            for (slot, value) in self.points[channels..end].iter_mut().zip(first.values) {
                *slot = V::splat(token, *value);
            }
        } else {
            interleave(token, series, &mut self.points[channels..end]);
        }
        self.points[end..end + padding * channels].fill(zero);
    }

    /// Fills the timestamps: the series' own, or 1, 2, ….
    pub(crate) fn fill_times(&mut self, series: &[Series<'_, V::Scalar>], padding: usize) {
        for i in 1..=self.length + padding {
            for l in 0..V::LANES {
                let time = match series[l.min(series.len() - 1)].times {
                    Some(times) => times.get(i - 1).copied().unwrap_or_default(),
                    None => V::Scalar::from_f64(i as f64),
                };
                self.times[i].lanes_mut()[l] = time;
            }
        }
    }

    /// Computes the gap costs of points `1..=length + padding` into `gaps`.
    #[inline(always)]
    pub(crate) fn fill_gaps<'a, P: Stored<'a, V>, R: Recurrence<V, P>>(
        &'a self,
        recurrence: &R,
        padding: usize,
        gaps: &mut Vec<V>,
    ) where
        V: 'a,
    {
        gaps.clear();
        gaps.resize(self.length + padding + 1, self.times[0]);
        for (i, gap) in gaps.iter_mut().enumerate().skip(1) {
            *gap = recurrence.gap(&self.sample::<P, R>(&[], i));
        }
    }

    /// What a recurrence sees of point `i`, 1-based.
    #[inline(always)]
    pub(crate) fn sample<'a, P: Stored<'a, V>, R: Recurrence<V, P>>(
        &'a self,
        gaps: &[V],
        i: usize,
    ) -> Sample<V, P>
    where
        V: 'a,
    {
        let zero = self.times[0];
        Sample {
            point: P::at(&self.points, self.channels, i),
            previous: P::at(&self.points, self.channels, i - 1),
            time: if R::TIMES { self.times[i] } else { zero },
            previous_time: if R::TIMES { self.times[i - 1] } else { zero },
            gap: if R::GAPS && !gaps.is_empty() { gaps[i] } else { zero },
        }
    }
}

/// Fills lane `l` with the values of `series[l]`, and zeros after them; lanes beyond repeat the last series. As many
/// values as there are lanes are turned round at once: value by value it took a tenth of a sweep of 16 channels
/// (AVX-512, AMD Zen 4).
#[inline(always)]
fn interleave<V: Register>(token: V::Token, series: &[Series<'_, V::Scalar>], slots: &mut [V]) {
    let values = |l: usize| series[l.min(series.len() - 1)].values;
    let shortest = series.iter().map(|s| s.values.len()).min().unwrap_or(0);
    let whole = shortest - shortest % V::LANES;
    let mut block = [V::splat(token, V::Scalar::ZERO); MOST_LANES];
    for (k, slots) in slots[..whole].chunks_exact_mut(V::LANES).enumerate() {
        for (l, register) in block.iter_mut().enumerate().take(V::LANES) {
            *register = V::load(token, &values(l)[k * V::LANES..]);
        }
        V::transpose(&mut block);
        slots.copy_from_slice(&block[..V::LANES]);
    }
    for l in 0..V::LANES {
        let rest = &values(l)[whole..];
        for (k, slot) in slots[whole..].iter_mut().enumerate() {
            slot.lanes_mut()[l] = rest.get(k).copied().unwrap_or(V::Scalar::ZERO);
        }
    }
}
