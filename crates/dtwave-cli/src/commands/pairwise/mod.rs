//! `dtwave pairwise A [B]`: the matrix of distances.

mod edges;
mod memory;
mod shard;
mod stream;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use clap::Args;
use dtwave::{Anchor, Band, Measure, Pairing, Spec};
use serde_json::json;

use self::edges::Wanted;
use self::memory::{Overflow, in_memory};
use self::stream::{Streamed, stream};
use super::common::{Format, Inputs, Output, Setup, band_text, check_files, parameters};
use super::compute::Compute;
use crate::data::{Dataset, Times};
use crate::engine::{self, Element, Matrix};
use crate::json::Numbers;
use crate::matrix::{Identity, Part, Start};
use crate::options::{ComputeArgs, Normalize, Offer};
use crate::output::Target;
use crate::plot::{self, HeatMapFigure};
use crate::progress::{Progress, Stopwatch};
use crate::signals::Cancel;
use crate::{data, output};

/// Distances between all series of A, or between A and B
#[derive(Debug, Args)]
#[command(after_help = "\
Without -o the matrix goes to stdout as CSV (or JSON with --json). A .npy result is written to the disk tile by tile \
and may be larger than memory; if the run is interrupted, the same command with --resume continues it. With --shard \
several processes or machines compute it; `dtwave merge` puts it together. With --threshold only the pairs that are \
near enough are kept, and no matrix is.

Examples:
  dtwave pairwise series.csv
  dtwave pairwise A.ts B.ts -o distances.npy --measure msm --band 10%
  dtwave pairwise big.npy -o distances.npy --dtype f32 --resume --plot distances.png
  dtwave pairwise big.npy -o distances.npy --shard 3/16
  dtwave pairwise big.npy -o edges.csv --threshold 2.5 --sqrt")]
pub(crate) struct PairwiseArgs {
    /// Rows of the matrix
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Columns of the matrix [default: A itself; half is then computed and mirrored, except for subsequence_dtw]
    #[arg(value_name = "B")]
    b: Option<PathBuf>,

    /// Result: .npy, .csv or .json; with --threshold .csv, .json or .npz (a sparse matrix of SciPy's)
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Continue an interrupted .npy result
    #[arg(long)]
    resume: bool,

    /// Compute the Kth of N parts of a .npy result into FILE.shard-K-of-N; the same command continues it
    #[arg(long, value_name = "K/N")]
    shard: Option<Part>,

    /// Distances above D (after --sqrt) are infinite; dtw spends little time on them
    #[arg(long, value_name = "D")]
    cutoff: Option<f64>,

    /// Only pairs at most D apart (after --sqrt; of similarities, at least D): lines of row, column and distance.
    /// Without B, a pair stands in both of its rows, and a series is not its own neighbour
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["cutoff", "resume", "shard", "plot"])]
    threshold: Option<f64>,

    /// Heat map of the matrix: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    options: ComputeArgs,
}

impl Compute for PairwiseArgs {
    const OFFER: Offer = Offer::ALL;

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        if let Some(threshold) = self.threshold {
            return self.within::<T>(threshold, cancel);
        }
        let (out, shard_file) = self.output()?;
        let streams = out.as_ref().is_some_and(|out| out.format == Format::Npy);
        ensure!(!self.resume || streams, "--resume continues a .npy result; pass -o FILE.npy");
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        if let Some(out) = out.as_ref().filter(|_| streams) {
            out.target.file()?;
        }
        let (read, spec) = self.asked(&[&self.out, &shard_file, &self.plot])?;
        if let Some(cutoff) = self.cutoff {
            ensure!(!cutoff.is_nan(), "--cutoff must be a number");
            ensure!(
                !spec.measure.is_similarity(),
                "--cutoff is for distances: of {}, larger values are nearer",
                spec.key()
            );
        }
        let mut setup = Setup::new(&self.options, read, spec, cancel)?;
        let (a, b, pairing) = self.loaded(&mut setup)?;
        let x = engine::batch::<T>(&a)?;
        let y = b.as_ref().map(engine::batch::<T>).transpose()?;
        let y = y.as_ref().unwrap_or(&x);
        let root = self.options.measure.takes_root();
        // A distance is compared as it is printed: in the number type, after its root. Before the root the bound is a
        // little wider.
        let most = self.cutoff.map(|d| T::from_f64(d).to_f64());
        let cutoff = most.map(|d| if root { d.max(0.0).powi(2) * (1.0 + 1e-6) } else { d });
        let matrix = Matrix { spec: &setup.spec, pairing, x: x.batch(), y: y.batch(), cutoff };
        let shape = [matrix.x.len(), matrix.y.len()];

