//! `dtwave search`: where a query occurs in a longer reference.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::Args;
use dtwave::{Anchor, Band, Match, Measure, Pairing, SearchOptions, Spec};
use serde_json::json;

use super::common::{self, Stopwatch};
use crate::data::Dataset;
use crate::engine::{self, Element, Job};
use crate::options::{MeasureArgs, Normalize, PointRange, RunArgs};
use crate::output;
use crate::plot::{self, Hit, SearchFigure};
use crate::progress::Progress;
use crate::report;
use crate::signals::Cancel;

/// Find where a query occurs in a longer reference (top-k, subsequence DTW)
#[derive(Debug, Args)]
#[command(after_help = "\
By default a match may start and end anywhere (subsequence DTW). With --normalize z every window of --window points is \
z-normalised and compared with the z-normalised query: matches are then found whatever their offset and amplitude.

Examples:
  dtwave search --reference ecg.csv --query beat.csv --top-k 10
  dtwave search --reference ecg.csv --query ecg.csv --query-range 700:1250 --plot hits.svg
  dtwave search --reference R.npy --query Q.npy --normalize z --band 5% --json")]
pub(crate) struct SearchArgs {
    /// The long series
    #[arg(long, value_name = "R")]
    reference: PathBuf,

    /// The short series to look for
    #[arg(long, value_name = "Q")]
    query: PathBuf,

    /// Which series of R, if it has several
    #[arg(long, value_name = "N")]
    reference_index: Option<usize>,

    /// Which series of Q, if it has several
    #[arg(long, value_name = "N")]
    query_index: Option<usize>,

    /// Points START:END of Q to look for, END excluded
    #[arg(long, value_name = "START:END")]
    query_range: Option<PointRange>,

    /// Most matches returned
    #[arg(short = 'k', long, default_value_t = 5, value_name = "K")]
    top_k: usize,

    /// Matches end more than this many points apart [default: half the query]
    #[arg(long, value_name = "POINTS")]
    exclusion: Option<usize>,

    /// Points per window with --normalize z [default: the query's]
    #[arg(long, value_name = "POINTS")]
    window: Option<usize>,

    /// Matches: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Reference with the matches marked: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot
    #[arg(long, default_value_t = 0, value_name = "N")]
    plot_channel: usize,

    /// Points per second, for the plot's time axis [default: points]
    #[arg(long, value_name = "HZ")]
    sample_rate: Option<f64>,

