//! A machine without a device: the kernels compiled for this CPU, every lane a fiber, in lockstep with its wave.
//!
//! It is slow, and it is strict: memory starts as NaN and lies between guard zones, and waves take turns in another
//! order in every launch. A launch that would wait for ever is an error. It is also small, so that work is spread and
//! tiled early. Under AddressSanitizer the guard zones may not even be read.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dtw_core::{Error, Result};
use dtw_kernels::tuning::{self, Tuning};
use dtw_kernels::{Kernel, host};

use crate::machine::{BLOCK_THREADS, Buffer, Machine, Properties};

/// What buffers are aligned to, and the size of the zones round them.
const ZONE: usize = 256;

/// Fills fresh memory: NaN as a number, far too large as an index.
const FRESH: u8 = 0xff;

/// Fills the zones.
const GUARD: u8 = 0xa5;

/// Multiprocessors, and blocks that each has room for.
const MULTIPROCESSORS: u32 = 2;
const BLOCKS_EACH: u32 = 2;

/// This CPU as a device.
#[derive(Debug, Clone)]
pub struct HostMachine {
    /// Memory in all.
    total_bytes: u64,
    used_bytes: Arc<AtomicU64>,
    launches: Arc<AtomicU32>,
    /// Up and down.
    copied_bytes: Arc<[AtomicU64; 2]>,
}

impl HostMachine {
    /// A device with this much memory.
    pub fn new(total_bytes: u64) -> Self {
        let (launches, copied_bytes) = (Arc::default(), Arc::default());
        Self { total_bytes, used_bytes: Arc::default(), launches, copied_bytes }
    }

    /// Bytes of all buffers that live.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// Kernels launched so far, on all handles.
    pub fn launches(&self) -> u32 {
        self.launches.load(Ordering::Relaxed)
    }

    /// Bytes uploaded and downloaded so far, on all handles.
    pub fn copied_bytes(&self) -> [u64; 2] {
        [0, 1].map(|way: usize| self.copied_bytes[way].load(Ordering::Relaxed))
    }

    fn free_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.used_bytes())
    }
}

/// Memory of this process that stands for a device's. Dropping it looks whether somebody wrote beyond its ends.
#[derive(Debug)]
pub struct HostBuffer {
    /// The zone before the buffer.
    start: NonNull<u8>,
    bytes: usize,
    /// `None` for somebody else's memory.
    used_bytes: Option<Arc<AtomicU64>>,
}

// SAFETY: the memory is the buffer's own; who copies to and from it is ordered by the queue, as on a device.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes + 2 * ZONE, ZONE).expect("no buffer is as large as the address space")
    }

    fn new(bytes: usize, used_bytes: Arc<AtomicU64>) -> Self {
        let layout = Self::layout(bytes);
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: within the allocation.
        unsafe {
            start.write_bytes(GUARD, ZONE);
            start.add(ZONE).write_bytes(FRESH, bytes);
            start.add(ZONE + bytes).write_bytes(GUARD, ZONE);
            host::fence(start.as_ptr(), ZONE);
            host::fence(start.as_ptr().add(ZONE + bytes), ZONE);
        }
        used_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Self { start, bytes, used_bytes: Some(used_bytes) }
    }

    fn at(&self, offset: usize, bytes: usize) -> *mut u8 {
        assert!(offset + bytes <= self.bytes, "{offset} + {bytes} bytes in a buffer of {}", self.bytes);
        // Within the allocation by the assertion; of borrowed memory, the zones are not part of it.
        self.start.as_ptr().wrapping_add(ZONE + offset)
    }

    /// Whether both zones are as they were.
    fn is_intact(&self) -> bool {
        let zone = |offset: usize| {
            // SAFETY: both zones belong to the allocation and were written in `new`.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(offset), ZONE) }
        };
        zone(0).iter().chain(zone(ZONE + self.bytes)).all(|byte| *byte == GUARD)
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        let Some(used_bytes) = self.used_bytes.take() else { return };
        // SAFETY: all of the allocation, of which nobody else has a part any more.
        unsafe { host::unfence(self.start.as_ptr(), self.bytes + 2 * ZONE) };
        let is_intact = self.is_intact();
        used_bytes.fetch_sub(self.bytes as u64, Ordering::Relaxed);
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) };
        assert!(
            is_intact || std::thread::panicking(),
            "a kernel wrote beyond a buffer of {} bytes",
            self.bytes
        );
    }
}

