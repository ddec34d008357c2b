//! A file's points for a search, read by a thread of its own: what is next is there when a block has been searched.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::Result;
use dtwave::Blocks;

use crate::data::SeriesBlocks;
use crate::engine::{self, Element};
use crate::progress::Progress;

/// Values that are read at a time.
const CHUNK: usize = 1 << 14;

/// Most values that wait for a search: more than a device searches at once.
const MOST: usize = 1 << 24;

/// The part of the memory that those may take: one of so many.
const SHARE: u64 = 16;

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
    /// What `search` finds in the blocks, and the file at its end.
    ///
    /// # Errors
    /// What is wrong with the file; what the search says.
    pub(super) fn search<T: Element, R>(
        self,
        search: impl FnOnce(&mut dyn Blocks<T>) -> dtwave::Result<R>,
    ) -> Result<(R, SeriesBlocks)> {
        let channels = self.blocks.channels();
        let most = (self.memory_limit_bytes / SHARE / (CHUNK * size_of::<T>()) as u64) as usize;
        let (send, receive) = sync_channel(most.clamp(1, MOST / CHUNK));
        thread::scope(|scope| {
            let reader = scope.spawn(|| self.read(send));
            let mut feed = Feed { channels, receive, chunk: Vec::new(), taken: 0, failed: None };
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
    fn read<T: Element>(mut self, to: SyncSender<Result<Vec<T>>>) -> SeriesBlocks {
        let mut values = Vec::new();
        loop {
            let chunk = self.next(&mut values);
            let is_last = chunk.as_ref().map_or(true, Vec::is_empty);
            if to.send(chunk).is_err() || is_last {
                return self.blocks;
            }
        }
    }

    fn next<T: Element>(&mut self, values: &mut Vec<f64>) -> Result<Vec<T>> {
        let (done, channels) = (self.blocks.done(), self.blocks.channels());
        values.clear();
        self.blocks.read((CHUNK / channels).max(1), values)?;
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
struct Feed<T> {
    channels: usize,
    receive: Receiver<Result<Vec<T>>>,
    chunk: Vec<T>,
    /// Values of the chunk that were taken.
    taken: usize,
    /// The search's errors are not ours: what the file says is kept here.
    failed: Option<anyhow::Error>,
}

impl<T: Element> Blocks<T> for Feed<T> {
    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> dtwave::Result<()> {
        let mut wanted = points.saturating_mul(self.channels);
        while wanted > 0 {
            if self.taken == self.chunk.len() {
                // Nobody sends any more behind the end.
                match self.receive.recv().unwrap_or(Ok(Vec::new())) {
                    Ok(chunk) if chunk.is_empty() => return Ok(()),
                    Ok(chunk) => (self.chunk, self.taken) = (chunk, 0),
                    Err(error) => {
                        self.failed = Some(error);
                        return Err(dtwave::Error::Cancelled);
                    }
                }
            }
            let count = wanted.min(self.chunk.len() - self.taken);
            block.extend_from_slice(&self.chunk[self.taken..self.taken + count]);
            self.taken += count;
            wanted -= count;
        }
        Ok(())
    }
}
