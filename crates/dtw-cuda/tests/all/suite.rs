//! The whole conformance suite on a GPU, as `cargo xtask conformance --backend cuda` runs it.
//! `cargo test -p dtw-cuda --test suite -- --ignored`

use dtw_conformance::report::Report;
use dtw_conformance::suite::{Judged, SECTIONS, run_section};
use dtw_core::Backend;
use dtw_cuda::CudaBackend;

fn run<T: Judged>(backend: &dyn Backend<T>) {
    let mut whole = Report::default();
    for section in SECTIONS {
        whole.absorb(run_section(section, backend));
    }
    whole.assert();
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn conformance_f32() {
    run::<f32>(&CudaBackend::new().unwrap());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn conformance_f64() {
    run::<f64>(&CudaBackend::new().unwrap());
}
