//! The native half of the Python package `dtwave`: NumPy arrays in and out, everything else is the library's.
//!
//! The Python half (`python/dtwave`) turns what people have into contiguous arrays and gives results their types. This
//! half checks types again, releases the GIL around all work and turns errors and panics into exceptions. It is
//! private: its signatures are those that the Python half needs.

mod align;
mod calls;
mod costs;
mod datasets;
mod distances;
mod draws;
mod edges;
mod engine;
mod errors;
mod follow;
mod gradients;
mod inputs;
mod learn;
mod matrix;
mod matrix_file;
mod measures;
mod profile;
mod progress;
#[cfg(feature = "cuda")]
mod resident;

use pyo3::prelude::*;

/// The module `dtwave._native`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::align::{align, cost_matrix, cost_matrix_of_costs, expected_alignment, search};
    #[pymodule_export]
    use super::costs::soft_dtw_of_costs;
    #[pymodule_export]
    use super::datasets::ecg;
    #[pymodule_export]
    use super::distances::{cells, distance_of_arrays, distances, explain};
    #[pymodule_export]
    use super::draws::Draws;
    #[pymodule_export]
    use super::edges::edges;
    #[pymodule_export]
    use super::engine::{Engine, devices};
    #[pymodule_export]
    use super::errors::DeviceError;
    #[pymodule_export]
    use super::follow::Follower;
    #[pymodule_export]
    use super::gradients::{gradients, soft_dtw};
    #[pymodule_export]
    use super::learn::{
        barycenter, classify, kmeans, kmedoids, kmedoids_of_matrix, nearest, nearest_cells, z_normalize,
    };
    #[pymodule_export]
    use super::matrix::{condensed, pairwise_into, pairwise_to_file};
    #[pymodule_export]
    use super::matrix_file::{MatrixFile, matrix_options, series_hash};
    #[pymodule_export]
    use super::measures::Spec;
    #[pymodule_export]
    use super::profile::{profile, profile_cells};
    #[pymodule_export]
    use super::progress::Bar;
    #[cfg(feature = "cuda")]
    #[pymodule_export]
    use super::resident::Gpu;

    use pyo3::prelude::*;

    /// The package's version is the library's.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
