//! What every path pays at least, by any measure that tells of a row or column ([`Recurrence::least`]): LB_Keogh
//! (Keogh & Ratanamahatana 2005, 10.1007/s10115-004-0154-9) with the measure's own prices instead of the square, as
//! Tan, Petitjean & Webb have it for several measures ("Elastic bands across the path", 2019,
//! 10.1137/1.9781611975673.59).
//!
//! A path arrives at every column, and at every row, for the first time once. So the sum over the columns of the least
//! that an arrival can cost is a bound, and so is that over the rows. Where cells have weights, the rows that a column
//! may meet are taken in rings around the diagonal, each with its envelope and its least weight.

use dtw_core::bounds::Envelope;
use dtw_core::recurrence::{One, Recurrence, Sample, Visitor};
use dtw_core::{Scalar, Spec};

use crate::lanes::Register;

/// Rings around the diagonal, at most.
const RINGS: usize = 8;

/// Rows around the diagonal that a column may meet.
#[derive(Debug)]
struct Ring<T> {
    envelope: Envelope<T>,
    weight: T,
}

/// What the columns of another series may meet of a series, in a band that is as wide on both sides.
#[derive(Debug)]
pub(crate) struct Reached<T> {
    points: Vec<T>,
    rings: Vec<Ring<T>>,
    /// The least weight of all cells.
    weight: T,
    /// Weight of cells with `|i − j|` = index; empty where there are none.
    pub(crate) weights: Vec<T>,
}

impl<T: Scalar> Reached<T> {
    /// Of `points`, by a band of this radius, with these [`weights`].
    pub(crate) fn new(points: &[T], radius: usize, weights: &[T]) -> Self {
        let n = points.len();
        let radius = radius.min(n - 1);
        let least = |some: &[T]| some.iter().fold(T::INFINITY, |a, b| a.min(*b));
        let rings = if weights.is_empty() { 1 } else { RINGS.min(radius + 1) };
        let end = |ring: usize| (ring + 1) * (radius + 1) / rings;
        let rings = (0..rings).map(|ring| {
            let start = if ring == 0 { 0 } else { end(ring - 1) };
            let mut envelope = Envelope::default();
            let reach = end(ring) - 1;
            envelope.fill(points, (0..n).map(|k| k.saturating_sub(reach)..(k + reach + 1).min(n)));
            let weight = if weights.is_empty() { T::ZERO } else { least(&weights[start..end(ring)]) };
            Ring { envelope, weight }
        });
        let weight = if weights.is_empty() { T::ZERO } else { least(&weights[..=radius]) };
        Self { points: points.to_vec(), rings: rings.collect(), weight, weights: weights.to_vec() }
    }

    /// What it costs at least to arrive at column `j`, 0-based, of which `sample` is the point of the other series.
    #[inline(always)]
    pub(crate) fn column<V, R>(
        &self,
        token: V::Token,
        recurrence: &R,
        sample: &Sample<V, One<V>>,
        j: usize,
    ) -> V
    where
        V: Register<Scalar = T>,
        R: Recurrence<V, One<V>>,
    {
        let zero = V::splat(token, T::ZERO);
        let mut least = V::splat(token, T::INFINITY);
        for Ring { envelope, weight } in &self.rings {
            let reach = [V::splat(token, envelope.lower[j]), V::splat(token, envelope.upper[j])];
            // The first column is arrived at from the corner, before which both series are zero.
            let before = if j == 0 {
                [zero; 2]
            } else {
                [V::splat(token, envelope.lower[j - 1]), V::splat(token, envelope.upper[j - 1])]
            };
            least = least.min(recurrence.least(sample, reach, before, V::splat(token, *weight)));
        }
        least
    }

    /// Lower bounds of a register-full of series, whose points and envelopes are given.
    pub(crate) fn bound<V: Register<Scalar = T>>(&self, token: V::Token, spec: &Spec, lanes: [&[T]; 3]) -> V {
        let any = V::splat(token, T::ZERO);
        dtw_core::recurrence::dispatch::<V, One<V>, _>(spec, any, Bound { token, reached: self, lanes })
    }
}

/// What a recurrence sees of point `j`, 0-based, of which `before` is the point before, or zero.
#[inline(always)]
fn sample<V: Register, R: Recurrence<V, One<V>>>(
    token: V::Token,
    recurrence: &R,
    [before, point]: [V; 2],
    j: usize,
) -> Sample<V, One<V>> {
    let time = |j: usize| V::splat(token, V::Scalar::from_f64(j as f64));
    let mut sample = Sample {
        point: One(point),
        previous: One(before),
        time: time(j + 1),
        previous_time: time(j),
        gap: V::splat(token, V::Scalar::ZERO),
    };
    if R::GAPS {
        sample.gap = recurrence.gap(&sample);
    }
    sample
}

/// Bounds of a register-full of series.
struct Bound<'a, V: Register> {
    token: V::Token,
    reached: &'a Reached<V::Scalar>,
    lanes: [&'a [V::Scalar]; 3],
}

impl<V: Register> Visitor<V, One<V>> for Bound<'_, V> {
    type Output = V;

    #[inline(always)]
    fn visit<R: Recurrence<V, One<V>>>(self, recurrence: R) -> V {
        if !R::GROWS || !V::IS_TUNED {
            unreachable!("callers ask `is_pruned` first");
        }
        V::compiled(
            self.token,
            #[inline(always)]
            || self.run::<R>(&recurrence),
        )
    }
}

impl<V: Register> Bound<'_, V> {
    #[inline(always)]
    fn run<R: Recurrence<V, One<V>>>(self, recurrence: &R) -> V {
        let Self { token, reached, lanes: [points, lower, upper] } = self;
        let zero = V::splat(token, V::Scalar::ZERO);
        let at = |values: &[V::Scalar], j: usize| V::load(token, &values[j * V::LANES..]);
        let weight = V::splat(token, reached.weight);
        let (mut columns, mut rows) = (zero, zero);
        let (mut before, mut row_before, mut reach_before) = (zero, zero, [zero; 2]);
        for (j, point) in reached.points.iter().enumerate() {
            let here = at(points, j);
            let column = sample::<V, R>(token, recurrence, [before, here], j);
            columns = columns + reached.column::<V, R>(token, recurrence, &column, j);
            let row_here = V::splat(token, *point);
            let row = sample::<V, R>(token, recurrence, [row_before, row_here], j);
            let reach = [at(lower, j), at(upper, j)];
            rows = rows + recurrence.least(&row, reach, reach_before, weight);
            (before, row_before, reach_before) = (here, row_here, reach);
        }
        columns.max(rows)
    }
}

/// The weights of cells with `|i − j| < n` of series of `n` points, by a measure that has some.
pub(crate) fn weights<T: Scalar>(spec: &Spec, n: usize) -> Vec<T> {
    struct Weights(usize);
    impl<T: Scalar> Visitor<T, One<T>> for Weights {
        type Output = Vec<T>;
        fn visit<R: Recurrence<T, One<T>>>(self, recurrence: R) -> Vec<T> {
            let all = if R::WEIGHTS { self.0 } else { 0 };
            (0..all).map(|offset| T::from_f64(recurrence.weight(offset, self.0, self.0))).collect()
        }
    }
    dtw_core::recurrence::dispatch::<T, One<T>, _>(spec, T::ZERO, Weights(n))
}
