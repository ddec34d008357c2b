//! What was read is said, in every format and from standard input.

mod common;

use std::io::Write;

use common::{Bench, npy, raw_npy};

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn every_command_says_what_it_read() {
    let bench = Bench::new();
    bench
        .write("a.tsv", "x\t1\t2\t3\ny\t3\t2\t1\nx\t1\t2\n")
        .write("b.csv", "1,2,3,4\n")
        .write("c.npy", npy(&[2, 3, 2], &[1.0; 12]));
    let a = "note: read a.tsv: 3 series of 2 to 3 points, 1 channel, labels of 2 classes (x, y)";
    let b = "note: read b.csv: 1 series of 4 points, 1 channel, no labels";
    let c = "note: read c.npy: 2 series of 3 points, 2 channels, no labels";
    for (args, read) in [
        (&["pairwise", "a.tsv", "b.csv"][..], &[a, b][..]),
        (&["pairwise", "c.npy"], &[c]),
        (&["classify", "--train", "a.tsv", "--test", "b.csv"], &[a, b]),
        (&["search", "--reference", "b.csv", "--query", "b.csv"], &[b]),
        (&["align", "b.csv", "b.csv"], &[b]),
        (&["classify", "--train", "a.tsv", "--test", "a.tsv"], &[a]),
        (&["pairwise", "c.npy", "c.npy"], &[c]),
        (&["barycenter", "a.tsv", "--start", "b.csv"], &[a, b]),
        (&["cluster", "a.tsv", "-k", "1"], &[a]),
    ] {
        let said = bench.run(args);
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{args:?}: {said:?}");
        assert_eq!(said.read, read, "{args:?}");
    }
}

#[test]
fn doubts_are_warnings() {
    let bench = Bench::new();
    bench
        .write("aeon.npy", npy(&[2, 2, 5], &common::waves(4, 5)))
        .write("table.tsv", "0.5\t1\t2\n0.6\t3\t4\n")
        .write("frame.csv", "0,1,2,3\n0.5,1.5,2.5,3.5\n3,4,5,6\n");
    let said = bench.run(&["pairwise", "aeon.npy"]);
    assert!(said.stderr.starts_with("warning: aeon.npy: shape [2, 2, 5]"), "{said:?}");
    assert!(said.stderr.contains("--layout channels-first"), "{said:?}");
    bench.ok(&["pairwise", "aeon.npy", "--layout", "channels-first"]);
    let said = bench.run(&["pairwise", "table.tsv"]);
    assert!(said.stderr.starts_with("warning: table.tsv: the first column (0.5, …)"), "{said:?}");
    let said = bench.run(&["pairwise", "frame.csv"]);
    assert!(said.stderr.starts_with("note: frame.csv: line 1 (0, 1, … 3) names the columns"), "{said:?}");
    assert_eq!(said.stdout.lines().count(), 2);
    assert_eq!(bench.ok(&["pairwise", "frame.csv", "--csv-header", "no"]).lines().count(), 3);
    bench.write("index.csv", ",0,1,2\n7,0.5,1.5,2\n3,3,4,5\n");
    let said = bench.run(&["pairwise", "index.csv"]);
    assert!(said.read[0].ends_with("2 series of 3 points, 1 channel, no labels"), "{said:?}");
    assert!(said.stderr.contains("the first column (7, 3) has no name"), "{said:?}");
    let said = bench.run(&["pairwise", "index.csv", "--csv-index", "no"]);
    assert!(said.read[0].contains("2 series of 4 points"), "{said:?}");
    bench.refuses(&["pairwise", "aeon.npy", "--csv-index", "yes"], &["--csv-index", "no input is one"]);
    bench.write("comma.csv", "1,5;2,5\n3;4\n");
    bench.refuses(&["pairwise", "comma.csv"], &["comma.csv", "line 1, column 1", "decimal comma"]);
}

