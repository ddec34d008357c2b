//! The digits of Soft-DTW, its divergence and the alignment kernel at any γ, on every instruction set of this machine.

use dtw_conformance::batch::Element;
use dtw_conformance::cases::soft;
use dtw_conformance::check;
use dtw_core::Backend;
use dtw_cpu::{CpuBackend, Isa};

fn every_case<T: Element>(backend: &dyn Backend<T>) {
    let cases = soft::cases();
    let failed: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let stop = check::soft::check(case, backend).err()?;
            Some(format!("{:?} {}: {stop:?}", case.measure, case.name))
        })
        .collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

#[test]
fn soft_results_keep_their_digits() {
    for isa in Isa::available() {
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        every_case::<f32>(&backend);
        every_case::<f64>(&backend);
    }
}
