//! Errors of this backend.

use dtw_core::Error;

/// The backend's name.
pub const NAME: &str = "wgpu";

/// The device or its driver failed, or is not there; the text is one line and says what to do where something can be
/// done.
pub(crate) fn failed(text: impl Into<String>) -> Error {
    Error::failed(NAME, text.into())
}

/// What this backend does in no way; the text says what to ask for instead.
pub(crate) fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported { backend: NAME, what: what.into(), remedies: &[] }
}
