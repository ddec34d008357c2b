//! Two runs that want one output: one writes it, the others say so and change nothing.

mod common;

use std::process::{Child, Stdio};
use std::sync::Barrier;
use std::time::Duration;

use common::{Bench, npy, npy_values, waves};

/// A run that has taken its outputs and stands still, as one with a lot of work does.
#[cfg(unix)]
struct Stopped(Option<Child>);

#[cfg(unix)]
impl Stopped {
    fn new(bench: &Bench, args: &[&str], draft: &str) -> Self {
        let child = bench.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stopped = Stopped(Some(child));
        // The draft holds the process's number as soon as all of it is taken.
        while std::fs::read(bench.file(draft)).unwrap_or_default().is_empty() {
            assert!(
                stopped.child().try_wait().unwrap().is_none(),
                "the run ended before it could be stopped"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        stopped.signal("STOP");
        stopped
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    fn signal(&mut self, name: &str) {
        let id = self.child().id().to_string();
        assert!(std::process::Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Lets the run go on to its end.
    fn finish(mut self) {
        self.signal("CONT");
        let output = self.0.take().unwrap().wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[cfg(unix)]
impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(unix)]
#[test]
fn whoever_comes_second_is_refused_by_every_name_and_changes_nothing() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    bench.write("series.npy", npy(&[300, 80], &waves(300, 80))).write("small.csv", "1,2,3\n3,2,1\n");
    std::fs::create_dir(bench.file("folder")).unwrap();
    let busy = &["another dtwave (process ", "is writing it", "choose another name"];
    for out in ["d.npy", "d.csv", "d.json"] {
        let extension = out.rsplit('.').next().unwrap();
        let link = format!("link.{extension}");
        symlink(out, bench.file(&link)).unwrap();
        let first = Stopped::new(
            &bench,
            &["pairwise", "series.npy", "-o", out, "--threads", "1"],
            &format!(".{out}.dtwave"),
        );
        for name in [out, &format!("folder/../{out}"), &link] {
            bench.refuses(&["pairwise", "small.csv", "-o", name], busy);
        }
        if extension == "npy" {
            bench.refuses(&["barycenter", "small.csv", "-o", out], busy);
            bench.refuses(&["cluster", "small.csv", "-k", "1", "--centers", out], busy);
            bench.refuses(&["pairwise", "small.csv", "-o", out, "--resume"], busy);
        }
        first.finish();
        assert!(bench.file(&link).is_symlink());
        std::fs::remove_file(bench.file(&link)).unwrap();
    }
    assert_eq!(npy_values(&bench.read("d.npy")).len(), 300 * 300);
    assert_eq!(bench.names(), ["d.csv", "d.json", "d.npy", "folder", "series.npy", "small.csv"]);
}

#[cfg(unix)]
#[test]
fn plots_and_tables_have_one_writer_too() {
    let bench = Bench::new();
    bench.write("series.npy", npy(&[300, 80], &waves(300, 80))).write("a.csv", "1\n2\n3\n");
    let busy = &["is writing it"];
    let first = ["pairwise", "series.npy", "--plot", "p.svg", "--threads", "1", "-o", "o.csv"];
    let first = Stopped::new(&bench, &first, ".p.svg.dtwave");
    bench.refuses(&["align", "a.csv", "a.csv", "--plot", "p.svg"], busy);
    bench.refuses(&["search", "--reference", "a.csv", "--query", "a.csv", "-o", "o.csv"], busy);
    bench.refuses(&["barycenter", "a.csv", "--plot", "p.svg"], busy);
    first.finish();
    bench.ok(&["align", "a.csv", "a.csv", "--plot", "p.svg"]);
    assert_eq!(bench.names(), ["a.csv", "o.csv", "p.svg", "series.npy"]);
}

#[cfg(unix)]
#[test]
fn outputs_of_one_command_that_are_one_file_are_refused() {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3\n3,2,1\n");
    std::os::unix::fs::symlink("d.svg", bench.file("d.csv")).unwrap();
    bench.refuses(
        &["pairwise", "a.csv", "-o", "d.csv", "--plot", "d.svg"],
        &["d.svg", "another output of this command leads to the same file"],
    );
}

/// Many small runs at once: nobody mixes, nobody claims what is another's, somebody succeeds, nothing is left.
#[test]
fn a_crowd_leaves_one_whole_result() {
    const CROWD: usize = 6;
    const ROUNDS: usize = 30;
    let bench = Bench::new();
    for k in 0..CROWD {
        // Tiles of 32 × 32, each with the number of its run.
        let mut values = vec![0.0; 70];
        values.iter_mut().enumerate().for_each(|(i, v)| *v = (i * (k + 1)) as f64);
        bench.write(&format!("{k}.npy"), npy(&[70, 1], &values));
    }
    let mut refused = 0;
    for out in ["d.npy", "d.csv"] {
        let args = |k: usize, out: &str| {
            let input = format!("{k}.npy");
            ["pairwise", &input, "--threads", "1", "--memory-limit", "128KiB", "-o", out].map(str::to_owned)
        };
        let run = |k: usize, out: &str| {
            let args = args(k, out);
            bench.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let alone: Vec<Vec<u8>> = (0..CROWD)
            .map(|k| {
                assert_eq!(run(k, out).code, 0);
                bench.read(out)
            })
            .collect();
        for round in 0..ROUNDS {
            // Also where a file is replaced.
            if round % 2 == 0 {
                std::fs::remove_file(bench.file(out)).unwrap();
            }
            let barrier = Barrier::new(CROWD);
            let said: Vec<_> = std::thread::scope(|scope| {
                let start = |k| {
                    let (barrier, run) = (&barrier, &run);
                    scope.spawn(move || {
                        barrier.wait();
                        run(k, out)
                    })
                };
                let threads: Vec<_> = (0..CROWD).map(start).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let winners: Vec<usize> = (0..CROWD).filter(|k| said[*k].code == 0).collect();
            let result = bench.read(out);
            assert!(
                winners.iter().any(|k| alone[*k] == result),
                "round {round}: the file is none of the winners' {winners:?}: {said:?}"
            );
            for loser in said.iter().filter(|said| said.code != 0) {
                assert!(loser.stderr.contains("is writing it; wait until that has ended"), "{loser:?}");
                assert_eq!((loser.stdout.as_str(), loser.stderr.lines().count()), ("", 1), "{loser:?}");
                refused += 1;
            }
            assert_eq!(
                bench.names().iter().filter(|name| name.contains(out)).count(),
                1,
                "{:?}",
                bench.names()
            );
        }
    }
    assert!(refused > 0, "no two runs ever met: nothing was tested");
}
