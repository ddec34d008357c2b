//! Each command does its job on small inputs with known answers.

mod common;

use common::{Bench, npy, npy_values};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

#[test]
fn pairwise_gives_the_same_matrix_in_every_form() {
    let bench = Bench::new();
    bench.write("a.csv", "0,1,2\n2,1,0\n");
    let expected = dtw(&[0., 1., 2.], &[2., 1., 0.]);
    let text = bench.ok(&["pairwise", "a.csv"]);
    assert_eq!(text, format!("0,{expected}\n{expected},0\n"));

    let answer = bench.json(&["pairwise", "a.csv", "--json"]);
    close(answer["distances"][0][1].as_f64().unwrap(), expected);
    assert_eq!(answer["shape"], serde_json::json!([2, 2]));
    bench.ok(&["pairwise", "a.csv", "-o", "d.npy"]);
    let values = npy_values(&bench.read("d.npy"));
    assert_eq!(values[1], answer["distances"][0][1].as_f64().unwrap());
    bench.ok(&["pairwise", "a.csv", "-o", "d.csv"]);
    assert_eq!(bench.text("d.csv"), text);
    bench.ok(&["pairwise", "a.csv", "-o", "d.json"]);
    let rows: Vec<Vec<f64>> = serde_json::from_slice(&bench.read("d.json")).unwrap();
    assert_eq!(rows.concat(), values);
    bench.ok(&["pairwise", "a.csv", "a.csv", "-o", "cross.npy"]);
    assert_eq!(npy_values(&bench.read("cross.npy")), values);
    let rooted = bench.json(&["pairwise", "a.csv", "--sqrt", "-o", "root.npy", "--plot", "d.svg", "--json"]);
    assert_eq!(rooted["parameters"]["sqrt"], serde_json::json!(true));
    close(npy_values(&bench.read("root.npy"))[1], values[1].sqrt());
    assert!(bench.text("d.svg").contains("root of the distance"));
}

/// Distances above a cutoff are infinite in every form, and nobody is warned of what was asked for.
#[test]
fn pairwise_has_a_cutoff() {
    let bench = Bench::new();
    bench.write("a.csv", "0,1,2\n2,1,0\n0,1,3\n");
    let near = dtw(&[0., 1., 2.], &[0., 1., 3.]);
    let row = |bench: &Bench, args: &[&str]| {
        let said = bench.run(&[&["pairwise", "a.csv"], args].concat());
        assert_eq!(said.stderr, "", "{args:?}");
        said.stdout.lines().next().unwrap().to_owned()
    };
    assert_eq!(near, 1.0);
    assert_eq!(row(&bench, &["--cutoff", "1"]), "0,inf,1");
    assert_eq!(row(&bench, &["--cutoff", "0.99"]), "0,inf,inf");
    assert_eq!(row(&bench, &["--cutoff", "1", "--sqrt", "--dtype", "f32"]), "0,inf,1");
    let answer = bench.json(&["pairwise", "a.csv", "--cutoff", "1", "-o", "d.npy", "--json"]);
    assert_eq!(answer["cutoff"], serde_json::json!(1.0));
    assert_eq!(npy_values(&bench.read("d.npy"))[..3], [0.0, f64::INFINITY, 1.0]);
    bench.refuses(&["pairwise", "a.csv", "--cutoff", "NaN"], &["--cutoff must be a number"]);
    let similarity = ["pairwise", "a.csv", "-m", "log_gak", "--sigma", "1", "--cutoff", "1"];
    bench.refuses(&similarity, &["--cutoff is for distances", "log_gak"]);
}

/// DTW from its definition, on the full matrix.
fn dtw(x: &[f64], y: &[f64]) -> f64 {
    let mut d = vec![vec![f64::INFINITY; y.len() + 1]; x.len() + 1];
    d[0][0] = 0.0;
    for i in 1..=x.len() {
        for j in 1..=y.len() {
            let best = d[i - 1][j - 1].min(d[i - 1][j]).min(d[i][j - 1]);
            d[i][j] = (x[i - 1] - y[j - 1]).powi(2) + best;
        }
    }
    d[x.len()][y.len()]
}

