//! The average of a set of series under an elastic measure.
//!
//! ```text
//! center  =  argmin_c  Σ_s w_s · d(c, x_s)          c: [length, channels], its length fixed by the start
//! ```
//!
//! Measures with warping paths are averaged along them ([`dba`]), Soft-DTW and its divergence by gradient descent
//! ([`soft_barycenter`]); [`barycenter`] takes whichever the measure calls for. Both find a centre that depends on the
//! start: a local minimum, or under msm and twed one from which a round along the paths gains nothing.
//!
//! ```
//! use dtw_core::{SeriesBatch, Spec};
//! use dtw_learn::{BarycenterOptions, Context, barycenter};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! // One peak, early and late: their DTW average is that peak, not two half peaks.
//! let values = [0.0_f64, 2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0];
//! let x = SeriesBatch::equal(&values, 2, 4, 1)?;
//! let average = barycenter(&Context::new(&backend), &Spec::dtw(), x, &BarycenterOptions::default())?;
//! assert!(average.converged);
//! assert_eq!(average.center, [0.0, 2.0, 0.0, 0.0]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

mod along;
mod average;
mod checks;
mod dba;
mod derivative;
mod descent;
mod members;
mod options;
mod soft;
mod start;

use dtw_core::{Result, Scalar, SeriesBatch, Spec};

use crate::Context;

pub use average::Barycenter;
pub use checks::has_average;
pub(crate) use checks::{check_averageable, check_cost, check_tolerance, check_untimed, cost_floor};
pub use dba::dba;
pub(crate) use members::{Members, gather};
pub use options::{BarycenterOptions, Optimizer, Start};
pub use soft::soft_barycenter;
pub use start::medoid;

/// The average under the spec's measure: [`soft_barycenter`] for Soft-DTW and its divergence, [`dba`] for the others.
///
/// `x`: series of any lengths with the same channels. Cost: as those two.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for other measures; otherwise as those two.
pub fn barycenter<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    options: &BarycenterOptions<'_, T>,
) -> Result<Barycenter<T>> {
    check_averageable(spec)?;
    if spec.measure.has_gradient() {
        soft_barycenter(context, spec, x, options)
    } else {
        dba(context, spec, x, options)
    }
}
