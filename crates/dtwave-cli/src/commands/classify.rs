//! `dtwave classify`: k-nearest-neighbour classification.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::Args;
use dtwave::measure::Kind;
use dtwave::{Anchor, Band, Pairing, Radius, Spec, learn};
use serde_json::json;

use super::common::{Format, Output, Setup, check_files, written};
use super::compute::Compute;
use crate::data::{Dataset, by_label, shown};
use crate::engine::{self, Element, Engine};
use crate::json::Numbers;
use crate::options::{BandChoice, ComputeArgs, Offer, given};
use crate::output;
use crate::plot::{self, AccuracyFigure};
use crate::progress::{Progress, Stopwatch};
use crate::report;
use crate::signals::Cancel;
use crate::words::{cell, count};

/// Classify the series of B by their nearest neighbours in A
#[derive(Debug, Args)]
#[command(after_help = "\
Labels come from the files: .ts, .tsv and .txt, the array y of an .npz, or the column of a .csv that --labels names. \
With --k above 1 the most frequent class \
among the k nearest wins. If classes are equally frequent, the one with the nearest series wins.

Examples:
  dtwave classify --train GunPoint_TRAIN.ts --test GunPoint_TEST.ts
  dtwave classify --train A.tsv --test B.tsv --measure twed --nu 0.01 --k 3 --json
  dtwave classify --train A.csv --test B.csv --labels last
  dtwave classify --train A.ts --test B.ts --band 10% --out predictions.csv
  dtwave classify --train A.ts --test B.ts --band leave-one-out --plot bands.svg

--band leave-one-out takes the band of 0% to 100% in which most series of A are classified right by the others; the narrowest of equals.")]
pub(crate) struct ClassifyArgs {
    /// Series with known classes
    #[arg(long, value_name = "A")]
    train: PathBuf,

    /// Series to classify; their labels, if any, give the accuracy
    #[arg(long, value_name = "B")]
    test: PathBuf,

    /// Neighbours that vote
    #[arg(short, long, default_value_t = 1, value_name = "K")]
    k: usize,

    /// Predictions with the neighbours that voted and their distances: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// With --band leave-one-out: how many series of A are classified right in each band: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    options: ComputeArgs,
}

impl Compute for ClassifyArgs {
    const OFFER: Offer = Offer { takes: Kind::is_symmetric, without: &[] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &[Format::Csv])?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        let inputs = check_files(&[&self.train, &self.test], &[&self.out, &self.plot], &self.options.run)?;
        let is_chosen = self.options.measure.band == BandChoice::LeaveOneOut;
        ensure!(
            is_chosen || self.plot.is_none(),
            "--plot draws how well each band does: it belongs to --band leave-one-out"
        );
        let measure = &self.options.measure;
        let spec = if is_chosen { measure.spec_in(Band::Full)? } else { measure.spec()? };
        ensure!(
            spec.anchor == Anchor::Global,
            "neighbours need a symmetric distance; {} has none",
            spec.key()
        );
        let mut setup = Setup::new(&self.options, inputs, spec, cancel)?;
        let train = setup.load(&self.train)?;
        let test = setup.load(&self.test)?;
        labelled(&self.train, &train)?;
        if let Some(text) = unknown_classes(&train, &test) {
            report::warn(&format!("{}: {text} {}", shown(&self.test), shown(&self.train)));
        }
        setup.fit(&[(&self.train, &train), (&self.test, &test)])?;
        ensure!(
            (1..=train.len()).contains(&self.k),
            "{} {} is out of range: {} has {}",
            given(&["-k", "--k"]),
            self.k,
            shown(&self.train),
            count(train.len(), "series")
        );

