//! `dtwave pairwise A [B]`: the matrix of distances.

mod stream;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::Args;
use dtwave::{Anchor, Band, Measure, Pairing, Spec};
use serde_json::json;

use self::stream::{Streamed, stream};
use super::common::{self, Stopwatch};
use crate::data::{Dataset, Times};
use crate::engine::{self, Element, Job, Matrix};
use crate::json::Numbers;
use crate::matrix::{Identity, Start};
use crate::options::{MeasureArgs, Normalize, RunArgs, byte_size};
use crate::output::Target;
use crate::plot::{self, HeatMapFigure};
use crate::progress::Progress;
use crate::report;
use crate::signals::Cancel;
use crate::{data, output};

/// Distances between all series of A, or between A and B
#[derive(Debug, Args)]
#[command(after_help = "\
Without -o the matrix goes to stdout as CSV (or JSON with --json). A .npy result is written to the disk tile by tile \
and may be larger than memory; if the run is interrupted, the same command with --resume continues it.

Examples:
  dtwave pairwise series.csv
  dtwave pairwise A.ts B.ts -o distances.npy --measure msm --band 10%
  dtwave pairwise big.npy -o distances.npy --dtype f32 --resume --plot distances.png")]
pub(crate) struct PairwiseArgs {
    /// Rows of the matrix
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Columns of the matrix [default: A itself; half is then computed and mirrored, except for subsequence_dtw]
    #[arg(value_name = "B")]
    b: Option<PathBuf>,

    /// Result: .npy, .csv or .json
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Continue an interrupted .npy result
    #[arg(long)]
    resume: bool,

    /// Heat map of the matrix: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Print JSON on stdout
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    measure: MeasureArgs,

    #[command(flatten)]
    pub(super) run: RunArgs,
}

/// Where the matrix goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npy,
    Csv,
    Json,
    Stdout,
}

fn format_of(out: Option<&Path>) -> Result<Format> {
    let Some(out) = out else { return Ok(Format::Stdout) };
    let format = match out.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("npy") => Format::Npy,
        Some("csv") => Format::Csv,
        Some("json") => Format::Json,
        _ => bail!("cannot write {}: unknown extension; expected .npy, .csv or .json", out.display()),
    };
    Ok(format)
}

