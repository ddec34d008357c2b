//! The order in which series lie on the device: longest first where lengths differ, so that pairs of similar size are
//! neighbours and a run of columns can go to a kernel of its width.

use std::ops::Range;

use dtw_core::{Pairing, SeriesBatch};

/// One side's series in device order, with their lengths as swept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    count: usize,
    /// Longest, as swept and as given.
    longest: usize,
    /// Points that the derivative takes away.
    dropped: usize,
    /// Series by place; empty: as given.
    series: Vec<u32>,
    /// Lengths by place, as swept; empty: all `longest`.
    lengths: Vec<u32>,
}

impl Order {
    /// The series as they come.
    pub fn given<T>(batch: &SeriesBatch<'_, T>, dropped: usize) -> Self {
        if batch.is_equal_length() {
            let longest = batch.max_length().saturating_sub(dropped);
            return Self::equal(batch.len(), longest).dropping(dropped);
        }
        Self::ragged((0..batch.len()).map(|s| batch.length(s)), dropped)
    }

    /// Series of these lengths, as given, as they come.
    pub fn ragged(lengths: impl Iterator<Item = usize>, dropped: usize) -> Self {
        let lengths: Vec<u32> = lengths.map(|length| length.saturating_sub(dropped) as u32).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        Self { count: lengths.len(), longest, dropped, series: Vec::new(), lengths }
    }

    /// Series of one length, as swept.
    pub fn equal(count: usize, length: usize) -> Self {
        Self { count, longest: length, ..Self::default() }
    }

    /// The orders of both sides of a pairing; of [`Pairing::Zipped`] pairs stay pairs.
    pub fn of<T>(
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        dropped: usize,
    ) -> (Self, Self) {
        let (given_x, given_y) = (Self::given(x, dropped), Self::given(y, dropped));
        match pairing {
            Pairing::Zipped => {
                if given_x.is_equal_length() && given_y.is_equal_length() {
                    return (given_x, given_y);
                }
                let mut series: Vec<u32> = (0..given_x.count as u32).collect();
                series.sort_by_key(|s| {
                    let s = *s as usize;
                    std::cmp::Reverse((given_y.length(s), given_x.length(s)))
                });
                (given_x.reordered(series.clone()), given_y.reordered(series))
            }
            Pairing::Cross | Pairing::SelfSymmetric => (given_x.sorted(), given_y.sorted()),
        }
    }

    pub(crate) fn sorted(self) -> Self {
        if self.is_equal_length() {
            return self;
        }
        let mut series: Vec<u32> = (0..self.count as u32).collect();
        series.sort_by_key(|s| std::cmp::Reverse(self.lengths[*s as usize]));
        self.reordered(series)
    }

    fn reordered(mut self, series: Vec<u32>) -> Self {
        if !self.lengths.is_empty() {
            self.lengths = series.iter().map(|s| self.lengths[*s as usize]).collect();
        }
        self.series = series;
        self
    }

    /// Series.
    pub fn len(&self) -> usize {
        self.count
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Whether all have one length.
    pub fn is_equal_length(&self) -> bool {
        self.lengths.is_empty()
    }
    /// Whether series lie as they were given: place `k` has series `k`.
    pub fn is_given(&self) -> bool {
        self.series.is_empty()
    }
    /// The series at place `k`.
    pub fn series(&self, k: usize) -> usize {
        if self.series.is_empty() { k } else { self.series[k] as usize }
    }
    /// This order of series that lose so many points on the way.
    pub fn dropping(self, dropped: usize) -> Self {
        Self { dropped, ..self }
    }
    /// Points of the series at place `k`, as swept.
    pub fn length(&self, k: usize) -> usize {
        if self.lengths.is_empty() { self.longest } else { self.lengths[k] as usize }
    }
    /// Points of the series at place `k`, as given.
    pub fn raw_length(&self, k: usize) -> usize {
        self.length(k) + self.dropped
    }
    /// The longest of these places, as swept; 0 for none.
    pub fn longest(&self, places: Range<usize>) -> usize {
        if self.lengths.is_empty() {
            return if places.is_empty() { 0 } else { self.longest };
        }
        self.lengths[places].iter().copied().max().unwrap_or(0) as usize
    }
    /// Lengths by place, as swept; empty where all are equal.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }
    /// The sum of what `of_length` says of each series' length, as swept.
    pub fn total(&self, of_length: impl Fn(usize) -> u64) -> u64 {
        if self.is_equal_length() {
            return if self.is_empty() {
                0
            } else {
                of_length(self.longest).saturating_mul(self.count as u64)
            };
        }
        self.lengths.iter().map(|length| of_length(*length as usize)).sum()
    }
    /// Every length that occurs, once.
    pub fn distinct(&self) -> Vec<usize> {
        let mut lengths: Vec<usize> = if self.lengths.is_empty() {
            (0..self.count.min(1)).map(|_| self.longest).collect()
        } else {
            self.lengths.iter().map(|length| *length as usize).collect()
        };
        lengths.sort_unstable();
        lengths.dedup();
        lengths
    }
}

/// A rectangle of pairs in places of two orders: what one tile computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rect {
    /// Places of the rows' order.
    pub rows: Range<usize>,
    /// Places of the columns' order: equal to `rows` for [`Pairing::Zipped`]; for [`Pairing::SelfSymmetric`] they begin
    /// with the rows and reach at least as far.
    pub columns: Range<usize>,
    /// Which of its pairs are computed: all, those on and above the diagonal, or those on the diagonal.
    pub pairing: Pairing,
}

