//! What several commands share: picking series, describing a computation.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use dtwave::measure::{Parameter, Value as Given};
use dtwave::{Band, Float, Match, Measure, Radius, SearchOptions, Spec};
use serde_json::{Map, Value, json};

use crate::data::{self, Dataset, Format};
use crate::options::{self, MeasureArgs, PointRange, RunArgs};
use crate::words::count;
use crate::{output, plot, progress, report};

/// The parameters of a measure by the names of their options.
pub(super) fn parameters(measure: &Measure) -> Vec<(&'static str, Value)> {
    let named = |(parameter, value): (&'static Parameter, Given)| {
        let value = match value {
            Given::Number(number) => json!(number),
            Given::Choice(choice) if parameter.switch().is_some() => {
                json!(parameter.switch() == Some(choice))
            }
            Given::Choice(choice) => json!(options::written(choice)),
            other => json!(format!("{other:?}")),
        };
        (options::setting(measure.kind(), parameter).name, value)
    };
    measure.parameters().into_iter().map(named).collect()
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
        all.insert("sqrt".into(), json!(measure.takes_root()));
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

/// Says so on stderr if results left the range of the number type, and how they stand in JSON where that is written.
pub(super) fn warn_of_overflow(overflowed: u64, total: u64, run: &RunArgs, as_json: bool) {
    if overflowed > 0 {
        let dtype = run.dtype.name();
        let named = if as_json { "; JSON has them as the string \"Infinity\" or \"-Infinity\"" } else { "" };
        report::warn(&format!("{overflowed} of {total} distances overflowed to infinity in {dtype}{named}"));
    }
}

/// Says so on stderr if matches are missing because their distance left the range of the number type.
pub(super) fn warn_of_missing_hits<T: Float>(
    hits: &[Match<T>],
    points: usize,
    options: &SearchOptions,
    run: &RunArgs,
) {
    let missing = overflowed_ends(hits, points, options);
    if missing > 0 {
        report::warn(&format!(
            "only {}: at {} more, in no exclusion zone, the distance overflowed to infinity in {}",
            count(hits.len(), "match"),
            count(missing, "end"),
            run.dtype.name()
        ));
    }
}

/// How many points of a reference could end a match but do not because its distance is infinite.
///
/// A search takes the best end that no match excludes until it has as many as were asked for. So when it has fewer,
/// what is not excluded is not finite: without overflow every end has a finite distance.
fn overflowed_ends<T: Float>(hits: &[Match<T>], points: usize, options: &SearchOptions) -> usize {
    // An infinite distance is beyond every threshold.
    if hits.len() >= options.top_k || options.threshold.is_some() {
        return 0;
    }
    let mut ends: Vec<usize> = hits.iter().map(|hit| hit.end).collect();
    ends.sort_unstable();
    // The first end that no match so far excludes.
    let mut next = options.normalized_window.map_or(0, |window| window.saturating_sub(1));
    let mut open = 0;
    for end in ends {
        open += end.saturating_sub(options.exclusion).saturating_sub(next);
        next = next.max(end.saturating_add(options.exclusion).saturating_add(1));
    }
    open + points.saturating_sub(next)
}

/// Time and speed of a run.
pub(super) struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    pub(super) fn start() -> Self {
        Stopwatch { start: Instant::now() }
    }

    /// The time since the start: call it when the results are there, before they are written or drawn.
    pub(super) fn stop(&self) -> Took {
        Took { secs: self.start.elapsed().as_secs_f64() }
    }
}

/// How long a computation took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    pub(super) secs: f64,
}

impl Took {
    /// `1.24 s, 3.1 Gcells/s`
    pub(super) fn summary(self, cells: u64) -> String {
        let Took { secs } = self;
        format!("{secs:.2} s, {}", progress::rate(cells as f64 / secs.max(1e-9)))
    }
}

/// One series of a file, and a stretch of it: what single-series commands work on. `options` are the names of the two
/// options that choose, if there are such.
pub(super) fn pick(
    path: &Path,
    dataset: &Dataset,
    index: Option<usize>,
    range: Option<PointRange>,
    options: Option<[&str; 2]>,
) -> Result<Dataset> {
    let shown = data::shown(path);
    let held = count(dataset.len(), "series");
    let [index_option, range_option] = options.unwrap_or_default();
    let index = match index {
        Some(index) if index < dataset.len() => index,
        Some(index) => bail!("{shown} has {held}; {index_option} {index} is out of range"),
        None if dataset.len() == 1 => 0,
        None if options.is_none() => bail!("{shown} has {held}; expected a file with one series"),
        None => bail!("{shown} has {held}; choose one with {index_option}{}", turned(path, dataset)),
    };
    let mut values = dataset.series[index].clone();
    let mut name =
        if dataset.len() == 1 { dataset.name.clone() } else { format!("{} {index}", dataset.name) };
    if let Some(PointRange { start, end }) = range {
        let length = dataset.length(index);
        ensure!(
            end <= length,
            "series {index} of {shown} has {}; {range_option} {start}:{end} is out of range",
            count(length, "point")
        );
        values = values[start * dataset.channels..end * dataset.channels].to_vec();
        name = format!("{name} [{start}..{end}]");
    }
    let picked = Dataset::univariate(name, vec![values]);
    // Points of a stretch are counted, and so timed, from its start.
    Ok(Dataset { channels: dataset.channels, times: dataset.times.clone(), ..picked })
}

