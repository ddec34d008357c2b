//! What can go wrong, by whose doing.

/// Result of every fallible call in dtwave.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, sorted by who can mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: an argument or a series is not what the measure needs. The text names which, what was expected
    /// and what was found.
    #[error("{0}")]
    Invalid(String),
    /// The backend's: it cannot do this. The text names what, and which backend can.
    #[error("{backend} cannot compute this: {what}")]
    Unsupported {
        /// Name of the backend that refused.
        backend: &'static str,
        /// What was asked, and who can do it.
        what: String,
    },
    /// The call needs more memory than it may use.
    #[error(
        "out of memory: {what} needs {requested_bytes} bytes, {available_bytes} bytes are allowed; raise the memory limit"
    )]
    OutOfMemory {
        /// What the memory is for.
        what: String,
        /// Bytes the call needs.
        requested_bytes: u64,
        /// Bytes the caller allows or the device has.
        available_bytes: u64,
    },
    /// The observer asked to stop; outputs hold nothing of use.
    #[error("cancelled")]
    Cancelled,
    /// The device or its driver failed.
    #[error("{backend}: {reason}")]
    Backend {
        /// Name of the backend.
        backend: &'static str,
        /// What the driver said.
        reason: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// An [`Error::Invalid`] with this text.
    pub fn invalid(text: impl Into<String>) -> Self {
        Self::Invalid(text.into())
    }
}

/// Returns early with an [`Error::Invalid`] built by `format!`.
#[macro_export]
macro_rules! bail_invalid {
    ($($arg:tt)*) => { return Err($crate::Error::Invalid(format!($($arg)*))) };
}
