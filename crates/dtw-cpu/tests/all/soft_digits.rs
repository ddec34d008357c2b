//! The digits of Soft-DTW, its divergence and the alignment kernel at any γ, on every instruction set of this machine.

use dtw_conformance::suite::run_section;
use dtw_core::{Backend, Measure, Pairing, Problem, Scalar, SeriesBatch, Spec};
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
    fn refused<T: Scalar>(gamma: f64) -> Option<String>
    where
        CpuBackend: Backend<T>,
    {
        let values: Vec<T> = [0.0, 0.1, 0.2, 0.3].map(T::from_f64).to_vec();
        let batch = SeriesBatch::equal(&values, 2, 2, 1).unwrap();
        let spec = Spec::new(Measure::soft_dtw_divergence(gamma));
        let problem = Problem::of(spec, Pairing::Cross, &batch, &batch).unwrap();
        let mut plan = Backend::<T>::plan(&CpuBackend::new(), &problem).unwrap();
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

/// γ and σ too small for the values are refused; the least that the error names is taken, and gives what DTW does.
#[test]
fn the_least_smoothing_that_is_named_is_enough() {
    let x = [0.0, 1e12, -3e12, 2.0, 7.0];
    let y = [1.0, 1e12, 4.0, 2.5];
    let ask = |measure: Measure| -> Result<f64, String> {
        let [x, y] = [&x[..], &y[..]].map(|values| SeriesBatch::equal(values, 1, values.len(), 1).unwrap());
        let problem = Problem::of(Spec::new(measure), Pairing::Zipped, &x, &y).unwrap();
        let mut out = [f64::NAN];
        let mut plan = Backend::<f64>::plan(&CpuBackend::new(), &problem).unwrap();
        plan.distances(x, y, &mut out).map_err(|error| error.to_string())?;
        Ok(out[0])
    };
    let named = |error: String| -> f64 {
        error.split("it has to be ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap()
    };
    let dtw = ask(Measure::DTW).unwrap();
    let least = named(ask(Measure::soft_dtw(1e-306)).unwrap_err());
    assert!(ask(Measure::soft_dtw(0.9 * least)).is_err());
    assert_eq!(ask(Measure::soft_dtw(least)).unwrap(), dtw);
    let least = named(ask(Measure::LogGak { sigma: 1e-153 }).unwrap_err());
    let log = ask(Measure::LogGak { sigma: least }).unwrap();
    assert!((log * 2.0 * least * least / -dtw - 1.0).abs() < 1e-12, "{log:e}");
}
