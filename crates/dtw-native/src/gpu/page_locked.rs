//! Page-locked memory, and that which waits for its next transfer: to lock 10 MiB takes milliseconds.

use std::ptr::NonNull;

/// Most bytes that wait, of one context.
const MOST: usize = 64 << 20;

/// Page-locked memory, as a driver gave it.
#[derive(Debug)]
pub(super) struct PageLocked {
    pub(super) start: NonNull<u8>,
    pub(super) bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for PageLocked {}

/// What waits, the longest waiting first.
#[derive(Debug, Default)]
pub(super) struct Waiting(Vec<PageLocked>);

impl Waiting {
    /// The smallest with room for `bytes` bytes.
    pub(super) fn take(&mut self, bytes: usize) -> Option<PageLocked> {
        let fitting = self.0.iter().enumerate().filter(|(_, memory)| memory.bytes >= bytes);
        let (at, _) = fitting.min_by_key(|(_, memory)| memory.bytes)?;
        Some(self.0.remove(at))
    }

    /// Lets memory wait; what is too much then, the longest waiting, is to be freed.
    #[must_use]
    pub(super) fn keep(&mut self, memory: PageLocked) -> Vec<PageLocked> {
        self.0.push(memory);
        let mut held: usize = self.0.iter().map(|memory| memory.bytes).sum();
        let mut count = 0;
        while held > MOST {
            held -= self.0[count].bytes;
            count += 1;
        }
        self.0.drain(..count).collect()
    }

    /// All of it.
    pub(super) fn take_all(&mut self) -> Vec<PageLocked> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_that_fits_is_taken_and_the_oldest_goes_first() {
        let mebibytes = |count: usize| PageLocked { start: NonNull::dangling(), bytes: count << 20 };
        let sizes = |all: &[PageLocked]| all.iter().map(|memory| memory.bytes >> 20).collect::<Vec<_>>();
        let mut waiting = Waiting::default();
        for size in [30, 4, 8, 16] {
            assert_eq!(sizes(&waiting.keep(mebibytes(size))), [0; 0]);
        }
        assert_eq!(waiting.take(5 << 20).map(|memory| memory.bytes), Some(8 << 20));
        assert!(waiting.take(31 << 20).is_none());
        assert_eq!(sizes(&waiting.keep(mebibytes(32))), [30]);
        assert_eq!(sizes(&waiting.keep(mebibytes(65))), [4, 16, 32, 65]);
        let _ = waiting.keep(mebibytes(64));
        assert_eq!(sizes(&waiting.take_all()), [64]);
        assert!(waiting.take(0).is_none());
    }
}
