//! Interrupted matrices, damaged and resumed.
#![no_main]

use arbitrary::Unstructured;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // Too few choices are no case.
    let _ = dtwave_fuzz::results::resume(&mut Unstructured::new(data));
});
