//! One of several devices, as callers give it.

use std::sync::Arc;

use dtw_core::Backend;

/// A backend of several, with the name that errors and [`dtw_core::Observer::lost`] call it by.
#[derive(Debug)]
pub struct Member<T> {
    /// `"cuda:1"`.
    pub name: String,
    /// Where it computes.
    pub backend: Arc<dyn Backend<T>>,
}

impl<T> Clone for Member<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), backend: Arc::clone(&self.backend) }
    }
}
