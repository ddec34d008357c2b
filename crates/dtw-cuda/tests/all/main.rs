//! The tests of the backend, in one program.

mod common;
mod device;
mod resident;
mod suite;
