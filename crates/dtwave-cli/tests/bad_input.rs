//! Every bad input gets one clear line on stderr and a non-zero exit, and leaves nothing behind.

mod common;

use common::{Bench, npy, raw_npy};

/// A good file of each kind that bad calls are made with.
fn bench() -> Bench {
    let bench = Bench::new();
    bench
        .write("good.csv", "1,2,3,4\n2,3,4,5\n4,3,2,1\n")
        .write("one.csv", "1\n2\n3\n4\n5\n")
        .write("ragged.csv", "1,2,3,4\n1,2,3\n")
        .write("good.tsv", "a\t1\t2\t3\nb\t3\t2\t1\n")
        .write("good.npy", npy(&[2, 3], &[1., 2., 3., 3., 2., 1.]));
    bench
}

#[test]
fn files() {
    let bench = bench();
    for name in ["e.csv", "e.ts", "e.tsv", "e.txt", "e.npy", "e.npz"] {
        bench.write(name, "");
        bench.refuses(&["pairwise", name, "-o", "d.npy"], &[name, "the file is empty"]);
    }
    bench.refuses(&["pairwise", "missing.csv"], &["cannot read missing.csv"]);
    bench.refuses(&["pairwise", "good.wav"], &["good.wav", "unknown extension", ".npz"]);
    bench.write("huge.csv", "1,1e300\n");
    bench.refuses(&["pairwise", "huge.csv", "--dtype", "f32"], &["position 1", "1e300", "too large for f32"]);
    let whole = npy(&[2, 3], &[1.0; 6]);
    for (name, bytes, parts) in [
        ("cut.npy", whole[..whole.len() - 3].to_vec(), &["truncated", "48 bytes"][..]),
        ("cut.npz", b"PK\x03\x04 not whole".to_vec(), &[".npz archive"]),
        ("rank.npy", npy(&[1, 1, 1, 2], &[1., 2.]), &["rank 4", "[n, length, channels]"]),
        ("dtype.npy", raw_npy("<c16", "(1,)", &[0; 16]), &["<c16", "float64"]),
        ("empty.tsv", b"a\t1\t2\nb\n".to_vec(), &["line 2", "series 1 is empty"]),
        ("empty.npy", npy(&[2, 0], &[]), &["series 0 is empty"]),
        ("nan.csv", b"1,2\n3,NaN\n".to_vec(), &["line 2, column 2", "series 1, position 1", "NaN"]),
        ("inf.csv", b"1,2\ninf,3\n".to_vec(), &["series 1, position 0", "inf"]),
        ("low.csv", b"1,2\n-Infinity,3\n".to_vec(), &["series 1, position 0", "-inf"]),
        ("inf.npy", npy(&[1, 2], &[f64::NEG_INFINITY, 0.0]), &["series 0, position 0", "-inf"]),
        ("cell.csv", b"1,2\n3,four\n".to_vec(), &["line 2, column 2", "'four' is not a number"]),
    ] {
        bench.write(name, bytes);
        bench.refuses(&["pairwise", name], &[&[name], parts].concat());
    }
}

#[test]
fn lengths_channels_and_labels() {
    let bench = bench();
    bench.write("point.csv", "1,2,3\n7\n");
    for call in [
        &["pairwise", "point.csv"][..],
        &["pairwise", "good.csv", "point.csv"],
        &["align", "point.csv", "one.csv", "--x-index", "1"],
        &["cluster", "point.csv", "-k", "1", "--method", "kmedoids"],
    ] {
        let call = [call, &["-m", "ddtw"]].concat();
        bench.refuses(&call, &["point.csv: series", "has 1 point;", "ddtw needs at least 3 points"]);
    }
    bench.write("mixed.ts", "@classLabel false\n@data\n1,2:3,4\n1,2\n");
    bench.refuses(&["pairwise", "mixed.ts"], &["mixed.ts", "line 4", "1 channel where 2"]);
    bench.write("two.npy", npy(&[1, 2, 2], &[1., 2., 3., 4.]));
    bench.refuses(&["pairwise", "good.csv", "two.npy"], &["good.csv has 1", "two.npy has 2"]);
    bench.refuses(&["align", "one.csv", "two.npy"], &["1 channel", "has 2"]);
    bench.write("unlabelled.ts", "@univariate true\n@classLabel true a b\n@data\n1,2,3:a\n1,2,3\n");
    let classify = ["classify", "--train", "unlabelled.ts", "--test", "good.tsv"];
    bench.refuses(&classify, &["unlabelled.ts", "line 5", "no class label"]);
    bench.refuses(
        &["classify", "--train", "good.csv", "--test", "good.tsv"],
        &["good.csv", "no class labels"],
    );
    bench.refuses(&["barycenter", "ragged.csv", "--start", "mean"], &["length"]);
    bench.refuses(&["barycenter", "good.csv", "--by-class"], &["good.csv", "no class labels"]);
    bench.refuses(&["barycenter", "good.tsv", "--class", "z"], &["no series of class 'z'", "a, b"]);
    bench.refuses(&["align", "good.csv", "one.csv"], &["good.csv has 3 series", "--x-index"]);
    bench.refuses(
        &["search", "--reference", "one.csv", "--query", "one.csv", "--query-range", "2:9"],
        &["5 points", "2:9 is out of range"],
    );
}

