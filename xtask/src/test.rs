//! `cargo xtask test`: the tests, by the runner that is there.

use anyhow::Result;
use xshell::cmd;

use crate::command::{shell, succeeds};

/// Which tests.
#[derive(clap::Args, Default)]
pub(crate) struct Options {
    /// Also those that repeat others on more shapes, types and random cases: half an hour more on two cores.
    #[arg(long)]
    all: bool,
}

/// What `--all` adds: tests, by their modules, that take seconds each and repeat on another device, shape, type or
/// number of cases what the others check. The beginning of a name stands for all that begin so.
const REPEATED: &[(&str, &str)] = &[
    // Kernels of GPUs on the processor.
    (
        "blocks",
        "matches_of_any_length_do_not_depend_on_how_the_reference_is_cut \
         windows_do_not_depend_on_how_the_reference_is_cut",
    ),
    ("channels", "costs_by_products_are_as_good_as_rounded_once"),
    ("combined", "divergences"),
    (
        "conformance::conformance_f32",
        "alignment gradients_soft_dtw gradients_soft_dtw_divergence half_precision long_subsequence_dtw paths \
         progress_and_cancellation random soft_digits soft_dtw_divergence",
    ),
    (
        "conformance::conformance_f64",
        "alignment extremes gradient_digits gradients_soft_dtw gradients_soft_dtw_divergence log_gak \
         long_subsequence_dtw matches paths progress_and_cancellation random soft_digits soft_dtw \
         soft_dtw_divergence twed",
    ),
    (
        "memory",
        "a_small_limit_only_means_more_tiles \
         series_on_the_device_are_prepared_in_parts_and_swept_in_several_launches",
    ),
    ("proposed", "starts_in_double_precision"),
    ("pruned", "every_kind_of_reference_in_single_precision"),
    (
        "resident_gradients",
        "gradients_are_those_of_host_memory_in_doubles gradients_are_those_of_host_memory_in_floats \
         memory_of_the_caller_gives_the_same strides_give_the_same_bits",
    ),
    (
        "shapes",
        "bands_along_the_diagonal_of_all_short_pairs bands_along_the_diagonal_of_every_shape \
         dtw_of_every_shape open_dtw_of_every_shape",
    ),
    ("soft", "cells_that_fall_and_rise_by_thousands_of_digits pairs_that_exponents_cannot_hold_are_given_up"),
    (
        "soft_gradients",
        "bands_that_leave_tiles_out channels_round_those_staged_at_once every_gamma \
         lengths_round_the_edges_of_tiles ragged_batches_and_divergences",
    ),
    ("stretches", "more_random_references queries_of_several_strips"),
    (
        "weighted_total",
        "many_series_are_summed_in_pieces totals_are_those_of_zipped_pairs_in_doubles \
         totals_are_those_of_zipped_pairs_in_floats",
    ),
    // The CPU without its wide registers; digits of its sums over all paths, which the suite has too.
    ("conformance::narrowest", ""),
    ("conformance::second", ""),
    // Random cases have these in single precision.
    ("conformance::widest::conformance_f32", "gradients_soft_dtw_divergence paths"),
    ("soft_digits", "soft_results_keep_their_digits"),
    // The suite's own test on a plain loop, in doubles and where it takes long; the least of its planted faults.
    ("whole::conformance_f64", ""),
    ("whole::conformance_f32", "gradients_soft_dtw_divergence paths soft_digits soft_dtw_divergence"),
    ("", "bands_of_another_radius_are_noticed"),
    // Shaders, whose golden numbers are of every measure.
    ("shaders::conformance_f32::random", ""),
    (
        "shaders::conformance_f32",
        "dtw ddtw wdtw wddtw adtw erp edr lcss msm twed soft_dtw soft_dtw_divergence log_gak frechet \
         subsequence_dtw soft_digits gradients_soft_dtw alignment paths long_subsequence_dtw \
         progress_and_cancellation random_gradients random_paths",
    ),
];

/// The names of [`REPEATED`].
fn repeated() -> Vec<String> {
    let names = |(module, tests): &(&str, &str)| -> Vec<String> {
        let whole = |test| if module.is_empty() { String::from(test) } else { format!("{module}::{test}") };
        tests.split(' ').map(whole).collect()
    };
    REPEATED.iter().flat_map(names).collect()
}

/// Instruction sets that the CPU backend has sweeps for and this processor lacks, each by the newest part of it.
fn lacking() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let sets = [
        ("avx512", is_x86_feature_detected!("avx512vpopcntdq")),
        ("avx2", is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let sets: [(&str, bool); 0] = [];
    sets.into_iter().filter(|(_, is_there)| !is_there).map(|(name, _)| name).collect()
}

/// Runs the tests.
pub(crate) fn test(options: &Options) -> Result<()> {
    let repeated = if options.all { Vec::new() } else { repeated() };
    match repeated.len() {
        0 => println!("all tests"),
        count => println!(
            "without {count} tests, or groups of them, that repeat others: `cargo xtask test --all` runs all"
        ),
    }
    for set in lacking() {
        println!(
            "NOT TRIED: this processor has no {set}, so no test runs the sweeps that are compiled for it"
        );
    }
    let skipped = repeated.iter().flat_map(|name| ["--skip", name]);
    let sh = shell()?;
    // Files for the next build would take a third of the time of this one.
    sh.set_var("CARGO_INCREMENTAL", "0");
    let all = ["--workspace", "--all-features"];
    if succeeds(cmd!(sh, "cargo nextest --version")) {
        println!("cargo-nextest is installed: tests run with it, documentation tests with cargo test");
        cmd!(sh, "cargo nextest run --no-fail-fast {all...} -- {skipped...}").run()?;
        cmd!(sh, "cargo test --doc {all...}").run()?;
    } else {
        println!("cargo-nextest is not installed: all tests run with cargo test");
        cmd!(sh, "cargo test --no-fail-fast {all...} -- {skipped...}").run()?;
    }
    Ok(())
}
