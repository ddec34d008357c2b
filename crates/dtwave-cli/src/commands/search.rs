//! `dtwave search`: where queries occur in a longer reference.

mod ahead;
mod answer;
mod follow;
mod missing;
mod reference;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use dtwave::{Anchor, Band, Match, Measure, OwnedBatch, Precision, SearchOptions, Spec};

use self::answer::Found;
use self::follow::{Stream, follow};
use self::missing::warn_of_missing;
use self::reference::{Reading, Ready, Reference};
use super::common::{Channel, Format, Output, Setup, check_files, pick, written};
use super::compute::Compute;
use crate::data::{Dataset, Resample};
use crate::engine::{self, Element, Engine};
use crate::options::{ComputeArgs, Normalize, Offer, PointRange, given};
use crate::output;
use crate::plot::{self, Hit, SearchFigure};
use crate::progress::{Progress, Stopwatch};
use crate::report;
use crate::signals::Cancel;
use crate::words::count;

/// In which precision places are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Places {
    /// That of --dtype.
    Full,
    /// Half precision proposes places, and f32 confirms them.
    Half,
}

/// Find where queries occur in a longer reference (top-k, subsequence DTW)
#[derive(Debug, Args)]
#[command(after_help = "\
By default a match may start and end anywhere (subsequence DTW). With --normalize z every window of --window points is \
z-normalised and compared with the z-normalised query: matches are then found whatever their offset and amplitude. A \
band needs that too.

A match goes from the point `start` to the point `end`, both included, counted from 0.

The reference may be larger than memory: a .csv file of one column or a .npy array of one series, also compressed or \
piped, is read block by block within --memory-limit. Other formats are read whole.

Examples:
  dtwave search --reference ecg.csv --query beat.csv --top-k 10
  dtwave search --reference ecg.csv --query ecg.csv --query-range 700:1250 --plot hits.svg
  dtwave search --reference ecg.csv --query beats.csv --threshold 2.5 --out hits.csv
  dtwave search --reference R.npy --query Q.npy --normalize z --band 5% --json
  sensor | dtwave search --reference - --format csv --query beat.csv --threshold 2.5 --follow
  zcat long.csv.gz | dtwave search --reference - --format csv --query beat.csv --memory-limit 64MiB")]
pub(crate) struct SearchArgs {
    /// The long series
    #[arg(long, value_name = "R")]
    reference: PathBuf,

    /// The short series to look for; may be given several times
    #[arg(long, value_name = "Q", required = true)]
    query: Vec<PathBuf>,

    /// Which series of R, if it has several
    #[arg(long, value_name = "N")]
    reference_index: Option<usize>,

    /// Which series of Q, if it has several [default: all]
    #[arg(long, value_name = "N")]
    query_index: Option<usize>,

    /// Points START:END of each query to look for, END excluded
    #[arg(long, value_name = "START:END")]
    query_range: Option<PointRange>,

    /// Maximum number of matches of each query [default: 5; 100000 with --threshold]
    #[arg(short = 'k', long, visible_alias = "k", value_name = "K")]
    top_k: Option<usize>,

    /// All matches at a distance of at most D (after --sqrt), the best first
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    threshold: Option<f64>,

    /// Matches end more than this many points apart [default: half the query]
    #[arg(long, value_name = "POINTS")]
    exclusion: Option<usize>,

    /// Points per window with --normalize z [default: the length of the query]
    #[arg(long, visible_alias = "normalized-window", value_name = "POINTS")]
    window: Option<usize>,

    /// How places are looked for; half is for cuda and hip with --dtype f32, and reads R whole
    #[arg(long, value_enum, default_value_t = Places::Full, value_name = "HOW", conflicts_with = "follow")]
    precision: Places,

    /// Print each match as soon as no point that may come can change it: R has one number in each line and may be a
    /// pipe that never ends
    #[arg(long, requires = "threshold", conflicts_with_all = ["top_k", "out", "plot", "reference_index"])]
    follow: bool,

    /// Matches: .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Reference with the matches marked: .svg or .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Channel to plot [default: 0]
    #[arg(long, value_name = "N", requires = "plot")]
    plot_channel: Option<usize>,

    /// Points per second, for the plot's time axis [default: points]
    #[arg(long, value_name = "HZ", requires = "plot")]
    sample_rate: Option<f64>,

    #[command(flatten)]
    options: ComputeArgs,
}

/// The options, of which one means something else to a search.
pub(super) fn worded(command: clap::Command) -> clap::Command {
    command.mut_arg("normalize", |arg| {
        arg.help(
            "Compare windows: z (the query and every window with zero mean and unit deviation) or none (matches of \
             any length in the values as they are)",
        )
    })
}

