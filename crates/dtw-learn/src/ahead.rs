//! One thing is made while the one before is used.

use std::sync::mpsc::{channel, sync_channel};
use std::thread;

use dtw_core::Result;

/// Calls `take` with what `make` makes of each item, in order. A thread of its own makes the next one meanwhile, into
/// what was taken before; so there are two of them. Ends with the first error of either.
pub(crate) fn ahead<I: Send, M: Default + Send>(
    items: impl Iterator<Item = I> + Send,
    mut make: impl FnMut(&I, &mut M) -> Result<()> + Send,
    mut take: impl FnMut(&I, &M) -> Result<()>,
) -> Result<()> {
    // Nothing waits between the two: what is made is handed over.
    let (finished, made) = sync_channel(0);
    let (used, free) = channel::<M>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for item in items {
                let mut room = free.try_recv().unwrap_or_default();
                let done = make(&item, &mut room);
                let is_last = done.is_err();
                // Nobody waits for it any more where it could not be taken.
                if finished.send(done.map(|()| (item, room))).is_err() || is_last {
                    break;
                }
            }
        });
        for next in made {
            let (item, room) = next?;
            take(&item, &room)?;
            // It is of no use any more where the last one is made.
            let _ = used.send(room);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use dtw_core::Error;

    use super::*;

    #[test]
    fn one_is_made_while_the_one_before_is_taken() {
        let barrier = Barrier::new(2);
        let mut rooms = Vec::new();
        let make = |k: &usize, room: &mut Vec<usize>| {
            if *k > 0 {
                barrier.wait();
            }
            room.push(*k);
            Ok(())
        };
        ahead(0..7, make, |k, room: &Vec<usize>| {
            if *k < 6 {
                barrier.wait();
            }
            rooms.push((*k, room.clone()));
            Ok(())
        })
        .unwrap();
        assert!(rooms.iter().enumerate().all(|(k, (item, room))| *item == k && room.last() == Some(&k)));
        // Two rooms take all of them.
        let firsts = rooms.iter().filter(|(_, room)| room.len() == 1).count();
        assert!(firsts <= 2, "{rooms:?}");
    }

    #[test]
    fn an_error_of_either_ends_both() {
        let stop = |at: usize, k: usize| if k == at { Err(Error::Cancelled) } else { Ok(()) };
        for (make_at, take_at, most) in [(3, 99, 4), (99, 3, 6), (0, 99, 1)] {
            let (made, mut taken) = (AtomicUsize::new(0), 0);
            let make = |k: &usize, _: &mut ()| {
                made.fetch_add(1, Ordering::Relaxed);
                stop(make_at, *k)
            };
            let done = ahead(0..20, make, |k, ()| {
                taken += 1;
                stop(take_at, *k)
            });
            assert!(matches!(done, Err(Error::Cancelled)), "{done:?}");
            assert!(made.load(Ordering::Relaxed) <= most);
            assert_eq!(taken, if take_at == 3 { 4 } else { make_at });
        }
    }
}
