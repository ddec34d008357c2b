//! The backend's name, for those who ask and for its errors.

/// The backend's name.
pub const NAME: &str = "cpu";
