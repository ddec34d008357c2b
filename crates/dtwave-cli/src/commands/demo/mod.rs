//! `dtwave demo`: every job once, on data that come with the program, with plots and a report.
//!
//! Classification, averages and clusters work on generated cylinder–bell–funnel series, search and alignment on the
//! embedded electrocardiogram. The inputs are written first. Each step then is a command of this program on them, the
//! one that the report shows. Everything but the times is the same on every run.

mod html;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use dtwave::Device;
use serde_json::{Map, Value, json};

use crate::data::Dataset;
use crate::plot::short;
use crate::progress::{Stopwatch, Took};
use crate::{ecg, engine, generate, output, report};
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

    /// Where to compute
    #[arg(long, default_value = "auto", value_parser = crate::options::backend_name)]
    #[arg(value_name = "NAME", help = crate::options::backend_help())]
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

struct Demo<'a> {
    args: &'a DemoArgs,
    /// Runs a command line of this program.
    command: &'a dyn Fn(Vec<OsString>) -> Result<()>,
}

pub(super) fn run(args: &DemoArgs, command: &dyn Fn(Vec<OsString>) -> Result<()>) -> Result<()> {
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    if let Some(text) = foreign_files(&args.out)? {
        report::warn(&text);
    }
    // Held to the end: a second demo in this folder would mix its files with ours.
    let report_file = args.out.join("report.html");
    let report_target = engine::take(&report_file)?;
    let backend = Device::named(&args.backend, args.threads.unwrap_or(0))?.name();
    let demo = Demo { args, command };
    demo.write_inputs()?;

    let watch = Stopwatch::start();
    let mut page = Page::new(backend);
    let mut answer = Map::new();
    for step in [Demo::classification, Demo::search_and_alignment, Demo::averages, Demo::clusters] {
        let (sections, name, value, line) = step(&demo)?;
        page.sections.extend(sections);
        answer.insert(name.to_owned(), value);
        if !args.json {
            report::print_line(&format!("{name:<16}{line}"))?;
        }
    }
    let Took { secs, .. } = watch.stop(0);
    let text = page.render(secs);
    report_target.write(|out| out.write_all(text.as_bytes()))?;
    if args.json {
        answer.insert("report".into(), json!(report_file.display().to_string()));
        answer.insert("backend".into(), json!(backend));
        answer.insert("seconds".into(), json!(secs));
        return report::print_json(&answer.into());
    }
    report::print_line(&format!("{:<16}{} ({secs:.1} s)", "report", report_file.display()))
}

