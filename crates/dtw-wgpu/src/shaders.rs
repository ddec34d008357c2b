//! Shaders: from a measure to the text of the one that sweeps it, and the arguments of a dispatch.

pub(crate) mod choose;
pub(crate) mod constants;
pub(crate) mod functor;
pub(crate) mod params;
mod pieces;
pub(crate) mod sweep;