/// Runs the command.
pub(super) fn run<T: Element>(args: &PairwiseArgs, cancel: &Cancel) -> Result<()> {
    let format = format_of(args.out.as_deref())?;
    ensure!(!args.resume || format == Format::Npy, "--resume continues a .npy result; pass -o FILE.npy");
    let target = args.out.as_deref().map(engine::take).transpose()?;
    let plot_file = args.plot.as_deref().map(plot::take).transpose()?;
    if let (Format::Npy, Some(target)) = (format, &target) {
        target.file()?;
    }
    let inputs: Vec<&Path> = [Some(&args.a), args.b.as_ref()].into_iter().flatten().map(|p| &**p).collect();
    common::check_files(&inputs, &[&args.out, &args.plot], &args.run)?;
    let spec = args.measure.spec()?;
    ensure!(
        spec.anchor == Anchor::Global || spec.band == Band::Full,
        "--band has no meaning for {}: a match may start anywhere",
        spec.key()
    );
    let job = Job::new(&args.run, cancel)?;
    let a = engine::load(&args.a, &args.run)?;
    let b = args.b.as_ref().map(|b| engine::load(b, &args.run)).transpose()?;
    if let (Some(path), Some(b)) = (&args.b, &b) {
        engine::same_channels((&args.a, a.channels), (path, b.channels))?;
        engine::long_enough(path, b, &spec)?;
    }
    engine::long_enough(&args.a, &a, &spec)?;
    let inputs = [Some((&*args.a, &a)), args.b.as_deref().zip(b.as_ref())];
    let given = spec;
    let spec = engine::timed(given.clone(), &inputs.into_iter().flatten().collect::<Vec<_>>())?;
    // A subsequence distance is not symmetric.
    let pairing = match (&b, spec.anchor) {
        (None, Anchor::Global) => Pairing::SelfSymmetric,
        _ => Pairing::Cross,
    };
    let x = engine::batch::<T>(&a)?;
    let y = b.as_ref().map(engine::batch::<T>).transpose()?;
    let y = y.as_ref().unwrap_or(&x);
    let matrix = Matrix { spec: &spec, pairing, x: x.batch(), y: y.batch() };
    let shape = [matrix.x.len(), matrix.y.len()];

    let watch = Stopwatch::start();
    let cells = job.cells(&spec, pairing, &matrix.x, &matrix.y)?;
    let progress = Arc::new(Progress::new("pairwise", cells));
    let finish = |value: T| args.measure.finish(value);
    let (values, Streamed { spared, overflow }, to_write) = match (format, target) {
        (Format::Npy, Some(target)) => {
            let inputs = [&a, b.as_ref().unwrap_or(&a)];
            let identity = identity::<T>(&given, args, shape, pairing, inputs, job.device.name());
            let start = if args.resume { Start::Resume } else { Start::Fresh };
            (None, stream(&job, &matrix, &identity, target, start, &progress, finish)?, None)
        }
        (_, target) => {
            let values = in_memory(&job, &matrix, &progress, finish)?;
            let mut overflow = Overflow::default();
            overflow.count(&values, 1);
            (Some(values), Streamed { spared: 0, overflow }, target)
        }
    };
    drop(progress);
    let took = watch.stop();
    let as_json = format == Format::Json || (args.json && args.out.is_none());
    common::warn_of_overflow(overflow.overflowed, overflow.total, &args.run, as_json);

    if let (Some(values), Some(target)) = (&values, to_write) {
        let rows = || values.chunks_exact(shape[1]);
        match format {
            Format::Csv => output::write_csv_rows(target, rows().map(|row| row.iter().copied()))?,
            _ => target.write(|file| {
                serde_json::to_writer(&mut *file, &rows().map(Numbers).collect::<Vec<_>>())
                    .map_err(Into::into)
            })?,
        }
    }
    // The answer first: a plot that fails takes nothing along.
    let answer = || -> Result<()> {
        if args.json {
            let mut answer = common::computation(&given, &args.measure, &args.run, job.device.name());
            answer.insert("shape".into(), json!(shape));
            answer.insert("seconds".into(), json!(took.secs));
            match (&args.out, &values) {
                (Some(out), _) => answer.insert("out".into(), json!(out.display().to_string())),
                (None, Some(values)) => {
                    let rows: Vec<Numbers<'_, T>> = values.chunks_exact(shape[1]).map(Numbers).collect();
                    answer.insert("distances".into(), json!(rows))
                }
                (None, None) => None,
            };
            return report::print_json(&answer.into());
        }
        match (&args.out, &values) {
            (Some(out), _) => {
                let speed = took.summary(cells - spared);
                report::print_line(&format!(
                    "{} × {} distances in {}: {speed}",
                    shape[0],
                    shape[1],
                    out.display()
                ))
            }
            (None, Some(values)) => report::print(|out| {
                for row in values.chunks_exact(shape[1]) {
                    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
                    writeln!(out, "{}", cells.join(","))?;
                }
                Ok(())
            }),
            (None, None) => Ok(()),
        }
    };
    answer()?;
    if let Some(file) = plot_file {
        let coarse = match (&values, &args.out) {
            (Some(values), _) => coarse(shape, |i, row| {
                row.extend(values[i * shape[1]..][..shape[1]].iter().map(|v| v.to_f64()));
                Ok(())
            })?,
            (None, Some(out)) => coarse_from_npy::<T>(out, shape)?,
            (None, None) => unreachable!("a matrix is in memory or in a file"),
        };
        draw(file, &coarse, shape, args, &given, &a, b.as_ref())?;
    }
    Ok(())
}

/// How many results there are, and how many left the range of the number type.
#[derive(Default)]
struct Overflow {
    total: u64,
    overflowed: u64,
}

impl Overflow {
    /// Counts values of which each stands `times` times in the matrix.
    fn count<T: Element>(&mut self, values: &[T], times: u64) {
        self.total += times * values.len() as u64;
        self.overflowed += times * values.iter().filter(|v| !v.finite()).count() as u64;
    }
}

/// What must agree for `--resume`.
fn identity<T: Element>(
    spec: &Spec,
    args: &PairwiseArgs,
    shape: [usize; 2],
    pairing: Pairing,
    inputs: [&Dataset; 2],
    backend: &str,
) -> Identity {
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut options = vec![
        own("the version of dtwave", env!("CARGO_PKG_VERSION")),
        own("--measure", if spec.anchor == Anchor::Global { spec.key() } else { "subsequence_dtw" }),
    ];
    let parameters = common::parameters(&spec.measure);
    options.extend(parameters.iter().map(|(name, value)| (format!("--{name}"), value.to_string())));
    options.extend([
        own("--sqrt", &args.measure.takes_root().to_string()),
        own("--band", &common::band_text(&spec.band)),
        own("--normalize", if args.run.normalize == Normalize::Z { "z" } else { "none" }),
        own("--backend", backend),
        own("B", if args.b.is_some() { "given" } else { "left out" }),
    ]);
    let step = match (&spec.measure, &inputs[0].times) {
        (Measure::Twed { .. }, Times::Regular { step, .. }) => *step,
        _ => 1.0,
    };
    let [a, b] = inputs.map(stream::fingerprint);
    let inputs = vec![
        own("the time between two points", &step.to_string()),
        ("the content of A".to_owned(), a),
        ("the content of B".to_owned(), b),
    ];
    let symmetric = pairing == Pairing::SelfSymmetric;
    Identity { shape, element_bytes: T::BYTES, symmetric, options, inputs }
}

