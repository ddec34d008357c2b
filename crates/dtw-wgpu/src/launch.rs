//! From tasks to dispatches, with all the memory that a plan holds.

pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod job;
pub(crate) mod pass;
pub(crate) mod queue;
pub(crate) mod recurrence;
pub(crate) mod speed;
