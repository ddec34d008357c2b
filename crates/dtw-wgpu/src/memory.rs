//! Memory of the device: regions that grow, series as shaders read them, windows of a reference.

pub(crate) mod region;
pub(crate) mod series;
pub(crate) mod windows;
