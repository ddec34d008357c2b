//! Comma-separated values.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.csv", data, dtwave_fuzz::files::csv);
});
