//! The `conformance` command: its last line, its exit status, and what it says about files it cannot use.

use std::process::{Command, Output};

/// Random cases of a property here.
const RANDOM_CASES: usize = 40;

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(arguments)
        .env("PROPTEST_CASES", RANDOM_CASES.to_string())
        .output()
        .expect("the command starts")
}

fn last_line(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

fn with_file(json: &str, dtype: &str) -> Output {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), json).expect("it can be written");
    let path = file.path().to_str().expect("its path is text");
    conformance(&["--backend", "cpu", "--section", "none", "--cases", path, "--dtype", dtype])
}

/// One DTW case: |0 − 3|² at a point.
fn case(measure: &str, distance: f64) -> String {
    format!(r#"{{"measure": "{measure}", "x": [[0]], "y": [[3]], "expected": {{"distance": {distance}}}}}"#)
}

#[test]
fn the_last_line_counts_and_the_status_follows_it() {
    for dtype in ["f32", "f64"] {
        let good = with_file(&format!(r#"{{"cases": [{}]}}"#, case("dtw", 9.0)), dtype);
        assert_eq!(last_line(&good), "1 passed, 0 failed, 0 skipped");
        assert!(good.status.success());

        let wrong =
            with_file(&format!(r#"{{"cases": [{}, {}]}}"#, case("dtw", 9.0), case("dtw", 9.01)), dtype);
        assert_eq!(last_line(&wrong), "1 passed, 1 failed, 0 skipped");
        assert!(!wrong.status.success());
    }
}

#[test]
fn every_wrong_expectation_is_noticed_in_both_precisions() {
    let subsequence = |expected: &str| {
        format!(
            r#"{{"cases": [{{"measure": "subsequence_dtw", "x": [[1], [2]], "y": [[5], [1], [2], [7]],
                            "expected": {{"distance": 0, {expected}}}}}]}}"#
        )
    };
    let soft = |expected: &str| {
        format!(
            r#"{{"cases": [{{"measure": "soft_dtw", "x": [[1]], "y": [[3]], "expected": {{"distance": 4, {expected}}}}}]}}"#
        )
    };
    let path = |expected: &str| {
        format!(
            r#"{{"cases": [{{"measure": "dtw", "x": [[1], [1]], "y": [[1], [1]], "expected": {{"path": {expected}}}}}]}}"#
        )
    };
    for dtype in ["f32", "f64"] {
        for (right, wrong) in [
            (subsequence(r#""start": 1, "end": 2"#), subsequence(r#""start": 0, "end": 2"#)),
            (soft(r#""grad_x": [[-4]]"#), soft(r#""grad_x": [[4]]"#)),
            (soft(r#""grad_y": [[4]]"#), soft(r#""grad_y": [[4.1]]"#)),
            (path("[[0, 0], [1, 1]]"), path("[[0, 0], [1, 0], [1, 1]]")),
        ] {
            assert_eq!(
                last_line(&with_file(&right, dtype)),
                "1 passed, 0 failed, 0 skipped",
                "{dtype} {right}"
            );
            assert_eq!(
                last_line(&with_file(&wrong, dtype)),
                "0 passed, 1 failed, 0 skipped",
                "{dtype} {wrong}"
            );
        }
    }
}

#[test]
fn only_the_checks_that_are_named_run() {
    let only = |regex: &str| conformance(&["--dtype", "f32", "--only", regex]);
    let banded = only("msm.*band");
    let said = String::from_utf8_lossy(&banded.stdout);
    assert!(banded.status.success() && said.contains("cpu f32 msm: "), "{said}");
    // The seed, two sections, and the last line: neither the random cases nor other measures run.
    assert!(said.lines().count() <= 4 && !said.contains("random") && !said.contains("dtw:"), "{said}");
    let random = only("^random_msm");
    assert_eq!(last_line(&random), format!("{RANDOM_CASES} passed, 0 failed, 0 skipped"));
    let none = only("no check is called this");
    assert_eq!(last_line(&none), "0 passed, 0 failed, 0 skipped");
    assert!(!none.status.success());
}

#[test]
fn an_unknown_measure_is_a_failure_that_names_it() {
    let output =
        with_file(&format!(r#"{{"cases": [{}, {}]}}"#, case("dtw", 9.0), case("hausdorff", 3.0)), "f64");
    assert_eq!(last_line(&output), "1 passed, 1 failed, 0 skipped");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("unknown measure `hausdorff`"));
}

#[test]
fn unusable_arguments_are_errors() {
    for (arguments, named) in [
        (&["--section", "none", "--cases", "/nowhere/cases.json"][..], "/nowhere/cases.json"),
        (&["--backend", "abacus"], "abacus"),
        (&["--section", "hausdorff"], "hausdorff"),
        (&["--dtype", "f16"], "f16"),
        (&["--seed", "Tuesday"], "Tuesday"),
        (&["--only", "msm("], "msm("),
    ] {
        let output = conformance(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(named), "{arguments:?}");
    }
    let output = with_file("{\"cases\": [", "f64");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot run"));
    let nothing = conformance(&["--section", "none"]);
    assert_eq!(last_line(&nothing), "0 passed, 0 failed, 0 skipped");
    assert!(!nothing.status.success(), "a run that tested nothing has shown nothing");
}

#[test]
fn a_seed_is_printed_and_draws_the_same_cases_again() {
    let run = |seed: &str| {
        let output = conformance(&["--section", "random_dtw", "--dtype", "f32", "--seed", seed]);
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (first, other) = (run("7"), run("8"));
    assert!(first.starts_with("seed 7 (again with --seed 7)\n"), "{first}");
    assert_eq!(first, run("7"));
    let section = |text: &str| text.lines().nth(1).unwrap_or_default().to_owned();
    // The mean error tells other cases apart.
    assert_ne!(section(&first), section(&other));
    let fresh = run("fresh");
    let seed = fresh.strip_prefix("seed ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    assert!(seed.parse::<u64>().is_ok(), "{fresh}");
    assert_eq!(fresh, run(seed));
}

#[test]
fn the_digest_of_a_run_tells_its_results() {
    let digest = |x: &str| {
        let json = format!(
            r#"{{"cases": [{{"measure": "dtw", "x": {x}, "y": [[3]], "expected": {{"distance": 9.0}}}}]}}"#
        );
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), json).expect("it can be written");
        let path = file.path().to_str().expect("its path is text");
        let run = conformance(&["--section", "none", "--cases", path, "--dtype", "f64", "--digest"]);
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        text.lines().find_map(|line| line.strip_prefix("  digest ").map(str::to_owned)).expect("a digest")
    };
    assert_eq!(digest("[[0]]"), digest("[[0]]"));
    assert_ne!(digest("[[0]]"), digest("[[1]]"));
}

#[test]
fn a_backend_that_is_not_there_is_one_line_and_a_failure() {
    // On a machine with such a GPU no section passes, because none runs.
    for backend in ["abacus", "cuda", "hip"] {
        let output = conformance(&["--backend", backend, "--section", "none"]);
        let (told, said) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success(), "{backend}: {told}");
        if last_line(&output) != "0 passed, 0 failed, 0 skipped" {
            assert!(told.starts_with("error: ") && told.lines().count() == 1, "{backend}: {told}");
            assert_eq!(said, "", "{backend}");
        }
    }
}
