//! The series that an average is of, and their comparison with a centre.
//!
//! Plans compare zipped pairs, so a call needs one copy of the centre per series. [`Pairs`] makes the copies for as
//! many series at a time as a quarter of the memory limit holds, and keeps one plan per size of such a chunk.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use dtw_core::{OwnedBatch, Pairing, Plan, Problem, Result, Scalar, SeriesBatch, Shape, Spec, bail_invalid};

use crate::Context;

/// Most pairs of a chunk, even where memory allows more: what they leave behind stays in caches, and cancelling is
/// prompt.
const MOST_PAIRS: u64 = 4096;

/// Series with positive weights. Those of weight zero are left out: they change nothing.
pub(crate) struct Members<T> {
    gathered: Option<OwnedBatch<T>>,
    /// Index in the caller's batch of each member.
    pub(crate) indices: Vec<usize>,
    /// Weight of each member, positive.
    pub(crate) weights: Vec<f64>,
}

impl<T: Scalar> Members<T> {
    pub(crate) fn new(x: &SeriesBatch<'_, T>, weights: Option<&[f64]>) -> Result<Self> {
        if x.is_empty() {
            bail_invalid!("an average needs at least one series, got none");
        }
        x.check("x")?;
        let Some(weights) = weights else {
            return Ok(Self { gathered: None, indices: (0..x.len()).collect(), weights: vec![1.0; x.len()] });
        };
        if weights.len() != x.len() {
            bail_invalid!("expected one weight per series ({}), got {}", x.len(), weights.len());
        }
        if let Some(s) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            bail_invalid!("the weight of series {s} is {}: expected a finite number >= 0", weights[s]);
        }
        let indices: Vec<usize> = (0..x.len()).filter(|s| weights[*s] > 0.0).collect();
        if indices.is_empty() {
            bail_invalid!("all {} weights are 0: at least one series must count", weights.len());
        }
        if !weights.iter().sum::<f64>().is_finite() {
            bail_invalid!("the weights' sum overflows f64: scale them down");
        }
        let gathered = if indices.len() == x.len() { None } else { Some(gather(x, &indices)?) };
        Ok(Self { gathered, weights: indices.iter().map(|s| weights[*s]).collect(), indices })
    }

    /// The members, out of the batch they were made of.
    pub(crate) fn batch<'s>(&'s self, x: SeriesBatch<'s, T>) -> SeriesBatch<'s, T> {
        self.gathered.as_ref().map_or(x, OwnedBatch::batch)
    }

    pub(crate) fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }
}

/// Copies of the series at these indices, in this order, timestamps included.
pub(crate) fn gather<T: Scalar>(x: &SeriesBatch<'_, T>, indices: &[usize]) -> Result<OwnedBatch<T>> {
    let mut gathered = OwnedBatch::new(x.channels())?;
    for &s in indices {
        let series = x.get(s);
        match series.times {
            Some(times) => gathered.push_timed(series.values, times)?,
            None => gathered.push(series.values)?,
        }
    }
    Ok(gathered)
}

/// The problem of a centre of `length` points zipped with each of `count` members.
pub(crate) fn zipped<T>(
    spec: &Spec,
    count: usize,
    length: usize,
    members: &SeriesBatch<'_, T>,
) -> Result<Problem> {
    let (max_length_y, channels) = (members.max_length(), members.channels());
    let shape = Shape { n_x: count, n_y: count, max_length_x: length, max_length_y, channels };
    Problem::new(spec.clone(), Pairing::Zipped, shape)
}

/// A centre zipped with each member.
pub(crate) struct Pairs<'c, 'b, 'm, T: Scalar> {
    context: &'c Context<'b, T>,
    spec: Spec,
    members: SeriesBatch<'m, T>,
    length: usize,
    chunk: usize,
    chunk_bytes: u64,
    plans: HashMap<usize, Box<dyn Plan<T>>>,
    copies: Vec<T>,
}

impl<'c, 'b, 'm, T: Scalar> Pairs<'c, 'b, 'm, T> {
    /// Pairs of a centre of `length` points with each member. `bytes_per_pair`: what the caller holds per pair of a
    /// chunk, beside the copy of the centre.
    pub(crate) fn new(
        context: &'c Context<'b, T>,
        spec: Spec,
        members: SeriesBatch<'m, T>,
        length: usize,
        bytes_per_pair: u64,
    ) -> Result<Self> {
        zipped(&spec, members.len(), length, &members)?;
        let bytes = bytes_per_pair + (length * members.channels() * T::DTYPE.bytes()) as u64;
        let chunk = (context.memory_limit_bytes() / 4 / bytes.max(1))
            .clamp(1, (members.len() as u64).min(MOST_PAIRS));
        Ok(Self {
            context,
            spec,
            members,
            length,
            chunk: chunk as usize,
            chunk_bytes: chunk * bytes,
            plans: HashMap::new(),
            copies: Vec::new(),
        })
    }

    /// Calls `visit` with each chunk of members: their range, a plan, the copies of the centre, the members.
    pub(crate) fn for_each_chunk(
        &mut self,
        center: &[T],
        mut visit: impl FnMut(
            Range<usize>,
            &mut dyn Plan<T>,
            SeriesBatch<'_, T>,
            SeriesBatch<'_, T>,
        ) -> Result<()>,
    ) -> Result<()> {
        let (count, channels) = (self.members.len(), self.members.channels());
        for first in (0..count).step_by(self.chunk) {
            self.context.check_cancelled()?;
            let range = first..(first + self.chunk).min(count);
            let plan = match self.plans.entry(range.len()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => {
                    let problem = zipped(&self.spec, range.len(), self.length, &self.members)?;
                    free.insert(self.context.plan(problem, self.chunk_bytes)?)
                }
            };
            self.copies.clear();
            (0..range.len()).for_each(|_| self.copies.extend_from_slice(center));
            let copies = SeriesBatch::equal(&self.copies, range.len(), self.length, channels)?;
            let members = self.members.slice(range.clone());
            visit(range, &mut **plan, copies, members)?;
        }
        Ok(())
    }
}
