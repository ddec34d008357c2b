//! `dtw-bench compare`: two records, row by row.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::record;
use crate::run;

/// Options of `compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The old record and the new one. With one file, or none, the other side is a run made now (the old side then is
    /// the last record of this machine for the chosen backend).
    #[arg(long, num_args = 0..=2, value_name = "FILE.csv")]
    records: Vec<PathBuf>,
    /// From how many percent on a row counts as slower.
    #[arg(long, default_value_t = 5.0)]
    percent: f64,
    #[command(flatten)]
    run: run::Options,
}

/// What makes two rows the same work; columns that a record does not have are left out.
const KEY: [&str; 5] = ["work", "task", "dtype", "data", "threads"];

/// Median seconds by key; where a record has a row twice, the last one counts.
type Medians = BTreeMap<String, f64>;

pub(crate) fn run(options: &Options) -> Result<()> {
    if let [old, new] = &*options.records {
        println!("old: {}\nnew: {}", old.display(), new.display());
        return print(&read(old)?, &read(new)?, options.percent);
    }
    // The old side first: what is missing is said before anything is measured.
    let old = match options.records.first() {
        Some(file) => file.clone(),
        None => record::last(&run::origin(&options.run)?)?,
    };
    let old_medians = read(&old)?;
    let ran = run::measure(&options.run)?;
    let header: Vec<&str> = ["date", "cpu", "commit"].iter().chain(ran.header).copied().collect();
    let rows = ran.rows.iter().map(|row| {
        let origin = [&ran.origin.date, &ran.origin.cpu, &ran.origin.commit];
        origin.into_iter().chain(row).map(String::as_str).collect::<Vec<_>>()
    });
    println!("\nold: {}\nnew: this run", old.display());
    print(&old_medians, &medians(&header, rows)?, options.percent)?;
    ran.all_right()
}

fn read(path: &Path) -> Result<Medians> {
    let of_file = || format!("the record {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(of_file)?;
    let header = reader.headers().with_context(of_file)?.clone();
    let rows = reader.records().collect::<csv::Result<Vec<_>>>().with_context(of_file)?;
    let header: Vec<&str> = header.iter().collect();
    medians(&header, rows.iter().map(|row| row.iter().collect())).with_context(of_file)
}

fn medians<'a>(header: &[&str], rows: impl Iterator<Item = Vec<&'a str>>) -> Result<Medians> {
    let column = |name: &str| header.iter().position(|title| *title == name);
    let median = column("median_secs").context("has no column median_secs")?;
    column("work").context("has no column work")?;
    let keys: Vec<usize> = KEY.iter().filter_map(|name| column(name)).collect();
    rows.map(|row| {
        let key = keys.iter().map(|k| row[*k]).collect::<Vec<_>>().join(" ");
        let secs = row[median].parse().with_context(|| format!("median_secs of {key}: {:?}", row[median]))?;
        Ok((key, secs))
    })
    .collect()
}

fn print(old_all: &Medians, new_all: &Medians, percent: f64) -> Result<()> {
    let both: Vec<(&String, f64, f64)> =
        new_all.iter().filter_map(|(key, secs)| Some((key, *old_all.get(key)?, *secs))).collect();
    if both.is_empty() {
        bail!("the two records have no row in common (compared by {})", KEY.join(", "));
    }
    println!("{:48} {:>12} {:>12} {:>8}", "row", "old ms", "new ms", "new/old");
    for (key, old, new) in &both {
        let mark = if is_slower(*old, *new, percent) { "  slower" } else { "" };
        println!("{key:48} {:>12.4} {:>12.4} {:>8.3}{mark}", old * 1e3, new * 1e3, new / old);
    }
    let only = |one: &Medians, other: &Medians| one.keys().filter(|key| !other.contains_key(*key)).count();
    let (only_old, only_new) = (only(old_all, new_all), only(new_all, old_all));
    if only_old + only_new > 0 {
        println!("not compared: {only_old} rows are only in the old record, {only_new} only in the new one");
    }
    let slower: Vec<&str> = both
        .iter()
        .filter(|(_, old, new)| is_slower(*old, *new, percent))
        .map(|row| row.0.as_str())
        .collect();
    if slower.is_empty() {
        println!("{} rows compared, none more than {percent}% slower", both.len());
    } else {
        println!(
            "{} rows compared, {} more than {percent}% slower: {}",
            both.len(),
            slower.len(),
            slower.join("; ")
        );
    }
    Ok(())
}

fn is_slower(old: f64, new: f64, percent: f64) -> bool {
    new > old * (1.0 + percent / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_matched_by_what_they_measure() {
        let header = ["date", "work", "dtype", "median_secs"];
        let rows = [vec!["d", "a", "f32", "1e-3"], vec!["d", "a", "f64", "2"], vec!["d", "a", "f32", "2e-3"]];
        let medians = medians(&header, rows.into_iter()).unwrap();
        assert_eq!(medians, Medians::from([("a f32".to_owned(), 2e-3), ("a f64".to_owned(), 2.0)]));
    }

    #[test]
    fn slower_by_more_than_a_margin() {
        assert!(is_slower(1.0, 1.06, 5.0));
        assert!(!is_slower(1.0, 1.04, 5.0) && !is_slower(1.0, 0.5, 5.0));
    }

    #[test]
    fn records_without_a_common_row_are_refused() {
        let one = |key: &str| Medians::from([(key.to_owned(), 1.0)]);
        assert!(print(&one("a"), &one("b"), 5.0).is_err());
        assert!(print(&one("a"), &one("a"), 5.0).is_ok());
    }

    #[test]
    fn what_is_no_record_is_said() {
        let error = medians(&["work"], std::iter::empty()).unwrap_err().to_string();
        assert!(error.contains("median_secs"), "{error}");
    }
}
