//! Any format within gzip or xz, whatever the format is said to be.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.dat", data, dtwave_fuzz::files::compressed);
});
