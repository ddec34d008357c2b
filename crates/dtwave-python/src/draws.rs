//! Random draws, those of the library's k-means: so a clustering whose rounds are shared out has the same starts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Draws from a seed, one after the other.
#[pyclass(frozen)]
pub(crate) struct Draws(Mutex<ChaCha8Rng>);

#[pymethods]
impl Draws {
    #[new]
    fn new(seed: u64) -> Self {
        Self(Mutex::new(ChaCha8Rng::seed_from_u64(seed)))
    }

    /// A whole number from 0, less than `count`, each as likely.
    fn below(&self, count: usize) -> PyResult<usize> {
        if count == 0 {
            return Err(PyValueError::new_err("there is no whole number from 0 that is less than 0"));
        }
        Ok(self.lock().random_range(0..count))
    }

    /// An index, with a probability in proportion to its weight.
    fn by_weight(&self, weights: PyReadonlyArray1<'_, f64>) -> PyResult<usize> {
        let index = WeightedIndex::new(weights.as_array().iter().copied())
            .map_err(|error| PyValueError::new_err(format!("the weights cannot be drawn by: {error}")))?;
        Ok(index.sample(&mut *self.lock()))
    }
}

impl Draws {
    fn lock(&self) -> MutexGuard<'_, ChaCha8Rng> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
