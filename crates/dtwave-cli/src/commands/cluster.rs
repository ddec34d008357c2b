//! `dtwave cluster`: k-means with DTW or Soft-DTW averages, k-medoids on any measure.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::{Args, ValueEnum};
use dtwave::learn::{self, KMeansOptions, KMedoidsOptions, MedoidStart};
use dtwave::measure::Kind;
use dtwave::{Measure, Pairing, Spec};
use serde_json::json;

use super::barycenter::{OptimizerArgs, is_equal_length};
use super::common::{self, Stopwatch};
use crate::data::{Dataset, shown};
use crate::engine::{self, Element, Job};
use crate::json::Number;
use crate::options::{MeasureArgs, Offer, RunArgs};
use crate::output::{self, Target};
use crate::plot::{self, BarycenterFigure, Group};
use crate::progress::Progress;
use crate::report;
use crate::signals::Cancel;
use crate::words::{count, unsigned_zero};

/// Group series into clusters
#[derive(Debug, Args)]
#[command(after_help = "\
kmeans averages the series of a cluster: DBA under dtw, a Soft-DTW barycenter under soft_dtw or soft_dtw_divergence. \
kmedoids takes one of the series as the centre and works with every measure. Clustering ignores class labels; they only \
give the adjusted Rand index.

Examples:
  dtwave cluster series.npy -k 3 --plot clusters.svg
  dtwave cluster A.ts -k 4 --measure soft_dtw --gamma 0.1 --out labels.csv --centers centers.npy
  dtwave cluster A.ts -k 4 --method kmedoids --measure twed --json")]
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

    /// Seed of the random starts: of kmeans, and of kmedoids with --restarts [default: 0]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,

    /// Number of starts of kmeans; the best is kept. For kmedoids: of random starts, instead of the greedy one
    #[arg(long, value_name = "N")]
    restarts: Option<usize>,

    /// Maximum number of rounds [default: 50 for kmeans, 100 for kmedoids]
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,

    /// Steps that an average takes in each round of kmeans [default: 10]
    #[arg(long, value_name = "N")]
    center_iterations: Option<usize>,

    #[command(flatten)]
    optimizer: OptimizerArgs,

    /// Cluster of each series: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// The centres, if of equal length: .npy
    #[arg(long, value_name = "FILE")]
    centers: Option<PathBuf>,

    /// The clusters with their centres: .svg or .png
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// Averages as centres (dtw, soft_dtw, soft_dtw_divergence).
    Kmeans,
    /// Series as centres (every measure).
    Kmedoids,
}

/// What either method found.
pub(super) struct Clusters {
    /// Row-major values of each centre.
    pub(super) centers: Vec<Vec<f64>>,
    /// Cluster of each series.
    pub(super) labels: Vec<usize>,
    /// Sum of the distances to the centres.
    pub(super) cost: f64,
    pub(super) iterations: usize,
    pub(super) converged: bool,
    /// Which series are the centres, if they are series.
    pub(super) medoids: Option<Vec<usize>>,
}

/// What the help shows.
pub(super) const OFFER: Offer = Offer { takes: Kind::is_symmetric, without: &["sqrt"] };

