//! Device memory that is kept between calls and grows only when it must.

use dtw_core::Result;

use crate::machine::{Buffer, Machine};
use crate::memory::bytes::{Plain, bytes, bytes_mut};

/// A piece of device memory of the size that has been asked for so far.
#[derive(Debug)]
pub(crate) struct Region<M: Machine> {
    buffer: Option<M::Buffer>,
    /// Whether later calls may use what this one puts there.
    lasts: bool,
}

/// `Default` of a structure over a machine, which has no default itself, so that it cannot be derived.
macro_rules! default_of {
    ($name:ident<$($number:ident $(: $is:ident)?),*> { $($field:ident),* }) => {
        impl<$($number $(: $is)?),*> Default for $name<$($number),*> {
            fn default() -> Self {
                Self { $($field: Default::default()),* }
            }
        }
    };
}
pub(crate) use default_of;

default_of!(Region<M: Machine> { buffer, lasts });

impl<M: Machine> Region<M> {
    /// For what is uploaded once and used by many calls.
    pub(crate) fn lasting() -> Self {
        Self { buffer: None, lasts: true }
    }

    /// Memory for at least `bytes` bytes, holding anything; the old content is lost when it grows.
    pub(crate) fn reserve(&mut self, machine: &M, bytes: usize) -> Result<&M::Buffer> {
        let bytes = bytes.max(1);
        let fits = |buffer: &M::Buffer| buffer.bytes() >= bytes && machine.is_current(buffer);
        if !self.buffer.as_ref().is_some_and(fits) {
            if self.lasts {
                // It may be refused, and what is there may be in use.
                self.buffer = Some(machine.allocate_lasting(bytes)?);
            } else {
                // The old memory goes first: both together might not fit.
                self.buffer = None;
                self.buffer = Some(machine.allocate(bytes)?);
            }
        }
        Ok(self.buffer.as_ref().expect("reserved above"))
    }

    /// Memory that holds these numbers.
    pub(crate) fn hold<V: Plain>(&mut self, machine: &M, values: &[V]) -> Result<u64> {
        let buffer = self.reserve(machine, size_of_val(values))?;
        machine.upload(buffer, 0, bytes(values))?;
        Ok(buffer.address())
    }

    /// Memory that holds these numbers, without a copy if it holds them already: those of `uploaded`.
    pub(crate) fn keep<V: Plain + PartialEq>(
        &mut self,
        machine: &M,
        values: &[V],
        uploaded: &mut Vec<V>,
    ) -> Result<u64> {
        if self.bytes() == 0 || uploaded != values {
            uploaded.clear();
            self.hold(machine, values)?;
            uploaded.extend_from_slice(values);
        }
        Ok(self.address())
    }

    /// Memory of `bytes` zeros.
    pub(crate) fn zeros(&mut self, machine: &M, bytes: usize) -> Result<u64> {
        let buffer = self.reserve(machine, bytes)?;
        machine.zero(buffer, 0, bytes)?;
        Ok(buffer.address())
    }

    /// Downloads the first `count` numbers.
    pub(crate) fn fetch<V: Plain + Default>(&self, machine: &M, to: &mut Vec<V>, count: usize) -> Result<()> {
        to.clear();
        to.resize(count, V::default());
        machine.download(self.buffer.as_ref().expect("reserved before"), 0, bytes_mut(to))
    }

    /// What has been reserved.
    pub(crate) fn buffer(&self) -> Option<&M::Buffer> {
        self.buffer.as_ref()
    }

    pub(crate) fn address(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::address)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.buffer.as_ref().map_or(0, Buffer::bytes)
    }
}
