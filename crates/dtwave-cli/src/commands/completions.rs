//! `dtwave completions`: a shell's completions of this command, on stdout.

use anyhow::Result;
use clap::Args;
use clap_complete::{Shell, generate};

use crate::report;

/// Print a shell's completions of dtwave
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, of which each shell reads the file when it starts:
  dtwave completions bash > ~/.local/share/bash-completion/completions/dtwave
  dtwave completions zsh > ~/.zfunc/_dtwave          with fpath+=~/.zfunc before compinit in ~/.zshrc
  dtwave completions fish > ~/.config/fish/completions/dtwave.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
pub(super) fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut super::command(), "dtwave", &mut script);
    report::print(|out| out.write_all(&script))
}