/// Runs the command.
pub(super) fn run<T: Element>(args: &ClusterArgs, cancel: &Cancel) -> Result<()> {
    for (file, extension) in [(&args.out, "csv"), (&args.centers, "npy")] {
        let Some(file) = file else { continue };
        let known = file.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
        ensure!(known, "cannot write {}: unknown extension; expected .{extension}", file.display());
    }
    let out = args.out.as_deref().map(engine::take).transpose()?;
    let centers_file = args.centers.as_deref().map(engine::take).transpose()?;
    let plot_file = args.plot.as_deref().map(plot::take).transpose()?;
    common::check_files(&[&args.series], &[&args.out, &args.centers, &args.plot], &args.run)?;
    ensure!(!args.measure.takes_root(), "--sqrt has no meaning for clusters");
    let spec = args.measure.spec()?;
    let averages = matches!(
        spec.measure,
        Measure::Dtw { .. } | Measure::SoftDtw { .. } | Measure::SoftDtwDivergence { .. }
    );
    ensure!(
        args.method == Method::Kmedoids || averages,
        "kmeans averages under dtw, soft_dtw and soft_dtw_divergence; use --method kmedoids for {}",
        spec.key()
    );
    ensure!(
        spec.anchor == dtwave::Anchor::Global,
        "clusters need a symmetric distance; {} has none",
        spec.key()
    );
    check_method(args, &spec)?;
    let job = Job::new(&args.run, cancel)?;
    let dataset = engine::load(&args.series, &args.run)?;
    let given = spec;
    let spec = engine::timed(given.clone(), &[(&args.series, &dataset)])?;
    engine::long_enough(&args.series, &dataset, &spec)?;
    ensure!(
        (1..=dataset.len()).contains(&args.clusters),
        "--clusters {} is out of range: {} has {}",
        args.clusters,
        shown(&args.series),
        count(dataset.len(), "series")
    );
    common::check_channel(args.plot_channel, dataset.channels)?;

    if let Some(file) = &args.centers {
        ensure!(
            args.clusters == 1 || is_equal_length(&dataset),
            "cannot write {}: the series differ in length, and so may the centres; leave out --centers",
            file.display()
        );
    }

    let watch = Stopwatch::start();
    let progress = Arc::new(match args.method {
        Method::Kmeans => Progress::open_ended("cluster"),
        Method::Kmedoids => {
            let batch = engine::batch::<T>(&dataset)?;
            let batch = batch.batch();
            Progress::new("cluster", job.cells(&spec, Pairing::SelfSymmetric, &batch, &batch)?)
        }
    });
    let found = match args.method {
        Method::Kmeans => kmeans::<T>(&job, &spec, &dataset, &kmeans_options(args, &spec)?, &progress)?,
        Method::Kmedoids => kmedoids::<T>(&job, &spec, &dataset, &kmedoids_options(args), &progress)?,
    };
    let took = watch.stop();
    let summary = took.summary(progress.cells());
    drop(progress);
    let rand = dataset.labels.as_ref().map(|labels| adjusted_rand(labels, &found.labels));

    if let Some(out) = out {
        let rows: Vec<Vec<String>> = found
            .labels
            .iter()
            .enumerate()
            .map(|(series, cluster)| {
                let class = dataset.labels.as_ref().map_or(String::new(), |labels| labels[series].clone());
                vec![series.to_string(), cluster.to_string(), class]
            })
            .collect();
        output::write_csv_table(out, &["series", "cluster", "class"], &rows)?;
    }
    if let Some(file) = centers_file {
        write_centers(file, &found, dataset.channels)?;
    }
    // The answer first: a plot that fails takes nothing along.
    let answer = || -> Result<()> {
        if args.json {
            let mut answer = common::computation(&given, &args.measure, &args.run, job.device.name());
            answer.insert("labels".into(), json!(found.labels));
            answer.insert("cost".into(), json!(Number(found.cost)));
            answer.insert("iterations".into(), json!(found.iterations));
            answer.insert("converged".into(), json!(found.converged));
            answer.insert("medoids".into(), json!(found.medoids));
            answer.insert("adjusted_rand_index".into(), json!(rand));
            answer.insert("seconds".into(), json!(took.secs));
            return report::print_json(&answer.into());
        }
        report::print(|out| {
            writeln!(out, "series  {}: {}", shown(&args.series), dataset.summary())?;
            writeln!(out, "by      {}", common::described(&given, &args.run))?;
            writeln!(out, "took    {summary}, {}", count(found.iterations, "round"))?;
            writeln!(out, "cost    {}{}", found.cost, if found.converged { "" } else { " (not converged)" })?;
            if let Some(rand) = rand {
                writeln!(out, "adjusted Rand index against the labels  {rand:.4}")?;
            }
            writeln!(out)?;
            for cluster in 0..args.clusters {
                let members: Vec<usize> =
                    (0..dataset.len()).filter(|i| found.labels[*i] == cluster).collect();
                let medoid =
                    found.medoids.as_ref().map_or(String::new(), |m| format!(", medoid {}", m[cluster]));
                writeln!(out, "cluster {cluster}: {}{medoid}", count(members.len(), "series"))?;
            }
            common::written(out, &[("clusters", &args.out), ("centres", &args.centers)])
        })
    };
    answer()?;
    if let Some(file) = plot_file {
        let title = format!("{}: {}", count(args.clusters, "cluster"), common::described(&given, &args.run));
        draw(file, title, &dataset, &found, args.plot_channel)?;
        common::plotted(&args.plot, args.json)?;
    }
    Ok(())
}

/// Refuses what the method would not use.
fn check_method(args: &ClusterArgs, spec: &Spec) -> Result<()> {
    for (option, value) in [
        ("--restarts", args.restarts),
        ("--max-iterations", args.max_iterations),
        ("--center-iterations", args.center_iterations),
    ] {
        ensure!(value != Some(0), "{option} must be at least 1");
    }
    if args.method == Method::Kmeans {
        return args.optimizer.optimizer(spec).map(|_| ());
    }
    let of_kmeans = args.optimizer.given().or(args.center_iterations.map(|_| "--center-iterations"));
    if let Some(option) = of_kmeans {
        bail!("{option} belongs to --method kmeans; the centres of kmedoids are series, not averages");
    }
    ensure!(
        args.seed.is_none() || args.restarts.is_some(),
        "--seed changes nothing: kmedoids starts at random with --restarts only"
    );
    Ok(())
}

