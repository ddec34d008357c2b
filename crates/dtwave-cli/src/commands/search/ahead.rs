//! A file's points for a search, read by a thread of its own: what is next is there when a block has been searched.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::Result;
use dtwave::{Blocks, Match};

use crate::data::SeriesBlocks;
use crate::engine::{self, Element};
use crate::progress::Progress;

/// Values that are read at a time.
const CHUNK: usize = 1 << 14;

/// Most values that wait for a search: more than a device searches at once.
const MOST: usize = 1 << 24;

/// The part of the memory that those may take: one of so many.
const SHARE: u64 = 16;

/// Hears which hits of a query are settled, and says what failed.
pub(super) type Hear<'a, T> = dyn FnMut(usize, &[Match<T>]) -> Result<()> + Send + 'a;

/// A file, and what is told while it is read.
pub(super) struct Ahead<'a> {
    /// Open, and nothing read of it.
    pub(super) blocks: SeriesBlocks,
    pub(super) shown: String,
    pub(super) memory_limit_bytes: u64,
    pub(super) progress: &'a Progress,
    /// The cells of so many points.
    pub(super) cells: &'a (dyn Fn(usize) -> u64 + Sync),
}

impl Ahead<'_> {
    /// What `search` finds in the blocks, and the file at its end. Where somebody hears of settled hits, what is read
    /// is searched at once.
    ///
    /// # Errors
    /// What is wrong with the file; what the search says; what the one who hears says.
    pub(super) fn search<T: Element, R>(
        self,
        hear: Option<&mut Hear<'_, T>>,
        search: impl FnOnce(&mut dyn Blocks<T>) -> dtwave::Result<R>,
    ) -> Result<(R, SeriesBlocks)> {
        let channels = self.blocks.channels();
        let most = (self.memory_limit_bytes / SHARE / (CHUNK * size_of::<T>()) as u64) as usize;
        let (send, receive) = sync_channel(most.clamp(1, MOST / CHUNK));
        thread::scope(|scope| {
            let at_once = if hear.is_some() { 1 } else { (CHUNK / channels).max(1) };
            let reader = scope.spawn(move || self.read(at_once, send));
            let mut feed = Feed { channels, receive, chunk: Vec::new(), taken: 0, hear, failed: None };
            let result = search(&mut feed);
            let failed = feed.failed.take();
            // The reader stops where nobody takes what it reads.
            drop(feed);
            let blocks = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            match failed {
                Some(error) => Err(error),
                None => Ok((result?, blocks)),
            }
        })
    }

    /// Sends all points, or what is wrong with them.
    fn read<T: Element>(mut self, points: usize, to: SyncSender<Result<Vec<T>>>) -> SeriesBlocks {
        let mut values = Vec::new();
        loop {
            let chunk = self.next(points, &mut values);
            let is_last = chunk.as_ref().map_or(true, Vec::is_empty);
            if to.send(chunk).is_err() || is_last {
                return self.blocks;
            }
        }
    }

    fn next<T: Element>(&mut self, points: usize, values: &mut Vec<f64>) -> Result<Vec<T>> {
        let (done, channels) = (self.blocks.done(), self.blocks.channels());
        values.clear();
        self.blocks.read(points, values)?;
        let mut chunk = Vec::with_capacity(values.len());
        engine::convert(values, &mut chunk)
            .map_err(|at| engine::too_large::<T>(&self.shown, 0, done + at / channels, values[at]))?;
        // Where a file does not say how many points it has, what was read of it does.
        if let (None, Some(share)) = (self.blocks.points(), self.blocks.share()) {
            let all = self.blocks.done() as f64 / share.max(1e-9);
            self.progress.expect((self.cells)(all as usize));
        }
        Ok(chunk)
    }
}

/// Passes what was read to a search.
struct Feed<'a, 'b, T> {
    channels: usize,
    receive: Receiver<Result<Vec<T>>>,
    chunk: Vec<T>,
    /// Values of the chunk that were taken.
    taken: usize,
    hear: Option<&'a mut Hear<'b, T>>,
    /// The search's errors are not ours: what the file says is kept here.
    failed: Option<anyhow::Error>,
}

impl<T: Element> Feed<'_, '_, T> {
    /// What is there of what was read; at least one value, or none at the end.
    fn next(&mut self, waits: bool) -> Result<bool> {
        if self.taken < self.chunk.len() {
            return Ok(true);
        }
        // Nobody sends any more behind the end.
        let chunk = if waits { self.receive.recv().ok() } else { self.receive.try_recv().ok() };
        (self.chunk, self.taken) = (chunk.unwrap_or(Ok(Vec::new()))?, 0);
        Ok(!self.chunk.is_empty())
    }

    fn fail<R>(&mut self, result: Result<R>) -> dtwave::Result<R> {
        result.map_err(|error| {
            self.failed = Some(error);
            dtwave::Error::Cancelled
        })
    }
}

impl<T: Element> Blocks<T> for Feed<'_, '_, T> {
    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> dtwave::Result<()> {
        let before = block.len();
        let all = before.saturating_add(points.saturating_mul(self.channels));
        while block.len() < all {
            // A stream that is followed may have no more for long.
            let waits = self.hear.is_none() || block.len() == before;
            let next = self.next(waits);
            if !self.fail(next)? {
                break;
            }
            let count = (all - block.len()).min(self.chunk.len() - self.taken);
            block.extend_from_slice(&self.chunk[self.taken..self.taken + count]);
            self.taken += count;
        }
        Ok(())
    }

    fn is_followed(&self) -> bool {
        self.hear.is_some()
    }

    fn settled(&mut self, query: usize, hits: &[Match<T>]) -> dtwave::Result<()> {
        let Some(hear) = &mut self.hear else { return Ok(()) };
        let heard = hear(query, hits);
        self.fail(heard)
    }
}
