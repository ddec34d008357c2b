//! `dtwave completions`: a shell's completions of this command, on stdout.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::report;

/// Print a shell's completions of dtwave
#[derive(Debug, Args)]
#[command(after_help = "\
Examples, of which each shell reads the file when it starts; make the folder first where there is none:
  mkdir -p ~/.local/share/bash-completion/completions ~/.zfunc ~/.config/fish/completions
  dtwave completions bash > ~/.local/share/bash-completion/completions/dtwave
  dtwave completions zsh > ~/.zfunc/_dtwave          with fpath+=~/.zfunc before compinit in ~/.zshrc
  dtwave completions fish > ~/.config/fish/completions/dtwave.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs, command: &Command) -> Result<()> {
    let mut script = Vec::new();
    generate(args.shell, &mut shown(command), "dtwave", &mut script);
    report::print(|out| out.write_all(&script))
}

/// The command line without what its help hides, since scripts of all shells offer that.
fn shown(command: &Command) -> Command {
    // Names live as long as the program; there are a dozen.
    let name: &'static str = Box::leak(command.get_name().to_owned().into_boxed_str());
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set()).cloned();
    let mut shown =
        Command::new(name).args(arguments).subcommands(command.get_subcommands().map(self::shown));
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_completes_what_the_help_shows() {
        let root = super::super::command();
        for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
            let mut script = Vec::new();
            generate(shell, &mut shown(&root), "dtwave", &mut script);
            let script = String::from_utf8(script).unwrap();
            // What at least one command shows, and what each of them does.
            for word in ["barycenter", "gamma", "csv-index", "quiet", "twed", "top-k"] {
                assert!(script.contains(word), "{shell}: {word} is missing");
            }
        }
        for name in ["search", "barycenter", "align"] {
            let own = |root: &Command| {
                let mut script = Vec::new();
                let command = root.find_subcommand(name).unwrap().clone();
                generate(Shell::Bash, &mut command.clone(), name, &mut script);
                String::from_utf8(script).unwrap()
            };
            assert!(own(&root).contains("--nu"), "{name} hides what it does not have");
            let script = own(&shown(&root));
            assert_eq!(script.contains("--nu"), name != "search", "{name}");
            assert!(script.contains("--memory-limit"), "{name}");
        }
    }
}