#[test]
fn standard_input_and_compressed_files_read_as_files() {
    let bench = Bench::new();
    let text = b"1,2,3\n2,3,4\n";
    bench.write("a.csv", text).write("a.csv.gz", gz(text));
    let expected = bench.ok(&["pairwise", "a.csv"]);
    assert_eq!(bench.ok(&["pairwise", "a.csv.gz"]), expected);
    for content in [text.to_vec(), gz(text)] {
        let said = bench.run_with(&["pairwise", "-", "--format", "csv"], content);
        assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (0, &*expected, ""), "{said:?}");
        assert_eq!(said.read, ["note: read standard input: 2 series of 3 points, 1 channel, no labels"]);
    }
    // Whichever input it is.
    bench.write("w", "1\n0\n");
    let start = |args: &[&str]| {
        let said = bench.run_with(&[&["barycenter", "a.csv", "--start"], args].concat(), "2\n3\n4\n");
        assert_eq!(said.code, 0, "{said:?}");
        said.stdout.lines().last().unwrap().to_owned()
    };
    bench.write("start.csv", "2\n3\n4\n").write("start", "2\n3\n4\n");
    let expected = start(&["start.csv"]);
    assert_eq!(start(&["-", "--format", "csv"]), expected);
    assert_eq!(start(&["start", "--format", "csv"]), expected);
    bench.refuses(
        &["barycenter", "a.csv", "--start", "medoids"],
        &["--start medoids", "medoid, mean or a file"],
    );
    let said = bench.run(&["barycenter", "a.csv", "--start", "start"]);
    assert!(said.code > 0 && said.stderr.contains("unknown extension"), "{said:?}");
    let said = bench.run_with(&["barycenter", "-", "--format", "csv", "--by-class"], &text[..]);
    assert!(said.stderr.contains("standard input has no class labels"), "{said:?}");
    bench.write("q.csv", "2\n3\n");
    let said =
        bench.run_with(&["search", "--reference", "-", "--query", "q.csv", "--format", "csv"], "1\n2\n3\n");
    assert!(
        said.read.contains(&"note: read standard input: 1 series of 3 points, 1 channel, no labels".into())
    );
    bench.refuses(&["pairwise", "-"], &["standard input needs --format"]);
    bench.refuses(&["pairwise", "-", "-", "--format", "csv"], &["one input only"]);
    bench.ok(&["pairwise", "a.csv", "--format", "csv"]);
    bench.refuses(&["pairwise", "-", "--format", "wav"], &["--format", "wav"]);
    bench.refuses(&["pairwise", "a.csv", "--key", "X"], &["--key", "no input is one"]);
    bench.refuses(&["pairwise", "a.csv", "--layout", "channels-first"], &["--layout", "no input is one"]);
    bench.refuses(&["pairwise", "a.csv", "--csv-layout", "rows", "--csv-header", "maybe"], &["maybe"]);
}

/// Files of a few bytes that ask for much more.
#[test]
fn hostile_files_are_refused_at_once() {
    let bench = Bench::new();
    for (name, bracket) in [("curly.npy", "{"), ("square.npy", "[")] {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(64_u16.to_le_bytes());
        bytes.extend(bracket.repeat(64).as_bytes());
        bench.write(name, bytes);
        bench.refuses(&["pairwise", name], &[name, "header"]);
    }
    bench.write("empty.npy", raw_npy("<U0", "(1000000000000,)", &[]));
    bench.refuses(&["pairwise", "empty.npy"], &["empty.npy", "<U0"]);
    bench.write("bomb.csv.gz", gz(&vec![b'0'; 4 << 20]));
    bench.refuses(&["pairwise", "bomb.csv.gz", "--memory-limit", "1MiB"], &["bomb.csv.gz", "--memory-limit"]);
}

/// What is given twice is read once, by whichever name of the folder; other files of the same content are others.
#[test]
fn a_file_that_is_given_twice_is_read_once() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n2,3,4\n").write("b.csv", "1,2,3\n2,3,4\n");
    let twice = bench.run(&["pairwise", "a.csv", "./a.csv"]);
    let other = bench.run(&["pairwise", "a.csv", "b.csv"]);
    assert_eq!((twice.read.len(), other.read.len()), (1, 2), "{twice:?} {other:?}");
    assert_eq!(twice.stdout, other.stdout);
}