impl Rect {
    /// Pairs computed.
    pub fn tasks(&self) -> u64 {
        let (rows, columns) = (self.rows.len() as u64, self.columns.len() as u64);
        match self.pairing {
            Pairing::Zipped => rows,
            Pairing::Cross => rows * columns,
            Pairing::SelfSymmetric => rows * columns - rows * rows.saturating_sub(1) / 2,
        }
    }

    /// Numbers that the output has room for.
    pub fn outputs(&self) -> usize {
        match self.pairing {
            Pairing::Zipped => self.rows.len(),
            _ => self.rows.len() * self.columns.len(),
        }
    }

    /// Numbers from row to row of the output.
    pub fn stride(&self) -> usize {
        self.columns.len()
    }

    /// The pairs in the order of their tasks.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows.clone().flat_map(move |i| {
            let columns = match self.pairing {
                Pairing::Zipped => i..i + 1,
                Pairing::Cross => self.columns.clone(),
                Pairing::SelfSymmetric => i..self.columns.end,
            };
            columns.map(move |j| (i, j))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_first_and_pairs_stay_pairs() {
        let values = [0.0_f32; 20];
        let x = SeriesBatch::ragged(&values[..9], &[0, 2, 6, 9], 1).unwrap();
        let y = SeriesBatch::ragged(&values[..12], &[0, 3, 6, 12], 1).unwrap();
        let (a, b) = Order::of(Pairing::Cross, &x, &y, 0);
        assert_eq!((a.series, a.lengths), (vec![1, 2, 0], vec![4, 3, 2]));
        assert_eq!((b.series, b.lengths), (vec![2, 0, 1], vec![6, 3, 3]));
        let (a, b) = Order::of(Pairing::Zipped, &x, &y, 1);
        assert_eq!((&a.series, &a.lengths), (&vec![2, 1, 0], &vec![2, 3, 1]));
        assert_eq!((&b.series, &b.lengths), (&vec![2, 1, 0], &vec![5, 2, 2]));
        assert_eq!((b.distinct(), b.raw_length(0)), (vec![2, 5], 6));
        // Of one length they stay as they are, which the derivative shortens too.
        let z = SeriesBatch::equal(&values[..12], 3, 4, 1).unwrap();
        let (a, _) = Order::of(Pairing::Cross, &z, &z, 2);
        assert_eq!((a.is_given(), a.length(1), a.raw_length(1)), (true, 2, 4));
    }

    #[test]
    fn lengths_of_some_places_and_of_all() {
        let ragged = Order::ragged([7, 4, 6].into_iter(), 1);
        assert_eq!((ragged.lengths(), ragged.longest(1..3), ragged.longest(0..0)), (&[6, 3, 5][..], 5, 0));
        assert_eq!((ragged.total(|length| 10 * length as u64), ragged.distinct()), (140, vec![3, 5, 6]));
        let equal = Order::equal(3, 5);
        assert_eq!((equal.lengths(), equal.longest(1..3), equal.longest(2..2)), (&[][..], 5, 0));
        assert_eq!((equal.total(|length| 10 * length as u64), equal.distinct()), (150, vec![5]));
        let none = Order::equal(0, 5);
        assert_eq!((none.total(|_| panic!("of no series")), none.distinct()), (0, vec![]));
        assert_eq!([ragged, equal, none].map(|order| order.is_empty()), [false, false, true]);
    }

    #[test]
    fn pairs_are_as_many_as_tasks() {
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
            let columns = if pairing == Pairing::Cross { 0..4 } else { 2..5 };
            let rect = Rect { rows: 2..5, columns, pairing };
            assert_eq!(rect.pairs().count() as u64, rect.tasks());
        }
    }
}
