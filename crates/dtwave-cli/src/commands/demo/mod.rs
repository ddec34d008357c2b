//! `dtwave demo`: every job once, on data that come with the program, with plots and a report.
//!
//! Classification, averages and clusters work on generated cylinder–bell–funnel series, search and alignment on the
//! embedded electrocardiogram. Inputs are written beside the results, so that every command in the report can be run
//! again as it stands. Everything but the times is the same on every run.

mod html;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use clap::Args;
use dtwave::learn::{BarycenterOptions, KMeansOptions};
use dtwave::{Anchor, Band, Dtype, LocalCost, Match, Measure, Radius, SearchOptions, Spec};
use serde_json::json;

use super::classify::{self, Score};
use super::common::Channel;
use super::{align, barycenter, cluster, pairwise, search};
use crate::data::Dataset;
use crate::engine::{self, Job, Matrix};
use crate::options::{Bytes, InputArgs, Normalize, RunArgs};
use crate::output::{self, Target};
use crate::plot::{self, AlignmentFigure, Figure, HeatMapFigure, Hit, SearchFigure, Sketch};
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::{ecg, generate, report};
use html::{Page, Section};

/// Run every job once on data that come with the program; write plots and an HTML report
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dtwave demo --out dtwave-demo     then open dtwave-demo/report.html")]
pub(crate) struct DemoArgs {
    /// Folder for inputs, plots and report.html; made if missing
    #[arg(short, long, default_value = "dtwave-demo", value_name = "FOLDER")]
    out: PathBuf,

    /// Seed of the generated series
    #[arg(long, default_value_t = 1994, value_name = "SEED")]
    seed: u64,

    /// Device: cpu; cuda, hip or wgpu (the first GPU of NVIDIA's, AMD's or any, in builds with the cargo feature of
    /// that name); cuda:1 (the second); wgpu:radeon (by a part of its name); or auto: the CPU
    #[arg(long, default_value = "auto", value_name = "NAME")]
    backend: String,

    /// CPU threads [default: all]
    #[arg(long, value_parser = crate::options::thread_count, value_name = "N")]
    threads: Option<usize>,

    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

/// Training series per class: few, as in the original problem.
const TRAIN_PER_CLASS: usize = 10;
const TEST_PER_CLASS: usize = 300;
/// One of the recording's odd beats, in points.
const BEAT: std::ops::Range<usize> = 500..1050;
const HITS: usize = 8;
/// Starts of k-means, of which the cheapest clusters are kept: few starts often end in a poor optimum.
const RESTARTS: usize = 20;

/// What the steps share.
struct Demo<'a> {
    out: &'a Path,
    job: Job,
    train: Dataset,
    test: Dataset,
    recording: Dataset,
}

/// Runs the command.
pub(super) fn run(args: &DemoArgs, cancel: &Cancel) -> Result<()> {
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    if let Some(text) = foreign_files(&args.out)? {
        report::warn(&text);
    }
    // Held to the end: a second demo in this folder would mix its files with ours.
    let report_file = args.out.join("report.html");
    let report_target = engine::take(&report_file)?;
    let run = RunArgs {
        normalize: Normalize::None,
        dtype: Dtype::F64,
        backend: args.backend.clone(),
        threads: args.threads,
        memory_limit: Bytes(1 << 30),
        explain: false,
        input: InputArgs::default(),
    };
    let demo = Demo {
        out: &args.out,
        job: Job::new(&run, cancel)?,
        train: generate::cylinder_bell_funnel("cbf_train", TRAIN_PER_CLASS, generate::LENGTH, args.seed),
        test: generate::cylinder_bell_funnel("cbf_test", TEST_PER_CLASS, generate::LENGTH, args.seed + 1),
        recording: ecg::recording(),
    };
    demo.write_inputs()?;

    let watch = Stopwatch::start();
    let mut page = Page::new(demo.job.device.name());
    let mut answer = serde_json::Map::new();
    for step in [Demo::classification, Demo::search_and_alignment, Demo::averages, Demo::clusters] {
        let (sections, name, value, line) = step(&demo)?;
        page.sections.extend(sections);
        answer.insert(name.to_owned(), value);
        if !args.json {
            report::print_line(&format!("{name:<16}{line}"))?;
        }
    }
    let text = page.render(watch.stop().secs);
    report_target.write(|out| out.write_all(text.as_bytes()))?;
    if args.json {
        answer.insert("report".into(), json!(report_file.display().to_string()));
        answer.insert("backend".into(), json!(demo.job.device.name()));
        answer.insert("seconds".into(), json!(watch.stop().secs));
        return report::print_json(&answer.into());
    }
    report::print_line(&format!("{:<16}{} ({:.1} s)", "report", report_file.display(), watch.stop().secs))
}

