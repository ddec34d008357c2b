//! The windows of a reference that is read block by block.

use crate::{Blocks, Match, Result, Scalar, Selection};

/// Gives every window of a reference once; the last points of a block are kept for the windows that reach into the next
/// one.
///
/// Memory: the points of one block and a window.
#[derive(Debug)]
pub struct WindowBlocks<T> {
    /// Points of a window.
    length: usize,
    channels: usize,
    points: Vec<T>,
    /// Points read.
    done: usize,
    /// Windows that were given last.
    given: usize,
}

/// Some windows, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Windows<'a, T> {
    /// Where the first of them starts in the reference.
    pub first: usize,
    /// How many there are; none if the reference has given too few points for the next one.
    pub count: usize,
    /// Their points, `count + length − 1` of them, or fewer than a window.
    pub points: &'a [T],
}

impl<T: Scalar> WindowBlocks<T> {
    /// Windows of `length` points, at least 1, with `channels` values each.
    pub fn new(length: usize, channels: usize) -> Self {
        Self { length, channels, points: Vec::new(), done: 0, given: 0 }
    }

    /// The next windows, at most `most`; `None` at the end.
    ///
    /// # Errors
    /// As [`Blocks::read`].
    pub fn next(&mut self, reference: &mut dyn Blocks<T>, most: usize) -> Result<Option<Windows<'_, T>>> {
        self.points.drain(..self.given * self.channels);
        self.given = 0;
        let kept = self.points.len();
        let missing = most + self.length - 1 - kept / self.channels;
        reference.read(missing, &mut self.points)?;
        if self.points.len() == kept {
            return Ok(None);
        }
        self.done += (self.points.len() - kept) / self.channels;
        let held = self.points.len() / self.channels;
        self.given = (held + 1).saturating_sub(self.length);
        Ok(Some(Windows { first: self.done - held, count: self.given, points: &self.points }))
    }

    /// The matches of selections to which windows were offered by where they start.
    pub fn matches(&self, selections: Vec<Selection<T>>) -> Vec<Vec<Match<T>>> {
        // A selection calls a window's first point its end.
        let whole = |hit: Match<T>| Match { end: hit.end + self.length - 1, ..hit };
        selections.into_iter().map(|s| s.finish().into_iter().map(whole).collect()).collect()
    }
}
