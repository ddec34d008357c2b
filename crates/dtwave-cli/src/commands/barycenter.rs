//! `dtwave barycenter`: averages of series under DTW, Soft-DTW and other measures.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use dtwave::learn::{self, Barycenter, BarycenterOptions, Optimizer, Start, has_average};
use dtwave::measure::Kind;
use dtwave::{OwnedBatch, Spec};
use serde_json::json;

use super::common::{Channel, Format, Output, Setup, check_files, grouped, pick, write_centers, written};
use super::compute::Compute;
use crate::data::{Dataset, is_stdin, shown};
use crate::engine::{self, Element, Engine};
use crate::json::{Number, Numbers};
use crate::options::{ComputeArgs, Offer};
use crate::output;
use crate::plot::{self, BarycenterFigure};
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::words::{count, unsigned_zero};

/// Average series: along their warping paths (DBA), a Soft-DTW barycenter under soft_dtw or soft_dtw_divergence
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dtwave barycenter series.npy -o average.npy
  dtwave barycenter series.npy --measure msm --c 0.5 -o average.npy
  dtwave barycenter A.ts --class 2 --measure soft_dtw --gamma 0.1 --plot average.svg
  dtwave barycenter A.ts --by-class --measure soft_dtw --plot averages.png --json")]
pub(crate) struct BarycenterArgs {
    /// Series to average
    #[arg(value_name = "FILE")]
    series: PathBuf,

    /// Only the series of this class
    #[arg(long, value_name = "LABEL", conflicts_with = "by_class")]
    class: Option<String>,

    /// One average per class
    #[arg(long)]
    by_class: bool,

    /// Where to start: medoid (of --sample-size series), mean (equal lengths only), or a file with one series
    #[arg(long, default_value = "medoid", value_name = "START")]
    start: String,

    /// Of how many series the starting medoid is at most; of more, so many are drawn [default: 256]
    #[arg(long, value_name = "N")]
    sample_size: Option<usize>,

    /// Seed of that draw [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// One weight per series of FILE: .csv or .npy
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Maximum number of iterations
    #[arg(long, default_value_t = 100, value_name = "N")]
    max_iterations: usize,

    /// Stop when the cost falls by less than this share
    #[arg(long, default_value_t = 1e-6, value_name = "SHARE", allow_hyphen_values = true)]
    tolerance: f64,

    /// The average(s): .npy, .csv or .json
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// The average(s) over the series: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot [default: 0]
    #[arg(long, value_name = "N", requires = "plot")]
    plot_channel: Option<usize>,

    #[command(flatten)]
    options: ComputeArgs,
}

/// The optimiser of Soft-DTW barycenters.
#[derive(Debug, Args)]
pub(super) struct OptimizerArgs {
    /// Optimiser of averages under soft_dtw and soft_dtw_divergence [default: lbfgs]
    #[arg(long, value_enum)]
    optimizer: Option<OptimizerKind>,

    /// Step size of --optimizer adam [default: 0.05]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true)]
    learning_rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OptimizerKind {
    /// Limited-memory BFGS.
    Lbfgs,
    /// Adam.
    Adam,
}

impl OptimizerArgs {
    /// The library's description, for averages under `spec`.
    pub(super) fn optimizer(&self, spec: &Spec) -> Result<Optimizer> {
        let is_soft = spec.measure.has_gradient();
        for (option, is_given) in
            [("--optimizer", self.optimizer.is_some()), ("--learning-rate", self.learning_rate.is_some())]
        {
            ensure!(
                is_soft || !is_given,
                "{option} belongs to averages under soft_dtw and soft_dtw_divergence; under {} they are found along \
                 warping paths, which needs no optimiser",
                spec.key()
            );
        }
        let kind = self.optimizer.unwrap_or(OptimizerKind::Lbfgs);
        ensure!(
            self.learning_rate.is_none() || kind == OptimizerKind::Adam,
            "--learning-rate belongs to --optimizer adam"
        );
        let rate = self.learning_rate.unwrap_or(0.05);
        ensure!(rate.is_finite() && rate > 0.0, "--learning-rate must be positive, got {rate}");
        Ok(match kind {
            OptimizerKind::Lbfgs => Optimizer::default(),
            OptimizerKind::Adam => Optimizer::Adam { learning_rate: rate },
        })
    }

    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        match (self.optimizer, self.learning_rate) {
            (Some(_), _) => Some("--optimizer"),
            (None, Some(_)) => Some("--learning-rate"),
            (None, None) => None,
        }
    }
}