#[test]
fn ragged_and_multichannel_series_are_compared() {
    let bench = Bench::new();
    bench.write("a.ts", "@classLabel true p q\n@data\n1,2,3:0,0,0:p\n1,2:0,1:q\n");
    let answer = bench.json(&["pairwise", "a.ts", "--json"]);
    // Points (1,0) (2,0) (3,0) against (1,0) (2,1): 0 + 1 + (1 + 1).
    close(answer["distances"][0][1].as_f64().unwrap(), 3.0);
    let normalized = bench.json(&["pairwise", "a.ts", "--json", "--normalize", "z"]);
    assert_ne!(normalized["distances"][0][1], answer["distances"][0][1]);
}

#[test]
fn one_point_and_constant_series_are_series() {
    let bench = Bench::new();
    bench.write("a.csv", "2,2,2\n5\n");
    assert_eq!(bench.ok(&["pairwise", "a.csv"]), "0,27\n27,0\n");
    // Normalised, both are zeros.
    assert_eq!(bench.ok(&["pairwise", "a.csv", "--normalize", "z"]), "0,0\n0,0\n");
    let align = ["align", "a.csv", "a.csv", "--x-index", "1", "--y-index", "1", "--json", "--plot", "a.svg"];
    assert_eq!(bench.json(&align)["path"], serde_json::json!([[0, 0]]));
}

#[test]
fn classify_scores_and_predicts() {
    let bench = Bench::new();
    bench.write("train.tsv", "up\t0\t1\t2\t2.5\ndown\t3\t2\t1\t0\n");
    bench.write("test.tsv", "up\t0\t0\t1\t2\ndown\t3\t3\t1\t0\nup\t4\t2\t0\t0\n");
    let args = ["classify", "--train", "train.tsv", "--test", "test.tsv"];
    let answer = bench.json(&[&args[..], &["--json", "-o", "p.csv"]].concat());
    close(answer["accuracy"].as_f64().unwrap(), 2.0 / 3.0);
    assert_eq!(answer["predictions"], serde_json::json!(["up", "down", "down"]));
    assert_eq!(answer["classes"], serde_json::json!(["down", "up"]));
    assert_eq!(answer["confusion"], serde_json::json!([[1, 0], [1, 1]]));
    let predictions = bench.text("p.csv");
    assert!(predictions.starts_with("series,actual,predicted,nearest,distance\n0,up,up,0,"), "{predictions}");
    let text = bench.ok(&args);
    assert!(text.contains("accuracy 0.6667 (2 of 3)"), "{text}");

    // A file without labels can be classified, not scored.
    bench.write("new.csv", "0,1,1,3\n");
    let args = ["classify", "--train", "train.tsv", "--test", "new.csv", "-o", "p.csv", "--json"];
    let answer = bench.json(&args);
    assert_eq!(answer["predictions"], serde_json::json!(["up"]));
    assert!(answer.get("accuracy").is_none() && answer.get("confusion").is_none(), "{answer}");
    let text = bench.ok(&["classify", "--train", "train.tsv", "--test", "new.csv"]);
    assert!(text.trim_end().ends_with("  up") && !text.contains("accuracy"), "{text}");
}

#[test]
fn classify_takes_the_root() {
    let bench = Bench::new();
    bench.write("train.tsv", "up\t0\t1\t2\t3\n").write("new.csv", "0,1,1,9\n");
    let args = ["classify", "--train", "train.tsv", "--test", "new.csv", "--json", "-o", "p.csv"];
    let nearest = |options: &[&str]| {
        let answer = bench.json(&[&args[..], options].concat());
        let distance = bench.text("p.csv").trim_end().rsplit(',').next().unwrap().parse::<f64>().unwrap();
        (distance, answer["parameters"]["sqrt"].as_bool())
    };
    let expected = dtw(&[0., 1., 1., 9.], &[0., 1., 2., 3.]);
    assert_eq!(nearest(&[]), (expected, Some(false)));
    assert_eq!(nearest(&["--sqrt"]), (expected.sqrt(), Some(true)));
    // A measure without the option does not record it.
    assert_eq!(nearest(&["-m", "msm"]).1, None);
}

