//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md, checked.
//!
//! Every rule is a function from what it reads to a list of complaints, so that its tests need no workspace.

mod backends;
mod constants;
mod documents;
mod kernels;
pub(crate) mod measures;
mod modules;
mod packages;
pub(crate) mod project;
mod python_code;
mod rust_code;
mod sources;

use anyhow::{Result, bail};
use xshell::cmd;

use self::project::{Complaints, Project};
use crate::command::shell;

/// Checks all rules; an error with every complaint, each on a line.
pub(crate) fn tidy() -> Result<()> {
    let project = Project::read()?;
    let sh = shell()?;
    let metadata = cmd!(sh, "cargo metadata --format-version 1").read()?;
    let packages = packages::Packages::parse(&metadata)?;
    let table = measures::table();
    let with_kernels: Vec<&str> = dtw_kernels::catalog::measures().iter().map(|(key, _)| *key).collect();
    let rules: [(&str, Complaints); 20] = [
        ("crates know no others than they may", packages.strangers()),
        ("vendor crates in their own crate only", packages.vendors_at_home()),
        ("files have one idea", sources::sizes(&project)),
        ("lines of prose are short", sources::widths(&project)),
        ("every crate says what it is", sources::crate_docs(&project)),
        ("nothing unfinished", sources::unfinished(&project)),
        ("files need each other in one direction", modules::circles(&project)),
        ("unsafe has a reason", sources::unsafe_reasons(&project)),
        ("no machine's paths", sources::machine_paths(&project)),
        ("every backend is everywhere", backends::everywhere(&project)),
        ("every measure is whole", measures::whole(&project, &table)),
        ("every measure has kernels", measures::kernels(&table, &with_kernels)),
        ("the Python classes are of the table", crate::python::measures::current(&project)),
        ("vendors are asked for in one place", kernels::vendors(&project)),
        ("the kernels have dtw-core's constants", constants::mirrored(&project)),
        ("links lead somewhere", documents::links(&project)),
        ("the site knows where links lead", documents::links_of_the_site(&project)),
        ("records say where they come from", documents::records(&project)),
        ("a changelog", documents::changelog(&project)),
        ("licences and lints", documents::licences_and_lints(&project)),
    ];
    let mut complaints = 0;
    for (rule, found) in &rules {
        println!(
            "tidy: {rule}: {}",
            if found.is_empty() { "ok".to_owned() } else { format!("{} wrong", found.len()) }
        );
        for complaint in found {
            println!("  {complaint}");
        }
        complaints += found.len();
    }
    if complaints > 0 {
        bail!("tidy: {complaints} complaints");
    }
    Ok(())
}
