//! What calls are cut into.

use std::ops::Range;

use dtw_core::{CheckedBatches, Gradients, Pairing, SeriesBatch};

/// Units of a call that do not depend on each other, with the places of their results.
pub trait Work: Sized + Send {
    /// How many units are left.
    fn units(&self) -> usize;

    /// Takes off the first ones: so many or, where a piece ends before, fewer, and at least one.
    fn split(&mut self, units: usize) -> Self;
}

/// The first `count` series, which the batch loses.
fn first<'a, T>(batch: &mut SeriesBatch<'a, T>, count: usize) -> SeriesBatch<'a, T> {
    let taken = batch.slice(0..count);
    *batch = batch.slice(count..batch.len());
    taken
}

/// The first `count` values, which the slice loses.
fn front<'a, T>(values: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (taken, rest) = std::mem::take(values).split_at_mut(count);
    *values = rest;
    taken
}

/// Rows of a matrix, which are series of x with all of y; or zipped pairs, each a row of one value.
pub(crate) struct Rows<'a, T> {
    pub(crate) pairing: Pairing,
    pub(crate) x: SeriesBatch<'a, T>,
    pub(crate) y: SeriesBatch<'a, T>,
    pub(crate) out: &'a mut [T],
}

impl<T: Copy + Send + Sync> Work for Rows<'_, T> {
    fn units(&self) -> usize {
        self.x.len()
    }
    fn split(&mut self, units: usize) -> Self {
        let (y, width) = match self.pairing {
            Pairing::Zipped => (first(&mut self.y, units), 1),
            Pairing::Cross | Pairing::SelfSymmetric => (self.y, self.y.len()),
        };
        let (x, out) = (first(&mut self.x, units), front(&mut self.out, units * width));
        Self { pairing: self.pairing, x, y, out }
    }
}

/// Zipped pairs, and a value and two gradients of each.
pub(crate) struct Slopes<'a, T> {
    pub(crate) x: SeriesBatch<'a, T>,
    pub(crate) y: SeriesBatch<'a, T>,
    pub(crate) out: Gradients<'a, T>,
}

impl<T: Copy> Slopes<'_, T> {
    /// The same work, for a first attempt.
    pub(crate) fn again(&mut self) -> Slopes<'_, T> {
        let Gradients { upstream, distances, grad_x, grad_y } = &mut self.out;
        let out = Gradients { upstream: *upstream, distances, grad_x, grad_y };
        Slopes { x: self.x, y: self.y, out }
    }
}

impl<T: Copy + Send + Sync> Work for Slopes<'_, T> {
    fn units(&self) -> usize {
        self.x.len()
    }
    fn split(&mut self, units: usize) -> Self {
        let (x, y) = (first(&mut self.x, units), first(&mut self.y, units));
        let upstream = self.out.upstream.map(|upstream| {
            let (taken, rest) = upstream.split_at(units);
            self.out.upstream = Some(rest);
            taken
        });
        let out = Gradients {
            upstream,
            distances: front(&mut self.out.distances, units),
            grad_x: front(&mut self.out.grad_x, x.values().len()),
            grad_y: front(&mut self.out.grad_y, y.values().len()),
        };
        Self { x, y, out }
    }
}

/// Some series of one side of a call, from the `start`-th on: results have no places yet.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a, T> {
    pub(crate) start: usize,
    pub(crate) series: SeriesBatch<'a, T>,
}

impl<'a, T> Part<'a, T> {
    pub(crate) fn all(series: SeriesBatch<'a, T>) -> Self {
        Self { start: 0, series }
    }
}

impl<T: Copy + Send + Sync> Work for Part<'_, T> {
    fn units(&self) -> usize {
        self.series.len()
    }
    fn split(&mut self, units: usize) -> Self {
        let taken = Self { start: self.start, series: first(&mut self.series, units) };
        self.start += units;
        taken
    }
}

/// Zipped pairs, from the `start`-th on.
pub(crate) struct PairPart<'a, T> {
    pub(crate) x: Part<'a, T>,
    pub(crate) y: Part<'a, T>,
}

impl<'a, T> PairPart<'a, T> {
    pub(crate) fn all(pairs: CheckedBatches<'a, T>) -> Self {
        Self { x: Part::all(pairs.x), y: Part::all(pairs.y) }
    }
}

impl<T: Copy + Send + Sync> Work for PairPart<'_, T> {
    fn units(&self) -> usize {
        self.x.units()
    }
    fn split(&mut self, units: usize) -> Self {
        Self { x: self.x.split(units), y: self.y.split(units) }
    }
}

/// Windows of a series, by their numbers.
pub(crate) struct Numbers(pub(crate) Range<usize>);

impl Work for Numbers {
    fn units(&self) -> usize {
        self.0.len()
    }
    fn split(&mut self, units: usize) -> Self {
        let middle = self.0.start + units;
        let taken = Self(self.0.start..middle);
        self.0.start = middle;
        taken
    }
}
