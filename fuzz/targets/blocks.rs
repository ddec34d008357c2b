//! A long series read block by block: a column of values or an array, compressed or not.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dtwave_fuzz::blocks::file(data));
