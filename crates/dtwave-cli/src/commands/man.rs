//! `dtwave man`: manual pages, on stdout.

use anyhow::{Context, Result};
use clap::Args;
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
    #[arg(value_name = "COMMAND", value_parser = command_name)]
    of: Option<String>,
}

/// The name of a command that there is.
fn command_name(name: &str) -> Result<String, String> {
    let command = super::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("there is no such command; expected one of {}", names.join(", "))),
    }
}

/// Runs the command.
pub(super) fn run(args: &ManArgs) -> Result<()> {
    let mut root = super::command();
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
