//! Several devices as one, from the command line.

mod common;

use common::Bench;

#[test]
fn several_devices_write_the_bytes_of_one() {
    let bench = Bench::new();
    let rows: Vec<String> = (0..150)
        .map(|s| {
            (0..130)
                .map(|k| format!("{}", ((k * 7 + s * 13) % 101) as f64 * 0.25))
                .collect::<Vec<_>>()
                .join(",")
        })
        .collect();
    bench.write("a.csv", rows.join("\n") + "\n");
    let write = |name: &str, more: &[&str]| {
        bench.ok(&[&["pairwise", "a.csv", "-o", name, "--threads", "1"], more].concat());
        bench.read(name)
    };
    let one = write("one.npy", &[]);
    assert_eq!(write("two.npy", &["--backend", "cpu,cpu"]), one);
    // A matrix of many tiles.
    assert_eq!(write("tiles.npy", &["--backend", "cpu,cpu", "--memory-limit", "200KiB"]), one);
}

#[test]
fn lists_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    bench.write("a.csv", "0,1,2\n2,1,0\n");
    for (backend, told) in
        [("cpu,1", "of no backend"), ("cpu:all", "cuda:all"), ("abacus,cpu", "unknown backend")]
    {
        bench.refuses(&["pairwise", "a.csv", "--backend", backend], &[told]);
    }
}
