//! Gradients of Soft-DTW and of its divergence: which sweeps a call needs, and how they go together.

use dtw_core::{
    Gradients, Pairing, PassResults, PathCounts, Problem, Result, Scalar, SeriesBatch, Sides, bail_invalid,
};

/// Values and gradients of zipped pairs. `sweep` gives them for one pass: of x with y, or of a divergence also of the
/// series of one side with themselves, half of which is taken off.
///
/// # Errors
/// [`dtw_core::Error::Invalid`] for an output of another length than what it is for; what `sweep` says.
pub fn gradients<T: Scalar>(
    problem: &Problem,
    results: &mut PassResults<T>,
    [x, y]: [&SeriesBatch<'_, T>; 2],
    out: Gradients<'_, T>,
    mut sweep: impl FnMut(
        &SeriesBatch<'_, T>,
        &SeriesBatch<'_, T>,
        Gradients<'_, T>,
        &mut PathCounts,
    ) -> Result<()>,
) -> Result<()> {
    check(x, y, &out)?;
    if x.is_empty() {
        return Ok(());
    }
    let Gradients { upstream, distances, grad_x, grad_y } = out;
    let half = T::from_f64(0.5);
    results.distances(problem, Pairing::Zipped, x, y, distances, |pass, a, b, distances, counts| {
        let own = match pass.sides {
            Sides::Both => {
                let out = Gradients { upstream, distances, grad_x: &mut *grad_x, grad_y: &mut *grad_y };
                return sweep(a, b, out, counts);
            }
            Sides::OwnX => &mut *grad_x,
            Sides::OwnY => &mut *grad_y,
        };
        let (mut left, mut right) = (vec![T::ZERO; own.len()], vec![T::ZERO; own.len()]);
        let out = Gradients { upstream, distances, grad_x: &mut left, grad_y: &mut right };
        sweep(a, b, out, counts)?;
        for (own, (left, right)) in own.iter_mut().zip(left.iter().zip(&right)) {
            *own = *own - half * (*left + *right);
        }
        Ok(())
    })
}

/// Checks the lengths of what gradients are written to.
fn check<T: Scalar>(x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>, out: &Gradients<'_, T>) -> Result<()> {
    if x.len() != y.len() {
        bail_invalid!("gradients are of zipped pairs: x has {} series, y has {}", x.len(), y.len());
    }
    for (name, got, expected) in [
        ("upstream", out.upstream.map_or(x.len(), <[_]>::len), x.len()),
        ("distances", out.distances.len(), x.len()),
        ("grad_x", out.grad_x.len(), x.values().len()),
        ("grad_y", out.grad_y.len(), y.values().len()),
    ] {
        if got != expected {
            bail_invalid!("{name} needs {expected} values, got a slice of {got}");
        }
    }
    Ok(())
}
