//! The commands: one file each, from files and options to results.

mod align;
mod barycenter;
mod classify;
mod cluster;
mod common;
mod completions;
mod compute;
mod demo;
mod devices;
mod man;
mod merge;
mod pairwise;
mod profile;
mod search;
#[cfg(test)]
mod tests;

use anyhow::Result;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::align::AlignArgs;
use self::barycenter::BarycenterArgs;
use self::classify::ClassifyArgs;
use self::cluster::ClusterArgs;
use self::compute::{Compute, compute};
use self::pairwise::PairwiseArgs;
use self::profile::ProfileArgs;
use self::search::SearchArgs;
use crate::options::{named_as_given, offered};
use crate::report;
use crate::signals::Cancel;

/// Elastic distances between time series: DTW and its relatives, fast on every device.
#[derive(Debug, Parser)]
#[command(name = "dtwave", version, about, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  dtwave demo                                   everything once, on data that comes with the program
  dtwave classify --train A_TRAIN.ts --test A_TEST.ts --band 5%
  dtwave pairwise series.npy -o distances.npy --measure twed
  dtwave search --reference ecg.csv --query ecg.csv --query-range 700:1250 --top-k 5 --plot hits.svg

Files: .ts .tsv .txt .npy .npz .csv in, each also as .gz or .xz, or standard input (- with --format); .npy .csv .json out; \
.svg .png plots. `dtwave help COMMAND` tells more.")]
pub(crate) struct Cli {
    /// Leave out notes and progress; warnings and errors remain
    #[arg(short, long, global = true, display_order = 900)]
    quiet: bool,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Pairwise(PairwiseArgs),
    Merge(merge::MergeArgs),
    Classify(ClassifyArgs),
    Search(SearchArgs),
    Profile(ProfileArgs),
    Align(AlignArgs),
    Barycenter(BarycenterArgs),
    Cluster(ClusterArgs),
    Devices(devices::DevicesArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// The command line: every command with the measures and parameters that it can use.
fn command() -> clap::Command {
    let cli = Cli::command();
    let names: Vec<String> = cli.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    [
        ("pairwise", PairwiseArgs::OFFER),
        ("classify", ClassifyArgs::OFFER),
        ("search", SearchArgs::OFFER),
        ("profile", ProfileArgs::OFFER),
        ("align", AlignArgs::OFFER),
        ("barycenter", BarycenterArgs::OFFER),
        ("cluster", ClusterArgs::OFFER),
    ]
    .into_iter()
    .fold(cli.mut_subcommand("man", |man| man::offered(man, names)), |cli, (name, offer)| {
        cli.mut_subcommand(name, |command| offered(command, offer))
    })
    .mut_subcommand("search", search::worded)
    .mut_subcommand("profile", profile::worded)
}

impl Cli {
    pub(crate) fn read() -> Result<Self, clap::Error> {
        Cli::read_from(std::env::args_os())
    }

    fn read_from<W: Into<std::ffi::OsString> + Clone>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, clap::Error> {
        let mut command = command();
        let words: Vec<std::ffi::OsString> = words.into_iter().map(Into::into).collect();
        let matches = command.try_get_matches_from_mut(&words);
        let matches = matches.map_err(|error| named_as_given(error, &command, &words))?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    pub(crate) fn run(self, cancel: &Cancel) -> Result<()> {
        if self.quiet {
            report::be_quiet();
        }
        match self.command {
            Command::Demo(args) => demo::run(&args, &|words| Cli::read_from(words)?.run(cancel)),
            Command::Devices(args) => devices::run(&args),
            Command::Completions(args) => completions::run(&args, &command()),
            Command::Man(args) => man::run(&args, command()),
            Command::Barycenter(args) => compute(&args, cancel),
            Command::Cluster(args) => compute(&args, cancel),
            Command::Pairwise(args) => compute(&args, cancel),
            Command::Merge(args) => merge::run(&args, cancel),
            Command::Classify(args) => compute(&args, cancel),
            Command::Search(args) => compute(&args, cancel),
            Command::Profile(args) => compute(&args, cancel),
            Command::Align(args) => compute(&args, cancel),
        }
    }
}
