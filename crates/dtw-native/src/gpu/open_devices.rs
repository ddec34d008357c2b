//! The devices that a process has opened, by ordinal: one context for all, so that all that use it learn when it is
//! lost.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Weak};

/// The devices that a process has opened through one driver.
#[derive(Debug, Default)]
pub struct OpenDevices(pub(super) Mutex<BTreeMap<usize, OpenDevice>>);

/// An open device. Its context is of a type that depends on the driver.
#[derive(Debug)]
pub(super) struct OpenDevice {
    pub(super) context: Weak<dyn Any + Send + Sync>,
    pub(super) lost: Arc<AtomicBool>,
}

impl OpenDevices {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }
}
