//! A matrix that is computed in memory, and how many of its values left the range of the number type.

use std::sync::Arc;

use anyhow::{Result, ensure};

use crate::engine::{Element, Engine, Matrix};
use crate::options::byte_size;
use crate::progress::Progress;

/// How many results there are, and how many left the range of the number type.
#[derive(Default)]
pub(super) struct Overflow {
    pub(super) total: u64,
    pub(super) overflowed: u64,
}

impl Overflow {
    /// Counts values of which each stands `times` times in the matrix.
    pub(super) fn count<T: Element>(&mut self, values: &[T], times: u64) {
        self.total += times * values.len() as u64;
        self.overflowed += times * values.iter().filter(|v| !v.finite()).count() as u64;
    }
}

/// Computes the whole matrix in memory, if it may be that large.
pub(super) fn in_memory<T: Element>(
    engine: &Engine,
    matrix: &Matrix<'_, T>,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
) -> Result<Vec<T>> {
    let (n, m) = (matrix.x.len(), matrix.y.len());
    let bytes = (n as u64).saturating_mul(m as u64).saturating_mul(T::BYTES as u64);
    ensure!(
        bytes <= engine.memory_limit_bytes,
        "{n} × {m} distances need {}, --memory-limit is {}; write to -o FILE.npy, which streams to the disk",
        byte_size(bytes),
        byte_size(engine.memory_limit_bytes)
    );
    let mut values = vec![T::ZERO; n * m];
    engine.whole(matrix, progress, &mut values)?;
    values.iter_mut().for_each(|value| *value = finish(*value));
    Ok(values)
}
