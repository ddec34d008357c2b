//! NumPy arrays.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.npy", data, dtwave_fuzz::files::npy);
});
