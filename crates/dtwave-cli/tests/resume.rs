//! A killed run leaves no result that looks whole, and resumes to the very file of an uninterrupted one.

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::{Bench, npy, npy_values, waves};

const ARGS: [&str; 8] =
    ["pairwise", "series.npy", "--threads", "1", "--memory-limit", "256KiB", "--measure", "msm"];

/// Starts a run, waits for its first tiles, and kills it as `kill -9` does.
fn killed(bench: &Bench, args: &[&str], tiles: usize) {
    let mut child =
        bench.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    loop {
        let journal = std::fs::read(bench.file("d.npy.progress")).unwrap_or_default();
        if journal.iter().filter(|b| **b == b'\n').count() > tiles {
            break;
        }
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be killed");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));
    bench.ok(&[&ARGS[..], &["-o", "whole.npy"]].concat());
    let whole = bench.read("whole.npy");
    let values = npy_values(&whole);
    assert_eq!(values.len(), 700 * 700);
    assert!((0..700).all(|i| values[i * 700 + i] == 0.0 && values[i] == values[i * 700]));

    let run = [&ARGS[..], &["-o", "d.npy"]].concat();
    let resume = [&run[..], &["--resume"]].concat();
    killed(&bench, &run, 1);
    assert!(!bench.file("d.npy").exists(), "an unfinished result must not have the final name");
    bench.refuses(&run, &["d.npy.partial", "--resume", "delete it"]);

    // Other parameters, other content: refused, and the unfinished result stays.
    bench.refuses(&[&resume[..], &["--c", "2"]].concat(), &["cannot resume", "--c was 1.0 and is now 2.0"]);
    bench.refuses(&[&resume[..], &["--band", "5%"]].concat(), &["--band was full and is now 5%"]);
    bench.refuses(&[&resume[..], &["--dtype", "f32"]].concat(), &["dtype was f64 and is now f32"]);
    bench.write("series.npy", npy(&[700, 60], &waves(700, 61)[..700 * 60]));
    bench.refuses(&resume, &["the content of A was"]);
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));

    // Killed again while resuming, then finished.
    killed(&bench, &resume, 3);
    let said = bench.run(&resume);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("tiles are done already"), "{said:?}");
    assert!(bench.read("d.npy") == whole, "the resumed file differs from the uninterrupted one");
    assert_eq!(bench.names(), ["d.npy", "series.npy", "whole.npy"]);
    // Nothing to resume: the result is computed anew.
    bench.ok(&resume);
    assert!(bench.read("d.npy") == whole);
}

#[test]
fn another_precision_is_another_matrix() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));
    let run = [&ARGS[..], &["--dtype", "f32", "-o", "d.npy"]].concat();
    let half = [&run[..], &["--precision", "half"]].concat();
    for (started, other, difference) in [
        (&run, &half, "--precision was full and is now half"),
        (&half, &run, "--precision was half and is now full"),
    ] {
        killed(&bench, started, 1);
        bench.refuses(&[&other[..], &["--resume"]].concat(), &["cannot resume", difference]);
        let said = bench.run(&[&started[..], &["--resume"]].concat());
        assert_eq!(said.code, 0, "{said:?}");
        std::fs::remove_file(bench.file("d.npy")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));
    let run = [&ARGS[..], &["-o", "d.npy"]].concat();
    let child = bench.command(&run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while std::fs::read(bench.file("d.npy.progress")).unwrap_or_default().is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.starts_with("error: interrupted; ") && stderr.contains("--resume"), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(!bench.file("d.npy").exists());
    assert_eq!(bench.run(&[&run[..], &["--resume"]].concat()).code, 0);
}
