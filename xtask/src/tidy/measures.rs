//! Rules about measures: each one of dtw-core's table has everything that ARCHITECTURE.md's recipe asks for.

use dtw_core::measure::{Kind, Preparation};

use super::project::{Complaints, Project};

/// Where the table is.
pub(crate) const TABLE: &str = "crates/dtw-core/src/measure/table.rs";
/// What is instantiated of the kernels.
pub(crate) const PERMUTATIONS: &str = "crates/dtw-kernels/permutations.toml";
/// A recurrence in each language.
pub(crate) const RECURRENCES: [&str; 3] = [
    "crates/dtw-core/src/recurrence/KEY.rs",
    "crates/dtw-kernels/native/recurrence/KEY.cuh",
    "crates/dtw-wgpu/shaders/measures/KEY.wgsl",
];
/// Its double loop.
pub(crate) const ORACLE: &str = "crates/dtw-conformance/src/oracle/KEY.rs";
/// Where measures are defined for people.
const SECTIONS: &str = "docs/measures.md";
const CHANGELOG: &str = "CHANGELOG.md";

/// What tidy has to know of a measure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// Its key.
    key: &'static str,
    /// Whether its recurrence is its own.
    has_recurrence: bool,
    /// Whether its loop in the oracles is its own.
    has_oracle: bool,
}

/// The table of dtw-core.
pub(super) fn table() -> Vec<Row> {
    let row = |kind: &Kind| {
        let is_search = !kind.is_symmetric();
        Row {
            key: kind.key,
            has_recurrence: !is_search && kind.recurrence == kind.key,
            has_oracle: kind.preparation == Preparation::None,
        }
    };
    Kind::all().iter().map(row).collect()
}

/// Every measure is documented, announced, has a recurrence in each language and an oracle.
pub(super) fn whole(project: &Project, rows: &[Row]) -> Complaints {
    if rows.is_empty() {
        return vec![format!("{TABLE}: there are no measures")];
    }
    let mut complaints = Complaints::new();
    for row in rows {
        let key = row.key;
        let quoted = format!("`{key}`");
        let is_heading = |line: &str| line.starts_with("## ") && line.contains(&quoted);
        if !project.get(SECTIONS).unwrap_or_default().lines().any(is_heading) {
            complaints.push(format!("{SECTIONS}: no section (## {quoted}) for the measure {key}"));
        }
        if !project.get(CHANGELOG).unwrap_or_default().contains(&quoted) {
            complaints.push(format!("{CHANGELOG}: does not name the measure {quoted}"));
        }
        let wanted = RECURRENCES.into_iter().filter(|_| row.has_recurrence);
        for path in wanted.chain([ORACLE].into_iter().filter(|_| row.has_oracle)) {
            let path = path.replace("KEY", key);
            if project.get(&path).is_none() {
                complaints.push(format!("{path}: missing; the measure {key} of {TABLE} needs it"));
            }
        }
    }
    complaints
}

/// As [`whole`], of a measure that has everything of its own.
#[cfg(test)]
pub(crate) fn of_key(project: &Project, key: &'static str) -> Complaints {
    whole(project, &[Row { key, has_recurrence: true, has_oracle: true }])
}

/// Every measure has kernels, and no kernel is of a measure that is not there; `known` are the keys that
/// permutations.toml names.
pub(super) fn kernels(rows: &[Row], known: &[&str]) -> Complaints {
    let without = rows
        .iter()
        .filter(|row| !known.contains(&row.key))
        .map(|row| format!("{PERMUTATIONS}: no functor computes the measure {}", row.key));
    let strange = known
        .iter()
        .filter(|key| !rows.iter().any(|row| row.key == **key))
        .map(|key| format!("{PERMUTATIONS}: dtw-core has no measure {key}"));
    without.chain(strange).collect()
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    const ROWS: [Row; 2] = [
        Row { key: "dtw", has_recurrence: true, has_oracle: true },
        Row { key: "wddtw", has_recurrence: false, has_oracle: false },
    ];

    #[test]
    fn every_measure_needs_all_that_the_recipe_lists() {
        let complete = [
            (SECTIONS, "## `dtw`\n## `wddtw`: weighted\n"),
            (CHANGELOG, "- Measures: `dtw`, `wddtw`.\n"),
            ("crates/dtw-core/src/recurrence/dtw.rs", ""),
            ("crates/dtw-kernels/native/recurrence/dtw.cuh", ""),
            ("crates/dtw-wgpu/shaders/measures/dtw.wgsl", ""),
            ("crates/dtw-conformance/src/oracle/dtw.rs", ""),
        ];
        assert_eq!(whole(&project(&complete), &ROWS), Complaints::new());
        for missing in 0..complete.len() {
            let rest: Vec<_> =
                complete.iter().enumerate().filter(|(k, _)| *k != missing).map(|(_, file)| *file).collect();
            let found = whole(&project(&rest), &ROWS);
            let path = complete[missing].0;
            assert!(
                !found.is_empty() && found.iter().all(|text| text.starts_with(path)),
                "{path}: {found:?}"
            );
        }
        assert_eq!(whole(&project(&complete), &[]).len(), 1);
    }

    #[test]
    fn the_table_is_read() {
        let rows = table();
        let row = |key: &str| *rows.iter().find(|row| row.key == key).unwrap();
        assert!(row("dtw").has_recurrence && row("dtw").has_oracle);
        assert!(!row("ddtw").has_recurrence && !row("ddtw").has_oracle);
        assert!(!row("soft_dtw_divergence").has_recurrence && row("soft_dtw_divergence").has_oracle);
        assert!(!row("subsequence_dtw").has_recurrence && row("subsequence_dtw").has_oracle);
    }

    #[test]
    fn measures_and_kernels_belong_together() {
        assert!(kernels(&ROWS, &["dtw", "wddtw"]).is_empty());
        assert_eq!(
            kernels(&ROWS, &["dtw"]),
            [format!("{PERMUTATIONS}: no functor computes the measure wddtw")]
        );
        let strange = [format!("{PERMUTATIONS}: dtw-core has no measure x")];
        assert_eq!(kernels(&ROWS, &["dtw", "wddtw", "x"]), strange);
    }
}
