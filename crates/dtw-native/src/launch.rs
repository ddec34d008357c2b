//! Launches: which kernel does a job, on how many blocks, and what it is told.

pub(crate) mod bands;
pub(crate) mod bounds;
pub(crate) mod candidates;
pub(crate) mod carried;
pub(crate) mod choose;
pub(crate) mod combine;
pub(crate) mod differentiate;
pub(crate) mod functor;
pub(crate) mod hits;
pub(crate) mod job;
pub(crate) mod locate;
pub(crate) mod propose;
pub(crate) mod stretches;
pub(crate) mod sweep;
pub(crate) mod tiled;
pub(crate) mod trace;
