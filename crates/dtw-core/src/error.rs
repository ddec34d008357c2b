//! What can go wrong, by whose doing.

use std::fmt;

/// Result of every fallible call in dtwave.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, sorted by who can mend it.
///
/// Its text is all of it: that of [`Error::Backend`] includes the backend's reason. So `source` goes on behind what the
/// text tells, and printing a whole chain of errors (`{:#}` of the crate `anyhow`) says nothing twice. The reason
/// itself, with its type, is in the variant.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: an argument or a series is not what the measure needs. The text names which, what was expected
    /// and what was found.
    Invalid(String),
    /// The backend's: it cannot do this. The text names what, and which backend can.
    Unsupported {
        /// Name of the backend that refused.
        backend: &'static str,
        /// What was asked, and who can do it.
        what: String,
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
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(text) => f.write_str(text),
            Self::Unsupported { backend, what } => write!(f, "{backend} cannot compute this: {what}"),
            Self::OutOfMemory { what, requested_bytes, available_bytes } => write!(
                f,
                "out of memory: {what} needs {requested_bytes} bytes, {available_bytes} bytes are allowed; raise the \
                 memory limit"
            ),
            Self::MemoryRefused { what, requested_bytes } => {
                write!(
                    f,
                    "out of memory: {what} needs {requested_bytes} bytes, which the system does not give"
                )
            }
            Self::Cancelled => f.write_str("cancelled"),
            Self::Backend { backend, reason } => write!(f, "{backend}: {reason}"),
        }
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
        let error = Error::Backend { backend: "cpu", reason: Box::new(reason) };
        let mut chain = vec![error.to_string()];
        let mut next = std::error::Error::source(&error);
        while let Some(cause) = next {
            chain.push(cause.to_string());
            next = cause.source();
        }
        assert_eq!(chain, ["cpu: the driver failed", "no such device"]);
    }

    #[test]
    fn the_reason_of_a_backend_keeps_its_type() {
        let error = Error::Backend { backend: "cpu", reason: Box::new(Failed(std::io::Error::other("x"))) };
        let Error::Backend { reason, .. } = &error else { panic!("{error}") };
        assert_eq!(
            reason.downcast_ref::<Failed>().map(|failed| failed.0.kind()),
            Some(std::io::ErrorKind::Other)
        );
    }
}
