//! The chooser's choices, as recorded in tests/choices.csv. An edit that is not meant to change a choice must not
//! change one.

use dtw_kernels::tuning::SM90;

use super::*;

/// A row of the record: the demand, the hardware, and what was chosen.
fn parse(line: &'static str) -> (Demand, Hardware, String) {
    let fields: Vec<&'static str> = line.split(',').collect();
    let [
        key,
        dtype,
        channels,
        times,
        only,
        band,
        offsets,
        n,
        m,
        row_cells,
        tasks,
        wanted,
        hardware,
        kind,
        shape,
        strips,
    ] = fields[..]
    else {
        panic!("16 fields, not {}: {line}", fields.len());
    };
    let number = |text: &str| text.parse::<usize>().unwrap_or_else(|error| panic!("{line}: {text}: {error}"));
    let is = |text: &str, yes: &str, no: &str| {
        assert!(text == yes || text == no, "{line}: {yes} or {no}, not {text}");
        text == yes
    };
    let demand = Demand {
        key,
        only: (!only.is_empty()).then(|| only.parse().expect("a kind of sweep")),
        untimed: is(times, "untimed", "timed"),
        dtype,
        channels: number(channels),
        band: is(band, "band", "full"),
        offsets: (!offsets.is_empty()).then(|| number(offsets)),
        n: number(n),
        m: number(m),
        row_cells: number(row_cells),
        tasks: number(tasks) as u64,
        tells: false,
        keeps_edges: is(wanted, "keeps", "result"),
    };
    let hardware = Hardware { multiprocessors: number(hardware) as u32, lanes: 32, tuning: &SM90 };
    (demand, hardware, format!("{kind},{shape},{strips}"))
}

/// A choice as the record has it.
fn name(choice: Choice) -> String {
    let Choice { kernel, spread } = choice;
    let kind = kernel.kind().expect("a sweep");
    let band = if kernel.band && !kind.is_along_diagonal() { "_band" } else { "" };
    let strips = if spread { "spread" } else { "whole" };
    format!("{},{}x{}x{}{band},{strips}", kind.name(), kernel.lanes, kernel.columns, kernel.rows)
}

#[test]
fn choices_are_as_recorded() {
    let rows =
        include_str!("../../../tests/choices.csv").lines().filter(|line| !line.starts_with('#')).skip(1);
    let mut changed = Vec::new();
    for line in rows {
        let (demand, hardware, recorded) = parse(line);
        let now = choose(&demand, &hardware, |_| true).map_or("none".to_owned(), name);
        if now != recorded {
            changed.push(format!("{line}: now {now}"));
        }
    }
    assert!(changed.is_empty(), "{} choices changed:\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn the_record_has_every_kind() {
    let rows = include_str!("../../../tests/choices.csv");
    for kind in SweepKind::ALL {
        assert!(rows.contains(&format!(",{},", kind.name())), "no {}", kind.name());
    }
}