/// Errors name an option as it was written.
#[test]
fn options_are_named_as_they_were_written() {
    let bench = bench();
    for (call, told, not_told) in [
        ("cluster good.tsv -k 99", "-k 99 is out of range", "--clusters"),
        ("cluster good.tsv --clusters=99", "--clusters 99 is out of range", "-k"),
        ("cluster good.tsv -k two", "'two' for '-k <K>'", "for '--clusters"),
        ("cluster good.tsv --clusters two", "'two' for '--clusters <K>'", "for '-k"),
        ("classify --train good.tsv --test good.tsv -k 99", "-k 99 is out of range", "--k"),
        ("classify --train good.tsv --test good.tsv --k 99", "--k 99 is out of range", " -k"),
        ("search --reference one.csv --query one.csv --k 0", "--k must be at least 1", "--top-k"),
        ("pairwise good.tsv --device cda", "for '--device <NAME>'", "for '--backend"),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        bench.refuses(&words, &[told]);
        let said = bench.run(&words).stderr;
        assert!(!said.contains(not_told), "{call}: {said}");
    }
}

#[test]
fn parameters() {
    let bench = bench();
    let refuses = |options: &[&str], parts: &[&str]| {
        bench.refuses(&[&["pairwise", "good.csv", "-o", "d.npy"], options].concat(), parts);
    };
    refuses(&["--nope"], &["--nope"]);
    // The values of measures' options are tried beside the code that reads them.
    refuses(&["--band", "-1"], &["band", "negative"]);
    refuses(&["-m", "twed", "--nu", "-0.1"], &["nu >= 0", "-0.1"]);
    refuses(&["--dtype", "f16"], &["f16", "f32 or f64"]);
    refuses(&["--backend", "abacus"], &["abacus", "cpu"]);
    refuses(&["--backend", "cda"], &["'cda'", "did you mean 'cuda'?"]);
    refuses(&["--backend", "cuda"], &["cuda"]);
    refuses(&["--backend", "hip"], &["hip"]);
    refuses(&["--backend", "cuda:one"], &["cuda:0", "cuda:one"]);
    refuses(&["--backend", "cpu:1"], &["cpu:1", "expected auto, cpu, cuda, hip or wgpu"]);
    refuses(&["--backend", "wgpu:"], &["wgpu:0"]);
    refuses(&["--backend", "wgpu:Voodoo 2"], &["wgpu"]);
    refuses(&["--threads", "0"], &["threads", "'0'"]);
    refuses(&["--memory-limit", "lots"], &["'lots' is no memory size"]);
    refuses(&["--memory-limit", "8B"], &["memory"]);
    // Rows and columns of different length leave a diagonal of slope 1 no path.
    let band = ["pairwise", "ragged.csv", "-o", "d.npy", "--band", "itakura:1"];
    bench.refuses(&band, &["path"]);
    bench.refuses(&["frobnicate"], &["frobnicate"]);
    bench.refuses(&["classify", "--train", "good.tsv"], &["--test"]);
    bench.refuses(
        &["classify", "--train", "good.tsv", "--test", "good.tsv", "-k", "9"],
        &["-k 9 is out of range", "2 series"],
    );
    bench.refuses(&["align", "one.csv", "one.csv", "-m", "soft_dtw"], &["soft_dtw has no warping path"]);
    bench.refuses(&["barycenter", "good.csv", "-m", "frechet"], &["soft_dtw", "got frechet"]);
    bench.refuses(&["cluster", "good.csv", "-k", "9"], &["-k 9 is out of range", "3 series"]);
    bench.refuses(
        &["cluster", "good.csv", "-k", "2", "-m", "lcss"],
        &["lcss has no average", "--method kmedoids"],
    );
    bench.refuses(&["search", "--reference", "one.csv", "--query", "one.csv", "-m", "msm"], &["dtw only"]);
    bench.refuses(&["search", "--reference", "one.csv", "--query", "one.csv", "--top-k", "0"], &["--top-k"]);
}

