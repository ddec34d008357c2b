//! Shards of a matrix, killed at any moment and run again, are merged to the very file of one run.

mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Bench, npy, waves};

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.npy", npy(&[90, 40], &waves(90, 40))).write("b.npy", npy(&[50, 30], &waves(50, 30)));
    let ragged = (0..60).map(|i| {
        let cells: Vec<String> =
            waves(1, 3 + i % 40).iter().map(|v| format!("\t{}", v * f64::from(i as u32 % 7))).collect();
        format!("c{}\n", cells.concat())
    });
    bench.write("ragged.tsv", ragged.collect::<String>());
    bench
}

/// Computes all shards with `args`, in another order than theirs.
fn shards(bench: &Bench, args: &[&str], out: &str, count: usize) {
    for number in (1..=count).rev() {
        bench.ok(&[args, &["-o", out, "--shard", &format!("{number}/{count}")]].concat());
    }
}

#[test]
fn merged_shards_have_the_bytes_of_one_run() {
    let bench = bench();
    for args in [
        &["pairwise", "a.npy"][..],
        &["pairwise", "a.npy", "--dtype", "f32", "--sqrt"],
        &["pairwise", "a.npy", "b.npy", "-m", "msm", "--dtype", "f32"],
        &["pairwise", "b.npy", "a.npy", "--band", "10%", "--normalize", "z"],
        &["pairwise", "a.npy", "-m", "subsequence_dtw"],
        &["pairwise", "a.npy", "--cutoff", "1.5", "--sqrt", "--band", "4"],
        &["pairwise", "ragged.tsv", "-m", "soft_dtw_divergence"],
        &["pairwise", "ragged.tsv", "a.npy", "-m", "log_gak", "--sigma", "2"],
    ] {
        bench.ok(&[args, &["-o", "whole.npy"]].concat());
        // The last has more shards than tiles.
        for count in [1, 3, 40] {
            shards(&bench, args, "d.npy", count);
            let files = bench.names().iter().filter(|name| name.starts_with("d.npy.shard-")).count();
            assert_eq!(files, count);
            let said = bench.ok(&["merge", "d.npy", "--remove"]);
            assert!(said.contains("distances in d.npy, of") && said.contains("are deleted"), "{said}");
            assert!(bench.read("d.npy") == bench.read("whole.npy"), "{args:?} in {count} shards");
            assert_eq!(bench.names(), ["a.npy", "b.npy", "d.npy", "ragged.tsv", "whole.npy"]);
        }
    }
}

/// What may differ between machines does not change the cut: threads, and the memory limit.
#[test]
fn shards_of_unlike_machines_fit_together() {
    let bench = bench();
    let run = |more: &[&str]| bench.ok(&[&["pairwise", "a.npy", "-o", "d.npy"][..], more].concat());
    bench.ok(&["pairwise", "a.npy", "-o", "whole.npy"]);
    run(&["--shard", "1/3", "--threads", "1"]);
    run(&["--shard", "2/3", "--memory-limit", "1MiB"]);
    run(&["--shard", "3/3", "--threads", "2", "--memory-limit", "8GiB"]);
    let said = bench.ok(&["merge", "d.npy"]);
    assert!(said.contains("90 × 90 distances in d.npy, of 3 shards, which may be deleted now"), "{said}");
    assert!(bench.read("d.npy") == bench.read("whole.npy"));
    assert!(bench.file("d.npy.shard-2-of-3").exists());
    // Once more, and drawn by a run that has nothing to compute.
    bench.ok(&["merge", "d.npy"]);
    let drawn = bench.run(&["pairwise", "a.npy", "-o", "d.npy", "--resume", "--plot", "d.svg"]);
    assert!(drawn.code == 0 && bench.file("d.svg").exists(), "{drawn:?}");
    let small = ["pairwise", "a.npy", "-o", "e.npy", "--shard", "1/3", "--memory-limit", "1KiB"];
    bench.refuses(&small, &["--memory-limit is too small", "all shards of this matrix have tiles of", "KiB"]);
}

#[test]
fn a_shard_tells_what_it_is() {
    let bench = bench();
    let args = ["pairwise", "a.npy", "-o", "d.npy", "--shard", "2/3"];
    let said = bench.ok(&args);
    assert!(said.starts_with("shard 2 of 3, ") && said.contains(" tiles, in d.npy.shard-2-of-3: "), "{said}");
    let again = bench.run(&[&args[..], &["--json"]].concat());
    assert_eq!(again.stderr, "note: d.npy.shard-2-of-3 is finished already\n");
    let answer: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!((&answer["out"], &answer["cells"]), (&"d.npy.shard-2-of-3".into(), &0.into()));
    assert_eq!((&answer["shard"]["number"], &answer["shard"]["count"]), (&2.into(), &3.into()));
    let tiles =
        (answer["shard"]["tiles"].as_u64().unwrap(), answer["shard"]["tiles_of_all"].as_u64().unwrap());
    assert!(said.contains(&format!("{} of {} tiles", tiles.0, tiles.1)), "{said} {tiles:?}");
    // Values that left the range of the number type, also of a shard that was finished before.
    bench.write("big.csv", "0,1e200\n0,0\n");
    for _ in 0..2 {
        let said = bench.run(&["pairwise", "big.csv", "-o", "big.npy", "--shard", "1/1"]);
        assert!(said.stderr.contains("warning: 2 of 4 distances overflowed to infinity in f64"), "{said:?}");
    }
}

