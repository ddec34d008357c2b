//! What a GPU must be able to do so that it can be measured.

use anyhow::Result;
use dtw_core::Dtype;
use dtwave::Device;

use crate::check::Checker;
use crate::definition::{Data, Definition};
use crate::machine;
use crate::measure::Measured;

/// A GPU to be measured.
pub(crate) trait Measures: Sized {
    /// The GPU of this number.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    fn open(ordinal: usize) -> Result<Self>;

    /// The GPU of this number, for calls as people make them.
    ///
    /// # Errors
    /// As of `open`.
    fn device(ordinal: usize) -> dtwave::Result<Device>;

    /// Its name and its driver's version.
    ///
    /// # Errors
    /// When the driver's version cannot be found.
    fn about(&self) -> Result<machine::Gpu>;

    /// Where series and results are when the clock runs.
    ///
    /// # Errors
    /// When that cannot be found.
    fn data(&self, definition: &Definition) -> Result<Data>;

    /// Times a definition.
    ///
    /// # Errors
    /// When the device cannot do it, fails, or computes a wrong value.
    fn measure(
        &self,
        definition: &Definition,
        dtype: Dtype,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured>;
}