/// Options that would change nothing, or whose meaning is open, are refused.
#[test]
fn options_without_a_meaning() {
    let bench = bench();
    let search = ["search", "--reference", "one.csv", "--query", "one.csv", "--band", "1"];
    bench.refuses(&search, &["--band needs --normalize z"]);
    assert_eq!(bench.run(&[&search[..], &["--normalize", "z"]].concat()).code, 0);
    let subsequence = ["pairwise", "good.csv", "-m", "subsequence_dtw", "--band", "1"];
    bench.refuses(&subsequence, &["--band has no meaning for subsequence_dtw"]);
    let classify = ["classify", "--train", "good.tsv", "--test", "good.tsv", "-m", "subsequence_dtw"];
    bench.refuses(&classify, &["symmetric", "subsequence_dtw"]);
    bench.refuses(&["pairwise", "good.npy", "--csv-layout", "rows"], &["--csv-layout", "no input is one"]);
    bench.ok(&["pairwise", "good.npy", "good.csv", "--csv-layout", "rows"]);
    for command in [&["cluster", "good.csv", "-k", "2"][..], &["barycenter", "good.csv"]] {
        let rate = [command, &["-m", "soft_dtw", "--learning-rate", "0.1"]].concat();
        bench.refuses(&rate, &["--learning-rate", "--optimizer adam"]);
        bench.ok(&[&rate[..], &["--optimizer", "adam"]].concat());
    }
}

/// No command replaces a file that it reads, by whatever name.
#[test]
fn inputs_are_never_replaced() {
    let bench = bench();
    let same = "it is the input";
    bench.refuses(&["pairwise", "good.npy", "-o", "good.npy"], &["good.npy", same]);
    bench.refuses(&["pairwise", "good.csv", "good.npy", "-o", "./good.npy"], &["./good.npy", same]);
    bench.refuses(&["align", "one.csv", "one.csv", "-o", "one.csv"], &["one.csv", same]);
    bench.refuses(&["cluster", "good.csv", "-k", "2", "-o", "good.csv"], &["good.csv", same]);
    bench.refuses(&["cluster", "good.npy", "-k", "2", "--centers", "good.npy"], &["good.npy", same]);
    bench.refuses(&["barycenter", "good.csv", "-o", "good.csv"], &["good.csv", same]);
    bench.refuses(&["barycenter", "good.npy", "--start", "one.csv", "-o", "one.csv"], &["one.csv", same]);
    bench.refuses(&["search", "--reference", "one.csv", "--query", "one.csv", "-o", "one.csv"], &[same]);
    #[cfg(unix)]
    {
        for link in ["link.npy", "link.csv", "link.svg"] {
            std::os::unix::fs::symlink(bench.file("good.csv"), bench.file(link)).unwrap();
        }
        bench.refuses(&["pairwise", "good.csv", "-o", "link.npy"], &["link.npy", same, "good.csv"]);
        bench.refuses(&["pairwise", "link.csv", "-o", "good.csv"], &["link.csv", same, "good.csv"]);
        bench.refuses(&["pairwise", "good.csv", "--plot", "link.svg"], &["link.svg", same, "good.csv"]);
    }
    // Another file of the same content is another file.
    bench.write("copy.csv", bench.read("good.csv"));
    bench.ok(&["pairwise", "good.csv", "-o", "copy.csv"]);
}

/// What can be known before the work is said before the work: nothing is computed in vain.
#[test]
fn results_that_no_file_could_hold() {
    let bench = bench();
    bench.write("ragged.tsv", "a\t1\t2\t3\na\t1\t2\nb\t3\t2\n");
    let averages = ["barycenter", "ragged.tsv", "--by-class", "-o"];
    bench.refuses(&[&averages[..], &["c.npy"]].concat(), &["c.npy", "differ in length", ".csv or .json"]);
    bench.ok(&[&averages[..], &["c.csv"]].concat());
    bench.ok(&[&averages[..], &["c.npy", "--start", "one.csv"]].concat());
    bench.ok(&["barycenter", "ragged.tsv", "-o", "one.npy"]);
    let centers = ["cluster", "ragged.tsv", "--centers", "k.npy", "-k"];
    bench.refuses(&[&centers[..], &["2"]].concat(), &["k.npy", "differ in length", "use .csv or .json"]);
    bench.ok(&[&centers[..], &["1"]].concat());
}

#[test]
fn outputs() {
    let bench = bench();
    for out in ["d.npy", "d.csv", "d.json"] {
        let out = format!("no/such/{out}");
        bench.refuses(&["pairwise", "good.csv", "-o", &out], &["no/such", "does not exist"]);
    }
    bench.refuses(&["pairwise", "good.csv", "-o", "d.xls"], &["d.xls", ".npy, .csv or .json"]);
    bench.refuses(&["pairwise", "good.csv", "--plot", "d.jpg"], &["d.jpg", ".svg or .png"]);
    bench.refuses(&["pairwise", "good.csv", "--plot", "no/d.svg"], &["no", "does not exist"]);
    bench.refuses(&["pairwise", "good.csv", "-o", "good.csv/d.npy"], &["good.csv is not a folder"]);
    bench.refuses(&["demo", "--out", "good.csv"], &["good.csv"]);
    bench.refuses(&["pairwise", "good.csv", "-o", "d.csv", "--resume"], &["--resume", ".npy"]);
}

