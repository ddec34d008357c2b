//! `dtwave pairwise --threshold`: the pairs within a distance, against the matrix.

mod common;

use std::collections::BTreeMap;

use common::{Bench, npy, waves};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.npy", npy(&[30, 20], &waves(30, 20))).write("b.npy", npy(&[7, 20], &waves(7, 20)));
    bench
}

type Pairs = BTreeMap<(usize, usize), f64>;

/// The lines of a table, and that they are in order: by row, the nearest first.
fn listed(text: &str, is_similarity: bool) -> Pairs {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("row,column,distance"));
    let all: Vec<(usize, f64, usize)> = lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].parse().unwrap(), cells[2].parse().unwrap(), cells[1].parse().unwrap())
        })
        .collect();
    let sign = if is_similarity { -1.0 } else { 1.0 };
    assert!(all.windows(2).all(|w| (w[0].0, sign * w[0].1, w[0].2) < (w[1].0, sign * w[1].1, w[1].2)));
    all.into_iter().map(|(i, distance, j)| ((i, j), distance)).collect()
}

#[test]
fn edges_are_the_entries_of_the_matrix() {
    let bench = bench();
    for args in [
        &["a.npy"][..],
        &["a.npy", "b.npy"],
        &["a.npy", "a.npy"],
        &["a.npy", "--sqrt"],
        &["a.npy", "--sqrt", "--dtype", "f32"],
        &["a.npy", "-m", "soft_dtw", "--gamma", "1"],
        &["a.npy", "-m", "subsequence_dtw"],
        &["a.npy", "b.npy", "-m", "lcss", "--epsilon", "0.5", "--lcss-length"],
        &["a.npy", "-m", "msm", "--band", "10%"],
        &["a.npy", "--normalize", "z"],
    ] {
        let is_similarity = args.contains(&"--lcss-length");
        let is_own = args.get(1) != Some(&"b.npy") && args.get(1) != Some(&"a.npy");
        let all = |more: &[&str]| bench.run(&[&["pairwise"], args, more].concat()).stdout;
        let matrix: Vec<Vec<f64>> = all(&[])
            .lines()
            .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
            .collect();
        let mut values: Vec<f64> = matrix.concat();
        values.sort_by(f64::total_cmp);
        // At a value of the matrix, so that equality counts; and beyond all.
        for threshold in [values[0], values[values.len() / 3], values[values.len() - 1], f64::INFINITY, -1e9]
        {
            let expected: Pairs = (0..matrix.len())
                .flat_map(|i| (0..matrix[i].len()).map(move |j| (i, j)))
                .map(|(i, j)| ((i, j), matrix[i][j]))
                .filter(|((i, j), d)| {
                    !(is_own && i == j) && if is_similarity { *d >= threshold } else { *d <= threshold }
                })
                .collect();
            if is_similarity && threshold == f64::INFINITY {
                assert!(expected.is_empty());
            }
            let found = listed(&all(&["--threshold", &threshold.to_string()]), is_similarity);
            assert_eq!(found, expected, "{args:?} {threshold}");
        }
    }
}

#[test]
fn edges_are_written_in_every_form() {
    let bench = bench();
    let text = bench.ok(&["pairwise", "a.npy", "--threshold", "9"]);
    let pairs = listed(&text, false);
    assert!(pairs.len() > 10 && pairs.keys().all(|(i, j)| pairs[&(*i, *j)] == pairs[&(*j, *i)]));
    let said = bench.ok(&["pairwise", "a.npy", "--threshold", "9", "-o", "e.csv"]);
    assert!(said.starts_with(&format!("{} edges of 30 × 30 pairs in e.csv: ", pairs.len())), "{said}");
    assert_eq!(bench.text("e.csv"), text);
    bench.ok(&["pairwise", "a.npy", "--threshold", "9", "-o", "e.json"]);
    let rows: Vec<(usize, usize, f64)> = serde_json::from_slice(&bench.read("e.json")).unwrap();
    assert_eq!(rows.into_iter().map(|(i, j, d)| ((i, j), d)).collect::<Pairs>(), pairs);
    let answer = bench.json(&["pairwise", "a.npy", "--threshold", "9", "--json"]);
    assert_eq!(
        (answer["count"].as_u64(), answer["threshold"].as_f64()),
        (Some(pairs.len() as u64), Some(9.0))
    );
    assert_eq!(answer["edges"].as_array().unwrap().len(), pairs.len());
    let answer = bench.json(&["pairwise", "a.npy", "--threshold", "inf", "-o", "e.npz", "--json"]);
    assert_eq!((&answer["threshold"], &answer["out"]), (&"Infinity".into(), &"e.npz".into()));
    assert!(bench.read("e.npz").starts_with(b"PK"));
    // None, and of one series.
    assert_eq!(bench.ok(&["pairwise", "a.npy", "--threshold=-inf"]), "row,column,distance\n");
    bench.write("one.csv", "1,2,3\n4\n").write("single.npy", npy(&[1, 3], &[1.0, 2.0, 3.0]));
    assert_eq!(bench.ok(&["pairwise", "single.npy", "--threshold", "inf"]), "row,column,distance\n");
}

#[test]
fn what_has_no_meaning_with_a_threshold_is_refused() {
    let bench = bench();
    for (args, parts) in [
        (&["--threshold", "NaN"][..], &["--threshold must be a number"][..]),
        (&["--threshold", "1", "-o", "e.npy"], &["unknown extension", ".csv, .json or .npz"]),
        (&["--threshold", "1", "--plot", "p.svg"], &["--threshold", "--plot"]),
        (&["--threshold", "1", "--cutoff", "2"], &["--threshold", "--cutoff"]),
        (&["--threshold", "1", "--resume"], &["--threshold", "--resume"]),
        (&["--threshold", "1", "--shard", "1/2"], &["--threshold", "--shard"]),
        (&["--threshold", "1", "-o", "a.npy"], &["unknown extension"]),
        (
            &["--threshold", "inf", "--memory-limit", "32KiB"],
            &["edges found so far", "a threshold with fewer edges", "--memory-limit"],
        ),
    ] {
        bench.refuses(&[&["pairwise", "a.npy"], args].concat(), parts);
    }
}
