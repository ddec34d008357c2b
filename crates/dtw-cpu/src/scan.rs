//! One query in one reference, block after block: subsequence DTW in O(query + block) memory.
//!
//! A column of the grid depends on the column before it alone. So a block of columns is a grid of its own whose border
//! column is the last column of the block before, with the same bits as one sweep of the whole reference. Of a block,
//! the last row goes to the selection and the last column to the next block.
//!
//! Starts are carried as bit patterns, which hold small numbers only in f32, and the recurrence counts the columns of a
//! block from 0. So a state that comes from the block before bears a number behind all columns of a block, its row's,
//! and `starts[row]` says where it really starts: exact however long the reference is.

use dtw_core::{Match, Observer, Result, Scalar, SearchOptions, Selection, Series, Spec};

use crate::group::{Scratch, tell};
use crate::lanes::Register;
use crate::line::PAD;
use crate::single::MOST_POINTS;

/// Fewest points of a block for which it is worth while.
const LEAST: usize = 1 << 8;

/// How searches share the memory of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cut {
    /// Searches that run at the same time.
    pub(crate) workers: usize,
    /// Points of a block, at most.
    pub(crate) points: usize,
    /// For each selection.
    pub(crate) hits_bytes: u64,
    /// The whole limit, as the user knows it.
    pub(crate) limit_bytes: u64,
}

/// What is searched at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    /// Points of the longest query.
    pub(crate) rows: usize,
    pub(crate) channels: usize,
    pub(crate) searches: usize,
    /// Searches that have begun and not ended, at most; those that do not run keep a column.
    pub(crate) begun: usize,
    /// How often a block is held beside its line.
    pub(crate) copies: usize,
}

impl Cut {
    /// As many workers and as long blocks as fit half of `limit_bytes`; the other half is for hits.
    pub(crate) fn new<T>(demand: &Demand, threads: usize, limit_bytes: u64) -> Result<Self> {
        let Demand { rows, channels, searches, begun, copies } = *demand;
        let value = size_of::<T>();
        let rows = (rows + 2 * PAD) as u64;
        // A column of two parts and its starts.
        let column = rows * (2 * value + size_of::<usize>()) as u64;
        // The reference's line, with times, and two edges of two parts.
        let point = ((channels + 1 + 4) * value) as u64;
        let shared = (copies * channels * value) as u64;
        // The query's line, with times, two more columns and starts that are being made.
        let fixed = rows * ((channels + 1) * value) as u64 + 3 * column + 2 * PAD as u64 * point;
        let least = fixed + LEAST as u64 * (point + shared);
        let waiting = begun.saturating_sub(1) as u64 * column;
        let share = limit_bytes / 2;
        let room = share.saturating_sub(waiting);
        let workers = usize::try_from(room / least).unwrap_or(threads).min(threads).min(searches.max(1));
        if workers == 0 {
            return Err(dtw_core::Error::OutOfMemory {
                what: format!("a search for queries of up to {} points", demand.rows),
                requested_bytes: 2 * (least + waiting),
                available_bytes: limit_bytes,
            });
        }
        let points = (room / workers as u64 - fixed) / (point + shared);
        Ok(Self {
            workers,
            points: usize::try_from(points).unwrap_or(MOST_POINTS).min(MOST_POINTS),
            hits_bytes: share / begun.max(workers) as u64,
            limit_bytes,
        })
    }
}

/// The last column of what has been swept.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct State<T> {
    /// Totals, laid out as a border column, and behind them patterns of their rows; empty before the first block.
    column: Vec<T>,
    /// For each row of it, where the best path starts.
    starts: Vec<usize>,
}

impl<T> State<T> {
    /// Nothing swept yet.
    pub(crate) fn new() -> Self {
        Self { column: Vec::new(), starts: Vec::new() }
    }
}

/// How one query is swept: the same for all blocks of its reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sweep<'a, T, K> {
    pub(crate) token: K,
    pub(crate) spec: &'a Spec,
    pub(crate) query: Series<'a, T>,
    /// Points of a block, at most.
    pub(crate) points: usize,
}

impl<T: Scalar, K: Copy> Sweep<'_, T, K> {
    /// Sweeps a block that begins `done` points into the reference and goes on from `state`; calls `each` with the
    /// costs of its ends and with what tells where the path to an end starts.
    pub(crate) fn block<V: Register<Scalar = T, Token = K>>(
        &self,
        scratch: &mut Scratch<V>,
        state: &State<T>,
        (block, done): (Series<'_, T>, usize),
        observer: &dyn Observer,
        each: impl FnOnce(&[T], &dyn Fn(usize) -> usize) -> Result<()>,
    ) -> Result<State<T>> {
        scratch.single_after(self.token, self.spec, self.query, block, &state.column, observer)?;
        let (edge, right) = (&scratch.strips.edge, &scratch.strips.right);
        let (totals, starts) = edge.split_at(block.len() + 1);
        let first_row = self.points + 1;
        let start = |pattern: T| match pattern.to_index() {
            column if column < first_row => done + column,
            row => state.starts[row - first_row],
        };
        each(&totals[1..], &|j| start(starts[j + 1]))?;
        let (rows, stride) = (self.query.len() + 1, right.len() / 2);
        let mut starts: Vec<usize> = right[stride..][..rows].iter().map(|pattern| start(*pattern)).collect();
        // Row 0 is the border, where paths begin whatever was before.
        starts[0] = 0;
        let mut column = vec![T::ZERO; right.len()];
        column[..rows].copy_from_slice(&right[..rows]);
        for (row, pattern) in column[stride..][..rows].iter_mut().enumerate() {
            *pattern = T::ZERO.index_pattern(first_row + row);
        }
        Ok(State { column, starts })
    }
}

/// Where the search of one query in one reference has got to.
#[derive(Debug)]
pub(crate) struct Scan<T> {
    pub(crate) selection: Selection<T>,
    /// Points of a block, at most.
    pub(crate) points: usize,
    /// Points behind.
    pub(crate) done: usize,
    pub(crate) state: State<T>,
}

impl<T: Scalar> Scan<T> {
    /// Nothing swept yet.
    pub(crate) fn new(options: &SearchOptions, cut: &Cut) -> Self {
        let selection = Selection::new(options, cut.hits_bytes).within(cut.limit_bytes);
        Self { selection, points: cut.points, done: 0, state: State::new() }
    }

    /// Sweeps the next block of the reference.
    pub(crate) fn next<V: Register<Scalar = T>>(
        &mut self,
        (token, scratch): (V::Token, &mut Scratch<V>),
        spec: &Spec,
        query: Series<'_, T>,
        block: Series<'_, T>,
        observer: &dyn Observer,
    ) -> Result<()> {
        tell::<V>(observer, "diagonal sweep", "a search sweeps a block of its reference at a time", 1);
        let sweep = Sweep { token, spec, query, points: self.points };
        let (selection, at) = (&mut self.selection, (block, self.done));
        let offer = |totals: &[T], start: &dyn Fn(usize) -> usize| selection.offer(totals, start);
        self.state = sweep.block::<V>(scratch, &self.state, at, observer, offer)?;
        self.done += block.len();
        Ok(())
    }

    /// The hits, best first.
    pub(crate) fn finish(self) -> Vec<Match<T>> {
        self.selection.finish()
    }
}
