//! Loops on the threads of the current pool.
//!
//! Rayon's iterators are compiled for each closure, so for each sweep of each type and instruction set, and were an
//! eighth of this crate's code. What these functions call is no type parameter: rayon is compiled once for each type of
//! a slice or result.

use dtw_core::Result;
use rayon::prelude::*;

/// `work(k)` for every `k < count`.
///
/// # Errors
/// One of those of `work`; what was not begun by then is left.
pub(crate) fn each(count: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    (0..count).into_par_iter().with_max_len(1).try_for_each(work)
}

/// `work(k, chunk)` for every chunk of `size` values, the last of which may be shorter.
///
/// # Errors
/// As [`each`].
pub(crate) fn each_chunk<T: Send>(
    values: &mut [T],
    size: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    values.par_chunks_mut(size).enumerate().try_for_each(|(k, chunk)| work(k, chunk))
}

/// What `work(k)` returns for every `k < count`, in this order.
///
/// # Errors
/// As [`each`].
pub(crate) fn map<R: Send>(count: usize, work: &(dyn Fn(usize) -> Result<R> + Sync)) -> Result<Vec<R>> {
    (0..count).into_par_iter().map(work).collect()
}