/// A folder that even root cannot write to, and a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn read_only_folders_and_full_disks() {
    let bench = bench();
    for out in ["d.npy", "d.csv"] {
        bench.refuses(&["pairwise", "good.csv", "-o", &format!("/sys/{out}")], &["cannot write /sys/", "d."]);
    }
    for name in ["full.csv", "full.json"] {
        std::os::unix::fs::symlink("/dev/full", bench.file(name)).unwrap();
    }
    let full = |args: &[&str], name: &str| {
        bench.refuses(args, &[name, "the disk is full"]);
        assert!(bench.file(name).is_symlink(), "{name} was replaced");
    };
    full(&["pairwise", "good.csv", "-o", "full.csv"], "full.csv");
    full(&["pairwise", "good.csv", "-o", "full.json"], "full.json");
    full(&["classify", "--train", "good.tsv", "--test", "good.tsv", "-o", "full.csv"], "full.csv");
    full(&["align", "one.csv", "one.csv", "-o", "full.csv"], "full.csv");
    full(&["barycenter", "good.csv", "-o", "full.csv"], "full.csv");
    full(&["cluster", "good.csv", "-k", "2", "-o", "full.csv"], "full.csv");
}

/// The memory limit counts results and scratch; a .npy result needs room for one tile only.
#[test]
fn memory_limits() {
    let bench = Bench::new();
    bench.write("many.npy", npy(&[200, 3], &common::waves(200, 3)));
    let limited = ["pairwise", "many.npy", "--memory-limit", "100KiB"];
    bench.refuses(&limited, &["200 × 200", "312.5 KiB", "100 KiB", "-o FILE.npy"]);
    bench.refuses(&[&limited[..], &["-o", "d.csv"]].concat(), &["-o FILE.npy"]);
    bench.refuses(&["pairwise", "many.npy", "-o", "d.npy", "--memory-limit", "4B"], &["memory"]);
}

/// Weights that leave a class without any are found before the classes that have some are averaged.
#[test]
fn weights_of_a_class_that_are_all_zero() {
    let bench = Bench::new();
    bench.write("a.tsv", "a\t1\t2\nb\t2\t1\nb\t3\t1\n").write("w.csv", "1\n0\n0\n");
    let weighted = ["barycenter", "a.tsv", "--weights", "w.csv"];
    bench.refuses(&[&weighted[..], &["--by-class"]].concat(), &["w.csv: all weights of b are zero"]);
    bench.refuses(&[&weighted[..], &["--class", "b"]].concat(), &["w.csv: all weights of b are zero"]);
    assert!(bench.ok(&[&weighted[..], &["--class", "a"]].concat()).contains("a: 1 series"));
    bench.ok(&weighted);
}

/// An average or a cluster cannot leave out what overflowed, as a matrix can.
#[test]
fn averages_and_clusters_refuse_what_overflows() {
    let bench = Bench::new();
    bench
        .write("pairs.csv", "1e200,2e200\n0,0\n1,1e200\n")
        .write("sums.csv", "8e153,0\n-4e153,0\n-4e153,0\n8e153,0\n");
    for args in [
        &["barycenter"][..],
        &["barycenter", "-m", "soft_dtw"],
        &["cluster", "-k", "1"],
        &["cluster", "-k", "2"],
        &["cluster", "-k", "1", "-m", "soft_dtw"],
        &["cluster", "-k", "1", "--method", "kmedoids"],
        &["cluster", "-k", "1", "--method", "kmedoids", "--restarts", "2"],
    ] {
        for file in ["pairs.csv", "sums.csv"] {
            // With both outputs, of which none may be left.
            bench.refuses(&[args, &[file, "-o", "o.csv", "--json"]].concat(), &[]);
        }
    }
    bench.refuses(
        &["cluster", "sums.csv", "-k", "1", "--method", "kmedoids"],
        &["the dissimilarities to series 0 add up beyond f64", "scale or normalise"],
    );
}

#[test]
fn a_report_of_somebody_else_is_not_replaced() {
    let bench = Bench::new();
    std::fs::create_dir(bench.file("out")).unwrap();
    std::fs::write(bench.file("out/report.html"), "<html>My thesis</html>").unwrap();
    bench.refuses(&["demo", "--out", "out"], &["out/report.html is there", "--out"]);
    assert_eq!(bench.text("out/report.html"), "<html>My thesis</html>");
}
