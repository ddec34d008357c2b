//! What recurrences say on the host: weights before a sweep, results behind it.

use dtw_core::recurrence::{One, Recurrence, Visitor};

/// The weights of cells by `2·|i − j| − max(n, m)`, from minus the longest series to the longest.
pub(crate) struct Weights {
    pub(crate) longest: usize,
}

impl Visitor<f32, One<f32>> for Weights {
    type Output = Vec<f32>;

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) -> Vec<f32> {
        // Of lengths such that 2·offset − length is what is wanted.
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

/// Results from states.
pub(crate) struct Finish<'a> {
    /// States, and the numbers of each; `None`: they are in `out`, one number each.
    pub(crate) states: Option<(&'a [f32], usize)>,
    pub(crate) parts: usize,
    pub(crate) lengths: &'a [(u32, u32)],
    pub(crate) out: &'a mut [f32],
}

impl Visitor<f32, One<f32>> for Finish<'_> {
    type Output = ();

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) {
        for (k, out) in self.out.iter_mut().enumerate() {
            let (n, m) = self.lengths[k.min(self.lengths.len() - 1)];
            let (n, m) = (n as usize, m as usize);
            *out = match self.states {
                Some((states, stride)) => recurrence.finish(&states[k * stride..][..self.parts], n, m),
                // Shaders know no infinity.
                None if *out >= f32::MAX => f32::INFINITY,
                None => recurrence.finish(&[*out], n, m),
            };
        }
    }
}
