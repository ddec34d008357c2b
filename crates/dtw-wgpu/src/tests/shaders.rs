//! Every shader that can be asked for is valid WGSL: on any machine, without a GPU.

use dtw_core::Measure;
use dtw_core::measure::Kind;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::gpu::lanes::Lanes;
use crate::shaders::functor::Functor;
use crate::shaders::sweep::{Mode, Points, Sweep};

/// What naga says of a shader.
fn validate(sweep: &Sweep) -> Result<(), String> {
    let source = sweep.source();
    let module = naga::front::wgsl::parse_str(&source).map_err(|why| why.emit_to_string(&source))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    validator.validate(&module).map(drop).map_err(|why| why.emit_to_string(&source))
}

/// The functors of all measures, and those of their second sweeps; one for each choice of an option.
fn functors() -> Vec<Functor> {
    let mut functors: Vec<Functor> = Vec::new();
    for spec in Kind::all().iter().flat_map(Kind::specs) {
        let functor = Functor::of(&spec).unwrap_or_else(|| panic!("{spec:?} has no shaders"));
        let sums = matches!(spec.measure, Measure::SoftDtw { .. } | Measure::LogGak { .. });
        for functor in [functor].into_iter().chain(sums.then(|| Functor::excess(&spec))) {
            if !functors.iter().any(|other| (other.wgsl, other.cost) == (functor.wgsl, functor.cost)) {
                functors.push(functor);
            }
        }
    }
    functors
}

#[test]
fn every_sweep_is_valid() {
    let mut count = 0;
    for functor in functors() {
        let modes: &[Mode] = match functor.wgsl.key {
            "subsequence_dtw" => &[Mode::Search { all: false }, Mode::Search { all: true }],
            _ if functor.needs.parts == 1 => &[Mode::Distances, Mode::Trace],
            "soft_dtw" => &[
                Mode::Distances,
                Mode::Shares,
                Mode::Backward { slopes: false },
                Mode::Backward { slopes: true },
                Mode::Pull { of_x: true },
                Mode::Pull { of_x: false },
            ],
            _ => &[Mode::Distances],
        };
        let points: &[Points] = match functor.wgsl.key {
            // Each channel is warped on its own.
            "msm" => &[Points::One],
            _ => &[
                Points::One,
                Points::Few(2),
                Points::Few(3),
                Points::Few(4),
                Points::Several(7),
                Points::Many,
            ],
        };
        for (points, mode) in points.iter().flat_map(|points| modes.iter().map(move |mode| (*points, *mode)))
        {
            for (lanes, group) in [(Lanes::Subgroup(32), 8), (Lanes::Workgroup(64), 64)] {
                for (one_strip, band) in [(true, false), (false, true), (false, false), (true, true)] {
                    if mode.has_own_workgroup() && one_strip {
                        continue;
                    }
                    let group = if one_strip { group } else { lanes.count() };
                    let width = if one_strip { 4 } else { 16 };
                    let sweep = Sweep { functor, points, lanes, group, width, one_strip, band, mode };
                    validate(&sweep).unwrap_or_else(|why| panic!("{}: {why}", sweep.key()));
                    count += 1;
                }
            }
        }
    }
    assert!(count > 500, "{count}");
}