/// An average and what it is of.
struct Average<T> {
    name: String,
    /// Indices of its series.
    members: Vec<usize>,
    found: Barycenter<T>,
}

fn average<T: Element>(
    engine: &Engine,
    spec: &Spec,
    dataset: &Dataset,
    (name, members): (String, Vec<usize>),
    options: &BarycenterOptions<'_, T>,
    progress: &Arc<Progress>,
) -> Result<Average<T>> {
    let batch = engine::batch_of::<T>(dataset, members.iter().copied())?;
    let mut found = learn::barycenter(&engine.context(progress), spec, batch.batch(), options)?;
    // -0 only says how a zero was computed.
    found.center.iter_mut().for_each(|value| *value = unsigned_zero(*value));
    Ok(Average { name, members, found })
}

impl Compute for BarycenterArgs {
    const OFFER: Offer = Offer { takes: has_average, without: &["cost", "sqrt"] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &Format::ALL)?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        let mut inputs = vec![&*self.series];
        inputs.extend(self.weights.as_deref());
        if !matches!(self.start.as_str(), "medoid" | "mean") {
            inputs.push(Path::new(&self.start));
        }
        let read = check_files(&inputs, &[&self.out, &self.plot], &self.options.run)?;
        ensure!(self.max_iterations > 0, "--max-iterations must be at least 1");
        ensure!(self.sample_size != Some(0), "--sample-size must be at least 1");
        for (option, is_given) in
            [("--sample-size", self.sample_size.is_some()), ("--seed", self.seed.is_some())]
        {
            ensure!(
                self.start == "medoid" || !is_given,
                "{option} belongs to --start medoid, which looks at a sample of many series"
            );
        }
        ensure!(self.tolerance >= 0.0, "--tolerance must not be negative, got {}", self.tolerance);
        ensure!(!self.options.measure.takes_root(), "--sqrt has no meaning for an average");
        let spec = self.options.measure.spec()?;
        check_measure(&spec)?;
        let optimizer = self.optimizer.optimizer(&spec)?;
        let mut setup = Setup::new(&self.options, read, spec, cancel)?;
        let dataset = setup.load(&self.series)?;
        setup.fit(&[(&self.series, &dataset)])?;
        let channel = Channel::of(self.plot_channel, dataset.channels)?;
        let weights = self.weights.as_deref().map(|path| read_weights(path, &dataset, &setup)).transpose()?;
        let start = self.start::<T>(&dataset, &setup)?;
        let start = match &start {
            Some(batch) => Start::Series(batch.batch().get(0)),
            None if self.start == "mean" => Start::Mean,
            None => Start::Medoid,
        };
        let groups = self.groups(&dataset)?;
        self.check_weights(weights.as_deref(), &groups)?;
        if let Some(out) = &out {
            self.check_shape(out, &dataset, groups.len())?;
        }

        let watch = Stopwatch::start();
        let progress = Arc::new(Progress::open_ended("barycenter"));
        let mut averages = Vec::new();
        for group in groups {
            let own: Option<Vec<f64>> = weights.as_ref().map(|all| group.1.iter().map(|i| all[*i]).collect());
            let options = BarycenterOptions::default()
                .with_weights(own.as_deref())
                .with_start(start)
                .with_sample_size(self.sample_size.unwrap_or(BarycenterOptions::<T>::default().sample_size))
                .with_seed(self.seed.unwrap_or(0))
                .with_optimizer(optimizer)
                .with_max_iterations(self.max_iterations)
                .with_tolerance(self.tolerance);
            averages.push(average::<T>(&setup.engine, &setup.spec, &dataset, group, &options, &progress)?);
        }
        let took = watch.stop(progress.cells());
        drop(progress);