impl Compute for SearchArgs {
    const OFFER: Offer = Offer { takes: |kind| kind.key == "dtw", without: &[] };

    fn options(&self) -> &ComputeArgs {
        &self.options
    }

    fn run<T: Element>(&self, cancel: &Cancel) -> Result<()> {
        let out = Output::take(&self.out, &[Format::Csv])?;
        let plot_file = self.plot.as_deref().map(plot::take).transpose()?;
        self.check()?;
        let mut inputs = vec![self.reference.as_path()];
        inputs.extend(self.query.iter().map(PathBuf::as_path));
        let read = check_files(&inputs, &[&self.out, &self.plot], &self.options.run)?;
        let setup = Setup::new(&self.options, read, self.spec()?, cancel)?;
        let queries = self.queries(&setup)?;
        let limit = Limit::new::<T>(self);
        let options: Vec<_> = queries.iter().map(|(_, query)| self.search_options(query, &limit)).collect();
        if self.follow {
            ensure!(
                together(&options).len() == 1,
                "--follow reads its reference once: queries of different lengths need one --exclusion, and with \
                 --normalize z one --window"
            );
            let finished = |hit: Match<T>| self.finished(std::iter::once(hit)).next();
            let (path, json) = (self.reference.as_path(), self.options.json);
            return follow(
                &Stream { path, options: options[0], json, finished: &finished },
                &setup,
                &queries,
            );
        }
        let reading = match self.precision {
            Places::Half => Reading::Whole,
            Places::Full if self.plot.is_some() || together(&options).len() > 1 => Reading::Twice,
            Places::Full => Reading::Once,
        };
        let mut reference = Reference::open(&self.reference, self.reference_index, &setup.inputs, reading)?;
        for (path, query) in &queries {
            engine::same_channels((&self.reference, reference.channels), (path, query.channels))?;
        }
        let queries: Vec<Dataset> = queries.into_iter().map(|(_, query)| query).collect();
        let channel = Channel::of(self.plot_channel, reference.channels)?;
        for window in options.iter().filter_map(|options| options.normalized_window) {
            check_window(window, reference.points())?;
        }
        self.check_sample_rate(reference.points())?;

        let watch = Stopwatch::start();
        let (hits, cells) = search_all::<T>(&setup.engine, &setup.spec, &queries, &mut reference, &options)?;
        let took = watch.stop(cells);
        if self.precision == Places::Half {
            let (confirmed, whole) = setup.engine.proposals();
            let all = confirmed + whole;
            report::note(&format!(
                "queries by half precision: {confirmed} of {all}; searched whole: {whole}"
            ));
        }
        let points = reference.points().unwrap_or(0);
        for (hits, options) in hits.iter().zip(&options) {
            warn_of_missing(hits, points, options, &self.options.run);
        }
        let found: Vec<Found<T>> = queries
            .into_iter()
            .zip(options)
            .zip(hits)
            .map(|((query, options), hits)| Found { hits: limit.kept(self, &query, hits), query, options })
            .collect();

        if let Some(out) = out {
            let (columns, rows) = answer::csv(&found);
            output::write_csv_table(out.target, &columns, &rows)?;
        }
        setup.answer(
            took,
            |answer| answer::fill(answer, &found, self.threshold),
            |out| {
                writeln!(out, "reference  {}: {}", reference.name, count(points, "point"))?;
                if let [Found { query, .. }] = &found[..] {
                    writeln!(out, "query      {}: {}", query.name, count(query.length(0), "point"))?;
                    writeln!(out, "took       {}\n", took.summary())?;
                } else {
                    writeln!(out, "queries    {}", found.len())?;
                    writeln!(out, "took       {}", took.summary())?;
                }
                answer::table(out, &found)?;
                written(out, "matches", &self.out)
            },
        )?;
        if let Some(file) = plot_file {
            setup.draw(&self.figure(&setup, &mut reference, &found[0], channel)?, file)?;
        }
        Ok(())
    }
}

impl SearchArgs {
    fn check(&self) -> Result<()> {
        ensure!(
            self.options.run.input.resample != Resample::Median,
            "--resample median could give query and reference two spacings; give both one step, as --resample 0.5"
        );
        ensure!(self.top_k != Some(0), "{} must be at least 1", given(&["--top-k", "--k", "-k"]));
        ensure!(
            self.threshold.is_none_or(|d| d.is_finite() && d >= 0.0),
            "--threshold must be a finite distance of at least 0"
        );
        ensure!(
            self.sample_rate.is_none_or(|hz| hz.is_finite() && hz > 0.0),
            "--sample-rate must be positive"
        );
        Ok(())
    }

