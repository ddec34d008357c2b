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

/// What `--all` adds: parts of the names of tests that take seconds each and repeat on another device, shape, type or
/// number of cases what the others check.
const REPEATED: &[&str] = &[
    // Kernels of GPUs on the processor.
    "blocks::matches_of_any_length_do_not_depend_on_how_the_reference_is_cut",
    "blocks::windows_do_not_depend_on_how_the_reference_is_cut",
    "channels::costs_by_products_are_as_good_as_rounded_once",
    "combined::divergences",
    "conformance::conformance_f32::alignment",
    "conformance::conformance_f32::gradients_soft_dtw",
    "conformance::conformance_f32::gradients_soft_dtw_divergence",
    "conformance::conformance_f32::long_subsequence_dtw",
    "conformance::conformance_f32::paths",
    "conformance::conformance_f32::progress_and_cancellation",
    "conformance::conformance_f32::random",
    "conformance::conformance_f32::soft_digits",
    "conformance::conformance_f32::soft_dtw_divergence",
    "conformance::conformance_f64::alignment",
    "conformance::conformance_f64::gradients_soft_dtw",
    "conformance::conformance_f64::gradients_soft_dtw_divergence",
    "conformance::conformance_f64::log_gak",
    "conformance::conformance_f64::long_subsequence_dtw",
    "conformance::conformance_f64::paths",
    "conformance::conformance_f64::progress_and_cancellation",
    "conformance::conformance_f64::random",
    "conformance::conformance_f64::soft_digits",
    "conformance::conformance_f64::soft_dtw",
    "conformance::conformance_f64::soft_dtw_divergence",
    "memory::a_small_limit_only_means_more_tiles",
    "memory::series_on_the_device_are_prepared_in_parts_and_swept_in_several_launches",
    "resident_gradients::gradients_are_those_of_host_memory_in_doubles",
    "resident_gradients::gradients_are_those_of_host_memory_in_floats",
    "resident_gradients::memory_of_the_caller_gives_the_same",
    "resident_gradients::strides_give_the_same_bits",
    "shapes::bands_along_the_diagonal_of_all_short_pairs",
    "shapes::bands_along_the_diagonal_of_every_shape",
    "shapes::dtw_of_every_shape",
    "shapes::open_dtw_of_every_shape",
    "soft::cells_that_fall_and_rise_by_thousands_of_digits",
    "soft::pairs_that_exponents_cannot_hold_are_given_up",
    "soft_gradients::bands_that_leave_tiles_out",
    "soft_gradients::channels_round_those_staged_at_once",
    "soft_gradients::every_gamma",
    "soft_gradients::lengths_round_the_edges_of_tiles",
    "soft_gradients::ragged_batches_and_divergences",
    "weighted_total::many_series_are_summed_in_pieces",
    "weighted_total::totals_are_those_of_zipped_pairs_in_doubles",
    "weighted_total::totals_are_those_of_zipped_pairs_in_floats",
    // The CPU without its wide registers; digits of its sums over all paths, which the suite has too.
    "narrowest::",
    "soft_digits::soft_results_keep_their_digits",
    // The suite's own test on a plain loop, in doubles; the least of its planted faults.
    "whole::conformance_f64::",
    "bands_of_another_radius_are_noticed",
    // Shaders, whose golden numbers are of every measure.
    "shaders::conformance_f32::random::",
    "shaders::conformance_f32::dtw",
    "shaders::conformance_f32::ddtw",
    "shaders::conformance_f32::wdtw",
    "shaders::conformance_f32::wddtw",
    "shaders::conformance_f32::adtw",
    "shaders::conformance_f32::erp",
    "shaders::conformance_f32::edr",
    "shaders::conformance_f32::lcss",
    "shaders::conformance_f32::msm",
    "shaders::conformance_f32::twed",
    "shaders::conformance_f32::soft_dtw",
    "shaders::conformance_f32::soft_dtw_divergence",
    "shaders::conformance_f32::log_gak",
    "shaders::conformance_f32::frechet",
    "shaders::conformance_f32::subsequence_dtw",
    "shaders::conformance_f32::soft_digits",
    "shaders::conformance_f32::gradients_soft_dtw",
    "shaders::conformance_f32::alignment",
    "shaders::conformance_f32::paths",
    "shaders::conformance_f32::long_subsequence_dtw",
    "shaders::conformance_f32::progress_and_cancellation",
];

/// Runs the tests.
pub(crate) fn test(options: &Options) -> Result<()> {
    let skipped: Vec<&str> = if options.all {
        println!("all tests");
        Vec::new()
    } else {
        println!(
            "without {} tests, or groups of them, that repeat others: `cargo xtask test --all` runs all",
            REPEATED.len(),
        );
        REPEATED.iter().flat_map(|name| ["--skip", name]).collect()
    };
    let sh = shell()?;
    // Files for the next build would take a third of the time of this one.
    sh.set_var("CARGO_INCREMENTAL", "0");
    let all = ["--workspace", "--all-features"];
    if succeeds(cmd!(sh, "cargo nextest --version")) {
        println!("cargo-nextest is installed: tests run with it, documentation tests with cargo test");
        cmd!(sh, "cargo nextest run {all...} -- {skipped...}").run()?;
        cmd!(sh, "cargo test --doc {all...}").run()?;
    } else {
        println!("cargo-nextest is not installed: all tests run with cargo test");
        cmd!(sh, "cargo test {all...} -- {skipped...}").run()?;
    }
    Ok(())
}
