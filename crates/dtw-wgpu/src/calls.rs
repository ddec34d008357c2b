//! Calls of a plan: what each becomes, pass by pass.

pub(crate) mod context;
pub(crate) mod distances;
mod gradient_blocks;
pub(crate) mod gradients;
pub(crate) mod paths;
pub(crate) mod search;
pub(crate) mod windows;