        let watch = Stopwatch::start();
        let cells = setup.engine.cells(&setup.spec, pairing, &matrix.x, &matrix.y)?;
        let progress = Arc::new(Progress::new("pairwise", cells));
        let most = most.filter(|_| root).unwrap_or(f64::INFINITY);
        let finish = |value: T| {
            let finished: T = setup.finish(value);
            if finished.to_f64() > most { T::INFINITY } else { finished }
        };
        let mut tiles = None;
        let (values, (cells, overflow), to_write) = match out {
            Some(Output { format: Format::Npy, target }) => {
                let inputs = [&a, b.as_ref().unwrap_or(&a)];
                let job = self.identity::<T>(&setup, shape, pairing, inputs);
                let swept = if let Some(part) = self.shard {
                    let shard =
                        shard::compute(&setup.engine, &matrix, &job, part, target, &progress, finish)?;
                    tiles = Some((part, shard.tiles));
                    (shard.cells, shard.overflow)
                } else {
                    let start = if self.resume { Start::Resume } else { Start::Fresh };
                    let Streamed { spared, overflow } =
                        stream(&setup.engine, &matrix, &job, target, start, &progress, finish)?;
                    (cells - spared, overflow)
                };
                (None, swept, None)
            }
            out => {
                let values = in_memory(&setup.engine, &matrix, &progress, finish)?;
                let mut overflow = Overflow::default();
                overflow.count(&values, 1);
                (Some(values), (cells, overflow), out)
            }
        };
        drop(progress);
        let took = watch.stop(cells);
        let in_json = match &to_write {
            Some(out) => out.format == Format::Json,
            None => self.options.json && self.out.is_none(),
        };
        // What is infinite by a cutoff was asked for.
        if self.cutoff.is_none() {
            setup.warn_of_overflow(overflow.overflowed, overflow.total, in_json);
        }

        let rows = || values.iter().flat_map(|values| values.chunks_exact(shape[1]));
        if let Some(Output { format, target }) = to_write {
            write(target, format, rows())?;
        }
        setup.answer(
            took,
            |answer| {
                answer["shape"] = json!(shape);
                if let Some(cutoff) = self.cutoff {
                    answer["cutoff"] = json!(cutoff);
                }
                if let Some((part, [own, all])) = tiles {
                    answer["shard"] = json!({"number": part.number(), "count": part.count(), "tiles": own, "tiles_of_all": all});
                }
                match shard_file.as_ref().or(self.out.as_ref()) {
                    Some(out) => answer["out"] = json!(out.display().to_string()),
                    None => answer["distances"] = json!(rows().map(Numbers).collect::<Vec<_>>()),
                }
            },
            |out| {
                let speed = took.summary();
                if let Some(((part, [own, all]), file)) = tiles.zip(shard_file.as_ref()) {
                    let (number, count, file) = (part.number(), part.count(), file.display());
                    return writeln!(out, "shard {number} of {count}, {own} of {all} tiles, in {file}: {speed}");
                }
                if let Some(file) = &self.out {
                    return writeln!(
                        out,
                        "{} × {} distances in {}: {speed}",
                        shape[0],
                        shape[1],
                        file.display()
                    );
                }
                for row in rows() {
                    let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
                    writeln!(out, "{}", cells.join(","))?;
                }
                Ok(())
            },
        )?;
        if let Some(file) = plot_file {
            let coarse = match (&values, &self.out) {
                (Some(values), _) => coarse(shape, |i, row| {
                    row.extend(values[i * shape[1]..][..shape[1]].iter().map(|v| v.to_f64()));
                    Ok(())
                })?,
                (None, Some(out)) => coarse_from_npy::<T>(out, shape)?,
                (None, None) => unreachable!("a matrix is in memory or in a file"),
            };
            plot::save(&self.figure(&setup, &coarse, shape, &a, b.as_ref()), file)?;
        }
        Ok(())
    }
}

impl PairwiseArgs {
    /// The inputs, which no output replaces, and the measure.
    fn asked(&self, outputs: &[&Option<PathBuf>]) -> Result<(Inputs, Spec)> {
        let inputs: Vec<&Path> =
            [Some(&self.a), self.b.as_ref()].into_iter().flatten().map(|p| &**p).collect();
        let read = check_files(&inputs, outputs, &self.options.run)?;
        let spec = self.options.measure.spec()?;
        ensure!(
            spec.anchor == Anchor::Global || spec.band == Band::Full,
            "--band has no meaning for {}: a match may start anywhere",
            spec.key()
        );
        Ok((read, spec))
    }

    /// The pairs within a threshold.
    fn within<T: Element>(&self, threshold: f64, cancel: &Cancel) -> Result<()> {
        ensure!(!threshold.is_nan(), "--threshold must be a number");
        let out = Output::take(&self.out, &Format::SPARSE)?;
        let (read, spec) = self.asked(&[&self.out])?;
        let mut setup = Setup::new(&self.options, read, spec, cancel)?;
        let (a, b, pairing) = self.loaded(&mut setup)?;
        let x = engine::batch::<T>(&a)?;
        let y = b.as_ref().map(engine::batch::<T>).transpose()?;
        let y = y.as_ref().unwrap_or(&x).batch();
        let matrix = Matrix { spec: &setup.spec, pairing, x: x.batch(), y, cutoff: None };
        let wanted =
            Wanted { threshold, is_of_roots: self.options.measure.takes_root(), is_own: b.is_none() };
        edges::answer(&setup, &matrix, &wanted, out, self.out.as_ref())
    }