        if let Some(out) = out {
            write(out, &averages, dataset.channels)?;
        }
        setup.answer(
            took,
            |answer| answer["averages"] = averages.iter().map(|a| as_json(a, dataset.channels)).collect(),
            |out| {
                writeln!(out, "series  {}: {}", shown(&self.series), dataset.summary())?;
                writeln!(out, "by      {}", setup.described())?;
                writeln!(out, "took    {}\n", took.summary())?;
                for average in &averages {
                    let Barycenter { costs, converged, .. } = &average.found;
                    writeln!(
                        out,
                        "{}: {}, {}, cost {} after {} (from {}){}",
                        average.name,
                        count(average.members.len(), "series"),
                        count(average.found.len(), "point"),
                        plot::short(average.found.cost()),
                        count(costs.len() - 1, "step"),
                        plot::short(costs[0]),
                        if *converged { "" } else { ", not converged" }
                    )?;
                }
                written(out, "averages", &self.out)
            },
        )?;
        if let Some(file) = plot_file {
            let title = format!("Averages: {}", setup.described());
            setup.draw(&figure(title, &dataset, &averages, channel), file)?;
        }
        Ok(())
    }
}

impl BarycenterArgs {
    /// The groups to average: all series, one class, or every class.
    fn groups(&self, dataset: &Dataset) -> Result<Vec<(String, Vec<usize>)>> {
        if self.class.is_none() && !self.by_class {
            return Ok(vec![(dataset.name.clone(), (0..dataset.len()).collect())]);
        }
        let Some(labels) = &dataset.labels else {
            bail!("{} has no class labels; leave out --class and --by-class", shown(&self.series))
        };
        match &self.class {
            Some(class) => {
                let members: Vec<usize> = (0..dataset.len()).filter(|i| labels[*i] == *class).collect();
                ensure!(
                    !members.is_empty(),
                    "{} has no series of class '{class}'; it has {}",
                    shown(&self.series),
                    dataset.classes.join(", ")
                );
                Ok(vec![(class.clone(), members)])
            }
            None => Ok(by_class(&dataset.classes, labels)),
        }
    }

    /// The series of the file that `--start` names, if it names one.
    fn start<T: Element>(&self, dataset: &Dataset, setup: &Setup<'_>) -> Result<Option<OwnedBatch<T>>> {
        if ["medoid", "mean"].contains(&&*self.start) {
            return Ok(None);
        }
        let path = Path::new(&self.start);
        // Any other word is more likely a mistake than a file that is missing.
        ensure!(
            path.extension().is_some() || is_stdin(path) || path.exists(),
            "--start {}: expected medoid, mean or a file with one series",
            self.start
        );
        let start = setup.load(path)?;
        engine::same_channels((path, start.channels), (&self.series, dataset.channels))?;
        engine::batch(&pick(path, &start, None, None, None)?).map(Some)
    }

    /// Refuses groups in which no series has any weight.
    fn check_weights(&self, weights: Option<&[f64]>, groups: &[(String, Vec<usize>)]) -> Result<()> {
        let Some((weights, file)) = weights.zip(self.weights.as_deref()) else { return Ok(()) };
        let is_weightless = |(_, members): &&(String, Vec<usize>)| members.iter().all(|i| weights[*i] == 0.0);
        match groups.iter().find(is_weightless) {
            Some((name, _)) => bail!("{}: all weights of {name} are zero", shown(file)),
            None => Ok(()),
        }
    }

    /// Refuses a file that so many averages do not fit.
    fn check_shape(&self, out: &Output, dataset: &Dataset, averages: usize) -> Result<()> {
        let shown = out.target.shown().display();
        ensure!(
            out.format != Format::Npy || averages == 1 || self.start != "medoid" || is_equal_length(dataset),
            "cannot write {shown}: the series differ in length, and so may the averages; use .csv or .json, or --start \
             FILE"
        );
        Ok(())
    }
}