/// Computes the whole matrix in memory, if it may be that large.
pub(super) fn in_memory<T: Element>(
    job: &Job,
    matrix: &Matrix<'_, T>,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
) -> Result<Vec<T>> {
    let (n, m) = (matrix.x.len(), matrix.y.len());
    let bytes = (n as u64).saturating_mul(m as u64).saturating_mul(T::BYTES as u64);
    ensure!(
        bytes <= job.memory_limit_bytes,
        "{n} × {m} distances need {}, --memory-limit is {}; write to -o FILE.npy, which streams to the disk",
        byte_size(bytes),
        byte_size(job.memory_limit_bytes)
    );
    let mut values = vec![T::ZERO; n * m];
    job.tiles(matrix, progress, &HashSet::new(), |tile, part| {
        for (i, row) in tile.rows.clone().zip(part.chunks_exact(tile.columns.len())) {
            for (j, value) in tile.columns.clone().zip(row) {
                values[i * m + j] = finish(*value);
                if tile.is_mirrored(matrix.pairing) {
                    values[j * m + i] = finish(*value);
                }
            }
        }
        Ok(())
    })?;
    Ok(values)
}

/// A matrix averaged over blocks, fine enough for a picture.
struct Coarse {
    values: Vec<f64>,
    columns: usize,
}

/// Averages rows of the full matrix as `row` gives them.
fn coarse(shape: [usize; 2], mut row: impl FnMut(usize, &mut Vec<f64>) -> Result<()>) -> Result<Coarse> {
    let [n, m] = shape;
    let (height, width) = (n.min(HeatMapFigure::MAX_PIXELS), m.min(HeatMapFigure::MAX_PIXELS));
    let mut values = Vec::with_capacity(height * width);
    let mut full = Vec::with_capacity(m);
    for block in 0..height {
        let rows = block * n / height..(block + 1) * n / height;
        let mut sums = vec![0.0; width];
        for i in rows.clone() {
            full.clear();
            row(i, &mut full)?;
            for (k, sum) in sums.iter_mut().enumerate() {
                let columns = k * m / width..(k + 1) * m / width;
                let count = (rows.len() * columns.len()) as f64;
                // Divided first: a sum of finite distances may be infinite, their mean is not.
                *sum += full[columns].iter().map(|v| v / count).sum::<f64>();
            }
        }
        values.extend(sums);
    }
    Ok(Coarse { values, columns: width })
}

/// The same from a finished file, one row in memory at a time.
fn coarse_from_npy<T: Element>(path: &Path, shape: [usize; 2]) -> Result<Coarse> {
    let file = std::io::BufReader::with_capacity(1 << 20, std::fs::File::open(path)?);
    let mut values = output::npy_values::<T>(file, &shape)?;
    coarse(shape, |_, row| {
        for value in values.by_ref().take(shape[1]) {
            row.push(value?.to_f64());
        }
        Ok(())
    })
}

fn draw(
    file: Target,
    coarse: &Coarse,
    shape: [usize; 2],
    args: &PairwiseArgs,
    spec: &Spec,
    a: &Dataset,
    b: Option<&Dataset>,
) -> Result<()> {
    let root = if args.measure.takes_root() { "root of the distance" } else { "distance" };
    let figure = HeatMapFigure {
        title: format!("Distances: {}", common::described(spec, &args.run)),
        subtitle: format!(
            "{}; {} × {} values",
            b.map_or_else(|| a.name.clone(), |b| format!("{} and {}", a.name, b.name)),
            shape[0],
            shape[1]
        ),
        values: &coarse.values,
        columns: coarse.columns,
        shape,
        row_label: a.name.clone(),
        column_label: b.unwrap_or(a).name.clone(),
        value_label: if spec.measure.is_similarity() { "similarity".into() } else { root.into() },
        groups: groups(a),
    };
    plot::save(&figure, file)
}

/// Where each class starts, if the series come class by class.
pub(super) fn groups(dataset: &data::Dataset) -> Vec<(usize, String)> {
    let Some(labels) = &dataset.labels else { return Vec::new() };
    let mut groups: Vec<(usize, String)> = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        if groups.last().is_none_or(|(_, last)| last != label) {
            groups.push((index, label.clone()));
        }
    }
    const MOST: usize = 24;
    if groups.len() == dataset.classes.len().min(MOST) { groups } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: PairwiseArgs,
    }

    /// The points of time are part of the job where they change its result.
    #[test]
    fn resuming_asks_for_the_same_times() {
        let of = |measure: &str, times: Times| {
            let args = Line::try_parse_from(["x", "a.ts", "--measure", measure]).ok().unwrap().args;
            let mut dataset = Dataset::univariate("a".into(), vec![vec![1.0, 2.0]]);
            dataset.times = times;
            let spec = args.measure.spec().unwrap();
            identity::<f64>(&spec, &args, [1, 1], Pairing::SelfSymmetric, [&dataset; 2], "cpu")
        };
        let every = |step| Times::Regular { start: 0.0, step };
        assert_ne!(of("twed", every(0.5)), of("twed", every(2.0)));
        assert_eq!(of("twed", every(1.0)), of("twed", Times::None));
        assert_eq!(of("dtw", every(0.5)), of("dtw", every(2.0)));
    }
}