/// Results that leave the range of the number type are told, and strings in JSON.
#[test]
fn overflow_is_told() {
    let bench = Bench::new();
    bench.write("big.csv", "1e200,2e200,0\n0,0,1\n").write("x.csv", "1e200,0\n").write("y.csv", "0,0\n");
    let said = bench.run(&["pairwise", "big.csv", "--json"]);
    let warning = "warning: 2 of 4 distances overflowed to infinity in f64";
    assert_eq!(
        said.stderr,
        format!("{warning}; JSON has them as the string \"Infinity\" or \"-Infinity\"\n")
    );
    let answer: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer["distances"], serde_json::json!([[0.0, "Infinity"], ["Infinity", 0.0]]));
    let streamed = bench.run(&["pairwise", "big.csv", "big.csv", "-o", "d.npy"]);
    assert_eq!((streamed.code, streamed.stderr), (0, format!("{warning}\n")));
    // Tiles off the diagonal stand twice in the matrix.
    let mut many = vec![0.0; 80];
    many[0] = 1e200;
    bench.write("many.npy", npy(&[80, 1], &many));
    let tiled = bench.run(&["pairwise", "many.npy", "-o", "d.npy", "--memory-limit", "32KiB"]);
    assert_eq!(tiled.stderr, "warning: 158 of 6400 distances overflowed to infinity in f64\n");
    let said = bench.run(&["align", "x.csv", "y.csv", "--json"]);
    assert!(said.stderr.contains("overflowed"), "{said:?}");
    assert!(said.stdout.contains(r#""distance":"Infinity""#), "{said:?}");
}

/// A search that finds less than was asked for because distances overflowed says so.
#[test]
fn hits_that_overflowed_are_told() {
    let bench = Bench::new();
    bench.write("r.csv", "0\n1\n0\n1e200\n1e200\n0\n1\n").write("q.csv", "0\n1\n");
    let search = ["search", "--reference", "r.csv", "--query", "q.csv", "--exclusion", "0", "--json"];
    let told = bench.run(&[&search[..], &["-k", "9"]].concat());
    let found = told.stdout.matches("distance").count();
    assert_eq!((told.code, found), (0, 5), "{told:?}");
    assert!(told.stderr.starts_with("warning: only 5 matches: at 2 ends more"), "{told:?}");
    assert!(told.stderr.contains("overflowed to infinity in f64"), "{told:?}");
    // A cost of 1e40 is no f32, so that it cannot be said to be beyond a root of 1e25.
    bench.write("far.csv", "1e20\n2e20\n1e20\n").write("zero.csv", "0\n");
    let far = [
        "search",
        "--reference",
        "far.csv",
        "--query",
        "zero.csv",
        "--dtype",
        "f32",
        "--sqrt",
        "--threshold",
        "1e25",
    ];
    let told = bench.run(&far);
    assert!(told.stderr.contains("overflowed to infinity in f32"), "{told:?}");
    // Five were asked for and found; and none are missing where all lie in exclusion zones.
    bench.ok(&[&search[..], &["-k", "5"]].concat());
    bench.write("r.csv", "0\n1\n0\n1\n");
    bench.ok(&["search", "--reference", "r.csv", "--query", "q.csv", "--exclusion", "9", "-k", "3"]);
}

#[test]
fn search_finds_a_planted_query() {
    let bench = Bench::new();
    let mut reference = common::waves(1, 400);
    let query = [0.0, 5.0, 9.0, 5.0, 0.0, -5.0];
    reference[100..106].copy_from_slice(&query);
    let scaled: Vec<f64> = query.iter().map(|v| 3.0 * v + 40.0).collect();
    reference[300..306].copy_from_slice(&scaled);
    bench.write("r.npy", npy(&[400], &reference)).write("q.npy", npy(&[6], &query));
    let args = ["search", "--reference", "r.npy", "--query", "q.npy", "--json"];
    let answer = bench.json(&[&args[..], &["-k", "2", "-o", "h.csv", "--plot", "h.svg"]].concat());
    let hit = &answer["hits"][0];
    assert_eq!((hit["start"].as_u64(), hit["end"].as_u64()), (Some(100), Some(105)));
    close(hit["distance"].as_f64().unwrap(), 0.0);
    assert!(bench.text("h.csv").starts_with("rank,start,end,distance\n1,100,105,0"));
    assert!(bench.text("h.svg").contains("at point 100"));
    // Normalised, the scaled copy is as good.
    let answer = bench.json(&[&args[..], &["-k", "2", "--normalize", "z"]].concat());
    let mut starts: Vec<_> = (0..2).map(|k| answer["hits"][k]["start"].as_u64().unwrap()).collect();
    starts.sort_unstable();
    assert_eq!(starts, [100, 300]);
}

#[test]
fn align_gives_distance_and_path() {
    let bench = Bench::new();
    bench.write("x.csv", "0\n1\n5\n").write("y.csv", "0\n5\n5\n");
    let args = ["align", "x.csv", "y.csv", "--band", "1", "--json", "-o", "p.csv", "--plot", "a.png"];
    let answer = bench.json(&args);
    close(answer["distance"].as_f64().unwrap(), 1.0);
    assert_eq!(answer["path"], serde_json::json!([[0, 0], [1, 0], [2, 1], [2, 2]]));
    assert_eq!(bench.text("p.csv"), "i,j\n0,0\n1,0\n2,1\n2,2\n");
    assert!(bench.read("a.png").starts_with(b"\x89PNG"));
    // Indices under a derivative measure are those of the series' inner points.
    bench.write("z.csv", "0\n1\n3\n2\n1\n");
    let answer = bench.json(&["align", "z.csv", "z.csv", "-m", "ddtw", "--json"]);
    assert_eq!(answer["path"], serde_json::json!([[1, 1], [2, 2], [3, 3]]));
}

#[test]
fn barycenters_come_in_readable_files() {
    let bench = Bench::new();
    bench.write("a.tsv", "u\t0\t1\t2\nu\t0\t1\t4\nv\t5\t5\t5\nv\t5\t5\t5\n");
    let args = ["barycenter", "a.tsv", "--by-class", "--json", "-o", "c.npy", "--plot", "c.svg"];
    let answer = bench.json(&args);
    let averages = answer["averages"].as_array().unwrap();
    assert_eq!(averages.len(), 2);
    assert_eq!(averages[1]["center"], serde_json::json!([[5.0], [5.0], [5.0]]));
    close(averages[1]["cost"].as_f64().unwrap(), 0.0);
    // The average of 2 and 4 at the last point.
    close(averages[0]["center"][2][0].as_f64().unwrap(), 3.0);
    assert_eq!(npy_values(&bench.read("c.npy")).len(), 6);
    bench.ok(&["pairwise", "c.npy"]);
    let soft = ["barycenter", "a.tsv", "--class", "u", "-m", "soft_dtw", "--gamma", "0.01", "--json"];
    let soft = bench.json(&[&soft[..], &["-o", "c.csv"]].concat());
    assert_eq!(soft["averages"][0]["converged"], serde_json::json!(true));
    assert_eq!(bench.text("c.csv").lines().count(), 3);
    bench.write("w.csv", "1\n0\n1\n1\n");
    let weighted = bench.json(&["barycenter", "a.tsv", "--class", "u", "--weights", "w.csv", "--json"]);
    close(weighted["averages"][0]["center"][2][0].as_f64().unwrap(), 2.0);
}

#[test]
fn clusters_are_found_by_both_methods() {
    let bench = Bench::new();
    let rows: String =
        (0..8)
            .map(|i| {
                if i % 2 == 0 { format!("a\t0\t{i}\t0\t0\n") } else { format!("b\t50\t{}\t50\t60\n", 50 + i) }
            })
            .collect();
    bench.write("a.tsv", rows);
    for options in [&["--method", "kmeans"][..], &["--method", "kmedoids", "-m", "twed"]] {
        let args =
            [&["cluster", "a.tsv", "-k", "2", "--json", "-o", "l.csv", "--plot", "k.svg"], options].concat();
        let answer = bench.json(&args);
        close(answer["adjusted_rand_index"].as_f64().unwrap(), 1.0);
        assert_eq!(bench.text("l.csv").lines().count(), 9);
    }
    bench.ok(&["cluster", "a.tsv", "-k", "2", "--centers", "c.npy"]);
    assert_eq!(npy_values(&bench.read("c.npy")).len(), 8);
    let medoids = ["cluster", "a.tsv", "-k", "2", "--method", "kmedoids", "--json", "--centers", "c.json"];
    let answer = bench.json(&medoids);
    let centers: serde_json::Value = serde_json::from_str(&bench.text("c.json")).unwrap();
    for (cluster, center) in centers.as_array().unwrap().iter().enumerate() {
        assert_eq!((&center["cluster"], &center["series"]), (&cluster.into(), &4.into()));
        let medoid = center["medoid"].as_u64().unwrap();
        assert_eq!(Some(medoid), answer["medoids"][cluster].as_u64());
        let (around, i) = if medoid % 2 == 0 { ([0, 0, 0], medoid) } else { ([50, 50, 60], 50 + medoid) };
        let points = [around[0] as f64, i as f64, around[1] as f64, around[2] as f64].map(|v| [v]);
        assert_eq!(center["center"], serde_json::json!(points));
    }
    bench.ok(&["cluster", "a.tsv", "-k", "2", "--centers", "c.json"]);
    let centers: serde_json::Value = serde_json::from_str(&bench.text("c.json")).unwrap();
    assert_eq!(centers[1]["medoid"], serde_json::Value::Null);
    assert_eq!(centers[1]["center"].as_array().unwrap().len(), 4);
}

#[test]
fn devices_are_listed() {
    let bench = Bench::new();
    assert!(bench.ok(&["devices"]).starts_with("cpu   yes"));
    let list = bench.json(&["devices", "--json"]);
    assert_eq!(
        (&list["devices"][0]["backend"], &list["devices"][0]["available"]),
        (&"cpu".into(), &true.into())
    );
}

#[test]
fn help_has_examples_and_goes_to_stdout() {
    let bench = Bench::new();
    for command in ["demo", "pairwise", "classify", "search", "align", "barycenter", "cluster"] {
        let help = bench.ok(&[command, "--help"]);
        assert!(help.contains("Example") && help.contains(&format!("dtwave {command}")), "{command}");
    }
    assert!(bench.ok(&["--version"]).starts_with("dtwave "));
    assert!(bench.ok(&[]).contains("dtwave demo"));
}

#[test]
fn the_demo_writes_a_whole_report() {
    let bench = Bench::new();
    let answer = bench.json(&["demo", "--out", "demo", "--json"]);
    let accuracy = |name: &str| answer["classification"][name].as_f64().unwrap();
    assert!(accuracy("DTW") > accuracy("Euclidean"), "{answer}");
    assert_eq!(answer["search"]["hits"].as_array().unwrap().len(), 8);
    let report = bench.text("demo/report.html");
    assert!(report.ends_with("</html>\n"));
    assert_eq!(report.matches("<svg").count(), 5);
    for name in ["distances", "search", "alignment", "barycenters", "clusters"] {
        assert!(bench.text(&format!("demo/{name}.svg")).trim_end().ends_with("</svg>"));
    }
    // Whoever has files of these names is asked first: the list is whole.
    let mut names: Vec<String> = std::fs::read_dir(bench.file("demo"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let expected = [
        "alignment.svg",
        "barycenters.svg",
        "cbf_test.tsv",
        "cbf_train.tsv",
        "clusters.svg",
        "distances.npy",
        "distances.svg",
        "ecg_aami3a.csv",
        "report.html",
        "search.svg",
    ];
    assert_eq!(names, expected);
    // The inputs beside the report are what its commands need.
    let again = ["classify", "--train", "demo/cbf_train.tsv", "--test", "demo/cbf_test.tsv", "--json"];
    close(bench.json(&again)["accuracy"].as_f64().unwrap(), accuracy("DTW"));
}

#[test]
fn what_was_computed_is_explained() {
    let bench = Bench::new();
    bench.write("s.csv", "1,2,4,3\n2,2,4,3\n7,8,1,1\n7,9,1,1\n");
    let said = bench.run(&["pairwise", "s.csv", "--json", "--explain"]);
    let told: Vec<_> = said.stderr.lines().filter_map(|line| line.strip_prefix("explain: ")).collect();
    assert!(
        told[0].contains("sweep (registers of ") && told[0].contains(" launches, 10 pairs; "),
        "{told:?}"
    );
    // Half of the matrix and its diagonal: 10 pairs of 4 × 4 cells.
    assert!(told[1].contains("1 tiles, ") && told[1].contains(" 160 cells in "), "{told:?}");
    bench.write("q.csv", "1\n2\n4\n").write("r.csv", "1\n2\n4\n3\n1\n");
    for (windows, swept) in [(&[][..], "diagonal sweep ("), (&["--normalize", "z"], "sweep (")] {
        let args = ["search", "--reference", "r.csv", "--query", "q.csv", "--json", "--explain"];
        let said = bench.run(&[&args[..], windows].concat()).stderr;
        let told = said.lines().find_map(|line| line.strip_prefix("explain: "));
        assert!(told.is_some_and(|told| told.contains(swept) && told.contains(" launches, ")), "{said}");
    }
}

/// The file that was written is named on stdout; JSON stays alone there.
#[test]
fn commands_name_the_files_that_they_wrote() {
    let bench = Bench::new();
    bench.write("s.csv", "1,2,4,3\n2,2,4,3\n7,8,1,1\n7,9,1,1\n").write("q.csv", "1\n2\n4\n3\n");
    for (args, names) in [
        (&["search", "--reference", "q.csv", "--query", "q.csv", "-o", "o.csv"][..], "matches in o.csv\n"),
        (&["align", "q.csv", "q.csv", "-o", "o.csv"], "pairs in o.csv\n"),
        (
            &["cluster", "s.csv", "-k", "2", "-o", "o.csv", "--centers", "c.npy"],
            "clusters in o.csv\ncentres in c.npy\n",
        ),
        (&["barycenter", "s.csv", "-o", "o.csv"], "averages in o.csv\n"),
    ] {
        assert!(bench.ok(args).ends_with(names), "{args:?}");
        let drawn = bench.ok(&[args, &["--plot", "p.svg"]].concat());
        assert!(drawn.ends_with(&format!("{names}figure in p.svg\n")), "{args:?}: {drawn}");
        bench.json(&[args, &["--plot", "p.svg", "--json"]].concat());
    }
}

/// Averages and centres of several channels and different lengths have a file: nobody is sent from one to the other.
#[test]
fn centres_of_several_channels_are_written() {
    let bench = Bench::new();
    bench.write("a.ts", "@classLabel true x y\n@data\n1,2,3:4,5,6:x\n1,2:4,5:y\n");
    bench.refuses(
        &["barycenter", "a.ts", "--by-class", "-o", "o.npy"],
        &["differ in length", ".csv or .json"],
    );
    bench.ok(&["barycenter", "a.ts", "--by-class", "-o", "o.json"]);
    bench.ok(&["barycenter", "a.ts", "--by-class", "-o", "o.csv"]);
    assert_eq!(
        bench.text("o.csv"),
        "name,point,channel_0,channel_1\nx,0,1,4\nx,1,2,5\nx,2,3,6\ny,0,1,4\ny,1,2,5\n"
    );
    let cluster = ["cluster", "a.ts", "-k", "2", "--method", "kmedoids", "--centers"];
    bench.refuses(&[&cluster[..], &["c.npy"]].concat(), &["c.npy", "use .csv or .json"]);
    bench.ok(&[&cluster[..], &["c.csv"]].concat());
    assert!(
        bench.text("c.csv").starts_with("name,point,channel_0,channel_1\n0,0,1,4\n"),
        "{}",
        bench.text("c.csv")
    );
}

#[test]
fn all_neighbours_that_vote_are_written() {
    let bench = Bench::new();
    bench.write("a.tsv", "x\t1\t2\ny\t3\t4\nx\t1\t3\n").write("b.csv", "1,2\n3,4\n");
    let classify = ["classify", "--train", "a.tsv", "--test", "b.csv", "--k", "2", "-o", "o.csv"];
    let answer = bench.json(&[&classify[..], &["--json"]].concat());
    assert_eq!(answer["neighbors"], serde_json::json!([[0, 2], [1, 2]]));
    assert_eq!(answer["distances"], serde_json::json!([[0.0, 1.0], [0.0, 5.0]]));
    let rows = "series,actual,predicted,nearest,distance,nearest_2,distance_2\n0,,x,0,0,2,1\n1,,y,1,0,2,5\n";
    assert_eq!(bench.text("o.csv"), rows);
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = bench.ok(&["completions", shell]);
        for word in ["pairwise", "classify", "by-class", "soft_dtw_divergence", "quiet"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
    bench.refuses(&["completions", "cmd.exe"], &["cmd.exe", "bash"]);
    let root = bench.ok(&["man"]);
    assert!(root.contains(".TH dtwave 1") && root.contains("pairwise"), "{root}");
    let page = bench.ok(&["man", "search"]);
    assert!(
        page.contains(".TH dtwave-search 1") && page.contains("top\\-k") && page.contains("Examples"),
        "{page}"
    );
    bench.refuses(&["man", "nothing"], &["no such command", "pairwise"]);
}
