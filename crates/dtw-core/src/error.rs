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
        /// What failed and what the driver said: the source of this error, in a type of the backend's. Its text is part
        /// of this one's.
        #[source]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_backend_is_the_source() {
        let reason = std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let error = Error::Backend { backend: "cpu", reason: Box::new(reason) };
        let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
        assert_eq!(source.map(std::io::Error::kind), Some(std::io::ErrorKind::OutOfMemory));
        assert!(error.to_string().starts_with("cpu: "));
    }
}
