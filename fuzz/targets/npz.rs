//! NumPy archives.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.npz", data, dtwave_fuzz::files::npz);
});
