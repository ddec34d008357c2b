//! What becomes of a call: passes, second sweeps, paths, matches and gradients, with results on the host.

pub(crate) mod gradients;
pub(crate) mod located;
pub(crate) mod paths;
pub(crate) mod plan;
pub(crate) mod proposed;
pub(crate) mod pruned;
pub(crate) mod search;
pub(crate) mod soft;
pub(crate) mod stretched;
pub(crate) mod subsequence_blocks;
pub(crate) mod subsequences;
pub(crate) mod window_blocks;
pub(crate) mod windows;
