//! What a run found: how many cases passed, which failed, which the backend does not support.

use std::fmt;

use crate::accuracy::Accuracy;

/// What a check of values has to say beside that they are right.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Cases whose band leaves no path, which the backend refused as it should.
    pub refusals: usize,
    /// How wrong the values are.
    pub accuracy: Accuracy,
}

impl From<()> for Details {
    fn from((): ()) -> Self {
        Self::default()
    }
}

/// How one case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// As expected.
    Passed,
    /// The backend said beforehand that it cannot do this.
    Unsupported(String),
    /// Anything else.
    Failed(String),
}

/// A case that did not pass, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Section and name of the case.
    pub case: String,
    /// What went wrong, or what is not supported.
    pub reason: String,
}

/// Counts and reasons.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: Vec<Note>,
    /// Cases the backend does not support, as [`expectations`](crate::expectations) says.
    pub skipped: Vec<Note>,
    /// What the passed cases have to say beside that.
    pub details: Details,
}

impl Report {
    /// Counts failures for such a reason as skipped: what the caller has asked a backend not to do.
    pub fn skip_failures(&mut self, is_skipped: impl Fn(&str) -> bool) {
        self.skipped.extend(self.failed.extract_if(.., |note| is_skipped(&note.reason)));
    }

    /// Adds one case.
    pub fn record(&mut self, case: impl Into<String>, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Unsupported(reason) => self.skipped.push(Note { case: case.into(), reason }),
            Outcome::Failed(reason) => self.failed.push(Note { case: case.into(), reason }),
        }
    }

    /// Adds another report's cases.
    pub fn absorb(&mut self, other: Report) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.detail(other.details);
    }

    /// Adds what a check has to say.
    pub fn detail(&mut self, details: Details) {
        self.details.refusals += details.refusals;
        self.details.accuracy.absorb(details.accuracy);
    }

    /// Whether something passed and nothing failed. A run in which every case was unsupported has shown nothing.
    pub fn is_success(&self) -> bool {
        self.passed > 0 && self.failed.is_empty()
    }

    /// Panics with every failure, or if there are no cases at all; for use as a test. Cases that must be unsupported
    /// are cases.
    ///
    /// # Panics
    /// See above.
    pub fn assert(&self) {
        let reasons: String =
            self.failed.iter().take(20).map(|note| format!("\n  {}: {}", note.case, note.reason)).collect();
        assert!(self.failed.is_empty(), "{self}{reasons}");
        assert!(self.passed + self.skipped.len() > 0, "{self}: there are no cases");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed.len(), self.skipped.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_needs_a_pass_and_no_failure() {
        let mut report = Report::default();
        assert!(!report.is_success());
        report.record("a", Outcome::Unsupported("no f64".into()));
        assert!(!report.is_success());
        report.record("b", Outcome::Passed);
        assert!(report.is_success());
        report.record("c", Outcome::Failed("off by one".into()));
        assert!(!report.is_success());
        assert_eq!(report.to_string(), "1 passed, 1 failed, 1 skipped");
    }

    #[test]
    #[should_panic(expected = "0 passed, 0 failed, 0 skipped: there are no cases")]
    fn no_cases_are_a_failed_test() {
        Report::default().assert();
    }
}
