//! `dtwave search` with several queries, thresholds and little memory.

mod common;

use common::{Bench, npy, waves};

/// A reference with two copies of a bump, one of them a little higher, and files of queries.
fn bench() -> Bench {
    let bench = Bench::new();
    let mut reference = waves(1, 4000);
    let bump = [0.0, 5.0, 9.0, 5.0, 0.0, -5.0];
    reference[1000..1006].copy_from_slice(&bump);
    reference[3000..3006].copy_from_slice(&bump);
    reference[3002] = 9.5;
    let step = [7.0, 7.0, 7.0, -7.0];
    reference[2000..2004].copy_from_slice(&step);
    bench
        .write("r.npy", npy(&[4000], &reference))
        .write("bump.npy", npy(&[6], &bump))
        .write("step.csv", "7\n7\n7\n-7\n")
        .write("both.csv", "0,5,9,5,0,-5\n7,7,7,-7\n");
    bench
}

fn ends(hits: &serde_json::Value) -> Vec<u64> {
    hits.as_array().unwrap().iter().map(|hit| hit["end"].as_u64().unwrap()).collect()
}

/// Raw numbers, also of several channels and from a pipe, have the hits of the array that they are.
#[test]
fn raw_references_are_searched_as_arrays_are() {
    let bench = bench();
    let reference: Vec<f64> = waves(1, 6000).iter().map(|v| (v * 300.0).round()).collect();
    let query: Vec<f64> = reference[1200..1260].iter().map(|v| v + 1.0).collect();
    let raw = |values: &[f64]| values.iter().flat_map(|v| (*v as i16).to_le_bytes()).collect::<Vec<u8>>();
    bench
        .write("long.bin", raw(&reference))
        .write("long.i16le", raw(&reference))
        .write("short.bin", raw(&query))
        .write("long.npy", npy(&[1, 2000, 3], &reference))
        .write("flat.npy", npy(&[6000], &reference))
        .write("short.npy", npy(&[1, 20, 3], &query))
        .write("line.npy", npy(&[60], &query));
    let search = |reference: &str, query: &str, more: &[&str]| {
        let args = ["search", "--reference", reference, "--query", query, "--normalize", "none", "--json"];
        bench.json(&[&args[..], more].concat())["hits"].clone()
    };
    let expected = search("flat.npy", "line.npy", &[]);
    assert!(!expected.as_array().unwrap().is_empty());
    for (reference, query, more) in [
        ("long.bin", "short.bin", &["--format", "i16le"][..]),
        ("long.i16le", "short.bin", &["--format", "i16le"]),
        ("long.i16le", "line.npy", &[]),
        ("long.i16le", "line.npy", &["--memory-limit", "96KiB"]),
    ] {
        assert_eq!(search(reference, query, more), expected, "{reference} {query} {more:?}");
    }
    let three = search("long.npy", "short.npy", &[]);
    assert_eq!(search("long.bin", "short.bin", &["--format", "i16le", "--channels", "3"]), three);
    assert_ne!(three, expected);
    let of = |more: &[&'static str]| {
        [&["search", "--reference", "long.bin", "--query", "short.npy"][..], more].concat()
    };
    bench.refuses(&of(&[]), &["long.bin", "unknown extension", "--format"]);
    bench.refuses(&of(&["--format", "i32le", "--channels", "7"]), &["12000 bytes", "points of 28 bytes"]);
    bench.refuses(&["pairwise", "flat.npy", "--channels", "2"], &["--channels belongs to raw"]);
}

