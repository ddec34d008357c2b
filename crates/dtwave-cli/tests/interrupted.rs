//! Signals at any moment: the run ends at once or says what is kept, and what is kept is continued to the same bytes.
#![cfg(unix)]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Bench, Said, npy, waves};

fn signal(id: u32, name: &str) {
    // The process may have ended just before.
    let _ = Command::new("kill").args(["-s", name, &id.to_string()]).stderr(Stdio::null()).status().unwrap();
}

/// A run that no signal is ignored in, however the tests were started.
fn hearing(bench: &Bench, args: &[&str]) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = bench.command(args);
    let hear = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the call may be made between fork and exec, and the default needs no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `hear` neither allocates nor takes a lock.
    unsafe { command.pre_exec(hear) };
    command
}

/// A named pipe: whoever opens it waits for the other side.
fn pipe(bench: &Bench, name: &str) {
    assert!(Command::new("mkfifo").arg(bench.file(name)).status().unwrap().success());
}

/// Numbers without a pattern, the same on every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        // Steele, Lea & Flood 2014, 10.1145/2660193.2660195.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[test]
fn a_run_ended_at_random_moments_resumes_to_the_same_bytes() {
    const ENDED: usize = 40;
    let bench = Bench::new();
    bench.write("series.npy", npy(&[400, 40], &waves(400, 40)));
    let args = ["pairwise", "series.npy", "--threads", "1", "--memory-limit", "128KiB", "--measure", "msm"];
    let began = Instant::now();
    bench.ok(&[&args[..], &["-o", "whole.npy"]].concat());
    let longest = began.elapsed();
    let whole = bench.read("whole.npy");
    let resume = [&args[..], &["-o", "d.npy", "--resume"]].concat();
    let mut dice = Dice(7);
    let mut ended = 0;
    while ended < ENDED {
        let mut child = hearing(&bench, &resume)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        std::thread::sleep(longest.mul_f64((dice.roll() % 1000) as f64 / 3000.0));
        let (name, number) = [("INT", 2), ("TERM", 15), ("HUP", 1), ("KILL", 9)][dice.roll() as usize % 4];
        let was_running = child.try_wait().unwrap().is_none();
        signal(child.id(), name);
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let status = output.status;
        if status.success() {
            assert!(bench.read("d.npy") == whole, "after {ended} signals: another result");
            assert_eq!(bench.names(), ["d.npy", "series.npy", "whole.npy"]);
            std::fs::remove_file(bench.file("d.npy")).unwrap();
            continue;
        }
        assert!(was_running, "{status}: {stderr}");
        // A signal before the program listens ends it as it ends every program.
        if status.signal() != Some(number) {
            assert_eq!(status.code(), Some(128 + number), "{name}: {stderr}");
            assert!(stderr.contains("error: interrupted"), "{name}: {stderr:?}");
        }
        ended += 1;
    }
    let said = bench.run(&resume);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(bench.read("d.npy") == whole, "another result");
    assert_eq!(bench.names(), ["d.npy", "series.npy", "whole.npy"]);
}

/// A run that waits for a pipe is reading or writing, not computing.
#[test]
fn the_first_signal_ends_a_run_that_reads_or_writes() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n").write("old.svg", "old");
    pipe(&bench, "pipe.csv");
    let reading = ["pairwise", "pipe.csv", "-o", "d.npy", "--plot", "old.svg"];
    let writing = ["pairwise", "a.csv", "-o", "pipe.csv", "--plot", "old.svg"];
    for args in [&reading[..], &writing] {
        for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
            let child = hearing(&bench, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            while !bench.file(".old.svg.dtwave").exists() {
                std::thread::sleep(Duration::from_millis(1));
            }
            signal(child.id(), name);
            let said = Said::new(child.wait_with_output().unwrap());
            assert_eq!(said.code, status, "{args:?}: {said:?}");
            assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("", "error: interrupted\n"));
            assert_eq!(bench.names(), ["a.csv", "old.svg", "pipe.csv"], "{args:?} {name}");
            assert_eq!(bench.text("old.svg"), "old");
        }
    }
}

#[test]
fn a_signal_that_is_ignored_at_the_start_stays_ignored() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n");
    pipe(&bench, "pipe.csv");
    for name in ["HUP", "INT", "TERM"] {
        let program = bench.command(&[]).get_program().to_owned();
        let mut child = Command::new("sh")
            .current_dir(bench.path())
            .args(["-c", &format!("trap '' {name}; exec \"$0\" pairwise a.csv pipe.csv -o d.csv")])
            .arg(program)
            .spawn()
            .unwrap();
        while !bench.file(".d.csv.dtwave").exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(child.id(), name);
        std::fs::write(bench.file("pipe.csv"), "1,2,3\n").unwrap();
        assert!(child.wait().unwrap().success(), "{name} ended the run");
        assert_eq!(bench.text("d.csv"), "0\n8\n");
        std::fs::remove_file(bench.file("d.csv")).unwrap();
    }
}

#[test]
fn ctrl_c_says_how_to_go_on() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[700, 60], &waves(700, 60)));
    let run = [
        &["pairwise", "series.npy", "--threads", "1", "--memory-limit", "256KiB", "--measure", "msm"][..],
        &["-o", "d.npy"],
    ]
    .concat();
    for (name, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let child = hearing(&bench, &run).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while std::fs::read(bench.file("d.npy.progress"))
            .unwrap_or_default()
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            < 2
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(child.id(), name);
        let Said { code, stderr, .. } = Said::new(child.wait_with_output().unwrap());
        assert_eq!(code, status, "{stderr}");
        assert!(stderr.starts_with("error: interrupted; ") && stderr.contains("--resume"), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert_eq!(bench.names(), ["d.npy.partial", "d.npy.progress", "series.npy"]);
        assert_eq!(bench.run(&[&run[..], &["--resume"]].concat()).code, 0);
        std::fs::remove_file(bench.file("d.npy")).unwrap();
    }
}
