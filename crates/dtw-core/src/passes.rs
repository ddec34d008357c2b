//! How the results of the passes of a call ([`Problem::passes`]) are put together: once, for every backend.
//!
//! Most measures need one pass over the pairs. [`crate::Measure::SoftDtwDivergence`] is put together from up to three:
//! x with y, and each batch with itself. A measure that warps each channel on its own
//! ([`crate::Measure::sums_channels`]) needs one pass for every channel, and adds up their results.

use crate::{Gradients, Pairing, Pass, PathCounts, Problem, Result, Scalar, SeriesBatch, Sides, SoftResult};

/// Puts the results of passes together. Made once for a plan: it keeps its memory.
#[derive(Debug)]
pub struct PassResults<T> {
    /// Distances of series with themselves.
    own: [Vec<T>; 2],
    /// Numbers of warping paths, for measures that sum over all of them.
    pub counts: PathCounts,
}

impl<T> Default for PassResults<T> {
    fn default() -> Self {
        Self { own: [Vec::new(), Vec::new()], counts: PathCounts::default() }
    }
}

impl<T: Scalar> PassResults<T> {
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.own.iter().map(|values| values.capacity() * size_of::<T>()).sum()
    }

    /// Distances of `pairing`'s pairs into `out`. Calls `sweep` for each pass: it writes one result for every pair, or
    /// adds to it ([`Pass::adds`]). Of a measure that sums over all paths, that is what [`SoftResult`] makes of it: for
    /// a divergence, the excess.
    ///
    /// # Errors
    /// Errors of `sweep`; [`Error::Invalid`](crate::Error::Invalid) when the band leaves some pair no path.
    pub fn distances(
        &mut self,
        problem: &Problem,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        out: &mut [T],
        mut sweep: impl FnMut(
            Pass,
            &SeriesBatch<'_, T>,
            &SeriesBatch<'_, T>,
            &mut [T],
            &mut PathCounts,
        ) -> Result<()>,
    ) -> Result<()> {
        let Self { own: [own_x, own_y], counts } = self;
        let y = if pairing == Pairing::SelfSymmetric { x } else { y };
        let mut has_own = false;
        for pass in problem.passes_of(pairing) {
            let (batch, values) = match pass.sides {
                Sides::Both => {
                    sweep(pass, x, y, out, counts)?;
                    continue;
                }
                Sides::OwnX => (x, &mut *own_x),
                Sides::OwnY => (y, &mut *own_y),
            };
            has_own = true;
            values.clear();
            values.resize(batch.len(), T::ZERO);
            sweep(pass, batch, batch, values, counts)?;
        }
        let Some(soft) = SoftResult::of(&problem.spec().measure).filter(|_| has_own) else { return Ok(()) };
        let own_y = if pairing == Pairing::SelfSymmetric { &*own_x } else { &*own_y };
        for (k, value) in out.iter_mut().enumerate() {
            let (i, j) = if pairing == Pairing::Zipped { (k, k) } else { (k / y.len(), k % y.len()) };
            let lengths = (x.length(i), y.length(j));
            *value = soft.divergence([*value, own_x[i], own_y[j]], counts, &problem.spec().band, lengths)?;
        }
        Ok(())
    }

    /// Values and gradients of zipped pairs. `sweep` gives them for one pass: of x with y, or of a divergence also of
    /// the series of one side with themselves, half of which is taken off.
    ///
    /// # Errors
    /// As [`PassResults::distances`].
    pub fn gradients(
        &mut self,
        problem: &Problem,
        [x, y]: [&SeriesBatch<'_, T>; 2],
        out: Gradients<'_, T>,
        mut sweep: impl FnMut([&SeriesBatch<'_, T>; 2], Gradients<'_, T>, &mut PathCounts) -> Result<()>,
    ) -> Result<()> {
        let Gradients { upstream, distances, grad_x, grad_y } = out;
        let half = T::from_f64(0.5);
        self.distances(problem, Pairing::Zipped, x, y, distances, |pass, a, b, distances, counts| {
            let own = match pass.sides {
                Sides::Both => {
                    let out = Gradients { upstream, distances, grad_x: &mut *grad_x, grad_y: &mut *grad_y };
                    return sweep([a, b], out, counts);
                }
                Sides::OwnX => &mut *grad_x,
                Sides::OwnY => &mut *grad_y,
            };
            let (mut left, mut right) = (vec![T::ZERO; own.len()], vec![T::ZERO; own.len()]);
            let out = Gradients { upstream, distances, grad_x: &mut left, grad_y: &mut right };
            sweep([a, b], out, counts)?;
            for (own, (left, right)) in own.iter_mut().zip(left.iter().zip(&right)) {
                *own = *own - half * (*left + *right);
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measure, Spec};

    #[test]
    fn one_for_every_channel_and_three_for_a_divergence() {
        let values = [0.0_f64; 12];
        let problem = |measure, pairing, channels| {
            let batch = SeriesBatch::equal(&values, 2, 6 / channels, channels).unwrap();
            Problem::of(Spec::new(measure), pairing, &batch, &batch).unwrap()
        };
        let passes = |measure, pairing, channels| {
            let passes = problem(measure, pairing, channels).passes();
            passes.map(|p| (p.pairing, p.sides, p.channel, p.adds())).collect::<Vec<_>>()
        };
        let plain = (Pairing::Cross, Sides::Both, None, false);
        let msm = Measure::Msm { c: 1.0 };
        assert_eq!(passes(Measure::DTW, Pairing::Cross, 2), [plain]);
        assert_eq!(passes(msm, Pairing::Cross, 1), [plain]);
        let channel = |k| (Pairing::Cross, Sides::Both, Some(k), k > 0);
        assert_eq!(passes(msm, Pairing::Cross, 3), [channel(0), channel(1), channel(2)]);
        let divergence = Measure::soft_dtw_divergence(1.0);
        let own = |sides| (Pairing::Zipped, sides, None, false);
        assert_eq!(passes(divergence, Pairing::Cross, 2), [plain, own(Sides::OwnX), own(Sides::OwnY)]);
        let symmetric = (Pairing::SelfSymmetric, Sides::Both, None, false);
        assert_eq!(passes(divergence, Pairing::SelfSymmetric, 2), [symmetric, own(Sides::OwnX)]);
    }
}
