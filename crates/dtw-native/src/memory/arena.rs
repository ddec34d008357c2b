//! Pieces of one block of memory, handed out and given back.

use std::ops::Range;

/// Where pieces begin, in bytes from the block's beginning.
const ALIGNMENT: usize = 256;

/// A block of so many bytes. Pieces of it are numbered by where they begin; what is asked for in the same order lies in
/// the same places.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    bytes: usize,
    /// Pieces that are out, by where they begin.
    taken: Vec<Range<usize>>,
    most: usize,
}

impl Arena {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, taken: Vec::new(), most: 0 }
    }

    /// Where the first gap is that has so many bytes; `None` if there is none.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<usize> {
        let (mut start, mut place) = (0, self.taken.len());
        for (k, piece) in self.taken.iter().enumerate() {
            if piece.start - start >= bytes {
                place = k;
                break;
            }
            start = piece.end.next_multiple_of(ALIGNMENT);
        }
        let end = start.checked_add(bytes).filter(|end| *end <= self.bytes)?;
        self.taken.insert(place, start..end);
        self.most = self.most.max(end);
        Some(start)
    }

    /// Gives the piece back that begins there.
    pub(crate) fn give_back(&mut self, start: usize) {
        self.taken.retain(|piece| piece.start != start);
    }

    /// Bytes that would have been enough so far.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes - self.taken.iter().map(Range::len).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_used_again() {
        let mut arena = Arena::new(1024);
        assert_eq!([arena.take(100), arena.take(300), arena.take(1)], [Some(0), Some(256), Some(768)]);
        assert_eq!(arena.take(256), None);
        arena.give_back(256);
        assert_eq!([arena.take(512), arena.take(2)], [Some(256), None]);
        assert_eq!((arena.most(), arena.left()), (769, 1024 - 100 - 512 - 1));
        arena.give_back(0);
        assert_eq!(arena.take(257), None);
        assert_eq!(arena.take(200), Some(0));
    }
}
