//! Sweeps that come on top of those whose cells are counted: observers may stop them.

use std::ops::Deref;

use dtw_core::Observer;

/// Lets a call be cancelled, and counts no cells.
pub(crate) struct Uncounted<O>(pub(crate) O);

impl<O> Observer for Uncounted<O>
where
    O: Deref + Send + Sync,
    O::Target: Observer,
{
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}