        let watch = Stopwatch::start();
        let bands = if is_chosen { Some(bands::<T>(&setup, &train, self.k)?) } else { None };
        if let Some(bands) = &bands {
            let band = Band::SakoeChiba { radius: bands.best() };
            (setup.asked.band, setup.spec.band) = (band.clone(), band);
        }
        let (mut predictions, cells) =
            classify::<T>(&setup.engine, &setup.spec, &train, &test, self.k, "classify")?;
        let took = watch.stop(cells + bands.as_ref().map_or(0, |bands| bands.cells));
        for (_, distance) in predictions.iter_mut().flat_map(|p| &mut p.neighbors) {
            *distance = setup.finish(*distance);
        }
        let found = || predictions.iter().flat_map(|p| &p.neighbors);
        let overflowed = found().filter(|(_, distance)| !distance.is_finite()).count();
        setup.warn_of_overflow(overflowed as u64, found().count() as u64, self.options.json);
        let score = Score::of(&train, &test, &predictions);

        if let Some(out) = out {
            let columns = columns(self.k);
            let columns: Vec<&str> = columns.iter().map(|column| &**column).collect();
            output::write_csv_table(out.target, &columns, &rows(&test, &predictions))?;
        }
        setup.answer(
            took,
            |answer| {
                if let (Some(accuracy), Some(correct)) = (score.accuracy(), score.correct()) {
                    answer["accuracy"] = json!(accuracy);
                    answer["correct"] = json!(correct);
                    if !score.confusion.is_empty() {
                        answer["confusion"] = json!(score.confusion);
                    }
                }
                answer["total"] = json!(test.len());
                answer["k"] = json!(self.k);
                answer["classes"] = json!(score.classes);
                if let Some(bands) = &bands {
                    let named: Vec<String> = bands.radii.iter().map(|radius| radius_text(*radius)).collect();
                    answer["bands"] = json!(named);
                    answer["leave_one_out_accuracies"] = json!(bands.accuracies);
                }
                let (indices, distances): (Vec<Vec<usize>>, Vec<Vec<f64>>) =
                    predictions.iter().map(|p| p.neighbors.iter().copied().unzip()).unzip();
                answer["neighbors"] = json!(indices);
                answer["distances"] = distances.iter().map(|own| json!(Numbers(own))).collect();
                answer["predictions"] = predictions.iter().map(|p| p.class.as_str()).collect();
            },
            |out| {
                writeln!(out, "train  {}: {}", shown(&self.train), train.summary())?;
                writeln!(out, "test   {}: {}", shown(&self.test), test.summary())?;
                writeln!(out, "by     {}-NN, {}", self.k, setup.described())?;
                writeln!(out, "took   {}", took.summary())?;
                if let Some(bands) = &bands {
                    writeln!(
                        out,
                        "band   {}: {:.4} of the training series are classified right by the others, the most of {}",
                        radius_text(bands.best()),
                        bands.accuracies[bands.place()],
                        count(bands.radii.len(), "band")
                    )?;
                }
                if let (Some(accuracy), Some(correct)) = (score.accuracy(), score.correct()) {
                    writeln!(out, "\naccuracy {accuracy:.4} ({correct} of {})\n", test.len())?;
                    if score.confusion.is_empty() {
                        writeln!(out, "{} classes are too many for a table", score.classes.len())?;
                    } else {
                        write!(out, "{}", score.table())?;
                    }
                } else if self.out.is_none() {
                    writeln!(out, "\n{:>6}  {:>7}  {:>14}  predicted", "series", "nearest", "distance")?;
                    for (index, p) in predictions.iter().enumerate() {
                        let (nearest, distance) = p.neighbors[0];
                        writeln!(out, "{index:>6}  {nearest:>7}  {:>14}  {}", cell(distance), p.class)?;
                    }
                }
                written(out, "predictions", &self.out)
            },
        )?;
        if let Some((file, bands)) = plot_file.zip(bands) {
            let figure = AccuracyFigure {
                title: format!("Leave-one-out: {}-NN, {}", self.k, setup.described()),
                subtitle: format!("{}: {}", shown(&self.train), train.summary()),
                shares: bands
                    .radii
                    .iter()
                    .map(|radius| percent(*radius))
                    .zip(bands.accuracies.clone())
                    .collect(),
                best: bands.place(),
            };
            setup.draw(&figure, file)?;
        }
        Ok(())
    }
}

