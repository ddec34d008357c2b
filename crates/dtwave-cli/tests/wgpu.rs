//! The command on a GPU through WebGPU; Mesa's driver in software will do, and without any these tests fail.
#![cfg(feature = "wgpu")]

mod common;

use common::Bench;
#[cfg(target_os = "linux")]
use common::Said;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.csv", "1,2,3,4,2\n2,2,3,5,1\n0,1,0,3,3\n");
    bench
}

/// Runs the command where no graphics driver is found.
#[cfg(target_os = "linux")]
fn without_a_driver(args: &[&str]) -> Said {
    let bench = bench();
    let mut command = bench.command(args);
    Said::new(
        command
            .envs(["VK_DRIVER_FILES", "VK_ICD_FILENAMES"].map(|name| (name, "none.json")))
            .output()
            .unwrap(),
    )
}

#[test]
fn a_matrix_is_as_on_the_cpu() {
    let bench = bench();
    let matrix = |backend| {
        let answer = bench.json(&["pairwise", "a.csv", "--json", "--dtype", "f32", "--backend", backend]);
        answer["distances"].clone()
    };
    let cpu = matrix("cpu");
    // Whole numbers: a float holds them all.
    assert!(cpu[0][1].as_f64().unwrap() > 0.0, "{cpu}");
    for backend in ["wgpu", "wgpu:0"] {
        assert_eq!(matrix(backend), cpu, "{backend}");
    }
}

#[test]
fn doubles_are_refused_with_the_backends_that_have_them() {
    bench().refuses(&["pairwise", "a.csv", "--backend", "wgpu", "-o", "d.npy"], &["f64", "cpu", "cuda"]);
}

#[test]
fn a_gpu_that_is_not_there_is_refused_with_those_that_are() {
    bench().refuses(
        &["pairwise", "a.csv", "--dtype", "f32", "--backend", "wgpu:Voodoo 2", "-o", "d.npy"],
        &["Voodoo 2", "0 ("],
    );
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_driver_there_is_one_line_that_says_so() {
    let said = without_a_driver(&["pairwise", "a.csv", "--dtype", "f32", "--backend", "wgpu", "-o", "d.npy"]);
    assert_ne!(said.code, 0);
    assert!(said.stderr.contains("no GPU is reached through Vulkan"), "{said:?}");
    assert_eq!(said.stderr.lines().count(), 1, "{said:?}");

    let said = without_a_driver(&["devices"]);
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert!(said.stdout.contains("no GPU is reached through Vulkan"), "{said:?}");
}
