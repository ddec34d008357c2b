//! Unit tests of the modules that instantiate no sweep, compiled by themselves: the whole crate would take minutes to
//! compile a second time, as a test of its own.
#![allow(dead_code, unreachable_pub, reason = "the crate uses the rest of these modules")]

#[path = "../src/gradient_tiles.rs"]
mod gradient_tiles;
#[path = "../src/name.rs"]
mod name;
#[path = "../src/schedule.rs"]
mod schedule;
#[path = "../src/threads.rs"]
mod threads;
#[path = "../src/wide.rs"]
mod wide;