impl Buffer for HostBuffer {
    fn address(&self) -> u64 {
        self.at(0, 0) as u64
    }
    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Machine for HostMachine {
    type Buffer = HostBuffer;

    fn name(&self) -> &'static str {
        "host"
    }

    fn properties(&self) -> Properties {
        Properties {
            description: "this CPU, one lane after the other".to_owned(),
            multiprocessors: MULTIPROCESSORS,
            lanes: host::LANES,
            total_bytes: self.total_bytes,
            free_bytes: self.free_bytes(),
        }
    }

    /// As on a device, so that tests see the kernels that a device would launch.
    fn tuning(&self) -> &'static Tuning {
        &tuning::SM90
    }

    fn allocate(&self, bytes: usize) -> Result<HostBuffer> {
        if bytes as u64 > self.free_bytes() {
            return Err(Error::OutOfMemory {
                what: "memory of the host device".to_owned(),
                requested_bytes: bytes as u64,
                available_bytes: self.free_bytes(),
            });
        }
        Ok(HostBuffer::new(bytes, Arc::clone(&self.used_bytes)))
    }

    unsafe fn borrow(&self, address: u64, bytes: usize) -> HostBuffer {
        let start = std::ptr::with_exposed_provenance_mut::<u8>(address as usize).wrapping_sub(ZONE);
        let start = NonNull::new(start).expect("memory has an address beyond the first zone");
        HostBuffer { start, bytes, used_bytes: None }
    }

    fn upload(&self, to: &HostBuffer, offset: usize, bytes: &[u8]) -> Result<()> {
        // SAFETY: `at` checks the destination; the source is somebody else's.
        unsafe { to.at(offset, bytes.len()).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.copied_bytes[0].fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn download(&self, from: &HostBuffer, offset: usize, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: `at` checks the source; the destination is somebody else's.
        unsafe { from.at(offset, bytes.len()).copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        self.copied_bytes[1].fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn zero(&self, buffer: &HostBuffer, offset: usize, bytes: usize) -> Result<()> {
        // SAFETY: `at` checks the range.
        unsafe { buffer.at(offset, bytes).write_bytes(0, bytes) };
        Ok(())
    }

    fn launch(&self, kernel: &Kernel, params: &[u8], blocks: u32) -> Result<()> {
        let seed = self.launches.fetch_add(1, Ordering::Relaxed);
        let interleaved = MULTIPROCESSORS * BLOCKS_EACH * (BLOCK_THREADS / host::LANES);
        // SAFETY: the planner's addresses are of buffers that it keeps until this returns.
        unsafe { host::launch(kernel.symbol, params, blocks, interleaved, seed) }
            .map_err(|error| Error::failed(self.name(), error))
    }

    fn resident_blocks(&self, _: &Kernel) -> Result<u32> {
        Ok(MULTIPROCESSORS * BLOCKS_EACH)
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_keep_what_they_are_given() {
        let machine = HostMachine::new(1000);
        let buffer = machine.allocate(10).unwrap();
        assert_eq!((machine.used_bytes(), buffer.address() % 256), (10, 0));
        machine.upload(&buffer, 3, &[1, 2, 3]).unwrap();
        machine.zero(&buffer, 4, 1).unwrap();
        let mut bytes = [0; 4];
        machine.download(&buffer, 3, &mut bytes).unwrap();
        assert_eq!(bytes, [1, 0, 3, FRESH]);
        let error = machine.allocate(1000).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { requested_bytes: 1000, available_bytes: 990, .. }));
        drop(buffer);
        assert_eq!(machine.used_bytes(), 0);
    }

    #[test]
    #[should_panic(expected = "beyond a buffer")]
    fn overruns_are_seen() {
        let buffer = HostMachine::new(1000).allocate(10).unwrap();
        // SAFETY: within the allocation, in the zone behind the buffer.
        unsafe { buffer.start.as_ptr().add(ZONE + 10).write(0) };
    }
}
