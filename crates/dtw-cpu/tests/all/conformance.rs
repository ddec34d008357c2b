//! The whole suite on the widest, the second and the narrowest instruction set of this machine, and its golden numbers
//! on all.

use dtw_cpu::{CpuBackend, Isa};

mod widest {
    fn backend() -> super::CpuBackend {
        super::CpuBackend::with_threads(2)
    }
    dtw_conformance::suite!(backend());
}

mod second {
    /// AVX2 where there is AVX-512; the narrowest again where there are two, and the only one where there is one.
    fn backend() -> super::CpuBackend {
        let isas = super::Isa::available();
        super::CpuBackend::with_threads(2).with_isa(isas[1.min(isas.len() - 1)])
    }
    dtw_conformance::suite!(backend());
}

mod narrowest {
    fn backend() -> super::CpuBackend {
        let isas = super::Isa::available();
        super::CpuBackend::with_threads(2).with_isa(isas[isas.len() - 1])
    }
    dtw_conformance::suite!(backend());
}

#[test]
fn golden_numbers_on_every_instruction_set() {
    for isa in Isa::available() {
        let backend = CpuBackend::with_threads(1).with_isa(isa);
        dtw_conformance::suite::run_section::<f64>("golden", &backend).assert();
        dtw_conformance::suite::run_section::<f32>("golden", &backend).assert();
    }
}
