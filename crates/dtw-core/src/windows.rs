//! Searching a reference that is read block by block: the loop, once for every backend that has all queries at once.

use std::ops::Range;

use crate::{Blocks, Error, InMemory, Match, Observer, Pairing, Result, Scalar, Selection, SeriesBatch};

/// A search for queries in every window of a reference. A device gives the costs of some windows; hits are chosen here.
/// A match of any length is one that ends in a window of one point.
///
/// The last points of a block are kept for the windows that reach into the next one. Memory: the points of one block
/// and a window, and the hits.
#[derive(Debug)]
pub struct WindowSearch<T> {
    /// Points of a window, at least 1.
    pub length: usize,
    /// Values per point.
    pub channels: usize,
    /// Windows whose costs are wanted at a time, at most.
    pub most: usize,
    /// The hits of each query.
    pub selections: Vec<Selection<T>>,
}

/// Some windows, one after the other: a block.
#[derive(Debug, Clone, Copy)]
pub struct Windows<'a, T> {
    /// How many windows were before.
    pub first: usize,
    /// How many there are, at least 1.
    pub count: usize,
    /// Their points, `count + length − 1` of them.
    pub points: &'a [T],
}

/// Takes costs: the number of a query, the first of the given windows that the costs are of, and the costs of this and
/// the following ones.
pub type Offer<'a, T> = dyn FnMut(usize, usize, &[T]) -> Result<()> + 'a;

impl<T: Scalar> WindowSearch<T> {
    /// The matches of every query. `costs` offers those of some windows, for each query in the order of the windows.
    ///
    /// # Errors
    /// As [`Blocks::read`]; what `costs` says; [`Error::Cancelled`].
    pub fn run(
        self,
        reference: &mut dyn Blocks<T>,
        observer: &dyn Observer,
        mut costs: impl FnMut(Windows<'_, T>, &mut Offer<'_, T>) -> Result<()>,
    ) -> Result<Vec<Vec<Match<T>>>> {
        self.each_block(reference, observer, |windows, selections| {
            costs(windows, &mut |query, skipped, costs| {
                selections[query].offer(costs, |w| windows.first + skipped + w)
            })
        })
    }

    /// The matches of every query, of whose selections `sweep` offers each the costs of some windows, and where the
    /// matches start.
    ///
    /// # Errors
    /// As [`Blocks::read`]; what `sweep` says; [`Error::Cancelled`].
    pub fn each_block(
        self,
        reference: &mut dyn Blocks<T>,
        observer: &dyn Observer,
        mut sweep: impl FnMut(Windows<'_, T>, &mut [Selection<T>]) -> Result<()>,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let Self { length, channels, most, mut selections } = self;
        // Points that are held, and points read before them.
        let (mut points, mut first) = (Vec::new(), 0);
        loop {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let kept = points.len();
            reference.read(most + length - 1 - kept / channels, &mut points)?;
            if points.len() == kept {
                break;
            }
            let count = (points.len() / channels + 1).saturating_sub(length);
            if count == 0 {
                continue;
            }
            sweep(Windows { first, count, points: &points }, &mut selections)?;
            points.drain(..count * channels);
            first += count;
            if reference.is_followed() {
                for (query, selection) in selections.iter_mut().enumerate() {
                    selection.tell(reference, query, length)?;
                }
            }
        }
        // A selection calls a window's first point its end.
        let whole = |hit: Match<T>| Match { end: hit.end + length - 1, ..hit };
        Ok(selections.into_iter().map(|s| s.finish().into_iter().map(whole).collect()).collect())
    }
}

/// The matches of `queries` queries in every reference, in pair order, by one search after the other: each gives those
/// of all queries in one reference.
///
/// # Errors
/// What `search` says.
pub fn search_each<T: Scalar>(
    queries: usize,
    references: &SeriesBatch<'_, T>,
    mut search: impl FnMut(&mut InMemory<'_, T>) -> Result<Vec<Vec<Match<T>>>>,
) -> Result<Vec<Vec<Match<T>>>> {
    let mut matches = vec![Vec::new(); queries * references.len()];
    let put = |q: usize, r: usize, hits| matches[q * references.len() + r] = hits;
    search_pairs(Pairing::Cross, queries, references, |_, reference| search(reference), put)?;
    Ok(matches)
}

/// Calls `put` with query, reference and matches of every pair, by one search after the other: each gives those of some
/// of `queries` queries in one reference.
///
/// # Errors
/// What `search` says.
pub fn search_pairs<T: Scalar>(
    pairing: Pairing,
    queries: usize,
    references: &SeriesBatch<'_, T>,
    mut search: impl FnMut(Range<usize>, &mut InMemory<'_, T>) -> Result<Vec<Vec<Match<T>>>>,
    mut put: impl FnMut(usize, usize, Vec<Match<T>>),
) -> Result<()> {
    for (r, reference) in references.iter().enumerate() {
        let some = if pairing == Pairing::Zipped { r..r + 1 } else { 0..queries };
        let found = search(some.clone(), &mut InMemory::new(reference))?;
        some.zip(found).for_each(|(q, hits)| put(q, r, hits));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_of_all_queries_come_in_the_order_of_pairs() {
        let values = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let references = SeriesBatch::ragged(&values, &[0, 1, 3, 6], 1).unwrap();
        let mut lengths = Vec::new();
        let found = search_each(2, &references, |reference| {
            let mut points = Vec::new();
            reference.read(10, &mut points)?;
            lengths.push(points.len());
            let hit = |query: usize| Match { distance: points[0], start: query, end: points.len() };
            Ok(vec![vec![hit(0)], vec![hit(1)]])
        });
        let found: Vec<_> =
            found.unwrap().into_iter().map(|hits| (hits[0].distance, hits[0].start)).collect();
        assert_eq!(lengths, [1, 2, 3]);
        assert_eq!(found, [(0.0, 0), (1.0, 0), (3.0, 0), (0.0, 1), (1.0, 1), (3.0, 1)]);
    }
}