/// The bands that were tried, and how well the training series predict each other in each.
struct Bands {
    radii: Vec<Radius>,
    accuracies: Vec<f64>,
    cells: u64,
}

impl Bands {
    /// Which is best, of equals the narrowest.
    fn place(&self) -> usize {
        let most = self.accuracies.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.accuracies.iter().position(|share| *share == most).unwrap_or(0)
    }

    fn best(&self) -> Radius {
        self.radii[self.place()]
    }
}

/// Tries the bands of 0% to 100%, of series of equal length each number of points once.
fn bands<T: Element>(setup: &Setup<'_>, train: &Dataset, k: usize) -> Result<Bands> {
    ensure!(
        k < train.len(),
        "--band leave-one-out needs more training series than {k} neighbours, got {}",
        count(train.len(), "series")
    );
    let (shortest, longest) = train.lengths();
    let mut radii: Vec<Radius> = Vec::new();
    let mut last = None;
    for percent in 0..=100 {
        let points = percent * longest / 100;
        if shortest != longest || last != Some(points) {
            radii.push(Radius::Fraction(percent as f64 / 100.0));
        }
        last = Some(points);
    }
    let batch = engine::batch::<T>(train)?;
    let progress = Arc::new(Progress::open_ended("bands"));
    let labels = train.labels.as_deref().unwrap_or(&[]);
    let context = setup.engine.context(&progress);
    let accuracies = learn::leave_one_out(&context, &setup.spec, batch.batch(), labels, k, &radii)?;
    Ok(Bands { radii, accuracies, cells: progress.cells() })
}

fn percent(radius: Radius) -> f64 {
    match radius {
        Radius::Fraction(fraction) => (100.0 * fraction).round(),
        Radius::Points(points) => points as f64,
    }
}

fn radius_text(radius: Radius) -> String {
    format!("{}%", percent(radius))
}

/// The columns of the file of predictions: the nearest series and its distance, then the other neighbours.
fn columns(k: usize) -> Vec<String> {
    let start = ["series", "actual", "predicted", "nearest", "distance"].map(String::from);
    start.into_iter().chain((2..=k).flat_map(|k| [format!("nearest_{k}"), format!("distance_{k}")])).collect()
}

fn rows(test: &Dataset, predictions: &[Prediction]) -> Vec<Vec<String>> {
    let row = |(index, p): (usize, &Prediction)| {
        let actual = test.labels.as_ref().map_or(String::new(), |labels| labels[index].clone());
        let start = [index.to_string(), actual, p.class.clone()];
        start
            .into_iter()
            .chain(p.neighbors.iter().flat_map(|(i, d)| [i.to_string(), d.to_string()]))
            .collect()
    };
    predictions.iter().enumerate().map(row).collect()
}

fn labelled(path: &Path, dataset: &Dataset) -> Result<()> {
    ensure!(
        dataset.labels.is_some(),
        "{} has no class labels; --labels first, last or NAME says which column of a .csv file holds them; .ts, .tsv and .txt \
         have them, and .npz in an array y",
        shown(path)
    );
    Ok(())
}

