//! What several commands share: picking series, describing a computation.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use dtwave::{Band, Measure, Radius, Spec};
use serde_json::{Map, Value, json};

use crate::data::Dataset;
use crate::options::{MeasureArgs, PointRange, RunArgs};
use crate::{output, plot, progress, report};

/// The parameters of a measure by the names of their options.
pub(super) fn parameters(measure: &Measure) -> Vec<(&'static str, Value)> {
    let cost = |cost: dtwave::LocalCost| match cost {
        dtwave::LocalCost::SquaredEuclidean => json!("squared-euclidean"),
        dtwave::LocalCost::Euclidean => json!("euclidean"),
        dtwave::LocalCost::Manhattan => json!("manhattan"),
    };
    match *measure {
        Measure::Dtw { cost: c } | Measure::Ddtw { cost: c } => vec![("cost", cost(c))],
        Measure::Wdtw { g } | Measure::Wddtw { g } => vec![("g", json!(g))],
        Measure::Adtw { penalty } => vec![("penalty", json!(penalty))],
        Measure::Erp { gap } => vec![("gap", json!(gap))],
        Measure::Edr { epsilon, output } => vec![
            ("epsilon", json!(epsilon)),
            ("edr-normalized", json!(output == dtwave::EdrOutput::Normalized)),
        ],
        Measure::Lcss { epsilon, output } => {
            vec![("epsilon", json!(epsilon)), ("lcss-length", json!(output == dtwave::LcssOutput::Length))]
        }
        Measure::Msm { c } => vec![("c", json!(c))],
        Measure::Twed { nu, lambda, degree } => {
            vec![("nu", json!(nu)), ("lambda", json!(lambda)), ("degree", json!(degree))]
        }
        Measure::SoftDtw { gamma } | Measure::SoftDtwDivergence { gamma } => vec![("gamma", json!(gamma))],
        Measure::LogGak { sigma } => vec![("sigma", json!(sigma))],
        _ => vec![("measure", json!(format!("{measure:?}")))],
    }
}

/// A band as the option writes it.
pub(super) fn band_text(band: &Band) -> String {
    let radius = |radius: &Radius| match radius {
        Radius::Points(points) => points.to_string(),
        Radius::Fraction(fraction) => format!("{}%", fraction * 100.0),
    };
    match band {
        Band::Full => "full".to_owned(),
        Band::SakoeChiba { radius: r } => radius(r),
        Band::Slanted { radius: r } => format!("slanted:{}", radius(r)),
        Band::Itakura { max_slope } => format!("itakura:{max_slope}"),
        Band::Ranges(ranges) => format!("{ranges:?}"),
    }
}

/// A computation in a few words: `twed, ν…, band 5%`.
pub(super) fn described(spec: &Spec, run: &RunArgs) -> String {
    let mut words = vec![spec.key().to_owned()];
    let shown = parameters(&spec.measure);
    let shown = shown.iter().filter(|(name, value)| {
        *value != json!(false) && (*name, value.as_str()) != ("cost", Some("squared-euclidean"))
    });
    words.extend(shown.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {}", value.as_f64().map_or_else(|| value.to_string(), plot::short)),
    }));
    if spec.band != Band::Full {
        words.push(format!("band {}", band_text(&spec.band)));
    }
    if run.normalize == crate::options::Normalize::Z {
        words.push("z-normalised".to_owned());
    }
    words.join(", ")
}

/// The part of every JSON answer that says what was computed.
pub(super) fn computation(
    spec: &Spec,
    measure: &MeasureArgs,
    run: &RunArgs,
    backend: &str,
) -> Map<String, Value> {
    let mut answer = Map::new();
    answer.insert("measure".into(), json!(spec.key()));
    let mut all: Map<String, Value> =
        parameters(&spec.measure).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if measure.may_be_rooted() {
        all.insert("sqrt".into(), json!(measure.sqrt));
    }
    answer.insert("parameters".into(), Value::Object(all));
    answer.insert("band".into(), json!(band_text(&spec.band)));
    answer.insert("normalize".into(), json!(run.normalize == crate::options::Normalize::Z));
    answer.insert("dtype".into(), json!(run.dtype.name()));
    answer.insert("backend".into(), json!(backend));
    answer
}

