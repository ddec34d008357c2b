//! The tests of the backend, in one program.

mod bit_parallel;
mod cancelling;
mod channels;
mod conformance;
mod consistency;
mod costs;
mod nearest;
mod open;
mod pruned;
mod random;
mod search;
mod soft_digits;
mod within;
