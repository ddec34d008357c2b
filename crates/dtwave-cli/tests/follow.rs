//! `dtwave search --follow`: matches of a stream, told while it goes on.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use common::{Bench, waves};

/// A long wave with three copies of a bump.
fn bench() -> (Bench, Vec<String>) {
    let bench = Bench::new();
    let mut reference = waves(1, 4000);
    for (at, top) in [(1000, 9.0), (1500, 9.25), (3990, 9.0)] {
        reference[at..at + 6].copy_from_slice(&[0.0, 5.0, top, 5.0, 0.0, -5.0]);
    }
    let lines: Vec<String> = reference.iter().map(|value| format!("{value}\n")).collect();
    bench.write("bump.csv", "0\n5\n9\n5\n0\n-5\n").write("r.csv", lines.concat());
    (bench, lines)
}

#[test]
fn matches_are_told_while_the_pipe_is_open() {
    let (bench, lines) = bench();
    for (more, most, threads) in
        [(&[][..], "1", "1"), (&["--normalize", "z", "--band", "1"], "0.02", "2"), (&["--sqrt"], "1", "2")]
    {
        let common =
            [&["search", "--query", "bump.csv", "--threshold", most, "--quiet", "--threads", threads], more]
                .concat();
        let args = [&common[..], &["--reference", "-", "--format", "csv", "--follow"]].concat();
        let mut child = bench
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (send, lines_out) = mpsc::channel();
        let out = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            BufReader::new(out).lines().for_each(|line| send.send(line.unwrap()).unwrap());
        });
        let mut stdin = child.stdin.take().unwrap();
        let next = || lines_out.recv_timeout(Duration::from_secs(60)).expect("the match was not told");
        // One number, then some, then the rest.
        stdin.write_all(lines[0].as_bytes()).unwrap();
        assert_eq!(next(), "start,end,distance");
        stdin.write_all(lines[1..1020].concat().as_bytes()).unwrap();
        assert!(next().starts_with("1000,1005,0"), "{args:?}");
        stdin.write_all(lines[1020..].concat().as_bytes()).unwrap();
        assert!(next().starts_with("1500,1505,"), "{args:?}");
        drop(stdin);
        reader.join().unwrap();
        let rest: Vec<String> = lines_out.iter().collect();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]), "{args:?}");

        let whole = bench.json(&[&common[..], &["--reference", "r.csv", "--json"]].concat());
        let mut expected: Vec<(u64, u64)> = whole["hits"].as_array().unwrap()[..]
            .iter()
            .map(|hit| (hit["start"].as_u64().unwrap(), hit["end"].as_u64().unwrap()))
            .collect();
        expected.sort_by_key(|(_, end)| *end);
        let place = |line: &String| {
            let mut fields = line.split(',').map(|field| field.parse().unwrap_or(0));
            (fields.next().unwrap(), fields.next().unwrap())
        };
        assert_eq!(rest.iter().map(place).collect::<Vec<_>>(), expected[2..], "{args:?}");
        assert!(rest[0].starts_with("3990,3995,0"), "{rest:?}");
    }
}

#[test]
fn several_queries_of_a_stream_are_numbered_lines_of_json() {
    let (bench, lines) = bench();
    bench.write("two.csv", "9,5,0\n0,5,9\n");
    let args = [
        "search",
        "--query",
        "two.csv",
        "--threshold",
        "0",
        "--follow",
        "--reference",
        "-",
        "--format",
        "csv",
    ];
    let said = bench.run_with(&[&args[..], &["--json"]].concat(), lines.concat());
    assert_eq!((said.code, &*said.stderr), (0, ""), "{said:?}");
    let hits: Vec<serde_json::Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<_> = hits.iter().map(|hit| (hit["query"].as_u64(), hit["end"].as_u64())).collect();
    for end in [1002, 3992] {
        assert!(
            places.contains(&(Some(0), Some(end + 2))) && places.contains(&(Some(1), Some(end))),
            "{places:?}"
        );
    }
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let (bench, _) = bench();
    bench
        .write("short.csv", "1\n2\n")
        .write("x.npy", common::npy(&[3], &[1.0, 2.0, 3.0]))
        .write("bad.csv", "1\nx\n2\n");
    let args = ["search", "--query", "bump.csv", "--follow"];
    for (more, parts) in [
        (&["--reference", "r.csv"][..], &["--threshold"][..]),
        (&["--reference", "r.csv", "--threshold", "1", "-k", "2"], &["--follow", "--top-k"]),
        (&["--reference", "x.npy", "--threshold", "1"], &["x.npy", "one number in each line"]),
        (&["--reference", "r.csv", "--threshold", "1", "--query", "short.csv"], &["--exclusion"]),
        (&["--reference", "r.csv", "--threshold", "1", "--missing", "linear"], &["--missing"]),
        (&["--reference", "bad.csv", "--threshold", "1"], &["bad.csv", "line 2", "'x'"]),
        (&["--reference", "short.csv", "--threshold", "1", "--normalize", "z"], &["window"]),
    ] {
        let said = bench.run(&[&args[..], more].concat());
        assert!(said.code != 0 && parts.iter().all(|part| said.stderr.contains(part)), "{more:?}: {said:?}");
    }
}
