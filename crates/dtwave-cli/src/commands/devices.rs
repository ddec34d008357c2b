//! `dtwave devices`: what distances can be computed on.

use anyhow::Result;
use clap::Args;
use dtwave::Obstacle;
use serde_json::json;

use crate::report;

/// List the devices that distances can be computed on
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  dtwave devices --json")]
pub(crate) struct DevicesArgs {
    /// Print JSON on stdout
    #[arg(long)]
    json: bool,
}

/// Why a device cannot be used, and what to do.
fn told(reason: &Obstacle) -> String {
    reason.told(report::in_command)
}

pub(super) fn run(args: &DevicesArgs) -> Result<()> {
    let devices = dtwave::devices();
    if args.json {
        let list: Vec<_> = devices
            .iter()
            .map(|d| {
                json!({"backend": d.backend, "description": d.description, "available": d.unavailable.is_none(),
                       "reason": d.unavailable.as_ref().map(told)})
            })
            .collect();
        return report::print_json(&json!({ "devices": list }));
    }
    report::print(|out| {
        for device in &devices {
            let (mark, reason) = match &device.unavailable {
                None => ("yes", String::new()),
                Some(reason) => ("no", format!(" ({})", told(reason))),
            };
            writeln!(out, "{:<5} {mark:<4} {}{reason}", device.backend, device.description)?;
        }
        Ok(())
    })
}