fn check_measure(spec: &Spec) -> Result<()> {
    let keys: Vec<&str> = Kind::all().iter().filter(|kind| has_average(kind)).map(|kind| kind.key).collect();
    ensure!(
        has_average(spec.measure.kind()) && spec.anchor == dtwave::Anchor::Global,
        "an average is defined under {}, got {}",
        keys.join(", "),
        spec.key()
    );
    Ok(())
}

pub(super) fn is_equal_length(dataset: &Dataset) -> bool {
    let (low, high) = dataset.lengths();
    low == high
}

/// The series of every class that has some, in the order of the classes. Linear time.
fn by_class(classes: &[String], labels: &[String]) -> Vec<(String, Vec<usize>)> {
    let mut groups: Vec<(String, Vec<usize>)> =
        classes.iter().map(|class| (class.clone(), Vec::new())).collect();
    let places: HashMap<&str, usize> =
        classes.iter().enumerate().map(|(k, class)| (class.as_str(), k)).collect();
    for (index, label) in labels.iter().enumerate() {
        groups[places[label.as_str()]].1.push(index);
    }
    groups.retain(|(_, members)| !members.is_empty());
    groups
}

/// One finite, non-negative weight per series.
pub(super) fn read_weights(path: &Path, dataset: &Dataset, setup: &Setup<'_>) -> Result<Vec<f64>> {
    let weights = setup.inputs.read_numbers(path)?;
    ensure!(
        weights.channels == 1 && weights.len() == 1 && weights.length(0) == dataset.len(),
        "{}: expected one column of {} weights, got {}",
        shown(path),
        dataset.len(),
        weights.summary()
    );
    let values = weights.series.into_iter().next().unwrap_or_default();
    if let Some(at) = values.iter().position(|w| *w < 0.0) {
        bail!("{}: weight {at} is negative ({})", shown(path), values[at]);
    }
    Ok(values)
}

/// Writes averages.
fn write<T: Element>(out: Output, averages: &[Average<T>], channels: usize) -> Result<()> {
    if out.format == Format::Json {
        return out.target.write(|file| {
            let list: Vec<_> = averages.iter().map(|a| as_json(a, channels)).collect();
            serde_json::to_writer(file, &list).map_err(Into::into)
        });
    }
    if let (Format::Npy, [average], 1) = (out.format, averages, channels) {
        return output::write_npy(out.target, &[average.found.len()], &average.found.center);
    }
    let names: Vec<String> = averages.iter().map(|a| a.name.clone()).collect();
    let centers: Vec<&[T]> = averages.iter().map(|a| &a.found.center[..]).collect();
    write_centers(out, &names, &centers, channels)
}

fn as_json<T: Element>(average: &Average<T>, channels: usize) -> serde_json::Value {
    let Barycenter { center, costs, converged, .. } = &average.found;
    let points: Vec<Numbers<'_, T>> = center.chunks_exact(channels).map(Numbers).collect();
    json!({
        "name": average.name,
        "series": average.members.len(),
        "cost": Number(average.found.cost()),
        "costs": Numbers(costs),
        "converged": converged,
        "center": points,
    })
}

fn figure<T: Element>(
    title: String,
    dataset: &Dataset,
    averages: &[Average<T>],
    channel: Channel,
) -> BarycenterFigure {
    let averages = averages.iter().map(|average| {
        let center = average.found.center.iter().map(|v| v.to_f64()).collect();
        (average.name.clone(), average.members.clone(), center)
    });
    grouped(title, dataset, channel, averages)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each class is not looked for in all series.
    #[test]
    fn as_many_classes_as_series() {
        let labels: Vec<String> = (0..200_000).map(|k| k.to_string()).collect();
        let groups = by_class(&labels, &labels);
        assert!(groups.iter().enumerate().all(|(k, group)| group == &(k.to_string(), vec![k])));
        let [a, b, c] = ["a", "b", "c"].map(String::from);
        let groups = by_class(&[b.clone(), c, a.clone()], &[a.clone(), b.clone(), a.clone()]);
        assert_eq!(groups, [(b, vec![1]), (a, vec![0, 2])]);
    }
}
