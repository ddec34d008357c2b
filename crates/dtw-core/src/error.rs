//! What can go wrong, by whose doing.

use std::fmt;

use crate::Remedy;
use crate::remedy::told;

/// Result of every fallible call in dtwave.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, sorted by who can mend it.
///
/// What helps is data ([`Error::remedies`]). The text of an error names it as the Rust library spells it; another face
/// writes the text with [`Error::told`]. The text is all of it: that of [`Error::Backend`] includes the backend's
/// reason. So `source` goes on behind what the text tells, and printing a whole chain of errors (`{:#}` of the crate
/// `anyhow`) says nothing twice. The reason itself, with its type, is in the variant.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: an argument or a series is not what the measure needs. The text names which, what was expected
    /// and what was found.
    Invalid(String),
    /// The caller's: what is asked for has no meaning for the measure, and something else has.
    Undefined {
        /// What was asked, and why it has no meaning.
        what: String,
        /// What has one.
        remedies: &'static [Remedy],
    },
    /// The backend's: it cannot do this.
    Unsupported {
        /// Name of the backend that refused.
        backend: &'static str,
        /// What was asked.
        what: String,
        /// Who can, or how it can be done.
        remedies: &'static [Remedy],
    },
    /// The call needs more memory than it may use.
    OutOfMemory {
        /// What the memory is for.
        what: String,
        /// Bytes the call needs.
        requested_bytes: u64,
        /// Bytes the caller allows or the device has.
        available_bytes: u64,
    },
    /// The system does not give the memory that a call needs, whatever the caller allows.
    MemoryRefused {
        /// What the memory is for.
        what: String,
        /// Bytes the call needs.
        requested_bytes: u64,
    },
    /// The observer asked to stop; outputs hold nothing of use.
    Cancelled,
    /// The device or its driver failed.
    Backend {
        /// Name of the backend.
        backend: &'static str,
        /// What failed and what the driver said, in a type of the backend's.
        reason: Box<dyn std::error::Error + Send + Sync>,
        /// What helps, if that is known.
        remedies: &'static [Remedy],
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(Remedy::in_rust))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The text has told the reason.
            Self::Backend { reason, .. } => reason.source(),
            _ => None,
        }
    }
}

impl Error {
    /// An [`Error::Invalid`] with this text.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }

    /// An [`Error::Backend`] about which nothing is known to help.
    pub fn failed(
        backend: &'static str,
        reason: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Backend { backend, reason: reason.into(), remedies: &[] }
    }

    /// An [`Error::Unsupported`] of what the CPU computes.
    pub fn left_to_cpu(backend: &'static str, what: impl Into<String>) -> Self {
        Self::Unsupported { backend, what: what.into(), remedies: Remedy::CPU }
    }

    /// What helps, the best first.
    pub const fn remedies(&self) -> &'static [Remedy] {
        match self {
            Self::Undefined { remedies, .. }
            | Self::Unsupported { remedies, .. }
            | Self::Backend { remedies, .. } => remedies,
            Self::OutOfMemory { .. } => &[Remedy::MoreMemory],
            Self::Invalid(_) | Self::MemoryRefused { .. } | Self::Cancelled => &[],
        }
    }

    /// The text of the error, with its remedies in a face's own words. Those without words are left out.
    pub fn told(&self, words: impl Fn(Remedy) -> String) -> String {
        let what = match self {
            Self::Invalid(what) | Self::Undefined { what, .. } => what.clone(),
            Self::Unsupported { backend, what, .. } => format!("{backend} cannot compute this: {what}"),
            Self::OutOfMemory { what, requested_bytes, available_bytes } => format!(
                "out of memory: {what} needs {requested_bytes} bytes, {available_bytes} bytes are allowed"
            ),
            Self::MemoryRefused { what, requested_bytes } => {
                format!("out of memory: {what} needs {requested_bytes} bytes, which the system does not give")
            }
            Self::Cancelled => "cancelled".to_owned(),
            Self::Backend { backend, reason, .. } => format!("{backend}: {reason}"),
        };
        told(what, self.remedies(), words)
    }
}

/// An empty vector with room for `len` values; what they are is for the error.
///
/// # Errors
/// [`Error::MemoryRefused`] where the system refuses the memory, which ends a process that asks for it by `vec!`.
pub fn reserved<T>(len: usize, what: impl FnOnce() -> String) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(len) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::MemoryRefused {
            what: what(),
            requested_bytes: (len as u64).saturating_mul(size_of::<T>() as u64),
        }),
    }
}

/// Returns early with an [`Error::Invalid`] built by `format!`.
#[macro_export]
macro_rules! bail_invalid {
    ($($arg:tt)*) => { return Err($crate::Error::Invalid(format!($($arg)*))) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A driver that failed, and why.
    #[derive(Debug)]
    struct Failed(std::io::Error);

    impl fmt::Display for Failed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the driver failed")
        }
    }

    impl std::error::Error for Failed {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn the_chain_of_a_backends_error_tells_each_cause_once() {
        let reason = Failed(std::io::Error::other("no such device"));
        let error = Error::failed("cpu", reason);
        let mut chain = vec![error.to_string()];
        let mut next = std::error::Error::source(&error);
        while let Some(cause) = next {
            chain.push(cause.to_string());
            next = cause.source();
        }
        assert_eq!(chain, ["cpu: the driver failed", "no such device"]);
        let Error::Backend { reason, .. } = &error else { panic!("{error}") };
        let kind = reason.downcast_ref::<Failed>().map(|failed| failed.0.kind());
        assert_eq!(kind, Some(std::io::ErrorKind::Other), "the reason keeps its type");
    }

    #[test]
    fn each_face_says_in_its_own_words_what_helps() {
        let remedies = &[Remedy::Dtype(crate::Dtype::F32), Remedy::Backend("cpu")];
        let error = Error::Unsupported { backend: "wgpu", what: "f64".to_owned(), remedies };
        assert_eq!(
            error.to_string(),
            "wgpu cannot compute this: f64; use f32 values, or use `Device::cpu()`"
        );
        assert_eq!(error.told(|_| "wait".to_owned()), "wgpu cannot compute this: f64; wait, or wait");
        let error = Error::OutOfMemory { what: "it".to_owned(), requested_bytes: 2, available_bytes: 1 };
        assert_eq!(error.remedies(), [Remedy::MoreMemory]);
        assert!(
            error
                .to_string()
                .ends_with("1 bytes are allowed; allow more with `memory_limit` or `with_memory_limit`")
        );
    }
}
