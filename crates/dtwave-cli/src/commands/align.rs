//! `dtwave align X Y`: one distance and the warping path that attains it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use dtwave::measure::Kind;
use dtwave::{Anchor, Pairing, Path, Spec};
use serde_json::json;

use super::common::{self, Stopwatch};
use crate::data::Dataset;
use crate::engine::{self, Element, Job};
use crate::json::Number;
use crate::options::{MeasureArgs, Offer, PointRange, RunArgs};
use crate::output;
use crate::plot::{self, AlignmentFigure};
use crate::progress::Progress;
use crate::report;
use crate::signals::Cancel;
use crate::words::count;

/// Align two series: the distance and the warping path
#[derive(Debug, Args)]
#[command(after_help = "\
The path is a list of index pairs (i, j), both from 0. They are indices of the series, also for ddtw and wddtw, whose \
derivatives have no first and no last point.

Examples:
  dtwave align x.csv y.csv --plot alignment.svg
  dtwave align beats.csv beats.csv --x-range 0:540 --y-range 540:1080 --band 10% --json
  dtwave align A.ts A.ts --x-index 0 --y-index 7 --measure msm -o path.csv")]
pub(crate) struct AlignArgs {
    /// File with the first series
    #[arg(value_name = "X")]
    x: PathBuf,

    /// File with the second series
    #[arg(value_name = "Y")]
    y: PathBuf,

    /// Which series of X, if it has several
    #[arg(long, value_name = "N")]
    x_index: Option<usize>,

    /// Which series of Y, if it has several
    #[arg(long, value_name = "N")]
    y_index: Option<usize>,

    /// Points START:END of the first series, END excluded
    #[arg(long, value_name = "START:END")]
    x_range: Option<PointRange>,

    /// Points START:END of the second series, END excluded
    #[arg(long, value_name = "START:END")]
    y_range: Option<PointRange>,

    /// The path: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Both series with connecting lines, and the path: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot [default: 0]
    #[arg(long, value_name = "N", requires = "plot")]
    plot_channel: Option<usize>,