/// The column of labels of a .csv: without the option it is a point of each series, which is doubted.
#[test]
fn labels_in_csv() {
    let bench = Bench::new();
    bench
        .write("first.csv", "label,t0,t1,t2\na,0.5,1,2\nb,3.5,1,0\na,0.5,1.5,2\n")
        .write("last.csv", "0.5,1,2,1\n3.5,1.25,0.5,2\n0.5,1.5,2.5,1\n");
    let note = "3 series of 3 points, 1 channel, labels of 2 classes";
    for (file, labels) in [("first.csv", "first"), ("first.csv", "label"), ("last.csv", "last")] {
        let said = bench.run(&["classify", "--train", file, "--test", file, "--labels", labels, "--json"]);
        assert!(said.code == 0 && said.stderr.is_empty() && said.read[0].contains(note), "{said:?}");
        assert!(said.stdout.contains("\"accuracy\":1.0"), "{said:?}");
        for command in [&["pairwise"][..], &["barycenter", "--by-class"], &["cluster", "-k", "2"]] {
            let said = bench.run(&[command, &[file, "--labels", labels]].concat());
            assert!(said.code == 0 && said.stderr.is_empty() && said.read[0].contains(note), "{said:?}");
        }
    }
    let said = bench.run(&["pairwise", "last.csv"]);
    assert!(said.stderr.starts_with("warning: last.csv: the last column holds whole numbers"), "{said:?}");
    assert!(said.stderr.contains("--labels last") && said.stderr.contains("--labels none"), "{said:?}");
    bench.ok(&["pairwise", "last.csv", "--labels", "none"]);
    let classify = ["classify", "--train", "last.csv", "--test", "last.csv", "--labels", "none"];
    bench.refuses(&classify, &["last.csv has no class labels; --labels first, last or NAME"]);
    bench.refuses(&["pairwise", "first.csv", "--labels", "kind"], &["'kind'", "it has label, t0, t1, t2"]);
    // The extension says one thing, the user another.
    bench.write("table.txt", "0.5,1,2\n3.5,1.25,0.5\n");
    let said = bench.run(&["pairwise", "table.txt", "--format", "csv"]);
    assert!(
        said.code == 0 && said.read[0].ends_with("2 series of 3 points, 1 channel, no labels"),
        "{said:?}"
    );
}

/// Refused unless the user says how; what was done is counted. Weights are never made up.
#[test]
fn missing_values_are_filled_as_asked() {
    let bench = Bench::new();
    bench.write("a.csv", "1,,3\n2,NA,4\n").write("whole.csv", "1,2,3\n2,3,4\n").write("w.csv", "1\n\n2\n");
    bench.refuses(&["pairwise", "a.csv"], &["line 1, column 2", "--missing"]);
    let said = bench.run(&["pairwise", "a.csv", "--missing", "linear"]);
    assert_eq!(said.stderr, "note: a.csv: 2 missing values in 2 series were interpolated\n");
    assert_eq!(said.stdout, bench.ok(&["pairwise", "whole.csv"]));
    bench.write("r.csv", "0\n1\n\n3\n4\n").write("q.csv", "1\n2\n3\n");
    let search = ["search", "--reference", "r.csv", "--query", "q.csv", "--json"];
    bench.refuses(&search, &["r.csv: line 3"]);
    let said = bench.run(&[&search[..], &["--missing", "linear"]].concat());
    assert!(
        said.code == 0 && said.stderr.contains("1 missing value in 1 series was interpolated"),
        "{said:?}"
    );
    assert!(said.stdout.contains("\"distance\":0.0"), "{said:?}");
    let weighted = ["barycenter", "whole.csv", "--weights", "w.csv", "--missing", "linear"];
    bench.refuses(&weighted, &["w.csv: line 2"]);
}