/// What is wrong with labels of `test` that no series of `train` has, up to the name of the training file; none where
/// there are no such labels. Linear time.
fn unknown_classes(train: &Dataset, test: &Dataset) -> Option<String> {
    const SHOWN: usize = 5;
    let known: HashSet<&String> = train.labels.iter().flatten().collect();
    let unknown: Vec<&String> = test.labels.iter().flatten().filter(|label| !known.contains(label)).collect();
    let mut seen = HashSet::new();
    let mut classes: Vec<&String> = unknown.iter().copied().filter(|label| seen.insert(*label)).collect();
    if classes.is_empty() {
        return None;
    }
    classes.sort_unstable_by(|a, b| by_label(a, b));
    // The least in the order of labels, so that the text is the same in every run.
    let mut alike: HashMap<String, &String> = HashMap::new();
    for class in known {
        let other = alike.entry(loosely(class)).or_insert(class);
        if by_label(class, other).is_lt() {
            *other = class;
        }
    }
    let named = classes.iter().take(SHOWN).map(|class| match alike.get(&loosely(class)) {
        Some(other) => format!("'{class}' (there it is '{other}')"),
        None => format!("'{class}'"),
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if classes.len() > SHOWN { ", …" } else { "" };
    Some(format!(
        "{} of {} cannot be classified rightly: class{} {named}{more} {} not among the labels of",
        unknown.len(),
        count(test.len(), "series"),
        if classes.len() == 1 { "" } else { "es" },
        if classes.len() == 1 { "is" } else { "are" },
    ))
}

/// A label without what is easily written in two ways: spaces around it, capitals, and the digits of equal numbers.
fn loosely(label: &str) -> String {
    let label = label.trim();
    match label.parse::<f64>() {
        Ok(value) if value.is_finite() => (value + 0.0).to_string(),
        _ => label.to_lowercase(),
    }
}

/// The class given to a series, and the training series nearest to it.
#[derive(Debug, Clone, PartialEq)]
struct Prediction {
    class: String,
    /// The nearest series that voted, the nearest first, with their distances.
    neighbors: Vec<(usize, f64)>,
}

/// Classifies every series of `test`; also the number of grid cells that took.
fn classify<T: Element>(
    engine: &Engine,
    spec: &Spec,
    train: &Dataset,
    test: &Dataset,
    k: usize,
    what: &str,
) -> Result<(Vec<Prediction>, u64)> {
    let (x, y) = (engine::batch::<T>(test)?, engine::batch::<T>(train)?);
    let (x, y) = (x.batch(), y.batch());
    let cells = engine.cells(spec, Pairing::Cross, &x, &y)?;
    let progress = Arc::new(Progress::new(what, cells));
    let neighbors = learn::nearest(&engine.context(&progress), spec, y, x, k)?;
    let classes = learn::vote(&neighbors, train.labels.as_deref().unwrap_or(&[]))?;
    let predictions = classes.into_iter().enumerate().map(|(index, class)| Prediction {
        class,
        neighbors: neighbors
            .indices(index)
            .iter()
            .zip(neighbors.distances(index))
            .map(|(i, d)| (*i, d.to_f64()))
            .collect(),
    });
    Ok((predictions.collect(), cells))
}

/// How well predictions fit the labels.
struct Score {
    classes: Vec<String>,
    /// `[actual][predicted]` counts; empty without labels, and for more than [`Score::MOST_CLASSES`].
    confusion: Vec<Vec<usize>>,
    /// Series whose class was found, and how many there are; none without labels.
    found: Option<(usize, usize)>,
}

impl Score {
    /// Classes beyond which nobody reads the matrix, whose size is their square.
    const MOST_CLASSES: usize = 1000;

    fn of(train: &Dataset, test: &Dataset, predictions: &[Prediction]) -> Self {
        let mut classes = train.classes.clone();
        let known: HashSet<&String> = train.classes.iter().collect();
        classes.extend(test.classes.iter().filter(|c| !known.contains(c)).cloned());
        let Some(labels) = &test.labels else { return Score { classes, confusion: Vec::new(), found: None } };
        let correct = labels.iter().zip(predictions).filter(|(label, p)| **label == p.class).count();
        let found = Some((correct, labels.len()));
        if classes.len() > Self::MOST_CLASSES {
            return Score { classes, confusion: Vec::new(), found };
        }
        let places: HashMap<&str, usize> = classes.iter().enumerate().map(|(k, c)| (c.as_str(), k)).collect();
        let mut confusion = vec![vec![0; classes.len()]; classes.len()];
        for (label, prediction) in labels.iter().zip(predictions) {
            confusion[places[label.as_str()]][places[prediction.class.as_str()]] += 1;
        }
        Score { classes, confusion, found }
    }

    fn correct(&self) -> Option<usize> {
        self.found.map(|(correct, _)| correct)
    }

    fn accuracy(&self) -> Option<f64> {
        self.found.map(|(correct, total)| correct as f64 / total as f64)
    }

    fn table(&self) -> String {
        let counts = self.confusion.iter().flatten().map(ToString::to_string);
        let width = self.classes.iter().cloned().chain(counts).map(|c| c.chars().count()).max().unwrap_or(1);
        let cell = |text: &str| format!("  {text:>width$}");
        let first = self.classes.iter().map(|c| c.chars().count()).max().unwrap_or(0).max("actual".len());
        let header: String = self.classes.iter().map(|c| cell(c)).collect();
        let mut table = format!("{:first$}  predicted\n{:first$}{header}\n", "", "actual");
        for (class, counts) in self.classes.iter().zip(&self.confusion) {
            let row: String = counts.iter().map(|c| cell(&c.to_string())).collect();
            table.push_str(&format!("{class:first$}{row}\n"));
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of all classes would not fit the memory.
    #[test]
    fn a_class_per_series_needs_no_matrix() {
        let labels: Vec<String> = (0..200_000).map(|k| k.to_string()).collect();
        let series = Dataset::univariate("d".into(), vec![vec![0.0]; labels.len()]).with_labels(labels);
        let labels = series.labels.iter().flatten();
        let predictions: Vec<Prediction> =
            labels.map(|l| Prediction { class: l.clone(), neighbors: vec![(0, 0.0)] }).collect();
        let score = Score::of(&series, &series, &predictions);
        assert_eq!((score.accuracy(), score.confusion.len()), (Some(1.0), 0));
    }

    fn series(labels: &[&str]) -> Dataset {
        let labels: Vec<String> = labels.iter().map(|l| (*l).to_owned()).collect();
        Dataset::univariate("d".into(), vec![vec![0.0]; labels.len()]).with_labels(labels)
    }

    #[test]
    fn classes_that_cannot_be_found_are_named() {
        let train = series(&["1", "01", "a", "2"]);
        assert_eq!(unknown_classes(&train, &series(&["2", "a", "01"])), None);
        let text = unknown_classes(&train, &series(&["1.0", "1", " A", "7", "1.0"])).unwrap();
        assert_eq!(
            text,
            "4 of 5 series cannot be classified rightly: classes '1.0' (there it is '01'), '7', ' A' (there it is 'a') \
             are not among the labels of"
        );
        let many: Vec<String> = (10..20).map(|k| k.to_string()).collect();
        let many = unknown_classes(&train, &series(&many.iter().map(String::as_str).collect::<Vec<_>>()));
        assert!(many.unwrap().contains("'10', '11', '12', '13', '14', … are not"));
    }

    #[test]
    fn scores_count_by_class() {
        let (train, test) = (series(&["x", "y"]), series(&["y", "y", "z", "x"]));
        let predict = |class: &str| Prediction { class: class.into(), neighbors: vec![(0, 0.0)] };
        let score = Score::of(&train, &test, &["y", "x", "x", "x"].map(predict));
        assert_eq!(score.classes, ["x", "y", "z"]);
        assert_eq!(score.confusion, [[1, 0, 0], [1, 1, 0], [1, 0, 0]]);
        assert_eq!((score.correct(), score.accuracy()), (Some(2), Some(0.5)));
        assert_eq!(
            score.table(),
            "        predicted\nactual  x  y  z\nx       1  0  0\ny       1  1  0\nz       1  0  0\n"
        );
    }
}
