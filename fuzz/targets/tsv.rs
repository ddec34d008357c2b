//! Labels in the first column.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.tsv", data, dtwave_fuzz::files::tsv);
});