#[test]
fn several_queries_are_answered_as_if_each_were_alone() {
    let bench = bench();
    let of = |queries: &[&str]| {
        let mut args = vec!["search", "--reference", "r.npy", "-k", "3", "--json"];
        queries.iter().for_each(|query| args.extend(["--query", query]));
        bench.json(&args)
    };
    let (bump, step) = (of(&["bump.npy"]), of(&["step.csv"]));
    assert_eq!((ends(&bump["hits"])[0], ends(&step["hits"])[0]), (1005, 2003));
    for together in [of(&["bump.npy", "step.csv"]), of(&["both.csv"])] {
        for (k, alone) in [&bump, &step].into_iter().enumerate() {
            assert_eq!(together["queries"][k]["hits"], alone["hits"]);
            assert_eq!(together["queries"][k]["exclusion"], alone["exclusion"]);
        }
        assert_eq!(together["queries"][1]["points"], 4);
    }
    let picked = bench.json(&[
        "search",
        "--reference",
        "r.npy",
        "--query",
        "both.csv",
        "--query-index",
        "1",
        "-k",
        "3",
        "--json",
    ]);
    assert_eq!(picked["hits"], step["hits"]);

    let args = ["search", "--reference", "r.npy", "--query", "both.csv", "-k", "2", "--out", "h.csv"];
    let said = bench.ok(&args);
    assert!(said.contains("queries    2") && said.contains("query 1  both 1: 4 points"), "{said}");
    let written = bench.text("h.csv");
    assert_eq!(written.lines().count(), 5);
    assert!(written.starts_with("query,rank,start,end,distance\n0,1,1000,1005,0"), "{written}");
    assert!(written.contains("\n1,1,2000,2003,0"), "{written}");

    let windows = |query: &str| {
        bench.json(&["search", "--reference", "r.npy", "--query", query, "--normalize", "z", "--json"])
    };
    let (bump, both) = (windows("bump.npy"), windows("both.csv"));
    assert_eq!((&both["queries"][0]["hits"], &both["queries"][1]["window"]), (&bump["hits"], &4.into()));

    let refused = bench.run(&[&args[..5], &["--plot", "h.svg"]].concat());
    assert!(refused.code == 1 && refused.stderr.contains("--plot draws one query, got 2"), "{refused:?}");
}

#[test]
fn a_threshold_gives_all_matches_within_it() {
    let bench = bench();
    let search = |more: &[&str]| {
        let args = ["search", "--reference", "r.npy", "--query", "bump.npy", "--exclusion", "5", "--json"];
        bench.json(&[&args[..], more].concat())
    };
    assert_eq!(ends(&search(&["--threshold", "0"])["hits"]), [1005]);
    assert_eq!(ends(&search(&["--threshold", "0.25"])["hits"]), [1005, 3005]);
    // The threshold of a root is a root.
    assert_eq!(ends(&search(&["--threshold", "0.5", "--sqrt"])["hits"]), [1005, 3005]);
    assert_eq!(ends(&search(&["--threshold", "0.499", "--sqrt"])["hits"]), [1005]);
    assert_eq!(ends(&search(&["--threshold", "0.25", "-k", "1"])["hits"]), [1005]);
    // All that best first gives, down to the threshold.
    let many = search(&["-k", "1000"]);
    let distances: Vec<f64> =
        many["hits"].as_array().unwrap().iter().map(|hit| hit["distance"].as_f64().unwrap()).collect();
    assert!(distances.len() > 100 && distances.is_sorted());
    let bound = distances[distances.len() / 2];
    let count = distances.iter().filter(|distance| **distance <= bound).count();
    let within = search(&["--threshold", &bound.to_string()]);
    assert_eq!(ends(&within["hits"]), ends(&many["hits"])[..count]);
    assert_eq!(within["threshold"], bound);
    let none = bench.ok(&[
        "search",
        "--reference",
        "r.npy",
        "--query",
        "step.csv",
        "--exclusion",
        "0",
        "--query-range",
        "2:4",
        "--threshold",
        "0",
        "-k",
        "3",
    ]);
    assert!(none.contains("2003"), "{none}");
    for bad in ["-1", "nan", "inf"] {
        let threshold = format!("--threshold={bad}");
        let said = bench.run(&["search", "--reference", "r.npy", "--query", "bump.npy", &threshold]);
        assert!(said.code == 1 && said.stderr.contains("--threshold must be"), "{said:?}");
    }
}

#[test]
fn more_matches_than_a_threshold_gives_are_told() {
    let bench = Bench::new();
    bench.write("r.npy", npy(&[100_010], &vec![1.0; 100_010])).write("q.npy", npy(&[1], &[1.0]));
    let args = ["search", "--reference", "r.npy", "--query", "q.npy", "--threshold", "0", "--exclusion", "0"];
    let said = bench.run(&args);
    assert_eq!(said.code, 0);
    assert!(said.stderr.starts_with("warning: q has more than 100000 matches"), "{}", said.stderr);
    assert!(said.stdout.contains("… and 99000 more; --out and --json have all"), "{}", said.stdout);
    let all = bench.ok(&[&args[..], &["-k", "200000", "--out", "h.csv"]].concat());
    assert!(all.contains("… and 99010 more"), "{all}");
    assert_eq!(bench.text("h.csv").lines().count(), 100_011);
}

