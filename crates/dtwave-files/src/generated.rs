//! Tests with files that are made up: each is read right, refused, or warned of. None is misread in silence.

use proptest::prelude::*;

use crate::tests::{options, read_with};
use crate::{CsvLayout, IndexColumn, LabelColumn, Missing, ReadOptions};

/// Where a made-up file has its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Last,
    Nowhere,
}

/// What line 1 is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    None,
    /// `label` (or another name that says so) and `t0`, `t1`, …
    Words,
    /// `label` and 0, 1, …
    Counted,
}

/// A table of series with whatever stands beside them, and what it means.
#[derive(Debug, Clone)]
struct Table {
    series: Vec<Vec<f64>>,
    labels: Vec<String>,
    place: Place,
    names: Names,
    name: &'static str,
    has_dates: bool,
    /// A value that is missing, and how that is written.
    gap: Option<(usize, usize, &'static str)>,
    separator: char,
}

impl Table {
    fn text(&self) -> String {
        let line = |date: String, label: &str, mut cells: Vec<String>| {
            match self.place {
                Place::First => cells.insert(0, label.to_owned()),
                Place::Last => cells.push(label.to_owned()),
                Place::Nowhere => {}
            }
            if self.has_dates {
                cells.insert(0, date);
            }
            cells.join(&self.separator.to_string()) + "\n"
        };
        let points = self.series[0].len();
        let head = match self.names {
            Names::None => String::new(),
            Names::Words => {
                line("date".to_owned(), self.name, (0..points).map(|t| format!("t{t}")).collect())
            }
            Names::Counted => {
                line("date".to_owned(), self.name, (0..points).map(|t| t.to_string()).collect())
            }
        };
        let rows = self.series.iter().zip(&self.labels).enumerate().map(|(i, (values, label))| {
            let cell = |(t, value): (usize, &f64)| match self.gap {
                Some((row, point, gap)) if (row, point) == (i, t) => gap.to_owned(),
                _ => value.to_string(),
            };
            let date = format!("2024-{:02}-{:02}", i / 28 + 1, i % 28 + 1);
            line(date, label, values.iter().enumerate().map(cell).collect())
        });
        head + &rows.collect::<String>()
    }

    /// Whether the dataset is what the table means, up to the value that is missing.
    fn is(&self, dataset: &crate::Dataset) -> bool {
        let is_near = |(i, (a, b)): (usize, (&Vec<f64>, &Vec<f64>))| {
            a.len() == b.len()
                && a.iter().zip(b).enumerate().all(|(t, (a, b))| {
                    a == b || matches!(self.gap, Some((row, point, _)) if (row, point) == (i, t))
                })
        };
        let labels = (self.place != Place::Nowhere).then_some(&self.labels);
        dataset.series.len() == self.series.len()
            && dataset.series.iter().zip(&self.series).enumerate().all(is_near)
            && dataset.labels.as_ref() == labels
    }
}

prop_compose! {
    /// Values with fractions, so that a column of whole numbers is told from them; at least two classes.
    fn tables()(rows in 3_usize..8, points in 4_usize..9)(
        halves in proptest::collection::vec(-50_i32..50, rows * points),
        classes in proptest::collection::vec(0_usize..3, rows),
        points in Just(points),
        place in prop_oneof![Just(Place::First), Just(Place::Last), Just(Place::Nowhere)],
        names in prop_oneof![Just(Names::None), Just(Names::Words), Just(Names::Counted)],
        name in prop_oneof![Just("label"), Just("class"), Just("target"), Just("y"), Just("Label")],
        words in any::<bool>(),
        has_dates in prop::bool::weighted(0.25),
        gap in prop::option::weighted(0.25, (0..rows, 0..points, prop_oneof![Just(""), Just("?"), Just("NA"), Just("NaN")])),
        separator in prop_oneof![Just(','), Just(';'), Just('\t')],
    ) -> Table {
        let value = |half: &i32| f64::from(*half) + 0.25;
        let label = |class: usize| if words { ["a", "b", "c"][class].to_owned() } else { (class + 1).to_string() };
        Table {
            series: halves.chunks(points).map(|row| row.iter().map(value).collect()).collect(),
            labels: classes.iter().map(|class| label(*class)).collect(),
            place, names, name, has_dates, gap, separator,
        }
    }
}

/// What a user says of such a file: nothing, or all that there is to say.
fn said(table: &Table) -> ReadOptions {
    let labels = match (table.place, table.names) {
        (Place::Nowhere, _) => LabelColumn::None,
        (Place::First, Names::None) => LabelColumn::First,
        (Place::Last, Names::None) => LabelColumn::Last,
        _ => LabelColumn::Named(table.name.to_owned()),
    };
    ReadOptions {
        labels: Some(labels),
        index: if table.has_dates { IndexColumn::Yes } else { IndexColumn::Auto },
        missing: if table.gap.is_some() { Missing::Linear } else { Missing::Error },
        csv_layout: CsvLayout::Rows,
        ..options()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// With nothing said, a table is refused or read right, or a warning says what else it may be. With all said, it is
    /// read right; a counted header that cannot be told from a row may be asked about.
    #[test]
    fn no_table_is_misread_in_silence(table in tables()) {
        let text = table.text();
        for layout in [CsvLayout::Auto, CsvLayout::Rows] {
            if let Ok(read) = read_with("a.csv", &text, &ReadOptions { csv_layout: layout, ..options() }) {
                // A gap at the end of a row ends the series, which is told.
                let is_told = !read.warnings.is_empty() || read.notes.iter().any(|note| note.contains("empty cells"));
                prop_assert!(table.is(&read) || is_told, "{:?}\n{}{:?}", layout, text, read);
            }
        }
        match read_with("a.csv", &text, &said(&table)) {
            Ok(read) => prop_assert!(table.is(&read) || !read.warnings.is_empty(), "{}{:?}", text, read),
            Err(error) => prop_assert!(false, "{}{:#}", text, error),
        }
    }
}
