//! `dtwave cluster`: k-means with averages, k-medoids and CLARA on any measure.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use dtwave::learn::{
    self, ClaraOptions, KMeansOptions, KMedoidsOptions, MedoidMethod, MedoidStart, has_average,
};
use dtwave::measure::Kind;
use dtwave::{Pairing, Spec};
use serde_json::json;

use super::barycenter::{OptimizerArgs, is_equal_length, read_weights};
use super::common::{Channel, Format, Output, Setup, check_files, grouped, write_centers, written};
use super::compute::Compute;
use crate::data::{Dataset, shown};
use crate::engine::{self, Element, Engine};
use crate::json::{Number, Numbers};
use crate::options::{ComputeArgs, Offer, given};
use crate::output;
use crate::plot::{self, BarycenterFigure};
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::words::{count, unsigned_zero};

/// Group series into clusters
#[derive(Debug, Args)]
#[command(after_help = "\
kmeans averages the series of a cluster, as `dtwave barycenter` does: not under edr, lcss, frechet and log_gak. \
kmedoids takes one of the series as the centre and works with every measure; it needs the matrix of all distances. clara \
does the same on samples, in memory in proportion to the series. Clustering ignores class labels; they only \
give the adjusted Rand index.

Examples:
  dtwave cluster series.npy -k 3 --plot clusters.svg
  dtwave cluster A.ts -k 4 --measure soft_dtw --gamma 0.1 --out labels.csv --centers centers.npy
  dtwave cluster A.ts -k 4 --method kmedoids --measure twed --json
  dtwave cluster many.npy -k 8 --band 10% --batch-size 1000 --sample-size 5000")]
pub(crate) struct ClusterArgs {
    /// Series to group
    #[arg(value_name = "FILE")]
    series: PathBuf,

    /// Number of clusters
    #[arg(short = 'k', long, value_name = "K")]
    clusters: usize,

    /// How clusters are found
    #[arg(long, value_enum, default_value = "kmeans")]
    method: Method,

    /// Seed of what is drawn: starts and batches of kmeans, samples of clara, starts of --restarts [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Number of starts of kmeans; the best is kept. For kmedoids: of random starts, instead of the greedy one
    /// [default: 3 for kmeans]
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,

    /// Maximum number of rounds [default: 50 for kmeans, 100 for kmedoids]
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,

    /// Steps that an average takes in each round of kmeans [default: 10]
    #[arg(long, value_name = "N")]
    center_iterations: Option<usize>,

    /// One weight per series of FILE, for kmeans: .csv or .npy
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

    /// Series that a round of kmeans looks at, drawn anew for each [default: all]
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,

    /// Number of samples of clara; the best medoids are kept [default: 10]
    #[arg(long, value_name = "N")]
    samples: Option<usize>,

    /// Series of each sample of clara [default: 80 + 4 K]. For kmeans: series that each start is drawn from
    /// [default: all]
    #[arg(long, value_name = "N")]
    sample_size: Option<usize>,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Cluster of each series: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// The centres: .npy (if of equal length), .csv or .json
    #[arg(long, value_name = "FILE")]
    centers: Option<PathBuf>,

    /// The clusters with their centres: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot [default: 0]
    #[arg(long, value_name = "N", requires = "plot")]
    plot_channel: Option<usize>,

    #[command(flatten)]
    options: ComputeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Averages as centres (not of edr, lcss, frechet and log_gak).
    Kmeans,
    /// Series as centres (every measure).
    Kmedoids,
    /// Series as centres, found in samples (every measure).
    Clara,
}

/// What either method found.
struct Clusters {
    /// Row-major values of each centre.
    centers: Vec<Vec<f64>>,
    labels: Vec<usize>,
    /// Sum of the distances to the centres.
    cost: f64,
    iterations: usize,
    converged: bool,
    /// Which series are the centres, if they are series.
    medoids: Option<Vec<usize>>,
}

impl Clusters {
    fn members(&self, cluster: usize) -> Vec<usize> {
        (0..self.labels.len()).filter(|series| self.labels[*series] == cluster).collect()
    }
}