    /// Print JSON on stdout
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// Runs the command.
pub(super) fn run<T: Element>(args: &SearchArgs, cancel: &Cancel) -> Result<()> {
    if let Some(out) = &args.out {
        let known = out.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        ensure!(known, "cannot write {}: unknown extension; expected .csv", out.display());
    }
    let out = args.out.as_deref().map(engine::take).transpose()?;
    let plot_file = args.plot.as_deref().map(plot::take).transpose()?;
    ensure!(args.top_k > 0, "--top-k must be at least 1");
    ensure!(args.sample_rate.is_none_or(|hz| hz.is_finite() && hz > 0.0), "--sample-rate must be positive");
    let normalized = args.run.normalize == Normalize::Z;
    common::check_files(&[&args.reference, &args.query], &[&args.out, &args.plot], &args.run)?;
    let spec = search_spec(&args.measure, normalized)?;
    let job = Job::new(&args.run, cancel)?;
    // Windows are normalised one by one, inside the search; the files stay as they are.
    let as_they_are = RunArgs { normalize: Normalize::None, ..args.run.clone() };
    let reference = engine::load(&args.reference, &as_they_are)?;
    let query = engine::load(&args.query, &as_they_are)?;
    engine::same_channels((&args.reference, &reference), (&args.query, &query))?;
    let reference = common::pick(&args.reference, &reference, args.reference_index, None, "reference")?;
    let query = common::pick(&args.query, &query, args.query_index, args.query_range, "query")?;
    ensure!(
        args.plot_channel < query.channels,
        "--plot-channel {} is out of range: {} channel(s)",
        args.plot_channel,
        query.channels
    );
    let window = args.window.unwrap_or(query.length(0));
    if normalized {
        ensure!(
            (1..=reference.length(0)).contains(&window),
            "a window of {window} points does not fit the reference of {} points",
            reference.length(0)
        );
    } else if args.window.is_some() {
        bail!("--window belongs to --normalize z; without it matches may have any length");
    }

    if let Some(hz) = args.sample_rate {
        let (points, secs) = (reference.length(0), reference.length(0) as f64 / hz);
        ensure!(secs.is_finite(), "--sample-rate {hz} is too small: {points} points would last {secs} s");
    }

    let options = SearchOptions {
        top_k: args.top_k,
        exclusion: args.exclusion.unwrap_or(query.length(0) / 2),
        normalized_window: normalized.then_some(window),
    };
    let watch = Stopwatch::start();
    let (hits, cells) = search::<T>(&job, &spec, &query, &reference, &options)?;
    let secs = watch.secs();
    let hits: Vec<Match<T>> =
        hits.into_iter().map(|m| Match { distance: args.measure.finish(m.distance), ..m }).collect();

    if let Some(out) = out {
        let rows: Vec<Vec<String>> = hits
            .iter()
            .enumerate()
            .map(|(rank, m)| {
                vec![(rank + 1).to_string(), m.start.to_string(), m.end.to_string(), m.distance.to_string()]
            })
            .collect();
        output::write_csv_table(out, &["rank", "start", "end", "distance"], &rows)?;
    }
    if let Some(file) = plot_file {
        plot::save(&figure(args, &spec, &reference, &query, &hits).as_figure(), file)?;
    }
    if args.json {
        let mut answer = serde_json::Map::new();
        let hits: Vec<serde_json::Value> =
            hits.iter().map(|m| json!({"start": m.start, "end": m.end, "distance": m.distance})).collect();
        answer.insert("hits".into(), hits.into());
        answer.insert("exclusion".into(), json!(options.exclusion));
        answer.insert("window".into(), json!(options.normalized_window));
        answer.extend(common::computation(&spec, &args.measure, &args.run, job.device.name()));
        answer.insert("seconds".into(), json!(secs));
        return report::print_json(&answer.into());
    }
    report::print(|out| {
        writeln!(out, "reference  {}: {} points", reference.name, reference.length(0))?;
        writeln!(out, "query      {}: {} points", query.name, query.length(0))?;
        writeln!(out, "took       {}\n", watch.summary(cells))?;
        writeln!(out, "{:>4}  {:>9}  {:>9}  {:>14}", "rank", "start", "end", "distance")?;
        for (rank, m) in hits.iter().enumerate() {
            writeln!(out, "{:>4}  {:>9}  {:>9}  {:>14.6}", rank + 1, m.start, m.end, m.distance)?;
        }
        Ok(())
    })
}

/// DTW with a free start and end, or anchored to normalised windows.
fn search_spec(measure: &MeasureArgs, normalized: bool) -> Result<Spec> {
    let spec = measure.spec()?;
    ensure!(
        matches!(spec.measure, Measure::Dtw { .. }),
        "a search is defined for dtw only, got {}",
        spec.key()
    );
    ensure!(
        normalized || spec.band == Band::Full,
        "--band needs --normalize z: a band has no meaning for a match that may start anywhere"
    );
    let anchor = if normalized { Anchor::Global } else { Anchor::Subsequence };
    Ok(Spec { anchor, ..spec })
}

/// The best matches of one query in one reference; also the number of grid cells that took.
pub(super) fn search<T: Element>(
    job: &Job,
    spec: &Spec,
    query: &Dataset,
    reference: &Dataset,
    options: &SearchOptions,
) -> Result<(Vec<Match<T>>, u64)> {
    let (x, y) = (engine::batch::<T>(query)?, engine::batch::<T>(reference)?);
    let (x, y) = (x.batch(), y.batch());
    let (n, m) = (query.length(0) as u64, reference.length(0) as u64);
    let cells = match options.normalized_window {
        None => job.cells(spec, Pairing::Cross, &x, &y)?,
        Some(window) => {
            let band = if spec.band == Band::Full {
                n * window as u64
            } else {
                spec.band.ranges(n as usize, window, Anchor::Global)?.cells()
            };
            (m + 1 - window as u64) * band
        }
    };
    let progress = Arc::new(Progress::new("search", cells));
    let hits = job.session(spec, &progress).search(&x.get(0), &y.get(0), options)?;
    Ok((hits, cells))
}

/// What a [`SearchFigure`] borrows.
struct Drawn {
    title: String,
    subtitle: String,
    reference: Vec<f64>,
    query: Vec<f64>,
    hits: Vec<Hit>,
    normalized: bool,
    sample_rate: Option<f64>,
}

fn figure<T: Element>(
    args: &SearchArgs,
    spec: &Spec,
    reference: &Dataset,
    query: &Dataset,
    hits: &[Match<T>],
) -> Drawn {
    let channel = |d: &Dataset| common::channel(&d.series[0], d.channels, args.plot_channel);
    let of_channel =
        if query.channels > 1 { format!(", channel {}", args.plot_channel) } else { String::new() };
    Drawn {
        title: format!("{} in {}", query.name, reference.name),
        subtitle: format!(
            "{} best matches of {} points, {}{of_channel}",
            hits.len(),
            query.length(0),
            common::described(spec, &args.run)
        ),
        reference: channel(reference),
        query: channel(query),
        hits: hits
            .iter()
            .map(|m| Hit { start: m.start, end: m.end, distance: m.distance.to_f64() })
            .collect(),
        normalized: args.run.normalize == Normalize::Z,
        sample_rate: args.sample_rate,
    }
}

impl Drawn {
    fn as_figure(&self) -> SearchFigure<'_> {
        SearchFigure {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            reference: &self.reference,
            query: &self.query,
            hits: &self.hits,
            normalized: self.normalized,
            points_per_unit: self.sample_rate.unwrap_or(1.0),
            time_label: if self.sample_rate.is_some() { "time (s)".into() } else { "time (points)".into() },
            value_label: "value".into(),
        }
    }
}
