//! Every option of every command does something, or is refused: none is accepted and ignored.

mod common;

use common::{Bench, npy, waves};
use dtwave::measure::Kind;

/// What giving an option does.
#[derive(Clone, Copy)]
enum Then {
    /// Output or files differ from those without it.
    Changes,
    /// One line of error that holds this, and nothing else.
    Refused(&'static str),
    /// It is taken, and by its nature nothing here can show it; the reason.
    Unseen(&'static str),
}
use Then::{Changes, Refused, Unseen};

/// The option, by its long name and with a value, after a call of the command.
type Case = (&'static str, &'static str, Then);

const LIMIT: Then = Refused("memory");
const THREADS: Then = Unseen("results do not depend on the number of threads");
const NO_CSV: Then = Refused("--csv-layout belongs to .csv files");
const NO_ARRAY: Then = Refused("--layout belongs to .npy and .npz files");
const NO_ARCHIVE: Then = Refused("--key belongs to .npz files");
const NO_PLOT: Then = Refused("--plot <FILE>");
const QUIET: Then = Unseen("there is nothing to leave out; `quiet_leaves_out_notes` has a note");

/// What every command that computes has, behind its base call and what stands first here.
const EVERY: &[Case] = &[
    ("", "--format npy", Refused("not a .npy file")),
    ("", "--csv-header yes", Changes),
    ("", "--missing linear", Unseen("no value is missing; reading.rs has some")),
    ("", "--resample 0.5", Refused("--resample needs times")),
    ("", "--layout channels-first", NO_ARRAY),
    ("", "--key x", NO_ARCHIVE),
    ("", "--channels 2", Refused("--channels belongs to raw")),
    ("", "--out o.csv", Changes),
    ("", "--json", Changes),
    ("", "--normalize z", Changes),
    (" --json", "--dtype f32", Changes),
    ("", "--backend hip", Refused("hip")),
    ("", "--threads 2", THREADS),
    ("", "--explain", Changes),
    ("", "--memory-limit 8B", LIMIT),
    ("", "--quiet", QUIET),
];

/// The base calls of the commands that compute, and what each has of its own.
const COMPUTING: [(&str, &[Case]); 6] = [
    ("pairwise s.tsv", PAIRWISE),
    ("classify --train s.tsv --test s.tsv", CLASSIFY),
    ("search --reference r.csv --query q.csv", SEARCH),
    ("align q.csv p.csv", ALIGN),
    ("barycenter s.tsv", BARYCENTER),
    ("cluster s.tsv -k 2", CLUSTER),
];

const PAIRWISE: &[Case] = &[
    ("pairwise square.csv", "--csv-index yes", Changes),
    ("pairwise square.csv", "--labels first", Changes),
    ("pairwise timed.csv --csv-index yes --csv-layout columns", "--resample 0.5", Changes),
    ("pairwise s.tsv", "--plot o.svg", Changes),
    ("pairwise s.tsv", "--measure msm", Changes),
    ("pairwise s.tsv", "--cutoff 0.1", Changes),
    ("pairwise s.tsv", "--threshold 0.5", Changes),
    ("pairwise s.tsv", "--band 0", Changes),
    ("pairwise s.tsv -m subsequence_dtw", "--band 1", Refused("--band has no meaning")),
    ("pairwise s.tsv", "--csv-layout rows", NO_CSV),
    ("pairwise square.csv", "--csv-layout columns", Changes),
    ("pairwise pairs.npy", "--layout channels-first", Changes),
    ("pairwise s.tsv", "--resume", Refused("--resume continues a .npy result")),
    ("pairwise s.tsv -o o.npy", "--resume", Unseen("there is nothing to resume")),
    ("pairwise s.tsv", "--shard 1/2", Refused("--shard computes a part of a .npy matrix")),
    ("pairwise s.tsv -o o.npy", "--shard 1/2", Changes),
    ("pairwise s.tsv -o o.npy --shard 2/2", "--resume", Unseen("a shard goes on in any case")),
];

const CLASSIFY: &[Case] = &[
    ("classify --train s.tsv --test s.tsv", "--labels none", Refused("'a' is not a number")),
    ("classify --train pairs.npy --test two.npy", "--csv-index yes", Refused("--csv-index belongs to .csv")),
    ("classify --train s.tsv --test s.tsv", "--k 4", Changes),
    ("classify --train s.tsv --test s.tsv", "--measure msm", Changes),
    ("classify --train s.tsv --test s.tsv", "--band 0", Changes),
    ("classify --train s.tsv --test s.tsv", "--plot o.svg", Refused("it belongs to --band leave-one-out")),
    ("classify --train s.tsv --test s.tsv --band leave-one-out", "--plot o.svg", Changes),
    ("classify --train s.tsv --test s.tsv", "--csv-layout rows", NO_CSV),
    ("classify --train s.tsv --test square.csv", "--csv-layout columns", Changes),
];

const SEARCH: &[Case] = &[
    // It says that it left nothing out.
    ("search --reference r.csv --query q.csv", "--csv-index yes", Changes),
    ("search --reference r.csv --query q.csv", "--labels first", Changes),
    ("search --reference r.csv --query q.csv", "--reference-index 7", Refused("--reference-index 7")),
    ("search --reference r.csv --query s.tsv --query-index 0", "--query-range 0:4", Changes),
    ("search --reference r.csv --query s.tsv", "--query-index 1", Changes),
    ("search --reference r.csv --query q.csv", "--threshold 0.2", Changes),
    ("search --reference r.csv --query q.csv --threshold 0.2", "--follow", Changes),
    ("search --reference s.tsv --query q.csv", "--reference-index 1", Changes),
    ("search --reference r.csv --query q.csv", "--top-k 2", Changes),
    ("search --reference r.csv --query q.csv", "--exclusion 20", Changes),
    ("search --reference r.csv --query q.csv", "--window 5", Refused("--window belongs to --normalize z")),
    ("search --reference r.csv --query q.csv --normalize z", "--window 5", Changes),
    ("search --reference r.csv --query q.csv", "--plot o.svg", Changes),
    ("search --reference r.csv --query q.csv", "--plot-channel 0", NO_PLOT),
    (
        "search --reference two.npy --query two.npy --query-range 0:3 --plot o.svg",
        "--plot-channel 1",
        Changes,
    ),
    ("search --reference r.csv --query q.csv", "--sample-rate 9", NO_PLOT),
    ("search --reference r.csv --query q.csv --plot o.svg", "--sample-rate 9", Changes),
    ("search --reference r.csv --query q.csv", "--band 1", Refused("--band needs --normalize z")),
    ("search --reference r.csv --query q.csv --normalize z", "--band 0", Changes),
    (
        "search --reference r.csv --query q.csv --normalize z",
        "-m subsequence_dtw",
        Refused("leave out one of the two"),
    ),
    ("search --reference r.csv --query q.csv", "--precision half", Refused("--dtype f32")),
    ("search --reference r.csv --query q.csv --dtype f32", "--precision half", Refused("cuda and hip alone")),
    ("search --reference r.csv --query q.csv", "-m msm", Refused("for dtw only")),
    ("search --reference r.csv --query q.csv", "--gamma 1", Refused("--gamma is no option of dtw")),
    ("search --reference r.csv --query q.csv", "--cost manhattan", Changes),
    ("search --reference r.csv --query q.csv", "--sqrt", Changes),
    ("search --reference r.csv --query q.csv", "--csv-layout rows", Refused("r.csv")),
];

const ALIGN: &[Case] = &[
    // It says that it left nothing out.
    ("align q.csv p.csv", "--csv-index yes", Changes),
    ("align q.csv p.csv", "--labels last", Changes),
    ("align s.tsv q.csv", "--x-index 1", Changes),
    ("align q.csv s.tsv", "--y-index 1", Changes),
    ("align q.csv q.csv", "--x-range 1:4", Changes),
    ("align q.csv q.csv", "--y-range 1:4", Changes),
    ("align q.csv p.csv", "--plot o.svg", Changes),
    ("align q.csv p.csv", "--plot-channel 0", NO_PLOT),
    ("align two.npy two.npy --y-range 0:5 --plot o.svg", "--plot-channel 1", Changes),
    ("align q.csv p.csv", "--measure msm", Changes),
    ("align q.csv p.csv", "--band 0", Changes),
    ("align q.csv p.csv", "-m soft_dtw", Refused("soft_dtw has no warping path")),
    ("align q.csv p.csv", "-m subsequence_dtw", Refused("use `search`, then --y-range")),
    ("align q.csv p.csv", "--csv-layout rows", Refused("q.csv")),
];

const BARYCENTER: &[Case] = &[
    ("barycenter square.csv", "--labels last", Changes),
    ("barycenter square.csv", "--csv-index yes", Changes),
    ("barycenter s.tsv", "--class a", Changes),
    ("barycenter s.tsv", "--by-class", Changes),
    ("barycenter s.tsv", "--start mean", Changes),
    ("barycenter s.tsv --seed 3", "--sample-size 1", Changes),
    ("barycenter s.tsv --start mean", "--sample-size 1", Refused("--sample-size belongs to --start medoid")),
    ("barycenter s.tsv", "--sample-size 0", Refused("--sample-size must be at least 1")),
    ("barycenter s.tsv --sample-size 1", "--seed 3", Changes),
    ("barycenter s.tsv --start mean", "--seed 3", Refused("--seed belongs to --start medoid")),
    ("barycenter s.tsv", "--weights w.csv", Changes),
    ("barycenter s.tsv", "--optimizer lbfgs", Refused("--optimizer belongs to averages under soft_dtw")),
    ("barycenter s.tsv", "--optimizer adam", Refused("under dtw they are found along")),
    (
        "barycenter s.tsv",
        "--learning-rate 0.1",
        Refused("--learning-rate belongs to averages under soft_dtw"),
    ),
    ("barycenter s.tsv -m soft_dtw", "--optimizer adam", Changes),
    ("barycenter s.tsv -m soft_dtw", "--learning-rate 0.1", Refused("--optimizer adam")),
    ("barycenter s.tsv -m soft_dtw --optimizer adam", "--learning-rate 0.2", Changes),
    ("barycenter s.tsv -m soft_dtw", "--gamma 0.1", Changes),
    ("barycenter s.tsv", "--gamma 0.1", Refused("--gamma is no option of dtw")),
    ("barycenter s.tsv", "--sqrt", Refused("--sqrt has no meaning")),
    ("barycenter s.tsv", "--cost manhattan", Refused("squared Euclidean")),
    ("barycenter s.tsv -m soft_dtw", "--cost euclidean", Refused("squared Euclidean")),
    ("barycenter s.tsv", "--max-iterations 1", Changes),
    ("barycenter s.tsv", "--max-iterations 0", Refused("--max-iterations must be at least 1")),
    ("barycenter s.tsv", "--tolerance 0.9", Changes),
    ("barycenter s.tsv", "--plot o.svg", Changes),
    ("barycenter s.tsv", "--plot-channel 0", NO_PLOT),
    ("barycenter two.npy --plot o.svg", "--plot-channel 1", Changes),
    ("barycenter s.tsv", "--measure soft_dtw", Changes),
    ("barycenter s.tsv", "--band 0", Changes),
    ("barycenter s.tsv", "--csv-layout rows", NO_CSV),
];

const CLUSTER: &[Case] = &[
    ("cluster -k 2 square.csv", "--labels last", Changes),
    ("cluster square.csv -k 2", "--csv-index yes", Changes),
    ("cluster s.tsv -k 2", "--method kmedoids", Changes),
    ("cluster s.tsv -k 3 --json", "--seed 4", Changes),
    ("cluster s.tsv -k 2 --method kmedoids", "--seed 4", Refused("--seed changes nothing")),
    (
        "cluster s.tsv -k 2 --method kmedoids --restarts 1",
        "--seed 4",
        Unseen("other starts, the same optimum"),
    ),
    ("cluster s.tsv -k 2 --seed 2 --json", "--restarts 9", Changes),
    ("cluster s.tsv -k 2 --method kmedoids", "--restarts 0", Refused("--restarts must be at least 1")),
    ("cluster s.tsv -k 2 --json", "--weights w.csv", Changes),
    (
        "cluster s.tsv -k 2 --method kmedoids",
        "--weights w.csv",
        Refused("--weights belongs to --method kmeans"),
    ),
    ("cluster s.tsv -k 2 --json", "--batch-size 2", Changes),
    ("cluster s.tsv -k 2", "--batch-size 0", Refused("--batch-size must be at least 1")),
    (
        "cluster s.tsv -k 2 --method clara",
        "--batch-size 2",
        Refused("--batch-size belongs to --method kmeans"),
    ),
    ("cluster s.tsv -k 2 --method clara --sample-size 2 --json", "--samples 1", Changes),
    ("cluster s.tsv -k 2", "--samples 3", Refused("--samples belongs to --method clara")),
    ("cluster s.tsv -k 2 --method clara --samples 1 --json", "--sample-size 2", Changes),
    ("cluster s.tsv -k 2 --method kmedoids", "--sample-size 4", Refused("kmedoids compares all series")),
    ("cluster s.tsv -k 3 --json", "--max-iterations 1", Changes),
    ("cluster s.tsv -k 2", "--max-iterations 0", Refused("--max-iterations must be at least 1")),
    (
        "cluster s.tsv -k 2 --method kmedoids",
        "--max-iterations 0",
        Refused("--max-iterations must be at least 1"),
    ),
    ("cluster s.tsv -k 2 --json", "--center-iterations 1", Changes),
    ("cluster s.tsv -k 2", "--center-iterations 0", Refused("--center-iterations must be at least 1")),
    (
        "cluster s.tsv -k 2 --method kmedoids",
        "--center-iterations 9",
        Refused("--center-iterations belongs to --method kmeans"),
    ),
    (
        "cluster s.tsv -k 2 --method kmedoids",
        "--optimizer adam",
        Refused("--optimizer belongs to --method kmeans"),
    ),
    ("cluster s.tsv -k 2 --method kmedoids -m soft_dtw", "--optimizer adam", Refused("--method kmeans")),
    (
        "cluster s.tsv -k 2 --method kmedoids",
        "--learning-rate 1",
        Refused("--learning-rate belongs to --method kmeans"),
    ),
    ("cluster s.tsv -k 2", "--optimizer adam", Refused("--optimizer belongs to averages under soft_dtw")),
    ("cluster s.tsv -k 2 -m soft_dtw", "--optimizer adam", Changes),
    ("cluster s.tsv -k 2 -m soft_dtw --optimizer adam", "--learning-rate 0.2", Changes),
    ("cluster s.tsv -k 2", "--clusters 3", Refused("--clusters")),
    ("cluster s.tsv -k 2", "--sqrt", Refused("--sqrt has no meaning")),
    ("cluster s.tsv -k 2", "--centers o.npy", Changes),
    ("cluster s.tsv -k 2", "--plot o.svg", Changes),
    ("cluster s.tsv -k 2", "--plot-channel 0", NO_PLOT),
    ("cluster pairs.npy -k 2 --plot o.svg", "--plot-channel 1", Changes),
    ("cluster s.tsv -k 2", "--measure soft_dtw", Changes),
    ("cluster s.tsv -k 2", "--band 0", Changes),
    ("cluster s.tsv -k 2", "--csv-layout rows", NO_CSV),
];

const OTHERS: &[Case] = &[
    // In this order: the second takes the shard away.
    ("merge kept.npy", "--quiet", QUIET),
    ("merge kept.npy", "--remove", Changes),
    ("devices", "--json", Changes),
    ("devices", "--quiet", QUIET),
    ("man", "--quiet", QUIET),
    ("completions bash", "--quiet", QUIET),
];

fn bench() -> Bench {
    let bench = Bench::new();
    let values = waves(6, 9);
    let rows = values.chunks(9).enumerate().map(|(k, row)| {
        let cells: Vec<String> = row.iter().map(|v| format!("\t{}", v + 0.7 * (k % 3) as f64)).collect();
        format!("{}{}\n", if k % 2 == 0 { "a" } else { "b" }, cells.concat())
    });
    bench.write("s.tsv", rows.collect::<String>()).write("two.npy", npy(&[1, 9, 2], &waves(2, 9)));
    let column = |values: &[f64]| values.iter().map(|v| format!("{v}\n")).collect::<String>();
    bench.write("r.csv", column(&waves(1, 90))).write("q.csv", column(&waves(2, 9)[10..17]));
    bench.write("p.csv", column(&waves(3, 7)[9..])).write("w.csv", "1\n2\n0\n1\n4\n1\n");
    bench
        .write("pairs.npy", npy(&[3, 9, 2], &waves(6, 9).iter().map(|v| v * 9.0).collect::<Vec<_>>()))
        .write("square.csv", "1,2,3\n2,5,1\n9,1,4\n")
        .write("timed.csv", "0,1,3\n1,5,2\n3,1,4\n");
    bench.ok(&["pairwise", "square.csv", "-o", "kept.npy", "--shard", "1/1"]);
    bench
}

/// What a call says and writes, without times.
fn outcome(bench: &Bench, call: &str) -> (i32, String, String, Vec<Vec<u8>>) {
    let said = bench.run(&call.split_whitespace().collect::<Vec<_>>());
    let is_timed = |line: &&str| line.starts_with("took") || line.contains("cells/s");
    let lines: Vec<&str> = said.stdout.lines().filter(|line| !is_timed(line)).collect();
    let text = lines.join("\n");
    let text = match text.split_once("\"seconds\":") {
        Some((head, rest)) => format!("{head}{}", rest.split_once([',', '}']).map_or("", |(_, rest)| rest)),
        None => text,
    };
    let mut files = Vec::new();
    for name in bench.names().into_iter().filter(|name| name.starts_with("o.")) {
        files.push(bench.read(&name));
        std::fs::remove_file(bench.file(&name)).unwrap();
    }
    (said.code, text, said.stderr, files)
}

fn cases() -> Vec<(String, &'static str, Then)> {
    let own = COMPUTING.iter().flat_map(|(_, own)| *own).chain(OTHERS);
    let own = own.map(|(call, option, then)| ((*call).to_owned(), *option, *then));
    let every = COMPUTING.iter().flat_map(|(base, _)| {
        EVERY.iter().map(move |(more, option, then)| (format!("{base}{more}"), *option, *then))
    });
    own.chain(every).collect()
}

fn check(command: &str) {
    let bench = bench();
    for (call, option, then) in cases() {
        if call.split(' ').next() != Some(command) {
            continue;
        }
        let with = format!("{call} {option}");
        match then {
            Refused(part) => bench.refuses(&with.split_whitespace().collect::<Vec<_>>(), &[part]),
            Changes => {
                let (without, with) = (outcome(&bench, &call), outcome(&bench, &with));
                // A choice that the call needs is missing without the option.
                let needs = without.0 != 0 && without.2.contains(option.split(' ').next().unwrap());
                assert!(without.0 == 0 || needs, "{call}: {without:?}");
                assert_eq!(with.0, 0, "{call} {option}: {with:?}");
                assert!(without != with, "{call}: {option} is accepted and ignored");
            }
            Unseen(why) => {
                let (without, with) = (outcome(&bench, &call), outcome(&bench, &with));
                assert_eq!(with, without, "{call} {option} shows after all: {why}");
            }
        }
    }
}

#[test]
fn pairwise() {
    check("pairwise");
}

#[test]
fn classify() {
    check("classify");
}

#[test]
fn search() {
    check("search");
}

#[test]
fn align() {
    check("align");
}

#[test]
fn barycenter() {
    check("barycenter");
}

#[test]
fn cluster() {
    check("cluster");
}

#[test]
fn others() {
    ["merge", "devices", "man", "completions"].into_iter().for_each(check);
}

/// The parameters of measures: each is refused by every measure that does not have it, and changes those that have it.
#[test]
fn parameters_of_measures() {
    let bench = bench();
    // Another value of each than the one it has where it is not tried.
    let values = [
        ("--cost manhattan", "cost"),
        ("--sqrt", ""),
        ("--g 0.9", "g"),
        ("--penalty 0.1", "penalty"),
        ("--gap 2", "gap"),
        ("--epsilon 0.1", "epsilon"),
        ("--edr-normalized", "output"),
        ("--lcss-length", "output"),
        ("--c 0.1", "c"),
        ("--nu 0.5", "nu"),
        ("--lambda 3", "lambda"),
        ("--degree 1", "degree"),
        ("--gamma 0.1", "gamma"),
        ("--sigma 2", "sigma"),
    ];
    let is_of = |kind: &Kind, (option, name): (&str, &str)| match kind.parameter(name) {
        None => option == "--sqrt" && kind.is_rooted,
        Some(parameter) if parameter.switch().is_some() => option.starts_with(&format!("--{}-", kind.key)),
        Some(_) => true,
    };
    for kind in Kind::all() {
        for parameter in kind.parameters {
            let tried = values.into_iter().any(|value| value.1 == parameter.name && is_of(kind, value));
            assert!(tried, "nothing tries {} of {kind:?}", parameter.name);
        }
    }
    for kind in Kind::all() {
        let measure = kind.key;
        let needed = match measure {
            "edr" => " --epsilon 0.5",
            "log_gak" => " --sigma 1",
            _ => "",
        };
        for value in values {
            let (option, _) = value;
            let call = format!("pairwise pairs.npy -m {measure}");
            let words = format!("{call} {option}");
            if is_of(kind, value) {
                let needed =
                    if option.starts_with(needed.trim().split(' ').next().unwrap()) { "" } else { needed };
                let without = outcome(&bench, &format!("{call}{needed}"));
                assert!(
                    without != outcome(&bench, &format!("{words}{needed}")),
                    "{words} is accepted and ignored"
                );
            } else {
                let name = option.split(' ').next().unwrap();
                let expected = format!("{name} is no option of {measure}; it belongs to");
                bench.refuses(&words.split(' ').collect::<Vec<_>>(), &[&expected]);
            }
        }
    }
}

/// The tables above leave out no option that a help shows.
#[test]
fn every_option_is_tried() {
    let bench = Bench::new();
    let cases = cases();
    let root = bench.ok(&["--help"]);
    let commands = root
        .split("Commands:\n")
        .nth(1)
        .unwrap()
        .lines()
        .map_while(|l| l.strip_prefix("  "))
        .filter(|l| !l.starts_with(' '));
    let commands: Vec<&str> = commands.filter_map(|l| l.split_whitespace().next()).collect();
    assert!(commands.contains(&"pairwise") && commands.contains(&"man"), "{commands:?}");
    // `commands.rs` runs the demo, and `profile.rs` profiles; the options are of measures, tried in
    // `parameters_of_measures`.
    let elsewhere = "--cost --sqrt --g --penalty --gap --epsilon --edr-normalized --lcss-length --c --nu --lambda \
                     --degree --gamma --sigma --help --version";
    for command in commands.into_iter().filter(|c| !["help", "demo", "profile"].contains(c)) {
        let help = bench.ok(&[command, "-h"]);
        // Deeper lines go on with a description.
        let is_option =
            |line: &&str| line.find('-').is_some_and(|at| at <= 6 && line[..at].trim().is_empty());
        for line in help.lines().filter(is_option).map(str::trim_start) {
            let mut words = line.split([' ', ',']);
            let Some(option) = words.find(|word| word.starts_with("--")) else { continue };
            let tried = cases.iter().any(|(call, with, _)| {
                let words: Vec<&str> = call.split(' ').chain(with.split(' ')).collect();
                words[0] == command && words.contains(&option)
            });
            let is_required =
                help.lines().any(|l| l.starts_with("Usage:") && l.contains(&format!("{option} <")));
            assert!(
                tried || is_required || elsewhere.split(' ').any(|e| e == option),
                "no case tries {option} of {command}"
            );
        }
    }
}

/// Notes go, warnings and errors stay.
#[test]
fn quiet_leaves_out_notes() {
    let bench = Bench::new();
    bench.write("big.csv", "0,1e200\n0,0\n");
    let noisy = bench.run(&["pairwise", "big.csv"]);
    for quiet in ["--quiet", "-q"] {
        let said = bench.run(&["pairwise", "big.csv", quiet]);
        assert_eq!((said.code, &said.stdout), (0, &noisy.stdout));
        assert_eq!((noisy.read.len(), said.read.len()), (1, 0));
        assert!(said.stderr.starts_with("warning: ") && said.stderr == noisy.stderr, "{said:?}");
    }
    bench.refuses(&["--quiet", "pairwise", "none.csv"], &["cannot read none.csv"]);
}