impl Compute for ClusterArgs {
    const OFFER: Offer = Offer { takes: Kind::is_symmetric, without: &["sqrt"] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &[Format::Csv])?;
        let centers_out = Output::take(&self.centers, &Format::ALL)?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        let mut inputs = vec![&*self.series];
        inputs.extend(self.weights.as_deref());
        let inputs = check_files(&inputs, &[&self.out, &self.centers, &self.plot], &self.options.run)?;
        ensure!(!self.options.measure.takes_root(), "--sqrt has no meaning for clusters");
        let spec = self.options.measure.spec()?;
        self.check_measure(&spec)?;
        self.check_method(&spec)?;
        let mut setup = Setup::new(&self.options, inputs, spec, cancel)?;
        let dataset = setup.load(&self.series)?;
        setup.fit(&[(&self.series, &dataset)])?;
        ensure!(
            (1..=dataset.len()).contains(&self.clusters),
            "{} {} is out of range: {} has {}",
            given(&["-k", "--clusters"]),
            self.clusters,
            shown(&self.series),
            count(dataset.len(), "series")
        );
        let channel = Channel::of(self.plot_channel, dataset.channels)?;
        if let Some(out) = &centers_out {
            ensure!(
                out.format != Format::Npy || self.clusters == 1 || is_equal_length(&dataset),
                "cannot write {}: the series differ in length, and so may the centres; use .csv or .json",
                out.target.shown().display()
            );
        }

        let weights = self.weights.as_deref().map(|path| read_weights(path, &dataset, &setup)).transpose()?;

        let watch = Stopwatch::start();
        let (found, cells) = match self.method {
            Method::Kmeans => kmeans::<T>(
                &setup.engine,
                &setup.spec,
                &dataset,
                &self.kmeans_options(&setup.spec, weights.as_deref())?,
            )?,
            Method::Kmedoids | Method::Clara => {
                kmedoids::<T>(&setup.engine, &setup.spec, &dataset, &self.kmedoids_options())?
            }
        };
        let took = watch.stop(cells);
        let rand = dataset.labels.as_ref().map(|labels| adjusted_rand(labels, &found.labels));

        if let Some(out) = out {
            output::write_csv_table(out.target, &["series", "cluster", "class"], &rows(&dataset, &found))?;
        }
        if let Some(out) = centers_out {
            write(out, &found, dataset.channels)?;
        }
        setup.answer(
            took,
            |answer| {
                answer["labels"] = json!(found.labels);
                answer["cost"] = json!(Number(found.cost));
                answer["iterations"] = json!(found.iterations);
                answer["converged"] = json!(found.converged);
                answer["medoids"] = json!(found.medoids);
                answer["adjusted_rand_index"] = json!(rand);
            },
            |out| {
                let rounds = count(found.iterations, "round");
                writeln!(out, "series  {}: {}", shown(&self.series), dataset.summary())?;
                writeln!(out, "by      {}", setup.described())?;
                writeln!(out, "took    {}, {rounds}", took.summary())?;
                writeln!(
                    out,
                    "cost    {}{}",
                    found.cost,
                    if found.converged { "" } else { " (not converged)" }
                )?;
                if let Some(rand) = rand {
                    writeln!(out, "adjusted Rand index against the labels  {rand:.4}")?;
                }
                writeln!(out)?;
                for cluster in 0..self.clusters {
                    let members = count(found.members(cluster).len(), "series");
                    let medoid =
                        found.medoids.as_ref().map_or(String::new(), |m| format!(", medoid {}", m[cluster]));
                    writeln!(out, "cluster {cluster}: {members}{medoid}")?;
                }
                written(out, "clusters", &self.out)?;
                written(out, "centres", &self.centers)
            },
        )?;
        if let Some(file) = plot_file {
            let title = format!("{}: {}", count(self.clusters, "cluster"), setup.described());
            setup.draw(&figure(title, &dataset, &found, channel), file)?;
        }
        Ok(())
    }
}

impl ClusterArgs {
    /// Refuses measures that the method cannot use.
    fn check_measure(&self, spec: &Spec) -> Result<()> {
        ensure!(
            self.method != Method::Kmeans || has_average(spec.measure.kind()),
            "{} has no average; use --method kmedoids",
            spec.key()
        );
        ensure!(
            spec.anchor == dtwave::Anchor::Global,
            "clusters need a symmetric distance; {} has none",
            spec.key()
        );
        Ok(())
    }