fn kmeans_options(args: &ClusterArgs, spec: &Spec) -> Result<KMeansOptions> {
    let mut options = KMeansOptions::new(args.clusters);
    options.seed = args.seed.unwrap_or(0);
    options.restarts = args.restarts.unwrap_or(options.restarts);
    options.max_iterations = args.max_iterations.unwrap_or(options.max_iterations);
    options.center_iterations = args.center_iterations.unwrap_or(10);
    options.optimizer = args.optimizer.optimizer(spec)?;
    Ok(options)
}

fn kmedoids_options(args: &ClusterArgs) -> KMedoidsOptions {
    let mut options = KMedoidsOptions::new(args.clusters);
    options.max_iterations = args.max_iterations.unwrap_or(options.max_iterations);
    if let Some(restarts) = args.restarts {
        options.start = MedoidStart::Random { restarts, seed: args.seed.unwrap_or(0) };
    }
    options
}

/// k-means as the library does it.
pub(super) fn kmeans<T: Element>(
    job: &Job,
    spec: &Spec,
    dataset: &Dataset,
    options: &KMeansOptions,
    progress: &Arc<Progress>,
) -> Result<Clusters> {
    let batch = engine::batch::<T>(dataset)?;
    let found = learn::kmeans(&job.context(progress), spec, batch.batch(), options)?;
    let centers = found.centers.batch();
    let centers = (0..centers.len()).map(|c| centers.get(c).values.iter().map(|v| v.to_f64()).collect());
    Ok(Clusters {
        centers: centers.map(|center: Vec<f64>| center.into_iter().map(unsigned_zero).collect()).collect(),
        labels: found.labels,
        cost: unsigned_zero(found.inertia),
        iterations: found.iterations,
        converged: found.converged,
        medoids: None,
    })
}

fn kmedoids<T: Element>(
    job: &Job,
    spec: &Spec,
    dataset: &Dataset,
    options: &KMedoidsOptions,
    progress: &Arc<Progress>,
) -> Result<Clusters> {
    let batch = engine::batch::<T>(dataset)?;
    let found = learn::kmedoids(&job.context(progress), spec, batch.batch(), options)?;
    Ok(Clusters {
        centers: found.medoids.iter().map(|m| dataset.series[*m].clone()).collect(),
        labels: found.labels,
        cost: unsigned_zero(found.loss),
        iterations: found.iterations,
        converged: found.converged,
        medoids: Some(found.medoids),
    })
}

fn write_centers(file: Target, found: &Clusters, channels: usize) -> Result<()> {
    let values = found.centers[0].len();
    debug_assert!(found.centers.iter().all(|c| c.len() == values), "checked before the work");
    let shape = match channels {
        1 => vec![found.centers.len(), values],
        _ => vec![found.centers.len(), values / channels, channels],
    };
    output::write_npy(file, &shape, &found.centers.concat())
}

/// Draws every cluster with its centre.
pub(super) fn draw(
    file: Target,
    title: String,
    dataset: &Dataset,
    found: &Clusters,
    channel: Option<usize>,
) -> Result<()> {
    plot::save(&figure(title, dataset, found, channel).borrowed(), file)
}

/// A figure that owns its series.
pub(super) struct ClusterFigure {
    title: String,
    subtitle: String,
    groups: Vec<(String, Vec<Vec<f64>>, Vec<f64>)>,
}

/// Clusters as panels.
pub(super) fn figure(
    title: String,
    dataset: &Dataset,
    found: &Clusters,
    channel: Option<usize>,
) -> ClusterFigure {
    let channels = dataset.channels;
    let of_channel = common::of_channel(channel, channels);
    let channel = channel.unwrap_or(0);
    let groups = found.centers.iter().enumerate().map(|(cluster, center)| {
        let members = (0..dataset.len()).filter(|i| found.labels[*i] == cluster);
        let members = members.map(|i| common::channel(&dataset.series[i], channels, channel)).collect();
        (format!("cluster {cluster}"), members, common::channel(center, channels, channel))
    });
    let groups = groups.collect();
    ClusterFigure { title, subtitle: format!("{}: {}{of_channel}", dataset.name, dataset.summary()), groups }
}

impl ClusterFigure {
    /// The figure itself.
    pub(super) fn borrowed(&self) -> BarycenterFigure<'_> {
        let groups = self.groups.iter().map(|(name, members, center)| Group {
            name: name.clone(),
            members: members.iter().map(Vec::as_slice).collect(),
            center: center.clone(),
        });
        BarycenterFigure {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            groups: groups.collect(),
        }
    }
}

/// Agreement of two partitions beyond chance: 1 for equal ones, about 0 for unrelated ones.
///
/// Hubert & Arabie 1985, 10.1007/BF01908075.
pub(super) fn adjusted_rand(classes: &[String], clusters: &[usize]) -> f64 {
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
