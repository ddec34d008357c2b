//! The UCR/UEA format.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    dtwave_fuzz::file("f.ts", data, dtwave_fuzz::files::ts);
});
