//! Plots of any finite values end, and show what they are asked to.

mod common;

use std::time::Duration;

use assert_cmd::Command;
use common::{Bench, npy};

/// Runs the command; one that does not end within minutes is a failure.
fn plots(bench: &Bench, args: &[&str], file: &str) -> String {
    let output = Command::from_std(bench.command(args)).timeout(Duration::from_secs(180)).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?} failed or did not end: {stderr}");
    bench.text(file)
}

#[test]
fn extreme_values_are_plotted() {
    let bench = Bench::new();
    for (name, value) in [("huge", 8e307), ("greatest", f64::MAX), ("least", 5e-324), ("negative", -8e307)] {
        let series = [0.0, value, value / 2.0, 0.0, value];
        let file = format!("{name}.npy");
        bench.write(&file, npy(&[2, 5], &[series, series].concat())).write("q.npy", npy(&[2], &series[..2]));
        let one = ["--reference-index", "0", "--plot", "p.svg"];
        let search = ["search", "--reference", &file, "--query", "q.npy", "-k", "2"];
        for options in [&[][..], &["--normalize", "z"], &["--sample-rate", "1e-304"]] {
            let svg = plots(&bench, &[&search[..], &one, options].concat(), "p.svg");
            assert!(svg.contains("query"), "{name} {options:?}");
        }
        let pick = ["--x-index", "0", "--y-index", "1", "--plot", "p.svg"];
        let svg = plots(&bench, &[&["align", &file, &file][..], &pick].concat(), "p.svg");
        assert!(svg.contains("warping path"), "{name}");
        let averages = ["barycenter", &file, "--plot", "p.svg"];
        let clusters = ["cluster", &file, "-k", "1", "--plot", "p.svg"];
        if value == f64::MAX {
            // Its sums overflow; that is told, and nothing is drawn.
            bench.refuses(&averages, &["scale or normalise"]);
            bench.refuses(&clusters, &["scale or normalise"]);
        } else {
            let svg = plots(&bench, &averages, "p.svg");
            assert!(svg.contains(if name == "least" { "×10⁻³²⁴" } else { "×10³⁰" }), "{name}");
            plots(&bench, &clusters, "p.svg");
        }
        plots(&bench, &["pairwise", &file, "--plot", "p.svg", "-o", "d.csv"], "p.svg");
    }
    let search = ["search", "--reference", "huge.npy", "--query", "q.npy", "--reference-index", "0"];
    let rate = ["--plot", "q.svg", "--sample-rate", "5e-324"];
    bench.refuses(&[&search[..], &rate].concat(), &["--sample-rate 5e-324 is too small", "5 points"]);
}

#[test]
fn the_band_is_drawn_in_the_grid() {
    let bench = Bench::new();
    bench.write("x.npy", npy(&[9], &common::waves(1, 9)));
    let align = ["align", "x.npy", "x.npy", "--plot", "a.svg"];
    assert!(!plots(&bench, &align, "a.svg").contains(">\nband\n<"));
    for options in [&["--band", "2"][..], &["--band", "itakura:2"], &["-m", "ddtw", "--band", "1"]] {
        let svg = plots(&bench, &[&align[..], options].concat(), "a.svg");
        assert!(svg.contains(">\nband\n<") && svg.contains("<polygon"), "{options:?}");
    }
}

/// What was computed is printed before it is drawn.
#[cfg(target_os = "linux")]
#[test]
fn a_plot_that_cannot_be_written_leaves_the_answer() {
    let bench = Bench::new();
    bench
        .write("s.csv", "0,1,2,1\n0,2,2,1\n5,5,6,5\n")
        .write("r.csv", "0\n1\n2\n1\n0\n")
        .write("q.csv", "1\n2\n");
    for name in ["p.svg", "p.png"] {
        std::os::unix::fs::symlink("/dev/full", bench.file(name)).unwrap();
    }
    let pick = ["--x-index", "0", "--y-index", "2"];
    for command in [
        &["pairwise", "s.csv"][..],
        &["cluster", "s.csv", "-k", "2"],
        &["barycenter", "s.csv"],
        &["search", "--reference", "r.csv", "--query", "q.csv"],
        &[&["align", "s.csv", "s.csv"][..], &pick].concat(),
    ] {
        for name in ["p.svg", "p.png"] {
            let said = bench.run(&[command, &["--plot", name]].concat());
            assert_ne!(said.code, 0, "{said:?}");
            assert!(said.stderr.contains(name) && said.stderr.contains("the disk is full"), "{said:?}");
            assert!(!said.stdout.trim().is_empty(), "{command:?} lost its answer: {said:?}");
            assert!(bench.file(name).is_symlink(), "{name} was replaced");
        }
    }
}

/// A picture of very many panels is refused before it takes gigabytes; as .svg it is drawn.
#[test]
fn a_png_of_very_many_panels_is_refused() {
    let bench = Bench::new();
    let series: String = (0..400).map(|class| format!("{class}\t0\t1\t{class}\n")).collect();
    bench.write("s.tsv", series);
    let averages = ["barycenter", "s.tsv", "--by-class", "--plot"];
    let said = bench.run(&[&averages[..], &["p.png"]].concat());
    assert_ne!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("write an .svg instead"), "{said:?}");
    plots(&bench, &[&averages[..], &["p.svg"]].concat(), "p.svg");
}
