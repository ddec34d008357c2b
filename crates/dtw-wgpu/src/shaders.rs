//! Shaders: from a measure to the text of the one that sweeps it, and what a dispatch of it is told.

pub(crate) mod choose;
pub(crate) mod constants;
pub(crate) mod functor;
pub(crate) mod params;
mod pieces;
pub(crate) mod sweep;
