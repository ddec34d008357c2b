//! How a result was computed: which sweeps, how often, over how many cells, in how much memory and time.
//!
//! Backends tell an [`Observer`] what they sweep with, if it wants to know ([`Observer::explains`]). An [`Explainer`]
//! is such an observer; it adds up what it hears.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Launch, Observer};

/// All launches of one kernel in one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// [`Launch::kernel`].
    pub name: String,
    /// [`Launch::shape`].
    pub shape: String,
    /// [`Launch::why`] of the first launch.
    pub why: String,
    /// How many launches.
    pub launches: u64,
    /// Pairs of all launches.
    pub pairs: u64,
}

/// How a result was computed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explanation {
    /// What swept, in the order of first use.
    pub kernels: Vec<Kernel>,
    /// Plans that computed: one for each tile of a matrix that is computed in tiles.
    pub tiles: u64,
    /// Scratch memory of a plan, at most.
    pub memory_bytes: u64,
    /// Memory that a plan was allowed.
    pub allowed_bytes: u64,
    /// Cells of the dynamic program.
    pub cells: u64,
    /// Pairs of a search whose matches were proposed in half precision and confirmed.
    pub confirmed: u64,
    /// Pairs that such a search swept whole.
    pub searched_whole: u64,
    /// How long it took, if somebody looked.
    pub seconds: Option<f64>,
}

impl fmt::Display for Explanation {
    /// One line for each kernel, and one for all.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Kernel { name, shape, why, launches, pairs } in &self.kernels {
            writeln!(f, "{name} ({shape}): {launches} launches, {pairs} pairs; {why}")?;
        }
        let Self { tiles, memory_bytes, allowed_bytes, cells, confirmed, searched_whole, .. } = self;
        if confirmed + searched_whole > 0 {
            writeln!(f, "half precision: {confirmed} pairs confirmed, {searched_whole} searched whole")?;
        }
        if *tiles > 0 {
            write!(f, "{tiles} tiles, {memory_bytes} of {allowed_bytes} bytes of scratch memory, ")?;
        }
        write!(f, "{cells} cells")?;
        match self.seconds {
            Some(seconds) if seconds > 0.0 => {
                write!(f, " in {seconds:.3} s, {:.3e} cells a second", *cells as f64 / seconds)
            }
            _ => Ok(()),
        }
    }
}

/// An observer that explains what it hears, and passes it on to another one.
#[derive(Default)]
pub struct Explainer {
    inner: Option<Arc<dyn Observer>>,
    heard: Mutex<Explanation>,
    /// Apart, because threads advance often.
    cells: AtomicU64,
}

impl fmt::Debug for Explainer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Explainer").field(&self.explanation()).finish()
    }
}

impl Explainer {
    /// One that passes everything on.
    pub fn before(inner: Option<Arc<dyn Observer>>) -> Self {
        Self { inner, ..Self::default() }
    }

    /// What was heard so far.
    pub fn explanation(&self) -> Explanation {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Explanation { cells: self.cells.load(Ordering::Relaxed), ..heard }
    }
}

impl Observer for Explainer {
    fn advance(&self, cells: u64) {
        self.cells.fetch_add(cells, Ordering::Relaxed);
        self.inner.iter().for_each(|inner| inner.advance(cells));
    }

    fn cancelled(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| inner.cancelled())
    }

    fn explains(&self) -> bool {
        true
    }

    fn launched(&self, launch: &Launch<'_>) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let known = heard.kernels.iter_mut().find(|k| k.name == launch.kernel && k.shape == launch.shape);
        match known {
            Some(kernel) => {
                kernel.launches += 1;
                kernel.pairs += launch.pairs;
            }
            None => heard.kernels.push(Kernel {
                name: launch.kernel.to_owned(),
                shape: launch.shape.to_owned(),
                why: launch.why.to_owned(),
                launches: 1,
                pairs: launch.pairs,
            }),
        }
    }

    fn lost(&self, device: &str, why: &crate::Error) {
        self.inner.iter().for_each(|inner| inner.lost(device, why));
    }

    fn proposed(&self, query: usize, reference: usize, is_confirmed: bool) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let count = if is_confirmed { &mut heard.confirmed } else { &mut heard.searched_whole };
        *count += 1;
        drop(heard);
        self.inner.iter().for_each(|inner| inner.proposed(query, reference, is_confirmed));
    }

    fn computed(&self, scratch_bytes: u64, allowed_bytes: u64) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.tiles += 1;
        heard.memory_bytes = heard.memory_bytes.max(scratch_bytes);
        heard.allowed_bytes = allowed_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_of_a_kernel_are_added_up() {
        let explainer = Explainer::default();
        for pairs in [2, 3] {
            explainer.launched(&Launch { kernel: "a", shape: "4 lanes", why: "it is the only one", pairs });
            explainer.advance(500);
        }
        for (query, is_confirmed) in [(0, true), (1, false), (2, true)] {
            explainer.proposed(query, 0, is_confirmed);
        }
        explainer.computed(10, 100);
        let told = Explanation { seconds: Some(0.5), ..explainer.explanation() }.to_string();
        assert_eq!(
            told,
            "a (4 lanes): 2 launches, 5 pairs; it is the only one\n\
             half precision: 2 pairs confirmed, 1 searched whole\n\
             1 tiles, 10 of 100 bytes of scratch memory, 1000 cells in 0.500 s, 2.000e3 cells a second"
        );
    }
}
