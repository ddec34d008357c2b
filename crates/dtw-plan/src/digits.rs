//! Results of Soft-DTW, its divergence and the alignment kernel: a second sweep where one would lose digits.
//!
//! The plain sweep gives a value for every pair; [`SoftResult`] says which values have kept their digits. The other
//! pairs are swept again for their excess. If they are many, all pairs are swept again.

use dtw_core::{Band, OwnedBatch, Pairing, PathCounts, Result, Scalar, SeriesBatch, SoftResult};

/// All pairs are swept again if at least one in so many has lost its digits.
const FEW: usize = 8;

/// Points that are gathered at once, where pairs are swept again by themselves.
const MOST_GATHERED: usize = 1 << 22;

/// The batches of a pairing and the places of its results.
#[derive(Debug, Clone, Copy)]
struct Batches<'a, 'b, T> {
    pairing: Pairing,
    x: &'a SeriesBatch<'b, T>,
    y: &'a SeriesBatch<'b, T>,
}

impl<T: Scalar> Batches<'_, '_, T> {
    /// The pair of result `k`.
    fn of(&self, k: usize) -> (usize, usize) {
        match self.pairing {
            Pairing::Zipped => (k, k),
            _ => (k / self.y.len(), k % self.y.len()),
        }
    }

    fn lengths(&self, k: usize) -> (usize, usize) {
        let (i, j) = self.of(k);
        (self.x.length(i), self.y.length(j))
    }

    /// The lengths that all pairs have, if they are the same.
    fn only_lengths(&self) -> Option<(usize, usize)> {
        (self.x.is_equal_length() && self.y.is_equal_length()).then(|| self.lengths(0))
    }
}

/// Makes results of the values in `out` that a plain sweep gave. `sweep_excess` gives the excess of all pairs of a
/// pairing; it is called where the plain sweep has lost digits.
///
/// # Errors
/// What `sweep_excess` says; [`dtw_core::Error::Invalid`] where the band leaves a pair no path.
pub fn keep_digits<T: Scalar>(
    soft: SoftResult,
    counts: &mut PathCounts,
    band: &Band,
    (pairing, x, y): (Pairing, &SeriesBatch<'_, T>, &SeriesBatch<'_, T>),
    out: &mut [T],
    sweep_excess: impl FnMut(Pairing, &SeriesBatch<'_, T>, &SeriesBatch<'_, T>, &mut [T]) -> Result<()>,
) -> Result<()> {
    let y = if pairing == Pairing::SelfSymmetric { x } else { y };
    let batches = Batches { pairing, x, y };
    if let Some(lengths) = batches.only_lengths()
        && soft.always_keeps_digits(counts, band, lengths)?
    {
        return Ok(());
    }
    let mut lost = Vec::new();
    for (k, value) in out.iter_mut().enumerate() {
        match soft.from_value(*value, counts, band, batches.lengths(k))? {
            Some(result) => *value = result,
            None => lost.push(k),
        }
    }
    if lost.is_empty() {
        return Ok(());
    }
    let count = out.len();
    excess(batches, &lost, count, sweep_excess, |k, excess| {
        out[k] = soft.from_excess(excess, out[k], counts, band, batches.lengths(k))?;
        Ok(())
    })
}

/// Calls `each` with the excess of every result that is in `lost`, of `count` in all.
fn excess<T: Scalar>(
    batches: Batches<'_, '_, T>,
    lost: &[usize],
    count: usize,
    mut sweep: impl FnMut(Pairing, &SeriesBatch<'_, T>, &SeriesBatch<'_, T>, &mut [T]) -> Result<()>,
    mut each: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let Batches { pairing, x, y } = batches;
    if lost.len() >= count / FEW {
        let mut excess = vec![T::ZERO; count];
        sweep(pairing, x, y, &mut excess)?;
        return lost.iter().try_for_each(|k| each(*k, excess[*k]));
    }
    // The one of two mirrored results that is above the diagonal is computed.
    let is_computed = |k: &usize| {
        let (i, j) = batches.of(*k);
        pairing != Pairing::SelfSymmetric || i <= j
    };
    let mut left = lost.iter().copied().filter(is_computed).peekable();
    let mut excess = Vec::new();
    while left.peek().is_some() {
        let (mut own_x, mut own_y) = (OwnedBatch::new(x.channels())?, OwnedBatch::new(x.channels())?);
        let (mut places, mut points) = (Vec::new(), 0);
        while let Some(k) = left.next_if(|_| points < MOST_GATHERED) {
            let (i, j) = batches.of(k);
            own_x.push(x.get(i).values)?;
            own_y.push(y.get(j).values)?;
            places.push(k);
            points += x.length(i) + y.length(j);
        }
        excess.clear();
        excess.resize(places.len(), T::ZERO);
        sweep(Pairing::Zipped, &own_x.batch(), &own_y.batch(), &mut excess)?;
        for (k, excess) in places.into_iter().zip(&excess) {
            each(k, *excess)?;
            let (i, j) = batches.of(k);
            if pairing == Pairing::SelfSymmetric && i != j {
                each(j * x.len() + i, *excess)?;
            }
        }
    }
    Ok(())
}
