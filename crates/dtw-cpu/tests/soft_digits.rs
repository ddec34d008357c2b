//! The digits of Soft-DTW, its divergence and the alignment kernel at any γ, on every instruction set of this machine.

use dtw_conformance::suite::run_section;
use dtw_cpu::{CpuBackend, Isa};

#[test]
fn soft_results_keep_their_digits() {
    for isa in Isa::available() {
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        run_section::<f32>("soft_digits", &backend).assert();
        run_section::<f64>("soft_digits", &backend).assert();
    }
}