#[test]
fn memory_for_one_row_of_the_reference_is_not_needed() {
    let bench = Bench::new();
    let reference = waves(1, 300_000);
    bench
        .write("r.npy", npy(&[300_000], &reference))
        .write("q.npy", npy(&[50], &reference[250_000..250_050]));
    let args = ["search", "--reference", "r.npy", "--query", "q.npy", "--json", "--threads", "1"];
    let little = bench.json(&[&args[..], &["--memory-limit", "512KiB"]].concat());
    let much = bench.json(&args);
    assert_eq!(little["hits"], much["hits"]);
    assert_eq!(ends(&much["hits"])[0], 250_049);
    let refused = bench.run(&[&args[..], &["--memory-limit", "4KiB"]].concat());
    assert!(refused.code == 1 && refused.stderr.contains("out of memory"), "{refused:?}");
}

/// A reference in every form that is read block by block, in less memory than its values take, and one that is held.
#[test]
fn references_are_searched_block_by_block() {
    const POINTS: usize = 300_000;
    let bench = Bench::new();
    let values = waves(1, POINTS);
    let lines: String = values.iter().map(|v| format!("{v}\n")).collect();
    let row: String = values.iter().map(|v| format!("{v},")).collect();
    bench
        .write("r.npy", npy(&[POINTS], &values))
        .write("r.csv", &lines)
        .write("row.csv", row.trim_end_matches(','))
        .write("q.npy", npy(&[50], &values[250_000..250_050]))
        .write("many.npy", npy(&[2, 40], &waves(2, 40)))
        .write("other.npy", npy(&[30], &values[7_000..7_030]));
    let search = |reference: &str, more: &[&str]| -> Vec<String> {
        // A file that is read whole needs room for it.
        let limit = if reference == "row.csv" { "128MiB" } else { "1MiB" };
        let args = ["search", "--reference", reference, "-k", "7", "--json", "--memory-limit", limit];
        [&args[..], more].concat().into_iter().map(str::to_owned).collect()
    };
    let plain: &[&str] = &["--query", "q.npy"];
    let windows: &[&str] = &["--query", "q.npy", "--normalize", "z", "--band", "4", "--dtype", "f32"];
    let together: &[&str] = &["--query", "many.npy", "--query", "q.npy", "--exclusion", "9"];
    let apart: &[&str] = &["--query", "q.npy", "--query", "other.npy"];
    for more in [plain, windows, together, apart] {
        // In one row the file is held in memory as a whole.
        let answer = |said: common::Said| -> serde_json::Value {
            assert_eq!((said.code, &*said.stderr), (0, ""), "{more:?}");
            let mut answer: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
            answer.as_object_mut().unwrap().remove("seconds");
            answer
        };
        let run = |reference: &str| {
            let args = search(reference, more);
            bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let whole = answer(run("row.csv"));
        for reference in ["r.npy", "r.csv"] {
            let said = run(reference);
            let read = format!("note: read {reference}: 1 series of 300000 points, 1 channel, no labels");
            assert_eq!(said.read.iter().filter(|line| **line == read).count(), 1, "{:?}", said.read);
            assert_eq!(answer(said), whole, "{reference} {more:?}");
        }
        let mut args = search("-", more);
        args.extend(["--format".to_owned(), "csv".to_owned()]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let piped = bench.run_with(&args, lines.clone());
        if more == apart {
            // What would be read twice must fit the memory.
            assert!(piped.code == 1 && piped.stderr.contains("standard input: more than 1048576 bytes"));
        } else {
            assert_eq!(answer(piped), whole, "piped {more:?}");
        }
    }
}

#[test]
fn a_plot_of_a_reference_in_blocks_is_that_of_the_whole() {
    const POINTS: usize = 40_000;
    let bench = Bench::new();
    let values = waves(1, POINTS);
    let lines: String = values.iter().map(|v| format!("{v}\n")).collect();
    bench
        .write("r.npy", npy(&[POINTS], &values))
        .write("r.tsv", format!("a\t{}", lines.trim_end().replace('\n', "\t")))
        .write("q.npy", npy(&[400], &values[20_000..20_400]));
    let plot = |reference: &str, format: &[&str], out: &str| {
        let args = ["search", "--reference", reference, "--query", "q.npy", "-k", "30", "--plot", out];
        let said = bench.run_with(&[&args[..], format].concat(), lines.clone());
        assert_eq!((said.code, &*said.stderr), (0, ""));
        bench.text(out)
    };
    let whole = plot("r.tsv", &[], "whole.svg");
    assert!(whole.contains("close-ups of the first 24"));
    assert_eq!(plot("r.npy", &[], "blocks.svg"), whole);
    assert_eq!(plot("-", &["--format", "csv"], "piped.svg").replace("stdin", "r"), whole);
}

#[test]
fn what_is_wrong_in_a_block_is_told() {
    let bench = Bench::new();
    let mut values = vec![1.0; 200_000];
    values[150_000] = 1e300;
    let lines = format!("{}x\n", "1\n".repeat(100_000));
    bench
        .write("huge.npy", npy(&[200_000], &values))
        .write("bad.csv", lines)
        .write("short.csv", "1\n2\n3\n")
        .write("two.npy", npy(&[1, 4, 2], &[1.0; 8]))
        .write("q.npy", npy(&[4], &[1.0, 2.0, 3.0, 4.0]));
    let refuses = |reference: &str, more: &[&str], parts: &[&str]| {
        bench.refuses(&[&["search", "--reference", reference, "--query", "q.npy"][..], more].concat(), parts);
    };
    refuses("huge.npy", &["--dtype", "f32"], &["huge.npy", "position 150000", "1e300", "too large for f32"]);
    refuses("bad.csv", &["-o", "o.csv"], &["bad.csv: line 100001, column 1: 'x'"]);
    refuses("short.csv", &["--normalize", "z"], &["3 points", "window of 4"]);
    refuses("two.npy", &[], &["2 channels", "must be equal"]);
    refuses("short.csv", &["--reference-index", "1"], &["--reference-index 1 is out of range"]);
}

/// The limit that an error names is the one that was given, and the one that it asks for suffices.
#[test]
fn memory_errors_name_the_limit_that_was_given() {
    let bench = Bench::new();
    // Every end is better than the one before it, so none is decided before the last.
    let falling: String = (0..60_000).rev().map(|k| format!("{k}\n")).collect();
    bench.write("r.csv", falling).write("q.csv", "0\n");
    let search =
        ["search", "--reference", "r.csv", "--query", "q.csv", "--threshold", "1e12", "--exclusion", "1"];
    let limited =
        |limit: &str| bench.run(&[&search[..], &["--threads", "1", "--memory-limit", limit]].concat());
    let said = limited("1MiB");
    assert!(said.code == 1 && said.stderr.contains("1048576 bytes are allowed"), "{said:?}");
    let mut said = said;
    for _ in 0..12 {
        let Some(needed) = said.stderr.split(" needs ").nth(1) else { break };
        let needed = needed.split(' ').next().unwrap().to_owned();
        said = limited(&format!("{needed}B"));
    }
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
}

/// A recording beside a column of times, and a query of one column: one option serves both.
#[test]
fn an_index_of_the_reference_leaves_the_query_alone() {
    let bench = bench();
    let values = waves(1, 400);
    let timed: String =
        values.iter().enumerate().map(|(k, v)| format!("{:?},{v}\n", k as f64 / 4.0)).collect();
    let plain: String = values.iter().map(|v| format!("{v}\n")).collect();
    bench.write("timed.csv", format!("t,mV\n{timed}")).write("plain.csv", plain);
    let search = |more: &[&str]| bench.run(&[&["search", "--query", "step.csv"], more].concat());
    let warned = search(&["--reference", "timed.csv", "--csv-layout", "columns"]);
    assert!(warned.code != 0 && warned.stderr.contains("--csv-index yes"), "{warned:?}");
    let columns = ["--csv-layout", "columns", "--csv-index", "yes", "--out"];
    let (timed, plain) = (
        search(&[&["--reference", "timed.csv"], &columns[..], &["timed_hits.csv"]].concat()),
        search(&["--reference", "plain.csv", "--out", "plain_hits.csv"]),
    );
    assert_eq!((timed.code, plain.code), (0, 0), "{timed:?}");
    assert!(timed.stderr.contains("step.csv: the only column holds the values"), "{timed:?}");
    assert!(timed.stdout.ends_with("matches in timed_hits.csv\n"), "{timed:?}");
    assert_eq!(bench.text("timed_hits.csv"), bench.text("plain_hits.csv"));
}

/// What fits in blocks does not fit where a pipe would be needed twice; the error says why.
#[test]
fn a_pipe_that_is_needed_twice_says_so() {
    let bench = bench();
    let lines: String = waves(1, 60_000).iter().map(|v| format!("{v}\n")).collect();
    let args =
        ["search", "--reference", "-", "--format", "csv", "--query", "step.csv", "--memory-limit", "512KiB"];
    assert_eq!(bench.run_with(&args, lines.clone()).code, 0);
    let said = bench.run_with(&[&args[..], &["--plot", "p.svg"]].concat(), lines);
    assert!(said.code == 1 && said.stderr.contains("a pipe gives it once"), "{said:?}");
    assert!(said.stderr.contains("--memory-limit"), "{said:?}");
}