/// What else to do about a file that has far more series than points: a recording whose rows are points of time.
fn turned(path: &Path, dataset: &Dataset) -> &'static str {
    let (_, longest) = dataset.lengths();
    match Format::of(path) {
        _ if dataset.len() < 4 * longest => "",
        Some(Format::Npy | Format::Npz) => {
            "; an array [points, channels] is one recording as [1, points, channels]: x[np.newaxis]"
        }
        Some(Format::Csv) | None => ", or say --csv-layout columns if each column is a series",
        Some(_) => "",
    }
}

/// The lines that name the files which were written, and what is in them.
pub(super) fn written(out: &mut dyn Write, files: &[(&str, &Option<PathBuf>)]) -> io::Result<()> {
    for (what, file) in files {
        if let Some(file) = file {
            writeln!(out, "{what} in {}", file.display())?;
        }
    }
    Ok(())
}

/// The same of a figure, once it is drawn; JSON stays alone on stdout.
pub(super) fn plotted(plot: &Option<PathBuf>, as_json: bool) -> Result<()> {
    if as_json { Ok(()) } else { report::print(|out| written(out, &[("figure", plot)])) }
}

/// Refuses a channel that the series do not have.
pub(super) fn check_channel(channel: Option<usize>, channels: usize) -> Result<()> {
    let channel = channel.unwrap_or(0);
    let held = count(channels, "channel");
    ensure!(channel < channels, "--plot-channel {channel} is out of range: {held}");
    Ok(())
}

/// `, channel 2` where there are several.
pub(super) fn of_channel(channel: Option<usize>, channels: usize) -> String {
    if channels > 1 { format!(", channel {}", channel.unwrap_or(0)) } else { String::new() }
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
        let options = Some(["--query-index", "--query-range"]);
        assert_eq!(pick(path, &one, None, range(1, 3), options).unwrap().series, [[2., 3.]]);
        assert_eq!(pick(path, &two, Some(1), None, options).unwrap().series, [[2.]]);
        for (dataset, index, range) in [(&two, None, None), (&two, Some(2), None), (&one, None, range(0, 4))]
        {
            let error = pick(path, dataset, index, range, options).unwrap_err().to_string();
            assert!(error.contains("--query-") && error.contains("f.csv"), "{error}");
        }
        // A recording, its channels side by side.
        let tall = Dataset::univariate("tall".into(), vec![vec![0., 1.]; 8]);
        let hint = |file: &str| pick(Path::new(file), &tall, None, None, options).unwrap_err().to_string();
        assert!(
            hint("f.csv").ends_with("--query-index, or say --csv-layout columns if each column is a series")
        );
        assert!(hint("f.npy.gz").contains("[1, points, channels]"));
        assert!(hint("f.tsv").ends_with("--query-index"));
        let error = pick(path, &two, None, None, None).unwrap_err().to_string();
        assert_eq!(error, "f.csv has 2 series; expected a file with one series");
    }

    #[test]
    fn ends_that_overflowed_are_counted() {
        let hits = |ends: &[usize]| -> Vec<Match<f64>> {
            ends.iter().map(|end| Match { distance: 0.0, start: *end, end: *end }).collect()
        };
        let options = |top_k, exclusion, normalized_window| {
            SearchOptions::default()
                .with_top_k(top_k)
                .with_exclusion(exclusion)
                .with_normalized_window(normalized_window)
        };
        // As many as were asked for; all others excluded; three of ten left; nothing finite at all.
        assert_eq!(overflowed_ends(&hits(&[5]), 10, &options(1, 0, None)), 0);
        assert_eq!(overflowed_ends(&hits(&[5, 2]), 10, &options(3, 4, None)), 0);
        assert_eq!(overflowed_ends(&hits(&[8, 2]), 10, &options(3, 2, None)), 1);
        assert_eq!(overflowed_ends(&hits(&[5]), 10, &options(3, 2, None)), 5);
        assert_eq!(overflowed_ends(&hits(&[]), 10, &options(1, 2, None)), 10);
        // Windows of four points end at the fourth or later.
        assert_eq!(overflowed_ends(&hits(&[]), 10, &options(1, 2, Some(4))), 7);
        assert_eq!(overflowed_ends(&hits(&[4]), 10, &options(2, usize::MAX, Some(4))), 0);
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
