//! `dtwave man`: manual pages, on stdout.

use anyhow::{Context, Result};
use clap::{Args, Command};
use clap_mangen::Man;

use crate::report;

/// Print the manual page of dtwave or of one of its commands
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  dtwave man | man -l -                                   read it
  mkdir -p ~/.local/share/man/man1; dtwave man search > ~/.local/share/man/man1/dtwave-search.1
                                                          keep it for `man dtwave-search`")]
pub(crate) struct ManArgs {
    /// The command [default: dtwave itself]
    #[arg(value_name = "COMMAND")]
    of: Option<String>,
}

/// Lets `man`, the command, take these names of commands and no others.
pub(super) fn offered(man: Command, names: Vec<String>) -> Command {
    let name = move |name: &str| match names.iter().any(|known| known == name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there is no such command; expected one of {}", names.join(", "))),
    };
    man.mut_arg("of", |argument| argument.value_parser(name))
}

/// Prints the page of `root`, the whole command line, or of the command that is named.
pub(super) fn run(args: &ManArgs, mut root: Command) -> Result<()> {
    // Gives every command its full name.
    root.build();
    let command = match &args.of {
        None => root,
        Some(name) => {
            root.find_subcommand(name).cloned().context("the command was there when it was read")?
        }
    };
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    report::print(|out| out.write_all(&page))
}