    /// Refuses what the method would not use.
    fn check_method(&self, spec: &Spec) -> Result<()> {
        for (option, value) in [
            ("--restarts", self.restarts),
            ("--max-iterations", self.max_iterations),
            ("--center-iterations", self.center_iterations),
            ("--batch-size", self.batch_size),
            ("--samples", self.samples),
            ("--sample-size", self.sample_size),
        ] {
            ensure!(value != Some(0), "{option} must be at least 1");
        }
        ensure!(
            self.method == Method::Clara || self.samples.is_none(),
            "--samples belongs to --method clara"
        );
        ensure!(
            self.method == Method::Kmedoids || self.sample_size.is_none_or(|size| size >= self.clusters),
            "--sample-size must be at least the number of clusters ({})",
            self.clusters
        );
        if self.method == Method::Kmeans {
            return self.optimizer.optimizer(spec).map(|_| ());
        }
        let of_kmeans = self
            .optimizer
            .given()
            .or(self.center_iterations.map(|_| "--center-iterations"))
            .or(self.batch_size.map(|_| "--batch-size"))
            .or(self.weights.as_ref().map(|_| "--weights"));
        if let Some(option) = of_kmeans {
            bail!(
                "{option} belongs to --method kmeans; the centres of kmedoids and clara are series, not averages"
            );
        }
        if self.method == Method::Clara {
            return Ok(());
        }
        ensure!(
            self.sample_size.is_none(),
            "--sample-size belongs to --method clara and kmeans; kmedoids compares all series"
        );
        ensure!(
            self.seed.is_none() || self.restarts.is_some(),
            "--seed changes nothing: kmedoids starts at random with --restarts only"
        );
        Ok(())
    }

    fn kmeans_options<'w>(&self, spec: &Spec, weights: Option<&'w [f64]>) -> Result<KMeansOptions<'w>> {
        let mut options = KMeansOptions::new(self.clusters).with_weights(weights);
        options.batch_size = self.batch_size;
        options.sample_size = self.sample_size.unwrap_or(options.sample_size);
        options.seed = self.seed.unwrap_or(0);
        options.restarts = self.restarts.unwrap_or(options.restarts);
        options.max_iterations = self.max_iterations.unwrap_or(options.max_iterations);
        options.center_iterations = self.center_iterations.unwrap_or(10);
        options.optimizer = self.optimizer.optimizer(spec)?;
        Ok(options)
    }

    fn kmedoids_options(&self) -> KMedoidsOptions {
        let mut options = KMedoidsOptions::new(self.clusters);
        options.max_iterations = self.max_iterations.unwrap_or(options.max_iterations);
        if let Some(restarts) = self.restarts {
            options.start = MedoidStart::Random { restarts, seed: self.seed.unwrap_or(0) };
        }
        if self.method == Method::Clara {
            let mut sampling = ClaraOptions::new(self.clusters).with_seed(self.seed.unwrap_or(0));
            sampling.samples = self.samples.unwrap_or(sampling.samples);
            sampling.sample_size = self.sample_size.unwrap_or(sampling.sample_size);
            options.method = MedoidMethod::Clara(sampling);
        }
        options
    }
}

/// k-means as the library does it; also the number of grid cells that took.
fn kmeans<T: Element>(
    engine: &Engine,
    spec: &Spec,
    dataset: &Dataset,
    options: &KMeansOptions<'_>,
) -> Result<(Clusters, u64)> {
    let batch = engine::batch::<T>(dataset)?;
    let progress = Arc::new(Progress::open_ended("cluster"));
    let found = learn::kmeans(&engine.context(&progress), spec, batch.batch(), options)?;
    let centers = found.centers.batch();
    let centers = (0..centers.len()).map(|c| centers.get(c).values.iter().map(|v| v.to_f64()).collect());
    let clusters = Clusters {
        centers: centers.map(|center: Vec<f64>| center.into_iter().map(unsigned_zero).collect()).collect(),
        labels: found.labels,
        cost: unsigned_zero(found.inertia),
        iterations: found.iterations,
        converged: found.converged,
        medoids: None,
    };
    Ok((clusters, progress.cells()))
}