/// Refuses outputs that would replace an input, and options about inputs that no input has a use for.
pub(super) fn check_files(inputs: &[&Path], outputs: &[&Option<PathBuf>], run: &RunArgs) -> Result<()> {
    for out in outputs.iter().copied().flatten() {
        if let Some(input) = inputs.iter().find(|input| output::is_same_file(input, out)) {
            bail!("cannot write {}: it is the input {}; choose another name", out.display(), input.display());
        }
    }
    run.input.check(inputs)
}

/// Says so on stderr if results left the range of the number type.
pub(super) fn warn_of_overflow(overflowed: u64, total: u64, run: &RunArgs) {
    if overflowed > 0 {
        let dtype = run.dtype.name();
        report::warn(&format!("{overflowed} of {total} distances overflowed to infinity in {dtype}"));
    }
}

/// Time and speed of a run.
pub(super) struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch { start: Instant::now() }
    }

    pub(super) fn secs(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// `1.24 s, 3.1 Gcells/s`
    pub(super) fn summary(&self, cells: u64) -> String {
        let secs = self.secs();
        format!("{secs:.2} s, {}", progress::rate(cells as f64 / secs.max(1e-9)))
    }
}

/// One series of a file, and a stretch of it: what single-series commands work on.
pub(super) fn pick(
    path: &Path,
    dataset: &Dataset,
    index: Option<usize>,
    range: Option<PointRange>,
    option: &str,
) -> Result<Dataset> {
    let shown = path.display();
    let index = match index {
        Some(index) if index < dataset.len() => index,
        Some(index) => {
            bail!("{shown} has {} series; --{option}-index {index} is out of range", dataset.len())
        }
        None if dataset.len() == 1 => 0,
        None => bail!("{shown} has {} series; choose one with --{option}-index", dataset.len()),
    };
    let mut values = dataset.series[index].clone();
    let mut name =
        if dataset.len() == 1 { dataset.name.clone() } else { format!("{} {index}", dataset.name) };
    if let Some(PointRange { start, end }) = range {
        let length = dataset.length(index);
        ensure!(
            end <= length,
            "series {index} of {shown} has {length} points; --{option}-range {start}:{end} is out of range"
        );
        values = values[start * dataset.channels..end * dataset.channels].to_vec();
        name = format!("{name} [{start}..{end}]");
    }
    let picked = Dataset::univariate(name, vec![values]);
    // Points of a stretch are counted, and so timed, from its start.
    Ok(Dataset { channels: dataset.channels, times: dataset.times.clone(), ..picked })
}

/// One channel of a series.
pub(super) fn channel(values: &[f64], channels: usize, channel: usize) -> Vec<f64> {
    values.iter().skip(channel).step_by(channels).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picking_is_explicit_where_there_is_a_choice() {
        let one = Dataset::univariate("one".into(), vec![vec![1., 2., 3.]]);
        let two = Dataset::univariate("two".into(), vec![vec![1.], vec![2.]]);
        let path = Path::new("f.csv");
        let range = |start, end| Some(PointRange { start, end });
        assert_eq!(pick(path, &one, None, range(1, 3), "query").unwrap().series, [[2., 3.]]);
        assert_eq!(pick(path, &two, Some(1), None, "query").unwrap().series, [[2.]]);
        for (dataset, index, range) in [(&two, None, None), (&two, Some(2), None), (&one, None, range(0, 4))]
        {
            let error = pick(path, dataset, index, range, "query").unwrap_err().to_string();
            assert!(error.contains("--query-") && error.contains("f.csv"), "{error}");
        }
    }

    #[test]
    fn bands_read_as_they_are_written() {
        for text in ["full", "10", "5%", "slanted:10", "slanted:2.5%", "itakura:2"] {
            let band = match text {
                "full" => Band::Full,
                "10" => Band::sakoe_chiba(10),
                "5%" => Band::SakoeChiba { radius: Radius::Fraction(0.05) },
                "slanted:10" => Band::Slanted { radius: Radius::Points(10) },
                "slanted:2.5%" => Band::Slanted { radius: Radius::Fraction(0.025) },
                _ => Band::Itakura { max_slope: 2.0 },
            };
            assert_eq!(band_text(&band), text);
        }
    }
}
