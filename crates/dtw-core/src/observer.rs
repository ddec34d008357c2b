//! Who watches a call: hears of its progress and of what sweeps, and may stop it.

/// A launch of a kernel, or a call of a sweep on the processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch<'a> {
    /// Name of the kernel or sweep: the symbol of a GPU's.
    pub kernel: &'a str,
    /// Lanes, columns, instruction set …
    pub shape: &'a str,
    /// Why this one.
    pub why: &'a str,
    /// Pairs that it computes.
    pub pairs: u64,
}

/// Hears of progress and may stop a call. Called from several threads, which other calls of the process may share: an
/// observer must not wait for another call.
pub trait Observer: Send + Sync {
    /// `cells` more cells of the dynamic program are done.
    fn advance(&self, cells: u64) {
        let _ = cells;
    }
    /// Whether to stop; the call then returns [`crate::Error::Cancelled`] soon.
    fn cancelled(&self) -> bool {
        false
    }
    /// Whether [`Observer::launched`] is worth its time.
    fn explains(&self) -> bool {
        false
    }
    /// What sweeps now, told to those who explain.
    fn launched(&self, launch: &Launch<'_>) {
        let _ = launch;
    }
    /// Half precision was to propose where a query, by its number, occurs in a reference ([`Precision::Half`]): its
    /// proposals were confirmed, or the reference was searched whole.
    ///
    /// [`Precision::Half`]: crate::Precision::Half
    fn proposed(&self, query: usize, reference: usize, is_confirmed: bool) {
        let _ = (query, reference, is_confirmed);
    }
    /// One of several devices failed, and its work is done by the others: what it is called, and why it failed.
    fn lost(&self, device: &str, why: &crate::Error) {
        let _ = (device, why);
    }
    /// A plan has computed, with this much scratch memory of what it was allowed.
    fn computed(&self, scratch_bytes: u64, allowed_bytes: u64) {
        let _ = (scratch_bytes, allowed_bytes);
    }
}

impl std::fmt::Debug for dyn Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

/// An observer that watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Another observer, for work whose cells are counted elsewhere: it can stop the work, and hears of no cells.
#[derive(Debug, Clone, Copy)]
pub struct Uncounted<O>(pub O);

impl<O> Observer for Uncounted<O>
where
    O: std::ops::Deref + Send + Sync,
    O::Target: Observer,
{
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }

    fn explains(&self) -> bool {
        self.0.explains()
    }

    fn launched(&self, launch: &Launch<'_>) {
        self.0.launched(launch);
    }

    fn proposed(&self, query: usize, reference: usize, is_confirmed: bool) {
        self.0.proposed(query, reference, is_confirmed);
    }

    fn lost(&self, device: &str, why: &crate::Error) {
        self.0.lost(device, why);
    }
}
