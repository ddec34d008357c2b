//! Devices at work on one call, a thread or two each.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use dtw_core::{Error, Result};

use crate::queue::Queue;
use crate::work::Work;

/// One of several devices, as those see it that hand out work.
pub trait Worker: Send {
    /// Whether it can be given work.
    fn is_usable(&self) -> bool;

    /// Whether the error is this device's own, so that another one may do what it could not. It is not used again then.
    fn is_lost_by(&mut self, error: &Error) -> bool;

    /// Tells who watches that the others go on without this device.
    fn tell(&self, error: &Error);
}

/// Whether an error is of the device that gave it, and not of the call, as one of the memory limit is.
pub fn is_own(error: &Error) -> bool {
    matches!(error, Error::Backend { .. })
}

/// What a call has come to.
struct Outcome<R> {
    done: Vec<R>,
    /// What no other device could mend.
    stopped: Option<Error>,
    /// Devices that were lost, and why.
    lost: Vec<(usize, Error)>,
}

fn locked<V>(mutex: &Mutex<V>) -> MutexGuard<'_, V> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Computes all of `work`, piece by piece; returns what the pieces gave, in no order. Devices of one kind take so many
/// `even` pieces in all; without a number, pieces depend on the rates that are seen.
///
/// # Errors
/// The first error that is not a device's own; the last device's own, if all have failed.
pub fn run<H: Worker, W: Work, R: Send>(
    hands: &mut [H],
    even: Option<usize>,
    work: W,
    compute: impl Fn(&mut H, &mut W) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let queue = Mutex::new(Queue::new(work, hands.len(), even));
    let outcome = Mutex::new(Outcome { done: Vec::new(), stopped: None, lost: Vec::new() });
    let stop = AtomicBool::new(false);
    let labour = |index: usize, hand: &mut H| {
        while !stop.load(Ordering::Relaxed) {
            let Some(mut piece) = locked(&queue).take(index) else { return };
            let (start, units) = (Instant::now(), piece.units());
            match compute(hand, &mut piece) {
                Ok(found) => {
                    locked(&queue).took(index, units, start.elapsed().as_secs_f64());
                    locked(&outcome).done.push(found);
                }
                Err(error) if hand.is_lost_by(&error) => {
                    locked(&queue).give_back(index, piece);
                    locked(&outcome).lost.push((index, error));
                    return;
                }
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    locked(&outcome).stopped.get_or_insert(error);
                }
            }
        }
    };
    // Once, unless a device fails when the others have ended.
    loop {
        let usable = hands.iter_mut().enumerate().filter(|(_, hand)| hand.is_usable());
        let labour = &labour;
        side_by_side(usable.map(|(index, hand)| Box::new(move || labour(index, hand)) as Task<'_>).collect());
        let mut outcome = locked(&outcome);
        if let Some(error) = outcome.stopped.take() {
            return Err(error);
        }
        let is_done = locked(&queue).is_empty();
        let others = hands.iter().any(H::is_usable);
        let last = if is_done || others { None } else { outcome.lost.pop() };
        outcome.lost.drain(..).for_each(|(index, error)| hands[index].tell(&error));
        if let Some((_, error)) = last {
            return Err(error);
        }
        if is_done {
            return Ok(std::mem::take(&mut outcome.done));
        }
    }
}

/// What a thread does.
type Task<'t> = Box<dyn FnOnce() + Send + 't>;

/// Does all of it at once: the first on the caller's thread, the others on threads of their own. Compiled once.
fn side_by_side(tasks: Vec<Task<'_>>) {
    std::thread::scope(|scope| {
        let mut tasks = tasks.into_iter();
        let own = tasks.next();
        for other in tasks {
            scope.spawn(other);
        }
        if let Some(own) = own {
            own();
        }
    });
}

/// Has the first device do it that can.
///
/// # Errors
/// As [`run`].
pub(crate) fn alone<H: Worker, R>(
    hands: &mut [H],
    mut compute: impl FnMut(&mut H) -> Result<R>,
) -> Result<R> {
    loop {
        let Some(at) = hands.iter().position(H::is_usable) else {
            return Err(Error::failed("several devices", "all devices of this plan have failed"));
        };
        match compute(&mut hands[at]) {
            Err(error) if hands[at].is_lost_by(&error) => {
                if !hands.iter().any(H::is_usable) {
                    return Err(error);
                }
                hands[at].tell(&error);
            }
            other => return other,
        }
    }
}
