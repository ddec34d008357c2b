//! Soft-DTW of matrices of costs on the CPU, for `dtwave.torch`.

use dtwave::cpu::{CostMatrices, CpuBackend};
use dtwave::{Band, Unobserved};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::calls;
use crate::errors::Failure;
use crate::gradients::whole_lengths;
use crate::inputs::{Values, slice, with_number};
use crate::measures::band_of;

/// Values and derivatives, or `None` for these if they are not asked for.
type Arrays = (Py<PyAny>, Option<Py<PyAny>>);

/// Soft-DTW of `costs`, `[batch, n, m]`, of which the first `lengths_x` rows and `lengths_y` columns count. Returns the
/// values, `[batch]`, and the derivatives by the costs in their shape, zero where costs do not count; without
/// `gradients`, `None` for these.
#[pyfunction]
#[pyo3(signature = (costs, *, gamma, band=None, lengths_x=None, lengths_y=None, threads=None, gradients=true))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
pub(crate) fn soft_dtw_of_costs(
    py: Python<'_>,
    costs: Values<'_>,
    gamma: f64,
    band: Option<&Bound<'_, PyAny>>,
    lengths_x: Option<PyReadonlyArray1<'_, i64>>,
    lengths_y: Option<PyReadonlyArray1<'_, i64>>,
    threads: Option<usize>,
    gradients: bool,
) -> PyResult<Arrays> {
    let band = band.map_or(Ok(Band::Full), band_of)?;
    let backend = CpuBackend::shared(threads.unwrap_or(0)).map_err(Failure::from)?;
    let &[count, n, m] = costs.shape() else {
        let axes = costs.shape().len();
        return Err(PyValueError::new_err(format!("costs must be [batch, n, m], got {axes} axes")));
    };
    let rows = whole_lengths(lengths_x.as_ref(), "x", count, n)?;
    let columns = whole_lengths(lengths_y.as_ref(), "y", count, m)?;
    with_number!(costs.is_f32(), T => {
        let costs = slice::<T>(&costs)?;
        let (values, expected) = calls::run(py, costs.len() as u64, &None, |observer| {
            let matrices =
                CostMatrices::new(costs, [count, n, m])?.with_lengths(rows.as_deref(), columns.as_deref())?;
            let mut values = vec![0.0; count];
            let mut expected = gradients.then(|| vec![0.0; costs.len()]);
            let observer = observer.as_deref().unwrap_or(&Unobserved);
            let into = expected.as_deref_mut();
            backend.soft_dtw_of_costs(&matrices, gamma, &band, &mut values, into, observer)?;
            Ok((values, expected))
        })?;
        let expected = expected.map(|expected| expected.into_pyarray(py).reshape([count, n, m])).transpose()?;
        Ok((values.into_pyarray(py).into_any().unbind(), expected.map(|expected| expected.into_any().unbind())))
    })
}
