//! The tests of the backend, in one program.

mod cancelling;
mod conformance;
mod consistency;
mod costs;
mod pruned;
mod search;
mod soft_digits;
