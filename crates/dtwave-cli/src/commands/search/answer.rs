//! What a search answers: hits of one query or of several, as a table, as JSON or as .csv.

use std::io::{self, Write};

use dtwave::{Match, SearchOptions};
use serde_json::{Value, json};

use crate::data::Dataset;
use crate::engine::Element;
use crate::json::Number;
use crate::words::{cell, count};

/// Hits of one query that the table shows; files and JSON have all.
const SHOWN: usize = 1000;

/// A query and its hits, best first; distances as they are printed.
pub(super) struct Found<T> {
    pub(super) query: Dataset,
    pub(super) options: SearchOptions,
    pub(super) hits: Vec<Match<T>>,
}

/// The columns of a .csv, and its rows; several queries are numbered.
pub(super) fn csv<T: Element>(found: &[Found<T>]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let several = found.len() > 1;
    let mut columns = vec!["rank", "start", "end", "distance"];
    if several {
        columns.insert(0, "query");
    }
    let mut rows = Vec::new();
    for (number, of_query) in found.iter().enumerate() {
        for (rank, hit) in of_query.hits.iter().enumerate() {
            let mut row = vec![
                (rank + 1).to_string(),
                hit.start.to_string(),
                hit.end.to_string(),
                hit.distance.to_string(),
            ];
            if several {
                row.insert(0, number.to_string());
            }
            rows.push(row);
        }
    }
    (columns, rows)
}

/// Says in a JSON answer what was found: of one query by itself, of several in a list.
pub(super) fn fill<T: Element>(answer: &mut Value, found: &[Found<T>], threshold: Option<f64>) {
    if let [found] = found {
        fill_one(answer, found);
    } else {
        let queries = found.iter().map(|found| {
            let mut answer = json!({"query": found.query.name, "points": found.query.length(0)});
            fill_one(&mut answer, found);
            answer
        });
        answer["queries"] = queries.collect();
    }
    if threshold.is_some() {
        answer["threshold"] = json!(threshold);
    }
}

fn fill_one<T: Element>(answer: &mut Value, found: &Found<T>) {
    let hit = |hit: &Match<T>| json!({"start": hit.start, "end": hit.end, "distance": Number(hit.distance)});
    answer["hits"] = found.hits.iter().map(hit).collect();
    answer["exclusion"] = json!(found.options.exclusion);
    answer["window"] = json!(found.options.normalized_window);
}

/// The hits of each query, numbered.
pub(super) fn table<T: Element>(out: &mut dyn Write, found: &[Found<T>]) -> io::Result<()> {
    for (number, of_query) in found.iter().enumerate() {
        if found.len() > 1 {
            let (name, points) = (&of_query.query.name, count(of_query.query.length(0), "point"));
            writeln!(out, "\nquery {number}  {name}: {points}")?;
        }
        if of_query.hits.is_empty() {
            writeln!(out, "no match")?;
            continue;
        }
        writeln!(out, "{:>4}  {:>9}  {:>9}  {:>14}", "rank", "start", "end", "distance")?;
        for (rank, m) in of_query.hits.iter().take(SHOWN).enumerate() {
            let distance = cell(m.distance.to_f64());
            writeln!(out, "{:>4}  {:>9}  {:>9}  {distance:>14}", rank + 1, m.start, m.end)?;
        }
        if of_query.hits.len() > SHOWN {
            writeln!(out, "… and {} more; --out and --json have all", of_query.hits.len() - SHOWN)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ends: std::ops::Range<usize>) -> Found<f64> {
        let hits = ends.map(|end| Match { distance: end as f64, start: end, end }).collect();
        let query = Dataset::univariate("q".into(), vec![vec![0.0; 3]]);
        Found { query, options: SearchOptions::default(), hits }
    }

    #[test]
    fn one_query_answers_by_itself_and_several_in_a_list() {
        let filled = |found: &[Found<f64>], threshold| {
            let mut answer = json!({});
            fill(&mut answer, found, threshold);
            answer
        };
        let one = filled(&[found(0..2)], None);
        assert_eq!(one["hits"].as_array().unwrap().len(), 2);
        assert!(one.get("threshold").is_none() && one.get("queries").is_none());
        let several = filled(&[found(0..2), found(0..0)], Some(2.5));
        assert_eq!(several["queries"][0]["hits"].as_array().unwrap().len(), 2);
        assert_eq!((&several["queries"][1]["points"], &several["threshold"]), (&json!(3), &json!(2.5)));
        assert_eq!(csv(&[found(4..5)]).1, [["1", "4", "4", "4"]]);
        let (columns, rows) = csv(&[found(0..0), found(4..5)]);
        assert_eq!((columns[0], &rows[0][..2]), ("query", &["1".to_owned(), "1".to_owned()][..]));
    }

    #[test]
    fn a_long_table_says_what_it_leaves_out() {
        let mut text = Vec::new();
        table(&mut text, &[found(0..1234), found(0..0)]).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("… and 234 more; --out and --json have all"), "{text}");
        assert!(text.ends_with("query 1  q: 3 points\nno match\n"), "{text}");
    }
}
