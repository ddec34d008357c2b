//! The whole suite, cut into named sections; [`suite!`](crate::suite!) makes one test of each.
//!
//! A case that a backend does not support is skipped only where [`expectations`](crate::expectations) says so;
//! elsewhere it fails, and so does one that is supported though it is said not to be.

mod judge;

use dtw_core::measure::Kind;
use dtw_core::{Backend, Band, Pairing};

use self::judge::Judge;
use crate::batch::Element;
use crate::cases::long::{self, LongCase};
use crate::cases::{
    Case, distances, extremes, gradient_digits, halves, random, soft, tasks, variants, with_path,
};
use crate::check::paths::Identity;
use crate::check::{self, contract};
use crate::golden;
use crate::report::Report;
use crate::seed;

/// The names of all sections, made of the table of measures, in order.
#[doc(hidden)]
#[macro_export]
macro_rules! __section_names {
    (
        [$name:ident]
        $(
            $(#[$doc:meta])*
            $key:ident $variant:ident $(as $base:ident)? $({ $($fields:tt)* })? is $facts:tt examples $examples:tt
        )*
        ; $( $(#[$what:meta])* anchored $other:ident $of:ident $row:ident $anchor:tt is $also:tt )*
    ) => {
        /// The names of all sections.
        pub const $name: &[&str] = &[
            "golden",
            $(stringify!($key),)* $(stringify!($other),)*
            $(concat!("random_", stringify!($key)),)* $(concat!("random_", stringify!($other)),)*
            "soft_digits",
            "extremes",
            "gradient_digits",
            "gradients_soft_dtw",
            "gradients_soft_dtw_divergence",
            "alignment",
            "paths",
            "matches",
            "random_gradients",
            "random_paths",
            "random_matches",
            "bad_input",
            "progress_and_cancellation",
            "long_subsequence_dtw",
            "half_precision",
        ];
    };
}

/// A test of every section, made of the table of measures. The random cases of a key are `random::KEY`.
#[doc(hidden)]
#[macro_export]
macro_rules! __section_tests {
    (
        [$element:ty, $backend:expr]
        $(
            $(#[$doc:meta])*
            $key:ident $variant:ident $(as $base:ident)? $({ $($fields:tt)* })? is $facts:tt examples $examples:tt
        )*
        ; $( $(#[$what:meta])* anchored $other:ident $of:ident $row:ident $anchor:tt is $also:tt )*
    ) => {
        $crate::__section_tests! {
            @plain [$element, $backend]
            golden $($key)* $($other)*
            soft_digits extremes gradient_digits gradients_soft_dtw gradients_soft_dtw_divergence alignment paths matches
            random_gradients random_paths random_matches bad_input progress_and_cancellation long_subsequence_dtw half_precision
        }
        mod random {
            #[allow(unused_imports, reason = "the expression may be a literal path")]
            use super::*;
            $crate::__section_tests! { @random [$element, $backend] $($key)* $($other)* }
        }
    };
    (@plain [$element:ty, $backend:expr] $($section:ident)*) => {
        $(
            #[test]
            fn $section() {
                $crate::suite::run_section::<$element>(stringify!($section), &$backend).assert();
            }
        )*
    };
    (@random [$element:ty, $backend:expr] $($key:ident)*) => {
        $(
            #[test]
            fn $key() {
                let section = concat!("random_", stringify!($key));
                $crate::suite::run_section::<$element>(section, &$backend).assert();
            }
        )*
    };
}

/// Joins a backend to the suite: `dtw_conformance::suite!(MyBackend::new());` makes a test of every section in each
/// precision. `suite!(f32: …)` is for a backend that only has one.
///
/// The expression is evaluated once per test and must implement [`Backend`] for the precisions named.
#[macro_export]
macro_rules! suite {
    (f32: $backend:expr) => {
        mod conformance_f32 {
            #[allow(unused_imports, reason = "the expression may be a literal path")]
            use super::*;
            $crate::__core::measures! { $crate::__section_tests [f32, $backend] }
        }
    };
    (f64: $backend:expr) => {
        mod conformance_f64 {
            #[allow(unused_imports, reason = "the expression may be a literal path")]
            use super::*;
            $crate::__core::measures! { $crate::__section_tests [f64, $backend] }
        }
    };
    ($backend:expr) => {
        $crate::suite!(f32: $backend);
        $crate::suite!(f64: $backend);
    };
}

dtw_core::measures! { __section_names [SECTIONS] }

/// A number type that the suite is compiled for: in this crate, where it and the oracles are optimised, and not once
/// more for the tests of every backend. These functions have no type parameter.
pub trait Judged: Element {
    /// [`run_checks_from`].
    #[doc(hidden)]
    fn run_checks(
        seed: u64,
        section: &str,
        chosen: &dyn Fn(&str) -> bool,
        backend: &dyn Backend<Self>,
    ) -> Report;
    /// The chosen cases of a golden file.
    #[doc(hidden)]
    fn run_golden(json: &str, chosen: &dyn Fn(&str) -> bool, backend: &dyn Backend<Self>) -> Report;
}

macro_rules! judged {
    ($($float:ty),+) => {
        $(impl Judged for $float {
            fn run_checks(
                seed: u64,
                section: &str,
                chosen: &dyn Fn(&str) -> bool,
                backend: &dyn Backend<Self>,
            ) -> Report {
                checks(seed, section, chosen, backend)
            }

            fn run_golden(json: &str, chosen: &dyn Fn(&str) -> bool, backend: &dyn Backend<Self>) -> Report {
                golden_checks(json, chosen, backend)
            }
        })+
    };
}
judged!(f32, f64);

/// Runs one section, its random cases by the seed of the environment (see [`seed`]).
///
/// # Panics
/// For a name that is not one of [`SECTIONS`], and as [`seed::of_environment`].
pub fn run_section<T: Judged>(section: &str, backend: &dyn Backend<T>) -> Report {
    run_section_from(seed::of_environment(), section, backend)
}

/// Runs one section, its random cases by this seed.
///
/// # Panics
/// For a name that is not one of [`SECTIONS`].
pub fn run_section_from<T: Judged>(seed: u64, section: &str, backend: &dyn Backend<T>) -> Report {
    run_checks_from(seed, section, &|_| true, backend)
}

/// Runs the checks of one section whose name, `section: case`, is chosen. Random cases have their section's name and
/// their measure's: all of them are drawn, or none.
///
/// # Panics
/// As [`run_section_from`].
pub fn run_checks_from<T: Judged>(
    seed: u64,
    section: &str,
    chosen: &dyn Fn(&str) -> bool,
    backend: &dyn Backend<T>,
) -> Report {
    T::run_checks(seed, section, chosen, backend)
}

fn checks<T: Element>(
    seed: u64,
    section: &str,
    chosen: &dyn Fn(&str) -> bool,
    backend: &dyn Backend<T>,
) -> Report {
    let mut judge = Judge::new(section, seed, chosen);
    match section {
        "golden" => judge.golden(golden::GOLDEN_JSON, |case| check::expected::check(case, backend)),
        "gradients_soft_dtw" | "gradients_soft_dtw_divergence" => {
            for case in tasks::gradients(&section["gradients_".len()..]) {
                judge.record(&label(&case), || check::gradients::check(&case, backend));
            }
        }
        "soft_digits" => {
            for case in soft::cases() {
                judge.record(&label(&case), || check::soft::check(&case, backend));
            }
        }
        "gradient_digits" => {
            for case in gradient_digits::cases() {
                judge.record(&label(&case), || check::gradient_digits::check(&case, backend));
            }
        }
        "extremes" => {
            for case in extremes::cases(T::DTYPE) {
                judge.record(&label(&case), || check::extremes::check(&case, backend));
            }
        }
        "alignment" => {
            for case in tasks::gradients("soft_dtw") {
                judge.record(&label(&case), || check::alignment::check(&case, backend));
            }
        }
        "paths" => {
            for (case, identity) in tasks::paths() {
                judge.record(&label(&case), || check::paths::check(&case, identity, backend));
            }
        }
        "matches" => {
            for search in tasks::searches() {
                judge.record(&label(&search.case), || check::matches::check(&search, backend));
            }
        }
        "random_gradients" => {
            for key in ["soft_dtw", "soft_dtw_divergence"] {
                let strategy = random::gradients(key, 3);
                judge.property(key, &strategy, |case| check::gradients::check(case, backend));
            }
        }
        "random_paths" => {
            for kind in with_path() {
                let strategy = random::zipped(kind.key, if kind.has_path(3) { 3 } else { 1 });
                judge.property(kind.key, &strategy, |case| {
                    check::paths::check(case, Identity::NotRequired, backend)
                });
            }
        }
        "random_matches" => {
            judge.property("", &random::searches(), |search| check::matches::check(search, backend));
        }
        "long_subsequence_dtw" => {
            for LongCase { case, memory_limit_bytes } in long::cases() {
                judge.record(&label(&case), || {
                    check::distances::check_within(&case, memory_limit_bytes, backend)
                });
            }
        }
        "half_precision" => {
            for search in halves::cases() {
                judge.record(&label(&search.case), || check::halves::check(&search, backend));
            }
        }
        "bad_input" => {
            let dtw = &variants("dtw")[0];
            for kind in contract::BAD_INPUTS {
                judge.record(kind, || contract::bad_input(kind, dtw, backend));
            }
            for key in Kind::keys() {
                judge.record(&format!("{key} has no such result"), || contract::undefined(key, backend));
            }
            judge.record("asymmetric measures", || contract::asymmetric_is_not_mirrored(backend));
        }
        "progress_and_cancellation" => {
            for spec in Kind::all().iter().filter_map(|kind| kind.specs().next()) {
                for pairing in pairings(spec.kind()) {
                    judge.record(&format!("{} {pairing:?}", spec.key()), || {
                        contract::progress_and_cancellation(&spec, pairing, backend)
                    });
                }
            }
        }
        _ => {
            if let Some(key) = section.strip_prefix("random_").and_then(known_key) {
                let strategy = random::distances(key);
                judge.property(key, &strategy, |case| check::distances::check(case, backend));
            } else if let Some(key) = known_key(section) {
                for case in distances::cases(key) {
                    judge.record(&label(&case), || check::distances::check(&case, backend));
                }
            } else {
                panic!("no section is called {section:?}; there are {SECTIONS:?}");
            }
        }
    }
    judge.finish()
}

/// Runs every section; `progress` hears each section's report.
pub fn run<T: Judged>(backend: &dyn Backend<T>, mut progress: impl FnMut(&str, &Report)) -> Report {
    let mut whole = Report::default();
    for section in SECTIONS {
        let report = run_section(section, backend);
        progress(section, &report);
        whole.absorb(report);
    }
    whole
}

/// Runs the cases of a file in the golden format (see [`golden`]) whose name, `file: case`, is chosen. A case that
/// cannot be read is a failure.
///
/// # Errors
/// When the file cannot be read, or is not a file of golden cases at all.
pub fn run_file<T: Judged>(
    path: &std::path::Path,
    chosen: &dyn Fn(&str) -> bool,
    backend: &dyn Backend<T>,
) -> std::io::Result<Report> {
    let json = std::fs::read_to_string(path)?;
    golden::parse(&json).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
    Ok(T::run_golden(&json, chosen, backend))
}

fn golden_checks<T: Element>(json: &str, chosen: &dyn Fn(&str) -> bool, backend: &dyn Backend<T>) -> Report {
    let mut judge = Judge::new("file", seed::USUAL, chosen);
    judge.golden(json, |case| check::expected::check(case, backend));
    judge.finish()
}

/// The pairings that a kind of measure has.
fn pairings(kind: &Kind) -> impl Iterator<Item = Pairing> {
    let is_symmetric = kind.is_symmetric();
    let all = [Pairing::Zipped, Pairing::Cross, Pairing::SelfSymmetric];
    all.into_iter().filter(move |pairing| *pairing != Pairing::SelfSymmetric || is_symmetric)
}

fn known_key(name: &str) -> Option<&'static str> {
    Kind::of(name).map(|kind| kind.key)
}

fn label(case: &Case) -> String {
    let band = if case.spec.band == Band::Full { "" } else { ", in a band" };
    format!("{:?}, {}{band}", case.spec.measure, case.name)
}
