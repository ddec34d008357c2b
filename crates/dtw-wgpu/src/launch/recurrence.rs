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

/// The lengths of the series of each result's pair.
#[derive(Debug)]
pub(crate) enum Lengths {
    /// All pairs have these lengths.
    Equal(usize, usize),
    /// Pair by pair.
    Zipped(Vec<(u32, u32)>),
    /// Lengths of the rows and of the columns; results are row by row.
    Cross(Vec<u32>, Vec<u32>),
}

impl Lengths {
    /// Lengths of the series at these places of two orders.
    pub(crate) fn of_places(rows: &Order, columns: &Order, rect: &Rect) -> Self {
        let of = |order: &Order, places: &Range<usize>| -> Vec<u32> {
            places.clone().map(|place| order.length(place) as u32).collect()
        };
        let (rows, columns) = (of(rows, &rect.rows), of(columns, &rect.columns));
        match rect.pairing {
            Pairing::Zipped => Self::Zipped(rows.into_iter().zip(columns).collect()),
            Pairing::Cross | Pairing::SelfSymmetric => Self::Cross(rows, columns),
        }
    }

    fn of(&self, k: usize) -> (usize, usize) {
        match self {
            Self::Equal(n, m) => (*n, *m),
            Self::Zipped(lengths) => (lengths[k].0 as usize, lengths[k].1 as usize),
            Self::Cross(rows, columns) => {
                (rows[k / columns.len()] as usize, columns[k % columns.len()] as usize)
            }
        }
    }

    /// Bytes that it keeps.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = match self {
            Self::Equal(..) => 0,
            Self::Zipped(lengths) => 2 * lengths.capacity(),
            Self::Cross(rows, columns) => rows.capacity() + columns.capacity(),
        };
        (numbers * size_of::<u32>()) as u64
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
