//! `dtwave profile`: the nearest window of each window of a long series, its motifs and discords.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use dtwave::Spec;
use dtwave::learn::{self, Discord, Motif, Profile, ProfileOptions};
use serde_json::json;

use super::common::{Channel, Format, Output, Setup, check_files, pick, written};
use super::compute::Compute;
use crate::data::{Dataset, Resample};
use crate::engine::{self, Element, Engine};
use crate::json::{Number, Numbers};
use crate::options::{ComputeArgs, Normalize, Offer};
use crate::output;
use crate::plot::{self, Pair, ProfileFigure};
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::words::{cell, count};

/// Find the nearest window of each window of a long series: its motifs and discords
#[derive(Debug, Args)]
#[command(after_help = "\
For each window of --window points: the distance to its nearest other window, and where that begins. Windows that begin \
at most --exclusion points apart are no neighbours; of two that are equally near the first is taken. With --other the \
neighbours are the windows of another series, all of them.

Motifs are the closest pairs of a window and its nearest one, discords the windows whose nearest is farthest; each begins \
more than --exclusion points away from those before it. Windows are z-normalised unless --normalize none is given; one \
that is constant becomes zeros.

Examples:
  dtwave profile --input ecg.csv --window 150 --band 5% --plot profile.svg
  dtwave profile --input ecg.csv --window 150 --band 5% -o profile.csv --json
  dtwave profile --input today.npy --other yesterday.npy --window 200 --measure msm
  dtwave profile --input power.csv --window 96 --step 4 --normalize none --motifs 5 --discords 5")]
pub(crate) struct ProfileArgs {
    /// The long series
    #[arg(long, value_name = "FILE")]
    input: PathBuf,

    /// Another series, among whose windows neighbours are looked for
    #[arg(long, value_name = "FILE")]
    other: Option<PathBuf>,

    /// Which series of --input, if it has several
    #[arg(long, value_name = "N")]
    input_index: Option<usize>,

    /// Which series of --other, if it has several
    #[arg(long, value_name = "N", requires = "other")]
    other_index: Option<usize>,

    /// Points per window
    #[arg(short, long, value_name = "POINTS")]
    window: usize,

    /// Points from the beginning of a window to that of the next one
    #[arg(long, default_value_t = 1, value_name = "POINTS")]
    step: usize,

    /// Windows that begin at most this many points apart are no neighbours, and no two motifs or discords
    /// [default: half a window, rounded up]
    #[arg(long, value_name = "POINTS")]
    exclusion: Option<usize>,

    /// Maximum number of motifs
    #[arg(long, default_value_t = 3, value_name = "K")]
    motifs: usize,

    /// Maximum number of discords
    #[arg(long, default_value_t = 3, value_name = "K")]
    discords: usize,

    /// Start, distance and start of the nearest window, of each window: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Series, profile, and the best motif: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot [default: 0]
    #[arg(long, value_name = "N", requires = "plot")]
    plot_channel: Option<usize>,

    #[command(flatten)]
    options: ComputeArgs,
}

/// The options, of which one has another default.
pub(super) fn worded(command: clap::Command) -> clap::Command {
    command.mut_arg("normalize", |arg| {
        arg.default_value("z")
            .help("Compare windows: z (each with zero mean and unit deviation) or none (as they are)")
    })
}

/// A profile whose distances are as they are printed.
struct Found<T> {
    profile: Profile<T>,
    distances: Vec<T>,
    motifs: Vec<Motif<T>>,
    discords: Vec<Discord<T>>,
}

impl Compute for ProfileArgs {
    const OFFER: Offer = Offer { takes: |kind| kind.has_path(1), without: &[] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &[Format::Csv])?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        ensure!(
            self.other.is_none() || self.options.run.input.resample != Resample::Median,
            "--resample median could give the two series two spacings; give both one step, as --resample 0.5"
        );
        let mut inputs = vec![self.input.as_path()];
        inputs.extend(self.other.as_deref());
        let read = check_files(&inputs, &[&self.out, &self.plot], &self.options.run)?;
        let mut setup = Setup::new(&self.options, read, self.options.measure.spec()?, cancel)?;
        // Windows are normalised one by one, and the series stay as they are.
        let file = setup.read(&self.input)?;
        let series = pick(&self.input, &file, self.input_index, None, Some(["--input-index", ""]))?;
        let other = match &self.other {
            None => None,
            Some(path) => {
                let file = setup.read(path)?;
                Some(pick(path, &file, self.other_index, None, Some(["--other-index", ""]))?)
            }
        };
        let mut all = vec![(self.input.as_path(), &series)];
        all.extend(self.other.as_deref().zip(other.as_ref()));
        setup.fit(&all)?;
        let channel = Channel::of(self.plot_channel, series.channels)?;

        let watch = Stopwatch::start();
        let (profile, cells) = self.profile::<T>(&setup.engine, &setup.spec, &series, other.as_ref())?;
        let took = watch.stop(cells);
        let found = self.found(&setup, profile);

        if let Some(out) = out {
            output::write_csv_table(out.target, &["start", "distance", "nearest"], &found.rows())?;
        }
        setup.answer(
            took,
            |answer| found.fill(answer),
            |out| {
                writeln!(out, "series     {}: {}", series.name, count(series.length(0), "point"))?;
                if let Some(other) = &other {
                    writeln!(out, "other      {}: {}", other.name, count(other.length(0), "point"))?;
                }
                writeln!(out, "windows    {} of {}", found.profile.len(), count(self.window, "point"))?;
                writeln!(out, "by         {}", setup.described())?;
                writeln!(out, "took       {}", took.summary())?;
                found.table(out)?;
                written(out, "windows", &self.out)
            },
        )?;
        if let Some(file) = plot_file {
            setup.draw(&self.figure(&setup, &series, other.as_ref(), &found, channel), file)?;
        }
        Ok(())
    }
}