#[test]
fn what_has_no_shards_is_refused() {
    let bench = bench();
    let refuses =
        |more: &[&str], parts: &[&str]| bench.refuses(&[&["pairwise", "a.npy"], more].concat(), parts);
    let npy = &["--shard computes a part of a .npy matrix; pass -o FILE.npy"];
    refuses(&["--shard", "1/2"], npy);
    refuses(&["--shard", "1/2", "-o", "d.csv"], npy);
    refuses(&["--shard", "1/2", "-o", "d.json"], npy);
    refuses(&["--shard", "1/2", "-o", "d.dat"], &["unknown extension"]);
    refuses(
        &["--shard", "1/2", "-o", "d.npy", "--plot", "d.svg"],
        &["--plot needs the whole matrix", "dtwave merge"],
    );
    refuses(&["--shard", "1/2", "-o", "a.npy"], &["it is the input a.npy"]);
    for wrong in ["0/2", "3/2", "2", "a/2", "1/0", "-1/2"] {
        let shard = format!("--shard={wrong}");
        refuses(&[&shard, "-o", "d.npy"], &["--shard", "as 3/16", wrong]);
    }
    bench.refuses(&["merge", "d.csv"], &["cannot write d.csv: unknown extension; expected .npy"]);
    bench.refuses(&["merge", "d.npy.shard-1-of-2"], &["is a shard; name the matrix: dtwave merge d.npy"]);
    bench.refuses(&["merge", "d.npy"], &["no shards of d.npy", "--shard 1/N"]);
    bench.refuses(&["merge", "no/d.npy"], &["cannot read the folder no"]);
}

/// Each is one line that names the file and what to do; what it says is enough.
#[test]
fn shards_that_do_not_fit_are_refused() {
    let bench = bench();
    let args = ["pairwise", "a.npy", "-o", "d.npy"];
    let shard = |number: &str, more: &[&str]| bench.ok(&[&args[..], &["--shard", number], more].concat());
    let remove = |name: &str| std::fs::remove_file(bench.file(name)).unwrap();
    bench.ok(&["pairwise", "a.npy", "-o", "whole.npy"]);
    shard("1/3", &[]);
    shard("3/3", &[]);
    let merge = ["merge", "d.npy"];
    bench.refuses(&merge, &["d.npy.shard-2-of-3 is missing", "with --shard 2/3"]);

    bench.write("d.npy.shard-2-of-3.partial", "x").write("d.npy.shard-2-of-3.progress", "x");
    bench.refuses(
        &merge,
        &["d.npy.shard-2-of-3 is unfinished", "with --shard 2/3, an unfinished one goes on"],
    );
    remove("d.npy.shard-2-of-3.partial");
    remove("d.npy.shard-2-of-3.progress");

    for (more, difference) in [
        (&["--measure", "msm"][..], "--measure was dtw in the first and msm in the second"),
        (&["--dtype", "f32"], "dtype was f64 in the first and f32 in the second"),
        (&["--band", "5%"], "--band was full in the first and 5% in the second"),
        (&["--sqrt"], "--sqrt was false in the first and true in the second"),
        (&["--cutoff", "3"], "--cutoff was none in the first and 3 in the second"),
        (&["--normalize", "z"], "--normalize was none in the first and z in the second"),
    ] {
        shard("2/3", more);
        let names = "d.npy.shard-1-of-3 and d.npy.shard-2-of-3 are of different jobs: ";
        bench.refuses(&merge, &[&format!("{names}{difference}"), "delete the wrong one"]);
        let own = [&args[..], &["--shard", "2/3"]].concat();
        bench.refuses(&own, &["cannot resume: ", "delete d.npy.shard-2-of-3 to start again"]);
        remove("d.npy.shard-2-of-3");
    }
    bench.write("a.npy", npy(&[90, 40], &waves(91, 40)[40..]));
    shard("2/3", &[]);
    bench.refuses(&merge, &["-1-of-3 and d.npy.shard-2-of-3 are of different jobs: the content of A was"]);
    remove("d.npy.shard-2-of-3");
    bench.write("a.npy", npy(&[90, 40], &waves(90, 40)));

    shard("2/4", &[]);
    bench.refuses(&merge, &["shards of 3 and of 4", "d.npy.shard-2-of-4", "delete those of one of the two"]);
    remove("d.npy.shard-2-of-4");

    // Damage among the values is found on the way; the matrix is not named, and merging goes on.
    shard("2/3", &[]);
    let mut damaged = bench.read("d.npy.shard-2-of-3");
    let first = damaged.iter().position(|b| *b == b'\n').unwrap();
    damaged[first + 20] ^= 1;
    bench.write("d.npy.shard-2-of-3", damaged);
    let said = bench.run(&merge);
    let advice = "do not match their checksum; delete it and run its command again, with --shard 2/3\n";
    assert!(said.code == 1 && said.stderr.starts_with("error: d.npy.shard-2-of-3: 1 of "), "{said:?}");
    assert!(said.stderr.ends_with(advice) && !bench.file("d.npy").exists(), "{said:?}");
    bench.refuses(&[&args[..], &["--shard", "2/3"]].concat(), &["d.npy.shard-2-of-3: 1 of ", advice]);
    remove("d.npy.shard-2-of-3");
    shard("2/3", &[]);
    bench.ok(&[&merge[..], &["--remove"]].concat());
    assert!(bench.read("d.npy") == bench.read("whole.npy"));
    assert_eq!(bench.names(), ["a.npy", "b.npy", "d.npy", "ragged.tsv", "whole.npy"]);
}

