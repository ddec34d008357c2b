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

/// A rate 1/γ below the least normal number has lost digits before anything is computed.
#[test]
fn a_gamma_without_digits_is_refused() {
    use dtw_core::{Backend, Measure, Pairing, Problem, SeriesBatch, Spec};
    fn refused<T: dtw_core::Scalar>(gamma: f64) -> Option<String>
    where
        dtw_cpu::CpuBackend: Backend<T>,
    {
        let values: Vec<T> = [0.0, 0.1, 0.2, 0.3].map(T::from_f64).to_vec();
        let batch = SeriesBatch::equal(&values, 2, 2, 1).unwrap();
        let spec = Spec::new(Measure::soft_dtw_divergence(gamma));
        let problem = Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap();
        let mut plan = Backend::<T>::plan(&dtw_cpu::CpuBackend::new(), &problem).unwrap();
        plan.distances(batch, batch, &mut [T::ZERO; 4]).err().map(|error| error.to_string())
    }
    for (gamma, is_refused) in [(1e38, false), (1e39, true), (1e42, true), (1e45, true), (1e54, true)] {
        let error = refused::<f32>(gamma);
        assert_eq!(error.is_some(), is_refused, "{gamma}: {error:?}");
        assert!(error.is_none_or(|error| error.contains("too large for f32")));
    }
    assert_eq!(refused::<f64>(1e54), None);
    assert!(refused::<f64>(1e308).is_some_and(|error| error.contains("too large for f64")));
}
