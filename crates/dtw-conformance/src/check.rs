//! One function per thing a backend promises, each taking one case and returning one [`Outcome`].

pub mod alignment;
pub mod contract;
pub mod distances;
pub mod expected;
pub mod gradients;
pub mod half;
pub mod matches;
pub mod paths;

use dtw_core::{Backend, Error, Plan, Problem, Task};

use crate::batch::Element;
use crate::oracle::OracleError;
use crate::report::Outcome;

/// Why a check ended early.
#[derive(Debug)]
pub enum Stop {
    /// The backend said beforehand that it cannot do this.
    Unsupported(String),
    /// The case failed.
    Failed(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(format!("unexpected error: {error}"))
    }
}

impl From<OracleError> for Stop {
    fn from(error: OracleError) -> Self {
        Stop::Failed(format!("the case itself is wrong: {error}"))
    }
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Stop::Failed(message)
    }
}

/// What a check's body returns.
pub type Checked<R = ()> = Result<R, Stop>;

/// A check's body as the outcome of a case.
pub fn outcome(checked: Checked) -> Outcome {
    match checked {
        Ok(()) => Outcome::Passed,
        Err(Stop::Unsupported(reason)) => Outcome::Unsupported(reason),
        Err(Stop::Failed(reason)) => Outcome::Failed(reason),
    }
}

/// A plan for `problem`, of a backend that says it supports `task`.
///
/// # Errors
/// [`Stop::Unsupported`] only where [`Backend::supports`] says so; a plan that is refused after that is a failure.
pub fn prepared<T: Element>(
    backend: &dyn Backend<T>,
    problem: &Problem,
    task: Task,
) -> Checked<Box<dyn Plan<T>>> {
    match backend.supports(problem, task) {
        Ok(()) => Ok(backend.plan(problem)?),
        Err(error @ Error::Unsupported { .. }) => Err(Stop::Unsupported(error.to_string())),
        Err(error) => Err(Stop::Failed(format!("supports() must answer yes or Unsupported, got: {error}"))),
    }
}

/// Checks that a result, good or bad, is [`Error::Invalid`] with one line of text that contains `named`.
///
/// # Errors
/// [`Stop::Failed`] where it is anything else.
pub fn refused<R>(result: dtw_core::Result<R>, what: &str, named: &[&str]) -> Checked {
    match result {
        Ok(_) => Err(Stop::Failed(format!("{what} was accepted"))),
        Err(Error::Invalid(text)) => {
            if text.contains('\n') {
                return Err(Stop::Failed(format!("{what}: the error is more than one line: {text}")));
            }
            match named.iter().find(|name| !text.contains(**name)) {
                Some(name) => Err(Stop::Failed(format!("{what}: the error does not say {name:?}: {text}"))),
                None => Ok(()),
            }
        }
        Err(error) => Err(Stop::Failed(format!("{what}: expected Invalid, got: {error}"))),
    }
}

/// Bits of every value, to compare runs with.
pub(crate) fn bits<T: Element>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.wide().to_bits()).collect()
}
