//! One function per thing a backend promises, each taking one case. It is an error ([`Stop`]) unless all of it holds.

pub mod alignment;
pub mod contract;
pub mod distances;
pub mod expected;
pub mod extremes;
pub mod gradient_digits;
pub mod gradients;
pub mod halves;
pub mod matches;
pub mod paths;
pub mod soft;

use dtw_core::{Backend, Error, Plan, Problem, Task};

use crate::batch::Element;
use crate::expectations::expected_unsupported;
use crate::oracle::OracleError;

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

/// A plan for `problem`, of a backend that says it supports `task`.
///
/// # Errors
/// As [`supported`]; a plan that is refused after that is a failure.
pub fn prepared<T: Element>(
    backend: &dyn Backend<T>,
    problem: &Problem,
    task: Task,
) -> Checked<Box<dyn Plan<T>>> {
    supported(backend, problem, task)?;
    Ok(backend.plan(problem)?)
}

/// Checks that the backend supports what it is expected to, and nothing else.
///
/// # Errors
/// [`Stop::Unsupported`] where [`Backend::supports`] and [`expectations`](crate::expectations) both say no;
/// [`Stop::Failed`] where they disagree.
pub fn supported<T: Element>(backend: &dyn Backend<T>, problem: &Problem, task: Task) -> Checked {
    let gap = expected_unsupported(backend.name(), T::DTYPE, problem, task);
    match (backend.supports(problem, task), gap) {
        (Ok(()), None) => Ok(()),
        (Ok(()), Some(reason)) => Err(Stop::Failed(format!(
            "supported, but listed as a gap ({reason}): take it out of expectations.rs"
        ))),
        (Err(error @ Error::Unsupported { .. }), Some(reason)) => {
            Err(Stop::Unsupported(format!("{error} (as expected: {reason})")))
        }
        (Err(error @ Error::Unsupported { .. }), None) => {
            Err(Stop::Failed(format!("{error}, which expectations.rs does not list as a gap")))
        }
        (Err(error), _) => {
            Err(Stop::Failed(format!("supports() must answer yes or Unsupported, got: {error}")))
        }
    }
}

/// Checks that a result, good or bad, is [`Error::Invalid`] with one line of text that contains `named`.
///
/// # Errors
/// [`Stop::Failed`] where it is anything else.
pub fn refused<R>(result: dtw_core::Result<R>, what: &str, named: &[&str]) -> Checked {
    match result {
        Ok(_) => Err(Stop::Failed(format!("{what} was accepted"))),
        Err(Error::Invalid(text) | Error::Undefined { what: text, .. }) => {
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
