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

#[cfg(test)]
mod tests {
    use dtw_core::Measure;

    use super::*;

    /// Series of one value each, which is their number and `first`.
    fn numbered(count: usize, length: usize, first: usize) -> Vec<f64> {
        (0..count * length).map(|k| (first + k / length) as f64).collect()
    }

    /// What the sweep gives of a pair: a number that tells which one it is.
    fn excess_of(x: f64, y: f64) -> f64 {
        0.5 + 1000.0 * x + y
    }

    /// Gives these results their digits; how many pairs each sweep had.
    fn kept(pairing: Pairing, lost: &[usize]) -> (Vec<f64>, Vec<usize>) {
        let soft = SoftResult::of(&Measure::soft_dtw_divergence(1.0)).unwrap();
        let (values_x, values_y) = (numbered(12, 5, 0), numbered(10, 4, 50));
        let x = SeriesBatch::equal(&values_x, 12, 5, 1).unwrap();
        let y = SeriesBatch::equal(&values_y, 10, 4, 1).unwrap();
        let (x, y) = match pairing {
            Pairing::SelfSymmetric => (x, x),
            Pairing::Zipped => (SeriesBatch::equal(&values_x[..50], 10, 5, 1).unwrap(), y),
            Pairing::Cross => (x, y),
        };
        let mut counts = PathCounts::default();
        let paths = counts.log(&Band::Full, x.length(0), y.length(0)).unwrap();
        let count = if pairing == Pairing::Zipped { y.len() } else { x.len() * y.len() };
        // A value of −γ ln N has no excess, and so no digits of one.
        let mut out: Vec<f64> = (0..count).map(|k| if lost.contains(&k) { -paths } else { 900.0 }).collect();
        let mut sweeps = Vec::new();
        keep_digits(soft, &mut counts, &Band::Full, (pairing, &x, &y), &mut out, |pairing, x, y, excess| {
            let all = if pairing == Pairing::Zipped { x.len() } else { x.len() * y.len() };
            assert_eq!(excess.len(), all);
            for (k, excess) in excess.iter_mut().enumerate() {
                let (i, j) = if pairing == Pairing::Zipped { (k, k) } else { (k / y.len(), k % y.len()) };
                *excess = excess_of(x.get(i).values[0], y.get(j).values[0]);
            }
            sweeps.push(all);
            Ok(())
        })
        .unwrap();
        let whole = 900.0 + paths;
        for (k, value) in out.iter().enumerate().filter(|(k, _)| !lost.contains(k)) {
            assert_eq!(*value, whole, "{pairing:?}: {k} had its digits");
        }
        (lost.iter().map(|k| out[*k]).collect(), sweeps)
    }

    #[test]
    fn a_result_is_of_the_pair_of_its_place() {
        let (values, ends) = ([0.0_f64; 10], [0, 2, 5]);
        let (ragged, equal) =
            (SeriesBatch::ragged(&values[..5], &ends, 1), SeriesBatch::equal(&values, 2, 5, 1));
        let (ragged, equal) = (ragged.unwrap(), equal.unwrap());
        let cross = Batches { pairing: Pairing::Cross, x: &ragged, y: &equal };
        let zipped = Batches { pairing: Pairing::Zipped, ..cross };
        assert_eq!((cross.of(1), cross.of(2), zipped.of(1)), ((0, 1), (1, 0), (1, 1)));
        assert_eq!((cross.lengths(1), cross.lengths(2), zipped.lengths(1)), ((2, 5), (3, 5), (3, 5)));
        assert_eq!(
            (cross.only_lengths(), Batches { y: &ragged, x: &equal, ..cross }.only_lengths()),
            (None, None)
        );
        assert_eq!(Batches { x: &equal, ..cross }.only_lengths(), Some((5, 5)));
    }

    #[test]
    fn nothing_is_swept_again_where_nothing_is_lost() {
        for pairing in [Pairing::Cross, Pairing::Zipped, Pairing::SelfSymmetric] {
            assert_eq!(kept(pairing, &[]), (vec![], vec![]));
        }
    }

    #[test]
    fn a_few_pairs_are_swept_again_by_themselves() {
        let (x, y) = (|i: usize| i as f64, |j: usize| (50 + j) as f64);
        let (results, sweeps) = kept(Pairing::Cross, &[3, 10, 47, 119]);
        assert_eq!((sweeps, results[0], results[1]), (vec![4], excess_of(x(0), y(3)), excess_of(x(1), y(0))));
        assert_eq!(results[2..], [excess_of(x(4), y(7)), excess_of(x(11), y(9))]);
        // Of two that are mirrored the one above the diagonal is swept, for both.
        let (results, sweeps) = kept(Pairing::SelfSymmetric, &[2 * 12 + 5, 3 * 12 + 3, 5 * 12 + 2]);
        let mirrored = excess_of(x(2), x(5));
        assert_eq!((sweeps, results), (vec![2], vec![mirrored, excess_of(x(3), x(3)), mirrored]));
    }

    #[test]
    fn all_pairs_are_swept_again_where_many_have_lost_their_digits() {
        let all: Vec<usize> = (0..120).filter(|k| k % 2 == 0).collect();
        let (results, sweeps) = kept(Pairing::Cross, &all);
        assert_eq!(sweeps, [120]);
        for (k, result) in all.into_iter().zip(results) {
            assert_eq!(result, excess_of((k / 10) as f64, (50 + k % 10) as f64), "{k}");
        }
        let (results, sweeps) = kept(Pairing::Zipped, &[4, 7]);
        assert_eq!((sweeps, results), (vec![10], vec![excess_of(4.0, 54.0), excess_of(7.0, 57.0)]));
    }
}