impl ProfileArgs {
    fn normalized(&self) -> bool {
        self.options.run.normalize == Normalize::Z
    }

    /// The profile as the library makes it; also the number of grid cells.
    fn profile<T: Element>(
        &self,
        engine: &Engine,
        spec: &Spec,
        series: &Dataset,
        other: Option<&Dataset>,
    ) -> Result<(Profile<T>, u64)> {
        let options = ProfileOptions::new(self.window)
            .with_step(self.step)
            .with_normalization(self.normalized())
            .with_exclusion(self.exclusion);
        let (a, b) = (engine::batch::<T>(series)?, other.map(engine::batch::<T>).transpose()?);
        let series = a.batch().get(0);
        let other = b.as_ref().map(|b| b.batch().get(0));
        let quiet = Arc::new(Progress::open_ended("profile"));
        let cells = learn::profile_cells(&engine.context::<T>(&quiet), spec, series, other, &options)?;
        let progress = Arc::new(Progress::new("profile", cells));
        let context = engine.context(&progress);
        let profile = match other {
            None => learn::profile(&context, spec, series, &options)?,
            Some(other) => learn::profile_join(&context, spec, series, other, &options)?,
        };
        Ok((profile, cells))
    }

    fn found<T: Element>(&self, setup: &Setup<'_>, profile: Profile<T>) -> Found<T> {
        let distances = profile.distances().iter().map(|distance| setup.finish(*distance)).collect();
        let motif = |motif: Motif<T>| Motif { distance: setup.finish(motif.distance), ..motif };
        let discord = |discord: Discord<T>| Discord { distance: setup.finish(discord.distance), ..discord };
        let motifs = profile.motifs(self.motifs).into_iter().map(motif).collect();
        let discords = profile.discords(self.discords).into_iter().map(discord).collect();
        Found { profile, distances, motifs, discords }
    }

    fn figure<T: Element>(
        &self,
        setup: &Setup<'_>,
        series: &Dataset,
        other: Option<&Dataset>,
        found: &Found<T>,
        channel: Channel,
    ) -> ProfileFigure {
        let join = other.map_or(String::new(), |other| format!(" in {}", other.name));
        ProfileFigure {
            title: format!("Profile of {}{join}", series.name),
            subtitle: format!(
                "windows of {}, {}{}",
                count(self.window, "point"),
                setup.described(),
                channel.named()
            ),
            series: channel.values(&series.series[0]),
            other: other.map(|other| channel.values(&other.series[0])),
            window: self.window,
            step: self.step,
            distances: found.distances.iter().map(|distance| distance.to_f64()).collect(),
            motifs: found.motifs.iter().map(|m| Pair::new(m.first, m.second, m.distance.to_f64())).collect(),
            discords: found.discords.iter().map(|d| d.start).collect(),
            normalized: self.normalized(),
        }
    }
}

impl<T: Element> Found<T> {
    /// A row for each window; without a neighbour its last cell is empty.
    fn rows(&self) -> Vec<Vec<String>> {
        let places = self.profile.places().iter().zip(&self.distances).enumerate();
        let nearest = |place: &Option<usize>| place.map_or(String::new(), |place| place.to_string());
        let row = |(w, (place, distance)): (usize, (&Option<usize>, &T))| {
            vec![(w * self.profile.step()).to_string(), distance.to_string(), nearest(place)]
        };
        places.map(row).collect()
    }

    fn fill(&self, answer: &mut serde_json::Value) {
        let motif =
            |m: &Motif<T>| json!({"first": m.first, "second": m.second, "distance": Number(m.distance)});
        let discord =
            |d: &Discord<T>| json!({"start": d.start, "nearest": d.nearest, "distance": Number(d.distance)});
        answer["window"] = json!(self.profile.window());
        answer["step"] = json!(self.profile.step());
        answer["exclusion"] = json!(self.profile.exclusion());
        answer["motifs"] = self.motifs.iter().map(motif).collect();
        answer["discords"] = self.discords.iter().map(discord).collect();
        answer["distances"] = json!(Numbers(&self.distances));
        answer["nearest"] = json!(self.profile.places());
    }

    fn table(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        let places = |title: &str, first: &str, second: &str| {
            format!("\n{title:<8}  {first:>9}  {second:>9}  {:>14}", "distance")
        };
        writeln!(out, "{}", places("motif", "first", "second"))?;
        for (rank, m) in self.motifs.iter().enumerate() {
            let distance = cell(m.distance.to_f64());
            writeln!(out, "{:>8}  {:>9}  {:>9}  {distance:>14}", rank + 1, m.first, m.second)?;
        }
        writeln!(out, "{}", places("discord", "start", "nearest"))?;
        for (rank, d) in self.discords.iter().enumerate() {
            let distance = cell(d.distance.to_f64());
            writeln!(out, "{:>8}  {:>9}  {:>9}  {distance:>14}", rank + 1, d.start, d.nearest)?;
        }
        let alone = self.profile.places().iter().filter(|place| place.is_none()).count();
        if alone > 0 {
            writeln!(out, "without a neighbour: {}", count(alone, "window"))?;
        }
        Ok(())
    }
}
