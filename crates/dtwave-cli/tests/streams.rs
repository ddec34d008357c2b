//! What is said to whom: no panic where nobody listens, no control characters on a terminal.
#![cfg(unix)]

mod common;

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use common::{Bench, Said, npy_values};

/// `1e200` squared leaves the range, which is worth a warning.
fn overflowing(bench: &Bench) {
    bench.write("big.csv", "1e200,2e200,0\n0,0,1\n");
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_stderr_loses_no_result() {
    let bench = Bench::new();
    overflowing(&bench);
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let status = bench.command(&["pairwise", "big.csv", "-o", "d.npy"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(npy_values(&bench.read("d.npy"))[0], 0.0);
    // An error has no other place to go; its status stays.
    let status = bench.command(&["pairwise", "missing.csv"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
    let status = bench.command(&["frobnicate"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
    // A result that cannot be printed is an error.
    let output =
        bench.command(&["pairwise", "big.csv"]).stdout(full()).stderr(Stdio::piped()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.ends_with("error: cannot write the standard output: the disk is full\n"), "{stderr}");
    assert_eq!(output.status.code(), Some(1));
}

/// `>&-`, and a standard output that can only be read: nothing could be printed, so nothing is begun.
#[test]
fn a_standard_output_that_is_closed_is_an_error() {
    let bench = Bench::new();
    bench.write("a.tsv", "a\t1\t2\t3\nb\t3\t2\t1\n").write("b.csv", "1\n2\n3\n");
    let program = bench.command(&[]).get_program().to_owned();
    let run = |args: &[&str], end: &str| {
        let script = format!("exec \"$0\" \"$@\" {end}");
        let mut shell = Command::new("sh");
        shell.current_dir(bench.path()).args(["-c", &script]).arg(&program).args(args);
        Said::new(shell.output().unwrap())
    };
    for args in [
        &["pairwise", "a.tsv"][..],
        &["pairwise", "a.tsv", "-o", "d.npy"],
        &["classify", "--train", "a.tsv", "--test", "a.tsv"],
        &["search", "--reference", "b.csv", "--query", "b.csv", "--json"],
        &["align", "b.csv", "b.csv"],
        &["barycenter", "a.tsv"],
        &["cluster", "a.tsv", "-k", "1"],
        &["demo"],
        &["devices"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["--version"],
    ] {
        for end in [">&-", "1</dev/null"] {
            let said = run(args, end);
            assert_eq!((said.code, said.stdout.as_str()), (1, ""), "{args:?} {end}: {said:?}");
            assert!(
                said.stderr.starts_with("error: the standard output is closed"),
                "{args:?} {end}: {said:?}"
            );
        }
    }
    assert_eq!(bench.names(), ["a.tsv", "b.csv"]);
    // What is there but not looked at is no error, however it was opened; nor are the other streams.
    for end in [">/dev/null", "1<>/dev/null", "<&-", "2>&-"] {
        assert_eq!(run(&["pairwise", "a.tsv"], end).code, 0, "{end}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_run_quietly() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n");
    for args in [&["pairwise", "a.csv"][..], &["--help"], &["devices", "--json"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let said = Said::new(bench.command(args).stdout(writer).stderr(Stdio::piped()).output().unwrap());
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{args:?}");
    }
    assert_eq!(bench.names(), ["a.csv"]);
}

#[test]
fn names_that_are_no_text_are_names() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n");
    for name in [&b"d\xff.npy"[..], b"d\xff.csv", b"d\xff.json"] {
        let name = OsStr::from_bytes(name);
        let output = bench.command(&["pairwise", "a.csv", "--json", "-o"]).arg(name).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(answer["out"].as_str().unwrap().starts_with("d\u{fffd}."), "{answer}");
        assert!(bench.path().join(name).exists());
        let plotted =
            bench.command(&["align", "a.csv", "a.csv", "--x-index", "0", "--y-index", "1", "--plot"]);
        let mut plotted: Command = plotted;
        assert!(plotted.arg(OsStr::from_bytes(b"p\xff.svg")).output().unwrap().status.success());
    }
    let output =
        bench.command(&["demo", "--json", "--out"]).arg(OsStr::from_bytes(b"demo\xff")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Names and labels come from elsewhere; a terminal must not obey them.
#[test]
fn control_characters_are_shown_not_sent() {
    let bench = Bench::new();
    let label = "\u{1b}[2Ja\u{7f}\u{9b}b\u{202e}c";
    let name = "n\u{1b}]0;x\u{7}.tsv";
    let rows = format!("{label}\t1\t2\t3\n{label}\t1\t2\t4\nd\t9\t9\t9\n");
    bench.write(name, rows);
    let is_clean = |text: &str| {
        !text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c))
    };
    for args in [
        &["classify", "--train", name, "--test", name][..],
        &["barycenter", name, "--by-class"],
        &["cluster", name, "-k", "2"],
        &["pairwise", name, "-o", "d\u{1b}.npy"],
        &["align", name, name, "--x-index", "0", "--y-index", "1"],
        &["pairwise", name, "missing\u{1b}[31m.csv"],
        &["barycenter", name, "--class", "no\u{1b}[31m"],
        &["classify", "--train", name, "--test", name, "--json"],
        &["barycenter", name, "--by-class", "--json"],
    ] {
        let said = bench.run(args);
        assert!(is_clean(&said.stdout) && is_clean(&said.stderr), "{args:?}: {said:?}");
        let shown = [said.stdout.as_str(), &said.stderr].concat();
        assert!(shown.contains("\\u{1b}") || shown.contains("\\u001b"), "{args:?}: {said:?}");
    }
    let said = bench.run(&["barycenter", name, "--no\u{1b}[31m"]);
    assert!(said.code == 2 && is_clean(&said.stderr), "{said:?}");
    for plot in ["p.svg", "p.png"] {
        assert_eq!(bench.run(&["barycenter", name, "--by-class", "--plot", plot]).code, 0, "{plot}");
    }
    assert!(is_clean(&bench.text("p.svg")) && bench.text("p.svg").contains("\\u{1b}[2Ja"));
    // In JSON they are what they are.
    let answer = bench.json(&["classify", "--train", name, "--test", name, "--json"]);
    assert_eq!(answer["predictions"][0], label);
}

/// More threads than the system gives are an error, not a panic.
#[test]
fn threads_beyond_what_there_is() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n");
    bench.refuses(&["pairwise", "a.csv", "--threads", "100000"], &["--threads", "from 1 to", "100000"]);
    let program = bench.command(&[]).get_program().to_owned();
    let output = Command::new("sh")
        .current_dir(bench.path())
        .args(["-c", "ulimit -v 400000; exec \"$0\" pairwise a.csv --threads 256"])
        // Else each thread reserves a heap of its own for a moment, and one that is starting may find no memory at all.
        .env("MALLOC_ARENA_MAX", "1")
        // What is left when no more stacks fit is enough for the threads that are starting.
        .env("RUST_MIN_STACK", "33554432")
        .arg(&program)
        .output()
        .unwrap();
    let Said { code, stderr, .. } = Said::new(output);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.starts_with("error: cpu: the operating system does not start as many threads"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}