/// k-medoids as the library does it; also the number of grid cells that took.
fn kmedoids<T: Element>(
    engine: &Engine,
    spec: &Spec,
    dataset: &Dataset,
    options: &KMedoidsOptions,
) -> Result<(Clusters, u64)> {
    let batch = engine::batch::<T>(dataset)?;
    let batch = batch.batch();
    let progress = Arc::new(match options.method {
        MedoidMethod::FasterPam => {
            Progress::new("cluster", engine.cells(spec, Pairing::SelfSymmetric, &batch, &batch)?)
        }
        _ => Progress::open_ended("cluster"),
    });
    let found = learn::kmedoids(&engine.context(&progress), spec, batch, options)?;
    let clusters = Clusters {
        centers: found.medoids.iter().map(|m| dataset.series[*m].clone()).collect(),
        labels: found.labels,
        cost: unsigned_zero(found.loss),
        iterations: found.iterations,
        converged: found.converged,
        medoids: Some(found.medoids),
    };
    Ok((clusters, progress.cells()))
}

/// Writes centres.
fn write(out: Output, found: &Clusters, channels: usize) -> Result<()> {
    if out.format == Format::Json {
        let center = |(cluster, center): (usize, &Vec<f64>)| {
            let points: Vec<Numbers<'_, f64>> = center.chunks_exact(channels).map(Numbers).collect();
            json!({
                "cluster": cluster,
                "series": found.members(cluster).len(),
                "medoid": found.medoids.as_ref().map(|medoids| medoids[cluster]),
                "center": points,
            })
        };
        let list: Vec<_> = found.centers.iter().enumerate().map(center).collect();
        return out.target.write(|file| serde_json::to_writer(file, &list).map_err(Into::into));
    }
    let names: Vec<String> = (0..found.centers.len()).map(|k| k.to_string()).collect();
    let centers: Vec<&[f64]> = found.centers.iter().map(|c| &c[..]).collect();
    write_centers(out, &names, &centers, channels)
}

fn rows(dataset: &Dataset, found: &Clusters) -> Vec<Vec<String>> {
    let row = |(series, cluster): (usize, &usize)| {
        let class = dataset.labels.as_ref().map_or(String::new(), |labels| labels[series].clone());
        vec![series.to_string(), cluster.to_string(), class]
    };
    found.labels.iter().enumerate().map(row).collect()
}

fn figure(title: String, dataset: &Dataset, found: &Clusters, channel: Channel) -> BarycenterFigure {
    let clusters = found.centers.iter().enumerate();
    let clusters = clusters
        .map(|(cluster, center)| (format!("cluster {cluster}"), found.members(cluster), center.clone()));
    grouped(title, dataset, channel, clusters)
}

/// Agreement of two partitions beyond chance: 1 for equal ones, about 0 for unrelated ones.
///
/// Hubert & Arabie 1985, 10.1007/BF01908075.
fn adjusted_rand(classes: &[String], clusters: &[usize]) -> f64 {
    use std::collections::HashMap;
    let pairs = |count: usize| (count * count.saturating_sub(1) / 2) as f64;
    let mut cells: HashMap<(&str, usize), usize> = HashMap::new();
    let mut rows: HashMap<&str, usize> = HashMap::new();
    let mut columns: HashMap<usize, usize> = HashMap::new();
    for (class, cluster) in classes.iter().zip(clusters) {
        *cells.entry((class, *cluster)).or_default() += 1;
        *rows.entry(class).or_default() += 1;
        *columns.entry(*cluster).or_default() += 1;
    }
    let together: f64 = cells.values().map(|c| pairs(*c)).sum();
    let (in_rows, in_columns): (f64, f64) =
        (rows.values().map(|c| pairs(*c)).sum(), columns.values().map(|c| pairs(*c)).sum());
    let chance = in_rows * in_columns / pairs(classes.len()).max(1.0);
    let most = (in_rows + in_columns) / 2.0;
    if most == chance { 1.0 } else { (together - chance) / (most - chance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rand_index_is_one_for_equal_and_low_for_unrelated_partitions() {
        let classes = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(adjusted_rand(&classes("aabbc"), &[2, 2, 0, 0, 1]), 1.0);
        assert_eq!(adjusted_rand(&classes("aaaa"), &[0, 0, 0, 0]), 1.0);
        // By hand: cells 2·1 pairs of 1, rows 3+1+... — table [[2,1],[1,2]] of six series.
        let value = adjusted_rand(&classes("aaabbb"), &[0, 0, 1, 1, 1, 0]);
        let (together, in_rows, in_columns, all) = (2.0, 6.0, 6.0, 15.0);
        let chance = in_rows * in_columns / all;
        assert!((value - (together - chance) / (6.0 - chance)).abs() < 1e-12, "{value}");
        assert!(adjusted_rand(&classes("abab"), &[0, 0, 1, 1]) < 0.0);
    }
}
