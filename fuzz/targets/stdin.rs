//! Standard input: any format, compressed or not, read as any other.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("-", data, dtwave_fuzz::files::stream);
});