/// What the demo writes besides the report.
const FILES: [&str; 9] = [
    "cbf_train.tsv",
    "cbf_test.tsv",
    "ecg_aami3a.csv",
    "distances.npy",
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
type Step = (Vec<Section>, &'static str, Value, String);

/// `1.24 s, 3.1 Gcells/s`, as an answer says.
fn speed(answer: &Value) -> String {
    Took { secs: number(&answer["seconds"]), cells: answer["cells"].as_u64().unwrap_or(0) }.summary()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::INFINITY)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Demo<'_> {
    fn write_inputs(&self) -> Result<()> {
        let DemoArgs { out, seed, .. } = self.args;
        let shapes = |name, per_class, seed| -> Dataset {
            generate::cylinder_bell_funnel(name, per_class, generate::LENGTH, seed)
        };
        for dataset in
            [shapes("cbf_train", TRAIN_PER_CLASS, *seed), shapes("cbf_test", TEST_PER_CLASS, seed + 1)]
        {
            output::write_file(&out.join(format!("{}.tsv", dataset.name)), |out| {
                for (label, values) in dataset.labels.iter().flatten().zip(&dataset.series) {
                    let cells: Vec<String> = values.iter().map(ToString::to_string).collect();
                    writeln!(out, "{label}\t{}", cells.join("\t"))?;
                }
                Ok(())
            })?;
        }
        output::write_file(&out.join("ecg_aami3a.csv"), |out| out.write_all(ecg::CSV.as_bytes()))
    }

    /// What a command of the report answers.
    fn answer(&self, command: &str) -> Result<Value> {
        let word = |word: &str| match FILES.contains(&word) {
            true => self.args.out.join(word).into_os_string(),
            false => word.into(),
        };
        let mut words: Vec<OsString> = command.split_whitespace().map(word).collect();
        words.extend(["--json", "--backend", &self.args.backend].map(Into::into));
        if let Some(threads) = self.args.threads {
            words.extend(["--threads".into(), threads.to_string().into()]);
        }
        report::captured(|| (self.command)(words))
    }

    /// What a command has drawn.
    fn drawn(&self, file: &str) -> Result<String> {
        let path = self.args.out.join(file);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    }

    /// 1-NN under several measures, and the distances between the training series.
    fn classification(&self) -> Result<Step> {
        let contenders = [
            ("Euclidean", "--band 0"),
            ("DTW, band of 10%", "--band 10%"),
            ("DTW", ""),
            ("Soft-DTW, γ = 1", "--measure soft_dtw"),
            ("MSM", "--measure msm"),
            ("TWED", "--measure twed"),
        ];
        let mut rows = Vec::new();
        let mut accuracies = Map::new();
        let mut best = (0.0, "");
        for (name, options) in contenders {
            let command = format!("dtwave classify --train cbf_train.tsv --test cbf_test.tsv {options}");
            let answer = self.answer(&command)?;
            let accuracy = number(&answer["accuracy"]);
            if accuracy > best.0 {
                best = (accuracy, name);
            }
            accuracies.insert(name.to_owned(), json!(accuracy));
            let command = format!("<code>{}</code>", command.trim_end());
            rows.push(vec![name.to_owned(), format!("{accuracy:.4}"), speed(&answer), command]);
        }
        let matrix = "dtwave pairwise cbf_train.tsv -o distances.npy --plot distances.svg";
        self.answer(matrix)?;
        let [train, test] = [TRAIN_PER_CLASS, TEST_PER_CLASS].map(|series| series * generate::CLASSES.len());
        let section = Section::new("Classification")
            .text(&format!(
                "Cylinder, bell and funnel: noisy shapes that begin and end at random (Saito 1994). Each of {test} test \
                 series gets the class of its nearest neighbour among {train} training series of {} points.",
                generate::LENGTH
            ))
            .table(&["distance", "accuracy", "time and speed", "command"], rows)
            .figure("distances.svg", self.drawn("distances.svg")?)
            .command(matrix);
        let line = format!("{:.4} by {} ({test} series)", best.0, best.1);
        Ok((vec![section], "classification", accuracies.into(), line))
    }

    /// One beat of the recording found again, and two beats aligned.
    fn search_and_alignment(&self) -> Result<Step> {
        let command = format!(
            "dtwave search --reference ecg_aami3a.csv --query ecg_aami3a.csv --query-range {}:{} --top-k {HITS} \
             --sample-rate {} --plot search.svg",
            BEAT.start,
            BEAT.end,
            ecg::SAMPLE_RATE_HZ
        );
        let answer = self.answer(&command)?;
        let hits = list(&answer["hits"]);
        let point = |hit: &Value, end: &str| hit[end].as_u64().unwrap_or(0) as usize;
        let length = |hit: &Value| point(hit, "end") + 1 - point(hit, "start");
        let rows = hits.iter().enumerate().map(|(rank, hit)| {
            let secs = point(hit, "start") as f64 / ecg::SAMPLE_RATE_HZ;
            let distance = short(number(&hit["distance"]));
            vec![(rank + 1).to_string(), format!("{secs:.2} s"), length(hit).to_string(), distance]
        });
        let points = ecg::CSV.lines().count();
        let search = Section::new("Search")
            .text(&format!(
                "An electrocardiogram of a minute, {points} points. The query is one of its odd beats, {} points long; \
                 subsequence DTW finds the stretches most like it, wherever they start and however long they are. \
                 The first is the query itself. ({})",
                BEAT.len(),
                speed(&answer)
            ))
            .figure("search.svg", self.drawn("search.svg")?)
            .table(&["rank", "start", "points", "distance"], rows.collect())
            .command(&command);

        let other = hits.iter().max_by_key(|hit| length(hit).abs_diff(BEAT.len()));
        let other = other.map_or(BEAT, |hit| point(hit, "start")..point(hit, "end") + 1);
        let command = format!(
            "dtwave align ecg_aami3a.csv ecg_aami3a.csv --x-range {}:{} --y-range {}:{} --plot alignment.svg",
            BEAT.start, BEAT.end, other.start, other.end
        );
        let distance = self.answer(&command)?["distance"].take();
        let alignment = Section::new("Alignment")
            .text(
                "The query and the match whose length differs most from its own. Each thin line joins two points that \
                 the warping path matches; a path on the diagonal would be no warping at all.",
            )
            .figure("alignment.svg", self.drawn("alignment.svg")?)
            .command(&command);
        let line = format!("{} beats found in {points} points", hits.len());
        let value = json!({"hits": hits, "alignment_distance": distance});
        Ok((vec![search, alignment], "search", value, line))
    }

    /// A Soft-DTW barycenter of each class.
    fn averages(&self) -> Result<Step> {
        let command = "dtwave barycenter cbf_train.tsv --by-class --measure soft_dtw --plot barycenters.svg";
        let answer = self.answer(command)?;
        let averages = list(&answer["averages"]);
        let name = |average: &Value| average["name"].as_str().unwrap_or_default().to_owned();
        let rows = averages.iter().map(|average| {
            let costs = list(&average["costs"]);
            let [first, last] = [&costs[0], &average["cost"]].map(|cost| short(number(cost)));
            vec![name(average), first, last, (costs.len() - 1).to_string()]
        });
        let section = Section::new("Averages")
            .text(&format!(
                "The series that minimises the sum of Soft-DTW values to all series of a class, found by L-BFGS from \
                 the class's medoid. ({})",
                speed(&answer)
            ))
            .figure("barycenters.svg", self.drawn("barycenters.svg")?)
            .table(&["class", "cost of the medoid", "cost of the average", "steps"], rows.collect())
            .command(command);
        let costs: Map<String, Value> = averages.iter().map(|a| (name(a), a["cost"].clone())).collect();
        let line = format!("{} averages of {TRAIN_PER_CLASS} series each", averages.len());
        Ok((vec![section], "barycenter", costs.into(), line))
    }

    /// Clusters of the training series, found without their labels.
    fn clusters(&self) -> Result<Step> {
        let command = format!("dtwave cluster cbf_train.tsv -k 3 --restarts {RESTARTS} --plot clusters.svg");
        let answer = self.answer(&command)?;
        let rand = number(&answer["adjusted_rand_index"]);
        let section = Section::new("Clusters")
            .text(&format!(
                "k-means with DTW barycenter averages as centres, the best of {RESTARTS} starts, without the labels. The \
                 adjusted Rand index against them is {rand:.3}: 1 would be the classes exactly, 0 no better than chance. ({})",
                speed(&answer)
            ))
            .figure("clusters.svg", self.drawn("clusters.svg")?)
            .command(&command);
        let line = format!("adjusted Rand index {rand:.3} against the classes");
        let value = json!({
            "adjusted_rand_index": rand, "cost": answer["cost"], "iterations": answer["iterations"]
        });
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