/// Starts a run and kills it, as `kill -9` does, after a part of `longest`. Whether it was still running.
fn killed(bench: &Bench, args: &[&str], longest: Duration, thousandths: u32) -> bool {
    let mut child =
        bench.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the command starts");
    std::thread::sleep(longest * thousandths / 1000);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

#[test]
fn shards_and_merges_killed_at_random_moments_go_on_to_the_same_bytes() {
    const KILLED: usize = 30;
    let bench = Bench::new();
    bench.write("series.npy", npy(&[600, 60], &waves(600, 60)));
    let args = ["pairwise", "series.npy", "--threads", "1", "--measure", "msm"];
    bench.ok(&[&args[..], &["-o", "whole.npy"]].concat());
    let whole = bench.read("whole.npy");
    let shard = |number: usize| [&args[..], &["-o", "d.npy", "--shard", ["1/2", "2/2"][number]]].concat();
    let merge = vec!["merge", "d.npy"];
    // The same moments on every run, as far as a clock can.
    let (mut state, mut all, mut rounds) = (7_u32, 0, 0);
    while all < KILLED {
        for args in [shard(0), shard(1), merge.clone()] {
            let began = Instant::now();
            assert_eq!(bench.run(&args).code, 0, "{args:?}");
            let longest = began.elapsed();
            // Not the first one's: it was computed to see how long it takes.
            let result = if args == merge {
                "d.npy".to_owned()
            } else {
                format!("d.npy.shard-{}-of-2", &args[9][..1])
            };
            std::fs::remove_file(bench.file(&result)).unwrap();
            for _ in 0..4 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                all += usize::from(killed(&bench, &args, longest, (state >> 16) % 1000));
            }
            let said = bench.run(&args);
            assert_eq!(said.code, 0, "{args:?}: {said:?}");
        }
        assert!(bench.read("d.npy") == whole, "after {all} kills: another result");
        assert_eq!(bench.run(&["merge", "d.npy", "--remove"]).code, 0);
        assert_eq!(bench.names(), ["d.npy", "series.npy", "whole.npy"]);
        std::fs::remove_file(bench.file("d.npy")).unwrap();
        rounds += 1;
        assert!(rounds < 100, "no run was ever killed: nothing was tested");
    }
}

/// Two processes that want one shard: one has it. Other shards of the matrix are computed meanwhile.
#[cfg(unix)]
#[test]
fn one_process_writes_a_shard() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[600, 60], &waves(600, 60)));
    let args = ["pairwise", "series.npy", "--threads", "1", "-o", "d.npy", "--shard"];
    let mut first = bench
        .command(&[&args[..], &["1/2"]].concat())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let signal = |name: &str| {
        let id = first.id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    };
    while std::fs::read(bench.file(".d.npy.shard-1-of-2.dtwave")).unwrap_or_default().is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    signal("STOP");
    bench.refuses(
        &[&args[..], &["1/2"]].concat(),
        &["d.npy.shard-1-of-2: another dtwave (process ", "is writing it"],
    );
    bench.ok(&[&args[..], &["2/2"]].concat());
    signal("CONT");
    assert!(first.wait().unwrap().success());
    assert!(bench.ok(&["merge", "d.npy"]).contains("600 × 600"));
}

#[cfg(unix)]
#[test]
fn an_interrupted_shard_says_how_to_go_on() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[900, 80], &waves(900, 80)));
    let args = ["pairwise", "series.npy", "--threads", "1", "-m", "msm", "-o", "d.npy", "--shard", "1/2"];
    let child = bench.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let progress = bench.file("d.npy.shard-1-of-2.progress");
    while std::fs::read_to_string(&progress).unwrap_or_default().lines().count() < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(
        std::process::Command::new("kill")
            .args(["-s", "INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    let said = common::Said::new(child.wait_with_output().unwrap());
    let kept = " tiles are in d.npy.shard-1-of-2.partial, the same command continues\n";
    assert!(said.stderr.starts_with("error: interrupted; ") && said.stderr.ends_with(kept), "{said:?}");
    let again = bench.run(&args);
    assert!(again.code == 0 && again.stderr.contains("tiles are done already"), "{again:?}");
}
