//! The order in which pairs are computed: similar lengths next to each other, one x against many y.

use dtw_core::{Pairing, SeriesBatch};

/// Pairs numbered `0..len()`; consecutive ones share their x where they can.
#[derive(Debug)]
pub(crate) struct Schedule {
    pairing: Pairing,
    n_y: usize,
    /// Series by length where lengths differ; empty for the given order.
    x: Vec<usize>,
    y: Vec<usize>,
    len: usize,
}

impl Schedule {
    /// The pairs of two batches. For [`Pairing::SelfSymmetric`] only `i ≤ j`.
    pub(crate) fn new<T>(pairing: Pairing, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Self {
        let by_length = |batch: &SeriesBatch<'_, T>| {
            let mut order = Vec::new();
            if !batch.is_equal_length() {
                order.extend(0..batch.len());
                order.sort_by_key(|s| batch.length(*s));
            }
            order
        };
        let (n_x, n_y) = (x.len(), y.len());
        let (order_x, order_y) = match pairing {
            Pairing::Cross => (by_length(x), by_length(y)),
            Pairing::SelfSymmetric => (by_length(x), Vec::new()),
            Pairing::Zipped => {
                let mut order = Vec::new();
                if !(x.is_equal_length() && y.is_equal_length()) {
                    order.extend(0..n_x);
                    order.sort_by_key(|s| (x.length(*s), y.length(*s)));
                }
                (order, Vec::new())
            }
        };
        let len = match pairing {
            Pairing::Cross => n_x * n_y,
            Pairing::SelfSymmetric => n_x * (n_x + 1) / 2,
            Pairing::Zipped => n_x,
        };
        Self { pairing, n_y, x: order_x, y: order_y, len }
    }

    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The `k`-th pair as (series of x, series of y).
    pub(crate) fn pair(&self, k: usize) -> (usize, usize) {
        let in_order = |order: &[usize], s: usize| if order.is_empty() { s } else { order[s] };
        match self.pairing {
            Pairing::Cross => (in_order(&self.x, k / self.n_y), in_order(&self.y, k % self.n_y)),
            Pairing::Zipped => (in_order(&self.x, k), in_order(&self.x, k)),
            Pairing::SelfSymmetric => {
                // Row r of the upper triangle starts at r·n − r(r−1)/2. Counted from the end, rows are triangular
                // numbers, which the integer square root inverts exactly.
                let n = self.n_y;
                let from_end = self.len - 1 - k;
                let row_from_end = ((8 * from_end + 1).isqrt() - 1) / 2;
                let row = n - 1 - row_from_end;
                let column = n - 1 - (from_end - row_from_end * (row_from_end + 1) / 2);
                let (i, j) = (in_order(&self.x, row), in_order(&self.x, column));
                (i.min(j), i.max(j))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_comes_once() {
        let values = vec![0.0_f64; 100];
        for n in 0..9 {
            let offsets: Vec<usize> = (0..=n).map(|s| s * (17 - s)).collect();
            let ragged = SeriesBatch::ragged(&values[..offsets[n]], &offsets, 1).unwrap();
            let equal = SeriesBatch::equal(&values[..n * 3], n, 3, 1).unwrap();
            for batch in [ragged, equal] {
                let schedule = Schedule::new(Pairing::SelfSymmetric, &batch, &batch);
                let mut pairs: Vec<_> = (0..schedule.len()).map(|k| schedule.pair(k)).collect();
                pairs.sort_unstable();
                let expected: Vec<_> = (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).collect();
                assert_eq!(pairs, expected);
                let schedule = Schedule::new(Pairing::Cross, &batch, &batch);
                let mut pairs: Vec<_> = (0..schedule.len()).map(|k| schedule.pair(k)).collect();
                pairs.sort_unstable();
                let expected: Vec<_> = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).collect();
                assert_eq!(pairs, expected);
            }
        }
    }
}
