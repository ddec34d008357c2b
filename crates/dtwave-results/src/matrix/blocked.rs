//! Why a result cannot be begun or continued: data, which each face of dtwave tells in its own words.

use std::fmt;
use std::path::PathBuf;

use super::identity::{DTYPE, Difference};

/// What stands in the way. The text speaks of [`Start::Resume`](super::Start::Resume).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blocked {
    /// An earlier run is not finished, and nobody asked to continue it.
    Unfinished {
        /// Its values.
        partial: PathBuf,
        /// Its progress file.
        progress: PathBuf,
    },
    /// The progress file is another job's.
    OtherJob {
        /// What differs.
        difference: Difference,
        /// The progress file.
        progress: PathBuf,
    },
    /// The name holds something that is no result of this job: what it is not.
    OtherResult(String),
}

/// How a face names what its user can do.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// What continues a run: `--resume`.
    pub resume: &'static str,
    /// A run: `command`.
    pub run: &'static str,
    /// The choice of the number type: `--dtype`.
    pub dtype: &'static str,
}

impl Blocked {
    /// The text with what to do, in a face's words.
    pub fn told(&self, words: Words) -> String {
        let Words { resume, run, dtype } = words;
        match self {
            Self::Unfinished { partial, progress } => format!(
                "{} holds an unfinished result; pass {resume} to continue it, or delete {} to start again",
                partial.display(),
                progress.display()
            ),
            Self::OtherJob { difference: Difference { name, then, now }, progress } => {
                let name = if name == DTYPE { dtype } else { name };
                format!(
                    "cannot resume: {name} was {then} and is now {now}; repeat the first {run}, or delete {} to \
                     start again",
                    progress.display()
                )
            }
            Self::OtherResult(what) => {
                format!("{what}; leave out {resume} to replace it, or choose another name")
            }
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Words { resume: "`Start::Resume`", run: "call", dtype: DTYPE }))
    }
}

impl std::error::Error for Blocked {}