/// Labels of which some are numbers, in more series than a sort looks at one by one.
#[test]
fn mixed_labels_are_classes() {
    let bench = Bench::new();
    let lines: String = (0..63).map(|k| format!("{}\t{}\t1\n", ["9", "10", "1a"][k % 3], k % 3)).collect();
    bench.write("a.tsv", lines);
    let answer = bench.json(&["classify", "--train", "a.tsv", "--test", "a.tsv", "--json"]);
    assert_eq!(answer["classes"], serde_json::json!(["9", "10", "1a"]));
    assert_eq!(answer["accuracy"], 1.0);
}

/// What can only be wrong is told before it is counted as wrong.
#[test]
fn classes_that_the_training_set_has_not_are_a_warning() {
    let bench = Bench::new();
    bench
        .write("a.ts", "@classLabel true\n@data\n1,2:1\n3,4:2\n")
        .write("b.ts", "@classLabel true\n@data\n1,2:1.0\n3,4:2\n");
    let said = bench.run(&["classify", "--train", "a.ts", "--test", "b.ts", "--json"]);
    assert!(said.code == 0 && said.stdout.contains("\"accuracy\":0.5"), "{said:?}");
    assert_eq!(
        said.stderr,
        "warning: b.ts: 1 of 2 series cannot be classified rightly: class '1.0' (there it is '1') is not among the labels of a.ts\n"
    );
    bench.ok(&["classify", "--train", "b.ts", "--test", "b.ts"]);
}

#[test]
fn timestamps_are_for_twed() {
    let bench = Bench::new();
    let head = "@timeStamps true\n@classLabel false\n@data\n";
    bench
        .write("half.ts", format!("{head}(0,1),(0.5,2),(1,4)\n(0,2),(0.5,1)\n"))
        .write("plain.csv", "1,2,4\n2,1\n")
        .write("odd.ts", format!("{head}(0,1),(1,2),(5,4)\n"));
    let timed = bench.run(&["pairwise", "half.ts", "-m", "twed", "--nu", "2"]);
    assert_eq!(timed.code, 0, "{timed:?}");
    assert!(timed.stderr.contains("0.5 apart") && timed.stderr.contains("1 per point"), "{timed:?}");
    assert_eq!(timed.stdout, bench.ok(&["pairwise", "plain.csv", "-m", "twed", "--nu", "1"]));
    // A result says what was asked for: per unit of time.
    for args in [&["pairwise", "half.ts"][..], &["cluster", "half.ts", "-k", "1", "--method", "kmedoids"]] {
        let json = bench.run(&[args, &["-m", "twed", "--nu", "2", "--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(json["parameters"]["nu"], 2.0, "{args:?}");
        let table = bench.run(&[args, &["-m", "twed", "--nu", "2"]].concat()).stdout;
        assert!(args[0] == "pairwise" || table.contains("nu 2"), "{table}");
    }
    // Equal values at other times are another job.
    let to = ["-m", "twed", "-o", "d.npy", "--resume"];
    assert_eq!(bench.run(&[&["pairwise", "half.ts"], &to[..]].concat()).code, 0);
    bench.write("half.ts", format!("{head}(0,1),(2,2),(4,4)\n(0,2),(2,1)\n"));
    let said = bench.run(&[&["pairwise", "half.ts"], &to[..]].concat());
    assert!(said.code > 0 && said.stderr.contains("another job"), "{said:?}");
    let said = bench.run(&["pairwise", "odd.ts", "-m", "twed"]);
    assert!(said.code > 0 && said.stderr.contains("position 1: 1") && said.stderr.contains("equally spaced"));
    let said = bench.run(&["pairwise", "half.ts", "plain.csv", "-m", "twed"]);
    assert!(said.code > 0 && said.stderr.contains("plain.csv has other times than half.ts"), "{said:?}");
    let said = bench.run(&["pairwise", "odd.ts"]);
    assert!(said.code == 0 && said.stderr.contains("dtw does not look at the timestamps"), "{said:?}");
}