    /// Print JSON on stdout
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// What the help shows.
pub(super) const OFFER: Offer = Offer { takes: |kind| kind.has_path(1), without: &[] };

/// Runs the command.
pub(super) fn run<T: Element>(args: &AlignArgs, cancel: &Cancel) -> Result<()> {
    if let Some(out) = &args.out {
        let known = out.extension().is_some_and(|e| e.eq_ignore_ascii_case("csv"));
        ensure!(known, "cannot write {}: unknown extension; expected .csv", out.display());
    }
    let out = args.out.as_deref().map(engine::take).transpose()?;
    let plot_file = args.plot.as_deref().map(plot::take).transpose()?;
    common::check_files(&[&args.x, &args.y], &[&args.out, &args.plot], &args.run)?;
    let spec = args.measure.spec()?;
    let job = Job::new(&args.run, cancel)?;
    let not_prepared = RunArgs { normalize: crate::options::Normalize::None, ..args.run.clone() };
    let read = |path: &PathBuf, index, range, options| -> Result<Dataset> {
        let file = engine::load(path, &not_prepared)?;
        let mut picked = common::pick(path, &file, index, range, Some(options))?;
        // The stretch is normalised, not the series it was cut from.
        engine::prepare(&mut picked, args.run.normalize);
        Ok(picked)
    };
    let x = read(&args.x, args.x_index, args.x_range, ["--x-index", "--x-range"])?;
    let y = read(&args.y, args.y_index, args.y_range, ["--y-index", "--y-range"])?;
    engine::same_channels((&args.x, x.channels), (&args.y, y.channels))?;
    let given = spec;
    let spec = engine::timed(given.clone(), &[(&args.x, &x), (&args.y, &y)])?;
    engine::long_enough(&args.x, &x, &spec)?;
    engine::long_enough(&args.y, &y, &spec)?;
    common::check_channel(args.plot_channel, x.channels)?;

    let watch = Stopwatch::start();
    let (path, cells) = align::<T>(&job, &spec, &x, &y)?;
    let took = watch.stop();
    let distance = args.measure.finish(path.distance);
    common::warn_of_overflow(u64::from(!distance.finite()), 1, &args.run, args.json);

    if let Some(out) = out {
        let rows: Vec<Vec<String>> =
            path.points.iter().map(|(i, j)| vec![i.to_string(), j.to_string()]).collect();
        output::write_csv_table(out, &["i", "j"], &rows)?;
    }
    // The answer first: a plot that fails takes nothing along.
    let answer = || -> Result<()> {
        if args.json {
            let mut answer = serde_json::Map::new();
            answer.insert("distance".into(), json!(Number(distance)));
            answer.insert("path".into(), json!(path.points));
            answer.extend(common::computation(&given, &args.measure, &args.run, job.device.name()));
            answer.insert("seconds".into(), json!(took.secs));
            return report::print_json(&answer.into());
        }
        report::print(|out| {
            writeln!(out, "x         {}: {}", x.name, count(x.length(0), "point"))?;
            writeln!(out, "y         {}: {}", y.name, count(y.length(0), "point"))?;
            writeln!(out, "by        {}", common::described(&given, &args.run))?;
            writeln!(out, "took      {}", took.summary(cells))?;
            writeln!(out, "distance  {distance}")?;
            writeln!(out, "path      {}", count(path.points.len(), "pair"))?;
            common::written(out, &[("pairs", &args.out)])
        })
    };
    answer()?;
    if let Some(file) = plot_file {
        let shown = args.plot_channel.unwrap_or(0);
        let channel = |d: &Dataset| common::channel(&d.series[0], d.channels, shown);
        let of_channel = common::of_channel(args.plot_channel, x.channels);
        let figure = AlignmentFigure {
            title: format!("Alignment: {}", common::described(&given, &args.run)),
            subtitle: format!(
                "distance {}, path of {}{of_channel}",
                plot::short(distance.to_f64()),
                count(path.points.len(), "pair")
            ),
            x: &channel(&x),
            y: &channel(&y),
            x_name: x.name.clone(),
            y_name: y.name.clone(),
            path: &path.points,
            band: &band(&spec, x.length(0), y.length(0))?,
            first_row: spec.measure.preparation().margin(),
        };
        plot::save(&figure, file)?;
        common::plotted(&args.plot, args.json)?;
    }
    Ok(())
}

/// The columns that the band leaves each row, in the series' own indices; none where it leaves all.
fn band(spec: &Spec, n: usize, m: usize) -> Result<Vec<Range<usize>>> {
    if spec.band.is_full() {
        return Ok(Vec::new());
    }
    // A derivative has neither a first nor a last point.
    let cut = spec.measure.preparation().margin();
    let ranges = spec.band.ranges(n - 2 * cut, m - 2 * cut, spec.anchor)?;
    Ok((0..ranges.n()).map(|i| ranges.row(i)).map(|row| row.start + cut..row.end + cut).collect())
}

/// The best path in the series' own indices; also the number of grid cells.
pub(super) fn align<T: Element>(job: &Job, spec: &Spec, x: &Dataset, y: &Dataset) -> Result<(Path<T>, u64)> {
    ensure!(
        spec.anchor == Anchor::Global,
        "align compares whole series, {} does not; to find where one occurs, use `search`, then --y-range",
        spec.key()
    );
    ensure!(
        spec.measure.has_path(1),
        "{} has no warping path; align with one of {}",
        spec.key(),
        Kind::all()
            .iter()
            .filter(|kind| kind.has_path(1))
            .map(|kind| kind.key)
            .collect::<Vec<_>>()
            .join(", ")
    );
    ensure!(
        spec.measure.has_path(x.channels),
        "{} of {} channels warps each channel by itself and has no common path",
        spec.key(),
        x.channels
    );
    let (a, b) = (engine::batch::<T>(x)?, engine::batch::<T>(y)?);
    let (a, b) = (a.batch(), b.batch());
    let cells = job.cells(spec, Pairing::Zipped, &a, &b)?;
    let progress = Arc::new(Progress::new("align", cells));
    let mut path = job.session(spec, &progress).align(&a.get(0), &b.get(0))?;
    let cut = spec.measure.preparation().margin();
    path.points.iter_mut().for_each(|(i, j)| (*i, *j) = (*i + cut, *j + cut));
    Ok((path, cells))
}