/// What the demo writes besides the report.
const FILES: [&str; 8] = [
    "cbf_train.tsv",
    "cbf_test.tsv",
    "ecg_aami3a.csv",
    "distances.svg",
    "search.svg",
    "alignment.svg",
    "barycenters.svg",
    "clusters.svg",
];

/// Refuses to replace a report that is not a demo's; what to say of other files that may be somebody's.
fn foreign_files(folder: &Path) -> Result<Option<String>> {
    let report = folder.join("report.html");
    if report.exists() {
        let read = || -> std::io::Result<bool> { html::is_report(std::fs::File::open(&report)?) };
        let is_ours = read().with_context(|| format!("cannot read {}", report.display()))?;
        ensure!(
            is_ours,
            "{} is there and is no report of this command; choose another folder with --out",
            report.display()
        );
        return Ok(None);
    }
    let found: Vec<&str> = FILES.into_iter().filter(|name| folder.join(name).exists()).collect();
    Ok((!found.is_empty()).then(|| {
        format!(
            "{} has no report, but files of the same names as the demo's, which are replaced: {}",
            folder.display(),
            found.join(", ")
        )
    }))
}

/// Sections of the report, a name, a JSON value and a line for the terminal.
type Step = (Vec<Section>, &'static str, serde_json::Value, String);

impl Demo<'_> {
    fn write_inputs(&self) -> Result<()> {
        for dataset in [&self.train, &self.test] {
            let labels = dataset.labels.as_deref().unwrap_or(&[]);
            output::write_file(&self.out.join(format!("{}.tsv", dataset.name)), |out| {
                for (label, values) in labels.iter().zip(&dataset.series) {
                    let cells: Vec<String> = values.iter().map(ToString::to_string).collect();
                    writeln!(out, "{label}\t{}", cells.join("\t"))?;
                }
                Ok(())
            })?;
        }
        let path = self.out.join(format!("{}.csv", self.recording.name));
        output::write_csv_rows(Target::take(&path)?, self.recording.series[0].iter().map(|v| [*v]))
    }

    /// Writes a figure as a file and returns it for the report.
    fn figure(&self, name: &str, figure: &dyn Figure) -> Result<String> {
        plot::save(figure, plot::take(&self.out.join(name))?)?;
        plot::to_svg(figure)
    }

    fn progress(&self, what: &str) -> Arc<Progress> {
        Arc::new(Progress::open_ended(what))
    }

    /// 1-NN under several measures, and the distances between the training series.
    fn classification(&self) -> Result<Step> {
        let tenth = Band::SakoeChiba { radius: Radius::Fraction(0.1) };
        let contenders = [
            ("Euclidean", "--band 0", Spec::dtw().with_band(Band::sakoe_chiba(0))),
            ("DTW, band of 10%", "--band 10%", Spec::dtw().with_band(tenth)),
            ("DTW", "", Spec::dtw()),
            ("Soft-DTW, γ = 1", "--measure soft_dtw", Spec::soft_dtw(Measure::DEFAULT_GAMMA)),
            ("MSM", "--measure msm", Spec::new(Measure::Msm { c: Measure::DEFAULT_C })),
            (
                "TWED",
                "--measure twed",
                Spec::new(Measure::Twed {
                    nu: Measure::DEFAULT_NU,
                    lambda: Measure::DEFAULT_LAMBDA,
                    degree: Measure::DEFAULT_DEGREE,
                }),
            ),
        ];
        let mut rows = Vec::new();
        let mut accuracies = serde_json::Map::new();
        let mut best = (0.0, "");
        for (name, options, spec) in &contenders {
            let watch = Stopwatch::start();
            let (predictions, cells) =
                classify::classify::<f64>(&self.job, spec, &self.train, &self.test, 1, name)?;
            let speed = watch.stop().summary(cells);
            let accuracy = Score::of(&self.train, &self.test, &predictions).accuracy().unwrap_or(0.0);
            if accuracy > best.0 {
                best = (accuracy, *name);
            }
            accuracies.insert((*name).to_owned(), json!(accuracy));
            let command = format!("dtwave classify --train cbf_train.tsv --test cbf_test.tsv {options}");
            rows.push(vec![
                (*name).to_owned(),
                format!("{accuracy:.4}"),
                speed,
                format!("<code>{}</code>", command.trim_end()),
            ]);
        }

        let batch = engine::batch::<f64>(&self.train)?;
        let spec = Spec::dtw();
        let matrix = Matrix {
            spec: &spec,
            pairing: dtwave::Pairing::SelfSymmetric,
            x: batch.batch(),
            y: batch.batch(),
        };
        let values = pairwise::in_memory(&self.job, &matrix, &self.progress("pairwise"), |v| v)?;
        let side = self.train.len();
        let svg = self.figure(
            "distances.svg",
            &HeatMapFigure {
                title: "DTW distances between the training series".into(),
                subtitle: format!("{side} series of {} points", generate::LENGTH),
                values: &values,
                columns: side,
                shape: [side, side],
                row_label: "series".into(),
                column_label: "series".into(),
                value_label: "distance".into(),
                groups: pairwise::groups(&self.train),
            },
        )?;
        let section = Section::new("Classification")
            .text(&format!(
                "Cylinder, bell and funnel: noisy shapes that begin and end at random (Saito 1994). Each of {} test \
                 series gets the class of its nearest neighbour among {} training series of {} points.",
                self.test.len(),
                self.train.len(),
                generate::LENGTH
            ))
            .table(&["distance", "accuracy", "time and speed", "command"], rows)
            .figure("distances.svg", svg)
            .command("dtwave pairwise cbf_train.tsv -o distances.npy --plot distances.svg");
        let line = format!("{:.4} by {} ({} series)", best.0, best.1, self.test.len());
        Ok((vec![section], "classification", accuracies.into(), line))
    }

    /// One beat of the recording found again, and two beats aligned.
    fn search_and_alignment(&self) -> Result<Step> {
        let reference = &self.recording.series[0];
        let cut = |range: std::ops::Range<usize>| {
            let name = format!("ecg_aami3a [{}..{}]", range.start, range.end);
            Dataset::univariate(name, vec![reference[range].to_vec()])
        };
        let query = cut(BEAT);
        let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
        let options = SearchOptions::default().with_top_k(HITS).with_exclusion(BEAT.len() / 2);
        let watch = Stopwatch::start();
        let (hits, cells) = search::search::<f64>(&self.job, &spec, &query, &self.recording, &options)?;
        let speed = watch.stop().summary(cells);
        let shown: Vec<Hit> =
            hits.iter().map(|m| Hit { start: m.start, end: m.end, distance: m.distance }).collect();
        let svg = self.figure(
            "search.svg",
            &SearchFigure {
                title: "One beat, found again".into(),
                subtitle: format!(
                    "the {} best matches of {} points in {}",
                    hits.len(),
                    BEAT.len(),
                    reference.len()
                ),
                reference: &Sketch::of(reference, &shown),
                query: &query.series[0],
                hits: &shown,
                normalized: false,
                points_per_unit: ecg::SAMPLE_RATE_HZ,
                time_label: "time (s)".into(),
                value_label: "mV".into(),
            },
        )?;
        let rows = hits.iter().enumerate().map(|(rank, m)| {
            let secs = m.start as f64 / ecg::SAMPLE_RATE_HZ;
            let length = m.end + 1 - m.start;
            vec![(rank + 1).to_string(), format!("{secs:.2} s"), length.to_string(), plot::short(m.distance)]
        });
        let search_section = Section::new("Search")
            .text(&format!(
                "An electrocardiogram of a minute, {} points. The query is one of its odd beats, {} points long; \
                 subsequence DTW finds the stretches most like it, wherever they start and however long they are. \
                 The first is the query itself. ({speed})",
                reference.len(),
                BEAT.len()
            ))
            .figure("search.svg", svg)
            .table(&["rank", "start", "points", "distance"], rows.collect())
            .command(&format!(
                "dtwave search --reference ecg_aami3a.csv --query ecg_aami3a.csv --query-range {}:{} --top-k {HITS} \
                 --sample-rate 720 --plot search.svg",
                BEAT.start, BEAT.end
            ));

        let (section, distance) = self.alignment(&query, &hits, cut)?;
        let value = json!({
            "hits": hits.iter().map(|m| json!({"start": m.start, "end": m.end, "distance": m.distance})).collect::<Vec<_>>(),
            "alignment_distance": distance,
        });
        let line = format!("{} beats found in {} points", hits.len(), reference.len());
        Ok((vec![search_section, section], "search", value, line))
    }

    /// The query against the match whose length differs most from its own.
    fn alignment(
        &self,
        query: &Dataset,
        hits: &[Match<f64>],
        cut: impl Fn(std::ops::Range<usize>) -> Dataset,
    ) -> Result<(Section, f64)> {
        let length = |m: &Match<f64>| m.end + 1 - m.start;
        let other = hits.iter().max_by_key(|m| length(m).abs_diff(BEAT.len()));
        let other = other.map_or(BEAT, |m| m.start..m.end + 1);
        let y = cut(other.clone());
        let spec = Spec { anchor: Anchor::Global, ..Spec::dtw() };
        let (path, _) = align::align::<f64>(&self.job, &spec, query, &y)?;
        let svg = self.figure(
            "alignment.svg",
            &AlignmentFigure {
                title: "Two beats, point by point".into(),
                subtitle: format!(
                    "dtw, distance {}, path of {} pairs",
                    plot::short(path.distance),
                    path.points.len()
                ),
                x: &query.series[0],
                y: &y.series[0],
                x_name: query.name.clone(),
                y_name: y.name.clone(),
                path: &path.points,
                band: &[],
                first_row: 0,
            },
        )?;
        let section = Section::new("Alignment")
            .text(
                "The query and the match whose length differs most from its own. Each thin line joins two points that \
                 the warping path matches; a path on the diagonal would be no warping at all.",
            )
            .figure("alignment.svg", svg)
            .command(&format!(
                "dtwave align ecg_aami3a.csv ecg_aami3a.csv --x-range {}:{} --y-range {}:{} --plot alignment.svg",
                BEAT.start, BEAT.end, other.start, other.end
            ));
        Ok((section, path.distance))
    }

    /// A Soft-DTW barycenter of each class.
    fn averages(&self) -> Result<Step> {
        let spec = Spec::soft_dtw(Measure::DEFAULT_GAMMA);
        let labels = self.train.labels.as_deref().unwrap_or(&[]);
        let progress = self.progress("barycenter");
        let watch = Stopwatch::start();
        let options = BarycenterOptions::default();
        let mut averages = Vec::new();
        for class in &self.train.classes {
            let members: Vec<usize> = (0..self.train.len()).filter(|i| labels[*i] == *class).collect();
            let group = (class.clone(), members);
            averages.push(barycenter::average::<f64>(
                &self.job,
                &spec,
                &self.train,
                group,
                &options,
                &progress,
            )?);
        }
        let speed = watch.stop().summary(progress.cells());
        let rows = averages.iter().map(|a| {
            let costs = &a.found.costs;
            let steps = costs.len() - 1;
            vec![a.name.clone(), plot::short(costs[0]), plot::short(a.found.cost()), steps.to_string()]
        });
        let rows = rows.collect();
        let title = "Soft-DTW averages of the training series, γ = 1".to_owned();
        let channel = Channel::of(None, self.train.channels)?;
        let figure = barycenter::figure(title, &self.train, &averages, channel);
        let svg = self.figure("barycenters.svg", &figure)?;
        let section = Section::new("Averages")
            .text(&format!(
                "The series that minimises the sum of Soft-DTW values to all series of a class, found by L-BFGS from \
                 the class's medoid. ({speed})"
            ))
            .figure("barycenters.svg", svg)
            .table(&["class", "cost of the medoid", "cost of the average", "steps"], rows)
            .command("dtwave barycenter cbf_train.tsv --by-class --measure soft_dtw --plot barycenters.svg");
        let costs: serde_json::Map<String, serde_json::Value> =
            averages.iter().map(|a| (a.name.clone(), json!(a.found.cost()))).collect();
        let line = format!("{} averages of {} series each", averages.len(), TRAIN_PER_CLASS);
        Ok((vec![section], "barycenter", costs.into(), line))
    }

    /// Clusters of the training series, found without their labels.
    fn clusters(&self) -> Result<Step> {
        let spec = Spec::dtw();
        let watch = Stopwatch::start();
        let options = KMeansOptions::new(generate::CLASSES.len()).with_restarts(RESTARTS);
        let (found, cells) = cluster::kmeans::<f64>(&self.job, &spec, &self.train, &options)?;
        let speed = watch.stop().summary(cells);
        let rand = cluster::adjusted_rand(self.train.labels.as_deref().unwrap_or(&[]), &found.labels);
        let channel = Channel::of(None, self.train.channels)?;
        let figure = cluster::figure("Three clusters under DTW".into(), &self.train, &found, channel);
        let svg = self.figure("clusters.svg", &figure)?;
        let section = Section::new("Clusters")
            .text(&format!(
                "k-means with DTW barycenter averages as centres, the best of {RESTARTS} starts, without the labels. The \
                 adjusted Rand index against them is {rand:.3}: 1 would be the classes exactly, 0 no better than chance. ({speed})"
            ))
            .figure("clusters.svg", svg)
            .command(&format!("dtwave cluster cbf_train.tsv -k 3 --restarts {RESTARTS} --plot clusters.svg"));
        let line = format!("adjusted Rand index {rand:.3} against the classes");
        let value = json!({"adjusted_rand_index": rand, "cost": found.cost, "iterations": found.iterations});
        Ok((vec![section], "cluster", value, line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_not_replaced_unsaid() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(foreign_files(folder.path()).unwrap(), None);
        write("search.svg", "<svg/>");
        write("notes.txt", "mine");
        let text = foreign_files(folder.path()).unwrap().unwrap();
        assert!(text.ends_with("which are replaced: search.svg"), "{text}");
        for other in ["", "<!doctype html>\n<title>My thesis</title>\n"] {
            write("report.html", other);
            let error = foreign_files(folder.path()).unwrap_err().to_string();
            assert!(error.contains("report.html") && error.contains("--out"), "{error}");
        }
        write("report.html", &Page::new("cpu").render(1.0));
        assert_eq!(foreign_files(folder.path()).unwrap(), None);
    }
}