    /// A and B, and which pairs of them are computed.
    fn loaded(&self, setup: &mut Setup<'_>) -> Result<(Dataset, Option<Dataset>, Pairing)> {
        let a = setup.load(&self.a)?;
        let b = self.b.as_ref().map(|b| setup.load(b)).transpose()?;
        let inputs = [Some((&*self.a, &a)), self.b.as_deref().zip(b.as_ref())];
        setup.fit(&inputs.into_iter().flatten().collect::<Vec<_>>())?;
        // A subsequence distance is not symmetric.
        let pairing = match (&b, setup.spec.anchor) {
            (None, Anchor::Global) => Pairing::SelfSymmetric,
            _ => Pairing::Cross,
        };
        Ok((a, b, pairing))
    }

    /// Takes the output, and the name of the file if it is a shard's.
    fn output(&self) -> Result<(Option<Output>, Option<PathBuf>)> {
        let Some(part) = self.shard else { return Ok((Output::take(&self.out, &Format::ALL)?, None)) };
        let format = self.out.as_deref().map(|out| Format::of(out, &Format::ALL)).transpose()?;
        let Some((out, Format::Npy)) = self.out.as_deref().zip(format) else {
            bail!("--shard computes a part of a .npy matrix; pass -o FILE.npy")
        };
        ensure!(
            self.plot.is_none(),
            "--plot needs the whole matrix; leave it out with --shard, and after `dtwave merge` give it to the same command \
             with --resume in place of --shard"
        );
        let file = part.file(out);
        Ok((Some(Output { format: Format::Npy, target: engine::take(&file)? }), Some(file)))
    }

    /// What must agree for `--resume` and between shards.
    fn identity<T: Element>(
        &self,
        setup: &Setup<'_>,
        shape: [usize; 2],
        pairing: Pairing,
        inputs: [&Dataset; 2],
    ) -> Identity {
        let spec = &setup.asked;
        let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut options = vec![
            own("the version of dtwave", env!("CARGO_PKG_VERSION")),
            own("--measure", if spec.anchor == Anchor::Global { spec.key() } else { "subsequence_dtw" }),
        ];
        let parameters = parameters(&spec.measure);
        options.extend(parameters.iter().map(|(name, value)| (format!("--{name}"), value.to_string())));
        let normalizes = self.options.run.normalize == Normalize::Z;
        options.extend([
            own("--sqrt", &self.options.measure.takes_root().to_string()),
            own("--cutoff", &self.cutoff.map_or_else(|| "none".to_owned(), |d| d.to_string())),
            own("--band", &band_text(&spec.band)),
            own("--normalize", if normalizes { "z" } else { "none" }),
            own("--backend", setup.engine.device.name()),
            own("B", if self.b.is_some() { "given" } else { "left out" }),
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

    fn figure<'a>(
        &self,
        setup: &Setup<'_>,
        coarse: &'a Coarse,
        shape: [usize; 2],
        a: &Dataset,
        b: Option<&Dataset>,
    ) -> HeatMapFigure<'a> {
        let names = b.map_or_else(|| a.name.clone(), |b| format!("{} and {}", a.name, b.name));
        let value = match self.options.measure.takes_root() {
            _ if setup.asked.measure.is_similarity() => "similarity",
            true => "root of the distance",
            false => "distance",
        };
        HeatMapFigure {
            title: format!("Distances: {}", setup.described()),
            subtitle: format!("{names}; {} × {} values", shape[0], shape[1]),
            values: &coarse.values,
            columns: coarse.columns,
            shape,
            row_label: a.name.clone(),
            column_label: b.unwrap_or(a).name.clone(),
            value_label: value.into(),
            groups: groups(a),
        }
    }
}

fn write<'a, T: Element>(target: Target, format: Format, rows: impl Iterator<Item = &'a [T]>) -> Result<()> {
    match format {
        Format::Csv => output::write_csv_rows(target, rows.map(|row| row.iter().copied())),
        _ => target.write(|file| {
            serde_json::to_writer(file, &rows.map(Numbers).collect::<Vec<_>>()).map_err(Into::into)
        }),
    }
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

/// The coarse matrix from a finished file, one row in memory at a time.
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

/// Where each class starts, if the series come class by class.
fn groups(dataset: &data::Dataset) -> Vec<(usize, String)> {
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
            let spec = args.options.measure.spec().unwrap();
            let inputs = Inputs::new(&[], &args.options.run).unwrap();
            let setup = Setup::new(&args.options, inputs, spec, &Cancel::default()).unwrap();
            args.identity::<f64>(&setup, [1, 1], Pairing::SelfSymmetric, [&dataset; 2])
        };
        let every = |step| Times::Regular { start: 0.0, step };
        assert_ne!(of("twed", every(0.5)), of("twed", every(2.0)));
        assert_eq!(of("twed", every(1.0)), of("twed", Times::None));
        assert_eq!(of("dtw", every(0.5)), of("dtw", every(2.0)));
    }
}