    /// Whether windows are normalised, and matches as long as they.
    fn normalized(&self) -> bool {
        self.options.run.normalize == Normalize::Z
    }

    /// DTW with a free start and end, or anchored to normalised windows.
    fn spec(&self) -> Result<Spec> {
        let spec = self.options.measure.spec()?;
        ensure!(
            matches!(spec.measure, Measure::Dtw { .. }),
            "a search is defined for dtw only, got {}",
            spec.key()
        );
        ensure!(
            self.normalized() || spec.band == Band::Full,
            "--band needs --normalize z: a band has no meaning for a match that may start anywhere"
        );
        ensure!(
            !self.normalized() || spec.anchor == Anchor::Global,
            "--normalize z compares whole windows; {} has no windows: leave out one of the two",
            spec.key()
        );
        let anchor = if self.normalized() { Anchor::Global } else { Anchor::Subsequence };
        Ok(Spec { anchor, ..spec })
    }

    /// The queries with the files they are from, as they are: windows are normalised one by one, inside the search.
    fn queries(&self, setup: &Setup<'_>) -> Result<Vec<(&Path, Dataset)>> {
        let mut queries = Vec::new();
        for path in &self.query {
            let file = setup.read(path)?;
            let indices = self.query_index.map_or(0..file.len(), |index| index..index + 1);
            for index in indices {
                let options = Some(["--query-index", "--query-range"]);
                queries.push((path.as_path(), pick(path, &file, Some(index), self.query_range, options)?));
            }
        }
        ensure!(self.plot.is_none() || queries.len() == 1, "--plot draws one query, got {}", queries.len());
        ensure!(
            self.normalized() || self.window.is_none(),
            "--window belongs to --normalize z; without it matches may have any length"
        );
        Ok(queries)
    }

    fn search_options(&self, query: &Dataset, limit: &Limit) -> SearchOptions {
        let window = self.normalized().then(|| self.window.unwrap_or(query.length(0)));
        SearchOptions::default()
            .with_top_k(limit.asked)
            .with_exclusion(self.exclusion.unwrap_or(query.length(0) / 2))
            .with_threshold(limit.cost)
            .with_normalized_window(window)
            .with_precision(match self.precision {
                Places::Full => Precision::Full,
                Places::Half => Precision::Half,
            })
    }

    /// Matches with their distances as they are printed, without those beyond the threshold.
    fn finished<T: Element>(&self, hits: impl Iterator<Item = Match<T>>) -> impl Iterator<Item = Match<T>> {
        let finished = |m: Match<T>| Match { distance: self.options.measure.finish(m.distance), ..m };
        let most = self.threshold.map_or(T::INFINITY, T::from_f64);
        hits.map(finished).filter(move |m| m.distance <= most)
    }

    /// Refuses a sample rate at which time cannot be told.
    fn check_sample_rate(&self, points: Option<usize>) -> Result<()> {
        let Some(hz) = self.sample_rate else { return Ok(()) };
        // A reference of unknown length may be as long as numbers can count.
        let points = points.unwrap_or(1 << 53);
        let secs = points as f64 / hz;
        ensure!(secs.is_finite(), "--sample-rate {hz:?} is too small: {points} points would last {secs} s");
        Ok(())
    }

    fn figure<T: Element>(
        &self,
        setup: &Setup<'_>,
        reference: &mut Reference,
        found: &Found<T>,
        channel: Channel,
    ) -> Result<SearchFigure> {
        let Found { query, hits, .. } = found;
        let marked = |m: &Match<T>| Hit { start: m.start, end: m.end, distance: m.distance.to_f64() };
        let marked: Vec<Hit> = hits.iter().map(marked).collect();
        Ok(SearchFigure {
            title: format!("{} in {}", query.name, reference.name),
            subtitle: format!(
                "best {} of {}, {}{}",
                count(hits.len(), "match"),
                count(query.length(0), "point"),
                setup.described(),
                channel.named()
            ),
            reference: reference.sketch(channel, &marked)?,
            query: channel.values(&query.series[0]),
            hits: marked,
            normalized: self.normalized(),
            points_per_unit: self.sample_rate.unwrap_or(1.0),
            time_label: if self.sample_rate.is_some() { "time (s)".into() } else { "time (points)".into() },
            value_label: "value".into(),
        })
    }
}

/// How many matches are asked for, and what they may cost.
struct Limit {
    /// What the search is asked for.
    asked: usize,
    /// What is given.
    given: usize,
    cost: Option<f64>,
}

impl Limit {
    /// Matches of one query, unless the user says how many.
    const BEST: usize = 5;
    const ALL: usize = 100_000;

