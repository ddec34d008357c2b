//! Distances that matter up to a cutoff only: a larger one is infinite, and need not be swept to its end.
//!
//! DTW with squared Euclidean cost on one channel has bounds ([`crate::keogh`]) and the sweep that gives up
//! ([`crate::abandon`]). Anything else is swept as ever.

use dtw_core::bounds::{above, raised};
use dtw_core::compute::cut_off;
use dtw_core::{Anchor, Error, LocalCost, Measure, Observer, Result, Scalar, Series, Spec};

use crate::abandon::Cut;
use crate::group::Scratch;
use crate::lanes::Register;
use crate::told::{OF_DTW, Told};

/// Whether pairs of one channel have bounds.
pub(crate) fn is_bounded(spec: &Spec) -> bool {
    spec.measure == (Measure::Dtw { cost: LocalCost::SquaredEuclidean }) && spec.anchor == Anchor::Global
}

impl<V: Register> Scratch<V> {
    /// [`Scratch::distances`], infinite above the cutoff.
    #[expect(clippy::too_many_arguments, reason = "the pairs, where they go, and how")]
    pub(crate) fn distances_within(
        &mut self,
        token: V::Token,
        spec: &Spec,
        x: &[Series<'_, V::Scalar>],
        y: &[Series<'_, V::Scalar>],
        out: &mut [V::Scalar],
        cutoff: f64,
        observer: &dyn Observer,
    ) -> Result<()> {
        let (n, m) = (x[0].len(), y[0].len());
        let is_bounded = is_bounded(spec)
            && x[0].channels == 1
            && cutoff >= 0.0
            && x.iter().all(|x| x.len() == n)
            && y.iter().all(|y| y.len() == m);
        if !is_bounded {
            self.distances(token, spec, x, y, out, observer)?;
            cut_off(cutoff, out);
            return Ok(());
        }
        let ranges = spec.band.ranges(n, m, spec.anchor)?;
        let cut = above(cutoff);
        let cut = Cut { cut, bar: raised(cut, (n, m)) };
        // Of few pairs, the other sweeps are faster, unless bounds tell.
        let is_full = V::IS_TUNED && 2 * x.len() > V::LANES;
        let rejected = self.abandoning.pairs(token, [x, y], &ranges, cut, is_full, out);
        let rejected = |l: usize| (rejected >> l) & 1 == 1;
        let mut told = Told::default();
        for l in 0..x.len() {
            if rejected(l) {
                out[l] = V::Scalar::INFINITY;
                told.pairs += 1;
            } else if is_full {
                told.pairs += 1;
                told.swept += 1;
                told.given_up += u64::from(!out[l].finite());
            } else {
                if observer.cancelled() {
                    return Err(Error::Cancelled);
                }
                self.distances(token, spec, &x[l..=l], &y[l..=l], &mut out[l..=l], observer)?;
            }
        }
        told.tell(observer, ranges.cells(), OF_DTW);
        cut_off(cutoff, out);
        Ok(())
    }
}
