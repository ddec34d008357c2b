//! `dtwave profile`: of one series and of two, with files, figures and refusals.

mod common;

use common::{Bench, npy, waves};

/// Noise-like points with a bump at 40 and, twice as high, at 200.
fn bench() -> Bench {
    let bench = Bench::new();
    let noise = |k: u64| ((k * k * k * 7919 + k * k * 31) % 1009) as f64 / 1009.0;
    let mut series: Vec<f64> = (0..300).map(noise).collect();
    for (at, height) in [(40, 5.0), (200, 10.0)] {
        for (k, value) in [0.0, 1.0, 2.0, 3.0, 1.0, -2.0, -1.0, 0.0].into_iter().enumerate() {
            series[at + k] = value * height;
        }
    }
    bench.write("a.npy", npy(&[300], &series)).write("b.npy", npy(&[1, 70], &waves(1, 70)));
    bench
}

#[test]
fn motifs_discords_and_the_table_agree() {
    let bench = bench();
    let args = ["profile", "--input", "a.npy", "--window", "8", "--band", "1", "--json", "-o", "p.csv"];
    let answer = bench.json(&args);
    assert_eq!(answer["motifs"][0]["first"], 40);
    assert_eq!(answer["motifs"][0]["second"], 200);
    assert!(answer["motifs"][0]["distance"].as_f64().unwrap() < 1e-20);
    let (windows, exclusion) = (&answer["distances"], &answer["exclusion"]);
    assert_eq!((windows.as_array().unwrap().len(), exclusion.as_u64()), (293, Some(4)));
    assert_eq!(answer["normalize"], true);
    let table = bench.text("p.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows[0].clone(), rows.len()), (vec!["start", "distance", "nearest"], 294));
    for (w, row) in rows[1..].iter().enumerate() {
        assert_eq!(row[0], w.to_string());
        assert_eq!(row[1].parse::<f64>().unwrap(), answer["distances"][w].as_f64().unwrap());
        assert_eq!(row[2], answer["nearest"][w].to_string());
    }
    let farthest = answer["discords"][0]["distance"].as_f64();
    let most = windows.as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max);
    assert_eq!(farthest, Some(most));
    // The same on one thread, and as text.
    let one =
        bench.json(&["profile", "--input", "a.npy", "-w", "8", "--band", "1", "--threads", "1", "--json"]);
    assert_eq!(one["distances"], answer["distances"]);
    let text = bench.ok(&["profile", "--input", "a.npy", "-w", "8", "--band", "1", "--motifs", "1"]);
    assert!(text.contains("windows    293 of 8 points") && text.contains("z-normalised"), "{text}");
    assert!(text.contains("       1         40        200"), "{text}");
}

#[test]
fn two_series_steps_roots_and_windows_without_a_neighbour() {
    let bench = bench();
    let of = |more: &[&str]| {
        let mut args = vec!["profile", "--input", "a.npy", "--window", "8", "--json"];
        args.extend(more);
        bench.json(&args)
    };
    let joined = of(&["--other", "b.npy", "--normalize", "none", "--step", "4"]);
    assert_eq!((joined["distances"].as_array().unwrap().len(), &joined["normalize"]), (74, &false.into()));
    assert!(joined["nearest"].as_array().unwrap().iter().all(|place| place.as_u64().unwrap() % 4 == 0));
    let (plain, rooted) = (of(&["--measure", "msm"]), of(&["--sqrt"]));
    assert!(plain["distances"] != rooted["distances"]);
    let squared = of(&[]);
    let (root, square) = (&rooted["distances"][7], &squared["distances"][7]);
    assert_eq!(root.as_f64().unwrap(), square.as_f64().unwrap().sqrt());
    let lonely = of(&["--exclusion", "290", "-o", "p.csv"]);
    assert_eq!((&lonely["distances"][146], &lonely["nearest"][146]), (&"Infinity".into(), &().into()));
    assert!(lonely["nearest"][0].as_u64().unwrap() > 290);
    assert!(bench.text("p.csv").lines().any(|line| line == "146,inf,"));
}

#[test]
fn profiles_are_drawn() {
    let bench = bench();
    bench.ok(&["profile", "--input", "a.npy", "-w", "8", "--plot", "p.svg"]);
    let svg = bench.text("p.svg");
    for part in ["Profile of a", "best motif: at 40 (broad) and 200", "discord at", "distance to the nearest"]
    {
        assert!(svg.contains(part), "{part}");
    }
    bench.ok(&["profile", "--input", "a.npy", "--other", "b.npy", "-w", "8", "--plot", "p.png"]);
    assert!(bench.read("p.png").starts_with(b"\x89PNG"));
    // Nothing has a neighbour.
    bench.ok(&["profile", "--input", "a.npy", "-w", "8", "--exclusion", "1000", "--plot", "q.svg"]);
    assert!(!bench.text("q.svg").contains("best motif"));
}

#[test]
fn what_has_no_profile_is_refused() {
    let bench = bench();
    bench.write("wide.npy", npy(&[1, 30, 2], &waves(1, 60))).write("two.npy", npy(&[2, 30], &waves(2, 30)));
    let of = |more: &[&'static str]| {
        let mut args = vec!["profile", "--input", "a.npy"];
        args.extend(more);
        args
    };
    bench.refuses(&of(&["-w", "301"]), &["300 points, fewer than a window of 301"]);
    bench.refuses(&of(&["-w", "0"]), &["windows of 0"]);
    bench.refuses(&of(&["-w", "8", "--step", "0"]), &["steps of 0"]);
    bench.refuses(&of(&["-w", "8", "--measure", "soft_dtw"]), &["the cost of one path", "soft_dtw"]);
    bench.refuses(&of(&["-w", "8", "--other", "wide.npy"]), &["channel"]);
    bench.refuses(&of(&["-w", "8", "--plot", "p.pdf"]), &["unknown extension"]);
    bench
        .refuses(&["profile", "--input", "two.npy", "-w", "8"], &["2 series; choose one with --input-index"]);
}
