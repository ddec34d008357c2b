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
    bench.refuses(&run, &["d.npy.partial", "--resume", "delete d.npy.progress"]);

    // Other parameters, other content: refused, and the unfinished result stays.
    bench.refuses(&[&resume[..], &["--normalize", "z"]].concat(), &["--normalize was none and is now z"]);
    let dtw = ["pairwise", "series.npy", "-o", "d.npy", "--resume"];
    bench.refuses(&dtw, &["--measure was msm and is now dtw"]);
    bench.refuses(&[&resume[..], &["--c", "2"]].concat(), &["cannot resume", "--c was 1.0 and is now 2.0"]);
    bench.refuses(&[&resume[..], &["--band", "5%"]].concat(), &["--band was full and is now 5%"]);
    bench.refuses(&[&resume[..], &["--dtype", "f32"]].concat(), &["--dtype was f64 and is now f32"]);
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
}

/// A finished result is not computed again; one that is of another job is not taken for this one's.
#[test]
fn a_finished_result_is_told() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[60, 30], &waves(60, 30)));
    let run = [&ARGS[..], &["-o", "d.npy"]].concat();
    let resume = [&run[..], &["--resume"]].concat();
    bench.ok(&resume);
    let whole = bench.read("d.npy");
    let modified = || std::fs::metadata(bench.file("d.npy")).unwrap().modified().unwrap();
    let before = modified();
    let said = bench.run(&[&resume[..], &["--plot", "d.svg"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    // Pairs of 8 × 8 on and above the diagonal.
    let warning = "warning: d.npy is finished already: its shape and type are right, and so is a sample of 36 computed again";
    assert!(said.stderr.starts_with(warning), "{said:?}");
    assert_eq!((modified(), bench.read("d.npy") == whole), (before, true));
    bench.text("d.svg");

    let another = &["d.npy is a result of another job", "leave out --resume"];
    bench.refuses(&[&resume[..], &["--c", "2"]].concat(), another);
    bench.refuses(&[&resume[..], &["--dtype", "f32"]].concat(), &["d.npy is no 60 × 60 result of float32"]);
    bench.write("series.npy", npy(&[50, 36], &waves(60, 30)));
    bench.refuses(&resume, &["d.npy is no 50 × 50 result of float64"]);
    bench.write("d.npy", "something else");
    bench.refuses(&resume, &["d.npy is no 50 × 50 result"]);
}

/// Where series are so long that one pair is all there is time for, it is no series with itself.
#[test]
fn a_finished_result_of_long_series_is_compared_too() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[2, 9000], &waves(2, 9000)));
    let run = ["pairwise", "series.npy", "--band", "20", "-o", "d.npy"];
    bench.ok(&run);
    let another = [&run[..], &["-m", "msm", "--resume"]].concat();
    bench.refuses(&another, &["d.npy is a result of another job: the distance of row 0 and column 1"]);
}

/// Values that were damaged between two runs never come out as a result.
#[test]
fn damaged_tiles_are_computed_again() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));
    bench.ok(&[&ARGS[..], &["-o", "whole.npy"]].concat());
    let run = [&ARGS[..], &["-o", "d.npy"]].concat();
    killed(&bench, &run, 2);
    let mut partial = bench.read("d.npy.partial");
    partial[20] ^= 1;
    // Within the first tile, which was there for sure.
    partial[128 + 8 * 701] ^= 1;
    bench.write("d.npy.partial", partial);
    let said = bench.run(&[&run[..], &["--resume"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    for part in ["d.npy.partial had another header", "1 of", "do not match their checksum"] {
        assert!(said.stderr.contains(part), "{said:?} lacks {part:?}");
    }
    assert!(bench.read("d.npy") == bench.read("whole.npy"), "damage came out as a result");
}
