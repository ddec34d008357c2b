//! A kind of sweep that is forced: the same values, told to those who explain, and an error where it cannot do a job.

use std::sync::Arc;

use dtw_core::{
    Backend, Band, Error, Explainer, LocalCost, Measure, Pairing, Problem, Radius, SearchOptions,
    SeriesBatch, Spec,
};
use dtw_native::{FORCED, HostMachine, NativeBackend, SweepKind};

use crate::launch::noise;

/// Distances of five series to each other by a kind of sweep, and the kernels that computed them.
fn forced(spec: Spec, kind: Option<SweepKind>) -> dtw_core::Result<(Vec<f32>, Vec<String>)> {
    let values: Vec<f32> = noise(5 * 40, 7).into_iter().map(|value| value as f32).collect();
    let x = SeriesBatch::equal(&values, 5, 40, 1)?;
    let problem = Problem::of(spec, Pairing::SelfSymmetric, &x, &x)?;
    let backend = NativeBackend::new(HostMachine::new(1 << 30)).forcing(kind);
    let mut plan = Backend::<f32>::plan(&backend, &problem)?;
    let explainer = Arc::new(Explainer::default());
    plan.observe(explainer.clone());
    let mut out = vec![0.0; 25];
    plan.distances(x, x, &mut out)?;
    let kernels = explainer.explanation().kernels.into_iter();
    Ok((out, kernels.map(|kernel| format!("{}: {}", kernel.name, kernel.why)).collect()))
}

/// Checks that the error of a forced kind names the kinds that can.
fn refused<R: std::fmt::Debug>(result: dtw_core::Result<R>, able: &str) {
    let text = match result {
        Err(error @ Error::Unsupported { .. }) => error.to_string(),
        other => panic!("expected a refusal, got {other:?}"),
    };
    assert!(text.contains(FORCED) && text.ends_with(able), "{text}");
}

#[test]
fn a_forced_kind_computes_what_others_do_or_says_which_can() {
    let (fastest, _) = forced(Spec::dtw(), None).unwrap();
    for kind in [SweepKind::General, SweepKind::Strips, SweepKind::Narrow, SweepKind::Wide] {
        let (values, kernels) = forced(Spec::dtw(), Some(kind)).unwrap();
        assert_eq!(values, fastest, "{kind:?}");
        let is_told = |kernel: &String| kernel.contains(&format!("the kind {} is forced", kind.name()));
        assert!(!kernels.is_empty() && kernels.iter().all(is_told), "{kernels:?}");
        assert!(kernels.iter().all(|kernel| kernel.contains(kind.name())), "{kernels:?}");
    }
    use SweepKind::{Block, Diagonal, Few, Soft, SoftDiagonal};
    for kind in [Few, Block, Soft, SoftDiagonal, Diagonal] {
        refused(forced(Spec::dtw(), Some(kind)), "general, strips, narrow, wide");
    }
    let banded = Spec::dtw().with_band(Band::SakoeChiba { radius: Radius::Points(9) });
    refused(forced(banded, Some(SweepKind::Narrow)), "general, strips, diagonal");

    // What a kind gives up goes to another one, which is told too.
    let soft = Spec::new(Measure::SoftDtw { gamma: 1.0, cost: LocalCost::SquaredEuclidean });
    let (values, kernels) = forced(soft.clone(), Some(SweepKind::Soft)).unwrap();
    assert_eq!(values, forced(soft.clone(), None).unwrap().0);
    assert!(kernels[0].contains("soft_dtw") && kernels.len() > 1, "{kernels:?}");
    refused(forced(soft.clone(), Some(SweepKind::SoftDiagonal)), "general, strips, soft");
    let banded = soft.with_band(Band::SakoeChiba { radius: Radius::Points(9) });
    let (values, kernels) = forced(banded.clone(), Some(SweepKind::SoftDiagonal)).unwrap();
    assert_eq!(values, forced(banded, None).unwrap().0);
    assert!(kernels[0].contains("soft_diagonal") && kernels.len() > 1, "{kernels:?}");
}

#[test]
fn a_forced_kind_is_of_sweeps_alone() {
    let values: Vec<f32> = noise(40, 7).into_iter().map(|value| value as f32).collect();
    let x = SeriesBatch::equal(&values, 1, 40, 1).unwrap();
    let backend = NativeBackend::new(HostMachine::new(1 << 30)).forcing(Some(SweepKind::Strips));
    let plan = |spec| {
        let problem = Problem::of(spec, Pairing::Zipped, &x, &x).unwrap();
        Backend::<f32>::plan(&backend, &problem).unwrap()
    };
    refused(plan(Spec::dtw()).paths(x, x), "no kind of sweep");
    let found = plan(Spec::subsequence_dtw(LocalCost::SquaredEuclidean))
        .matches(x, x, &SearchOptions::default())
        .unwrap();
    assert_eq!(found[0][0].distance, 0.0);
}
