//! The whole conformance suite on a GPU, as `cargo xtask conformance --backend hip` runs it; without one, the error.
//! `cargo test -p dtw-hip --test suite -- --ignored`

use dtw_conformance::report::Report;
use dtw_conformance::suite::{Judged, SECTIONS, run_section};
use dtw_core::Backend;
use dtw_hip::HipBackend;

fn run<T: Judged>(backend: &dyn Backend<T>) {
    let mut whole = Report::default();
    for section in SECTIONS {
        whole.absorb(run_section(section, backend));
    }
    whole.assert();
}

#[test]
#[ignore = "needs an AMD GPU"]
fn conformance_f32() {
    run::<f32>(&HipBackend::new().unwrap());
}

#[test]
#[ignore = "needs an AMD GPU"]
fn conformance_f64() {
    run::<f64>(&HipBackend::new().unwrap());
}

#[test]
fn without_a_gpu_there_is_an_error_that_says_why() {
    if let Err(error) = HipBackend::new() {
        let text = error.to_string();
        let told = ["no HIP device", "no kernels for", "kernels not built"];
        assert!(told.iter().any(|reason| text.contains(reason)), "{text}");
    }
    assert!(!dtw_hip::devices().is_empty());
}
