//! Judges the cases of one section, chosen and random, and the section on the whole.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::check::{Checked, Stop};
use crate::golden;
use crate::report::{Details, Outcome, Report};
use crate::seed;

/// A section while it runs.
pub(super) struct Judge<'a> {
    section: &'a str,
    seed: u64,
    /// Whether the check of this name is run.
    chosen: &'a dyn Fn(&str) -> bool,
    /// Whether a check was left out.
    left_out: bool,
    report: Report,
}

impl<'a> Judge<'a> {
    pub(super) fn new(section: &'a str, seed: u64, chosen: &'a dyn Fn(&str) -> bool) -> Self {
        Self { section, seed, chosen, left_out: false, report: Report::default() }
    }

    /// Whether to run a check.
    fn takes(&mut self, name: &str) -> bool {
        let takes = (self.chosen)(name);
        self.left_out |= !takes;
        takes
    }

    /// Runs one check that is no random one.
    pub(super) fn record<D: Into<Details>>(&mut self, name: &str, check: impl FnOnce() -> Checked<D>) {
        let name = format!("{}: {name}", self.section);
        if !self.takes(&name) {
            return;
        }
        let outcome = match check() {
            Ok(details) => {
                self.report.detail(details.into());
                Outcome::Passed
            }
            Err(Stop::Unsupported(reason)) => Outcome::Unsupported(reason),
            Err(Stop::Failed(reason)) => Outcome::Failed(reason),
        };
        self.report.record(name, outcome);
    }

    /// Runs one property on 256 random cases, or as many as the environment variable `PROPTEST_CASES` says; a failure
    /// is shrunk first. `name` and the seed decide which.
    pub(super) fn property<S: Strategy, D: Into<Details>>(
        &mut self,
        name: &str,
        strategy: &S,
        check: impl Fn(&S::Value) -> Checked<D>,
    ) {
        if !self.takes(&format!("{} {name}", self.section)) {
            return;
        }
        let config = Config { failure_persistence: None, max_shrink_iters: 1000, ..Config::default() };
        let asked = config.cases as usize;
        let random = seed::random(self.seed, &format!("{} {name}", self.section));
        let mut runner = TestRunner::new_with_rng(config, random);
        let report = RefCell::new(Report::default());
        let result = runner.run(strategy, |value| match check(&value) {
            Ok(details) => {
                report.borrow_mut().passed += 1;
                report.borrow_mut().detail(details.into());
                Ok(())
            }
            Err(Stop::Unsupported(reason)) => {
                report.borrow_mut().record(self.section, Outcome::Unsupported(reason));
                Ok(())
            }
            Err(Stop::Failed(reason)) => Err(TestCaseError::fail(reason)),
        });
        let mut report = report.into_inner();
        let problem = match result {
            Ok(()) => None,
            Err(TestError::Fail(reason, case)) => Some(format!("{reason}; smallest case found: {case:?}")),
            Err(error) => Some(error.to_string()),
        };
        if let Some(problem) = problem {
            // Whatever passed while the failure was shrunk was not asked for.
            report.passed = report.passed.min(asked);
            let again = format!("again with --seed {0} or {1}={0}", self.seed, seed::VARIABLE);
            report
                .record(format!("{} {name}", self.section), Outcome::Failed(format!("{problem} ({again})")));
        }
        self.report.absorb(report);
    }

    /// Runs the cases of a golden file; one that cannot be read is a failure.
    pub(super) fn golden(&mut self, json: &str, check: impl Fn(&golden::Case) -> Checked) {
        match golden::parse(json) {
            Err(error) => self.record::<()>("file", || Err(Stop::Failed(error.to_string()))),
            Ok(cases) => {
                for case in cases {
                    match case {
                        Err(error) => self.record::<()>("file", || Err(Stop::Failed(error.to_string()))),
                        Ok(case) => self.record(&case.name, || check(&case)),
                    }
                }
            }
        }
    }

    /// The section's report. Its errors on the whole must be within their bound; and there must be cases. Of chosen
    /// checks neither is asked.
    pub(super) fn finish(mut self) -> Report {
        if self.left_out {
            return self.report;
        }
        if let Err(message) = self.report.details.accuracy.judge() {
            self.report.record(format!("{} on the whole", self.section), Outcome::Failed(message));
        }
        if self.report.passed == 0 && self.report.failed.is_empty() && self.report.skipped.is_empty() {
            self.report.record(self.section, Outcome::Failed("there are no cases".to_owned()));
        }
        self.report
    }
}