    /// Where the user wants all, one more is asked for than is given, which tells whether there are more.
    fn new<T: Element>(args: &SearchArgs) -> Self {
        let of_all = args.top_k.is_none() && args.threshold.is_some();
        let given = args.top_k.unwrap_or(if of_all { Self::ALL } else { Self::BEST });
        // A distance is compared as it is printed: in the number type, after its root. Before the root the bound is a
        // little wider; matches come best first, so that those beyond it are the last ones.
        let root = args.options.measure.takes_root();
        let cost = args.threshold.map(|d| T::from_f64(d).to_f64());
        let cost = cost.map(|d| if root { d * d * (1.0 + 1e-6) } else { d });
        // A cost that the number type cannot hold bounds nothing: what overflowed may be nearer than the threshold.
        let cost = cost.filter(|c| T::from_f64(*c).to_f64().is_finite());
        Self { asked: given.saturating_add(usize::from(of_all)), given, cost }
    }

    /// Hits with their distances, as many as are given; says so if there are more.
    fn kept<T: Element>(&self, args: &SearchArgs, query: &Dataset, hits: Vec<Match<T>>) -> Vec<Match<T>> {
        let mut hits: Vec<_> = args.finished(hits.into_iter()).collect();
        if hits.len() > self.given {
            report::warn(&format!(
                "{} has more than {} matches within the threshold: the best {} are given; --top-k says how many",
                query.name, self.given, self.given
            ));
            hits.truncate(self.given);
        }
        hits
    }
}

/// Refuses a window that is empty or, if its length is known, longer than the reference.
fn check_window(window: usize, points: Option<usize>) -> Result<()> {
    let Some(points) = points else {
        ensure!(window > 0, "a window needs at least one point, got 0");
        return Ok(());
    };
    ensure!(
        (1..=points).contains(&window),
        "a window of {} does not fit the reference of {}",
        count(window, "point"),
        count(points, "point")
    );
    Ok(())
}

/// Queries that have the same options, by these: they are searched together.
fn together(options: &[SearchOptions]) -> BTreeMap<(usize, Option<usize>), Vec<usize>> {
    let mut together = BTreeMap::<_, Vec<usize>>::new();
    for (q, options) in options.iter().enumerate() {
        together.entry((options.exclusion, options.normalized_window)).or_default().push(q);
    }
    together
}

/// The grid cells of a search, per point that a reference has more than `window` would.
fn cells(spec: &Spec, query: usize, window: Option<usize>, points: usize) -> Result<u64> {
    let cells = |ends: usize, each: u64| (ends as u64).saturating_mul(each);
    Ok(match window {
        None => cells(points, query as u64),
        Some(window) if spec.band == Band::Full => {
            cells((points + 1).saturating_sub(window), query as u64 * window as u64)
        }
        Some(window) => {
            let each = spec.band.ranges(query, window, Anchor::Global)?.cells();
            cells((points + 1).saturating_sub(window), each)
        }
    })
}

/// Searches for several queries, each with its options.
fn search_all<T: Element>(
    engine: &Engine,
    spec: &Spec,
    queries: &[Dataset],
    reference: &mut Reference,
    options: &[SearchOptions],
) -> Result<(Vec<Vec<Match<T>>>, u64)> {
    let cells_of =
        |q: usize, points: usize| cells(spec, queries[q].length(0), options[q].normalized_window, points);
    let all = |points: usize| (0..queries.len()).map(|q| cells_of(q, points)).sum::<Result<u64>>();
    let progress = Arc::new(match reference.points() {
        Some(points) => Progress::new("search", all(points)?),
        // What is read of a file tells how much there is.
        None if reference.is_measured() => Progress::new("search", 0),
        None => Progress::open_ended("search"),
    });
    let channels = reference.channels;
    let mut ready = reference.ready::<T>()?;
    let mut found = vec![Vec::new(); queries.len()];
    for members in together(options).values() {
        let mut x = OwnedBatch::<T>::new(channels)?;
        for q in members {
            x.push(engine::batch::<T>(&queries[*q])?.batch().values())?;
        }
        let options = &options[members[0]];
        let hits = match &mut ready {
            Ready::Whole(y) => engine.session(spec, &progress).search_all(&x, &y.batch(), options)?,
            Ready::Streamed(streamed) => {
                let session = engine.session(spec, &progress).observer(engine.deaf_observer(&progress));
                let expected = |points| all(points).unwrap_or(0);
                streamed.feed(&progress, expected, |blocks| session.search_blocks(&x, blocks, options))?
            }
        };
        for (q, hits) in members.iter().zip(hits) {
            found[*q] = hits;
        }
    }
    Ok((found, all(reference.points().unwrap_or(0))?))
}
