//! Results from the states that shaders leave.

use dtw_core::recurrence::{One, Recurrence, Visitor};

/// Results from states.
pub(crate) struct Finish<'a> {
    pub(crate) states: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) parts: usize,
    /// Of each result's pair; one entry: of all.
    pub(crate) lengths: &'a [(u32, u32)],
    pub(crate) out: &'a mut [f32],
}

impl Visitor<f32, One<f32>> for Finish<'_> {
    type Output = ();

    fn visit<R: Recurrence<f32, One<f32>>>(self, recurrence: R) {
        for (k, (state, out)) in self.states.chunks_exact(self.stride).zip(self.out).enumerate() {
            let (n, m) = self.lengths[k.min(self.lengths.len() - 1)];
            // Shaders know no infinity.
            let value = recurrence.finish(&state[..self.parts], n as usize, m as usize);
            *out = if self.parts == 1 && value >= f32::MAX { f32::INFINITY } else { value };
        }
    }
}
