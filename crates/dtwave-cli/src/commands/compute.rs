//! What the command line asks of a command that computes distances.

use anyhow::Result;
use dtwave::Dtype;

use crate::engine::Element;
use crate::options::{ComputeArgs, Offer};
use crate::signals::Cancel;

pub(super) trait Compute {
    /// The measures and parameters that it can use: its help shows no others.
    const OFFER: Offer;

    /// The options that it has in common with the others.
    fn options(&self) -> &ComputeArgs;

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()>;
}

pub(super) fn compute(command: &impl Compute, cancel: &Cancel) -> Result<()> {
    match command.options().run.dtype {
        Dtype::F32 => command.run::<f32>(cancel),
        Dtype::F64 => command.run::<f64>(cancel),
    }
}
