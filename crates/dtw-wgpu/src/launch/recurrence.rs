//! What recurrences say on the host: weights before a sweep, results behind it.

use std::ops::Range;

use dtw_core::Pairing;
use dtw_core::recurrence::{One, Recurrence, Visitor};
use dtw_plan::{Order, Rect};

/// The weights of cells by `2·|i − j| − max(n, m)`, from minus the longest series to the longest.
pub(crate) struct Weights {
    pub(crate) longest: usize,
}

impl Visitor<f32, One<f32>> for Weights {
    type Output = Vec<f32>;

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) -> Vec<f32> {
        // Lengths are such that 2·offset − length is what is wanted.
        let longest = self.longest;
        (0..=2 * longest)
            .map(|k| {
                let (offset, length) =
                    if k <= longest { (0, longest - k) } else { (k - longest, k - longest) };
                recurrence.weight(offset, length, length) as f32
            })
            .collect()
    }
}

/// The lengths of the series of each result's pair: those of the rows and of the columns.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    rows: Vec<u32>,
    columns: Vec<u32>,
    /// Whether pairs are the k-th with the k-th; results are row by row otherwise.
    is_zipped: bool,
}

impl Lengths {
    /// Lengths of the series of a rectangle.
    pub(crate) fn of_places(rows: &Order, columns: &Order, rect: &Rect) -> Self {
        let of = |order: &Order, places: &Range<usize>| {
            places.clone().map(|place| order.length(place) as u32).collect()
        };
        let is_zipped = rect.pairing == Pairing::Zipped;
        Self { rows: of(rows, &rect.rows), columns: of(columns, &rect.columns), is_zipped }
    }

    fn of(&self, k: usize) -> (usize, usize) {
        let (i, j) = if self.is_zipped { (k, k) } else { (k / self.columns.len(), k % self.columns.len()) };
        (self.rows[i] as usize, self.columns[j] as usize)
    }

    /// Bytes that it keeps.
    pub(crate) fn bytes(&self) -> u64 {
        ((self.rows.capacity() + self.columns.capacity()) * size_of::<u32>()) as u64
    }
}

/// Results from states.
pub(crate) struct Finish<'a> {
    /// States, and the numbers of each; `None`: they are in `out`, one number each.
    pub(crate) states: Option<(&'a [f32], usize)>,
    pub(crate) parts: usize,
    pub(crate) lengths: &'a Lengths,
    pub(crate) out: &'a mut [f32],
}

impl Visitor<f32, One<f32>> for Finish<'_> {
    type Output = ();

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) {
        for (k, out) in self.out.iter_mut().enumerate() {
            let (n, m) = self.lengths.of(k);
            *out = match self.states {
                Some((states, stride)) => recurrence.finish(&states[k * stride..][..self.parts], n, m),
                // Shaders know no infinity.
                None if *out >= f32::MAX => f32::INFINITY,
                None => recurrence.finish(&[*out], n, m),
            };
        }
    }
}

/// Whether a state of one number is the result, whatever the lengths.
pub(crate) struct IsFinished;

impl Visitor<f32, One<f32>> for IsFinished {
    type Output = bool;

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) -> bool {
        recurrence.finish(&[3.0], 5, 7) == 3.0
    }
}
