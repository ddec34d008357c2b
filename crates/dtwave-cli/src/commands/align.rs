//! `dtwave align X Y`: one distance and the warping path that attains it.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use dtwave::measure::Kind;
use dtwave::{Anchor, Pairing, Path, Spec};
use serde_json::json;

use super::common::{Channel, Format, Output, Setup, check_files, pick, written};
use super::compute::Compute;
use crate::data::Dataset;
use crate::engine::{self, Element, Engine};
use crate::json::Number;
use crate::options::{ComputeArgs, Offer, PointRange};
use crate::output;
use crate::plot::{self, AlignmentFigure};
use crate::progress::{Progress, Stopwatch};
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

    #[command(flatten)]
    options: ComputeArgs,
}

impl Compute for AlignArgs {
    const OFFER: Offer = Offer { takes: |kind| kind.has_path(1), without: &[] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &[Format::Csv])?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        let inputs = check_files(&[&self.x, &self.y], &[&self.out, &self.plot], &self.options.run)?;
        let mut setup = Setup::new(&self.options, inputs, self.options.measure.spec()?, cancel)?;
        let read = |path: &PathBuf, index, range, options| -> Result<Dataset> {
            let file = setup.read(path)?;
            let mut picked = pick(path, &file, index, range, Some(options))?;
            // The stretch is normalised, not the series it was cut from.
            setup.prepare(&mut picked);
            Ok(picked)
        };
        let x = read(&self.x, self.x_index, self.x_range, ["--x-index", "--x-range"])?;
        let y = read(&self.y, self.y_index, self.y_range, ["--y-index", "--y-range"])?;
        setup.fit(&[(&self.x, &x), (&self.y, &y)])?;
        let channel = Channel::of(self.plot_channel, x.channels)?;

        let watch = Stopwatch::start();
        let (path, cells) = align::<T>(&setup.engine, &setup.spec, &x, &y)?;
        let took = watch.stop(cells);
        let distance = setup.finish(path.distance);
        setup.warn_of_overflow(u64::from(!distance.finite()), 1, self.options.json);

        if let Some(out) = out {
            let rows: Vec<Vec<String>> =
                path.points.iter().map(|(i, j)| vec![i.to_string(), j.to_string()]).collect();
            output::write_csv_table(out.target, &["i", "j"], &rows)?;
        }
        setup.answer(
            took,
            |answer| {
                answer["distance"] = json!(Number(distance));
                answer["path"] = json!(path.points);
            },
            |out| {
                writeln!(out, "x         {}: {}", x.name, count(x.length(0), "point"))?;
                writeln!(out, "y         {}: {}", y.name, count(y.length(0), "point"))?;
                writeln!(out, "by        {}", setup.described())?;
                writeln!(out, "took      {}", took.summary())?;
                writeln!(out, "distance  {distance}")?;
                writeln!(out, "path      {}", count(path.points.len(), "pair"))?;
                written(out, "pairs", &self.out)
            },
        )?;
        if let Some(file) = plot_file {
            let figure = AlignmentFigure {
                title: format!("Alignment: {}", setup.described()),
                subtitle: format!(
                    "distance {}, path of {}{}",
                    plot::short(distance.to_f64()),
                    count(path.points.len(), "pair"),
                    channel.named()
                ),
                x: &channel.values(&x.series[0]),
                y: &channel.values(&y.series[0]),
                x_name: x.name.clone(),
                y_name: y.name.clone(),
                path: &path.points,
                band: &band(&setup.spec, x.length(0), y.length(0))?,
                first_row: setup.spec.measure.preparation().margin(),
            };
            setup.draw(&figure, file)?;
        }
        Ok(())
    }
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
fn align<T: Element>(engine: &Engine, spec: &Spec, x: &Dataset, y: &Dataset) -> Result<(Path<T>, u64)> {
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
    let cells = engine.cells(spec, Pairing::Zipped, &a, &b)?;
    let progress = Arc::new(Progress::new("align", cells));
    let mut path = engine.session(spec, &progress).align(&a.get(0), &b.get(0))?;
    let cut = spec.measure.preparation().margin();
    path.points.iter_mut().for_each(|(i, j)| (*i, *j) = (*i + cut, *j + cut));
    Ok((path, cells))
}
