//! What a search has on the device besides its costs.

use crate::launch::locate::Locator;
use crate::launch::propose::Proposals;
use crate::launch::stretches::Stretches;
use crate::machine::Machine;
use crate::memory::region::{Region, default_of};

/// What the sweeps of blocks and stretches need on the device; kept between calls.
#[derive(Debug)]
pub(crate) struct Carried<M: Machine> {
    /// Totals of the row before the block, as the queries lie.
    pub(crate) border: Region<M>,
    pub(crate) stretches: Stretches<M>,
    pub(crate) locator: Locator<M>,
    pub(crate) proposals: Proposals<M>,
}

default_of!(Carried<M: Machine> { border, stretches, locator, proposals });

impl<M: Machine> Carried<M> {
    pub(crate) fn bytes(&self) -> usize {
        self.border.bytes() + self.stretches.bytes() + self.locator.bytes() + self.proposals.bytes()
    }
}
