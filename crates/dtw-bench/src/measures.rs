//! What a GPU must be able to do so that it can be measured.

use anyhow::Result;
use dtw_core::Dtype;
use dtwave::Device;

use crate::check::Checker;
use crate::definition::{Data, Definition};
use crate::machine;
use crate::measure::Measured;

pub(crate) trait Measures: Sized {
    /// The GPU of this number.
    fn open(ordinal: usize) -> Result<Self>;

    /// The same, computing by this kind of sweep alone.
    ///
    /// # Errors
    /// When there is no such kind.
    fn forcing(self, kind: Option<&str>) -> Result<Self>;

    /// The GPU of this number, for calls as people make them.
    fn device(ordinal: usize) -> dtwave::Result<Device>;

    /// Its name and its driver's version.
    fn about(&self) -> Result<machine::Gpu>;

    /// Where series and results are when the clock runs.
    fn data(&self, definition: &Definition) -> Result<Data>;

    fn measure(
        &self,
        definition: &Definition,
        dtype: Dtype,
        rounds: usize,
        checker: &Checker,
    ) -> Result<Measured>;
}
