//! What a device must be able to do: memory, copies, launches, in the order they are asked for.
//!
//! A machine is a handle on a device and on one queue of it. Everything asked of one handle happens in order: a launch
//! sees what was uploaded or zeroed before it, a download sees what was launched before it. A handle is cheap to clone;
//! clones share the queue.

use dtw_core::Result;
use dtw_kernels::tuning::Tuning;
use dtw_kernels::{Kernel, params};

use crate::memory::bytes::bytes_mut;

/// Threads of a block, of every kernel.
pub const BLOCK_THREADS: u32 = params::BLOCK_THREADS;

/// Transfers that may be under way at once: see [`Machine::download_begin`].
pub const TRANSFER_SLOTS: usize = dtw_plan::SLOTS;

/// Warps of a block.
const BLOCK_WARPS: u64 = BLOCK_THREADS as u64 / 32;

/// Most blocks of a launch whose warps take further work by themselves.
const MOST_BLOCKS: u64 = 1 << 20;

/// Blocks for this many warps of a kernel that strides over its work.
pub(crate) fn blocks_for(warps: u64) -> u32 {
    warps.div_ceil(BLOCK_WARPS).clamp(1, MOST_BLOCKS) as u32
}

/// Device memory, freed when dropped (after what was launched before has ended).
pub trait Buffer: Send + Sync + std::fmt::Debug + 'static {
    /// Where it is on the device, a multiple of 256; 0 only if it has no bytes.
    fn address(&self) -> u64;
    /// Its size.
    fn bytes(&self) -> usize;
}

/// What the device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// Its name, as people know it.
    pub description: String,
    /// Multiprocessors: units that run blocks.
    pub multiprocessors: u32,
    /// Lanes of its warps in the kernels: 32 or 64.
    pub lanes: u32,
    /// Memory in all.
    pub total_bytes: u64,
    /// Memory that is free now.
    pub free_bytes: u64,
}

/// A device and a queue of it.
///
/// # Errors
/// All calls: [`dtw_core::Error::Backend`] when the device or its driver fails.
pub trait Machine: Clone + Send + Sync + std::fmt::Debug + 'static {
    /// Its memory.
    type Buffer: Buffer;

    /// The backend's name: `"cuda"` …
    fn name(&self) -> &'static str;

    /// What the device is.
    fn properties(&self) -> Properties;

    /// What kernels cost on it; where nobody has measured, the numbers of the device that is most like it.
    fn tuning(&self) -> &'static Tuning;

    /// A handle with a queue of its own, for one plan. A machine that can lose its device makes it anew here.
    ///
    /// # Errors
    /// When the device has no more to give.
    fn own_queue(&self) -> Result<Self> {
        Ok(self.clone())
    }

    /// Whether the device is known to be lost: every other call then fails, but for [`Machine::own_queue`].
    fn is_lost(&self) -> bool {
        false
    }

    /// Memory for `bytes` bytes, holding anything.
    ///
    /// # Errors
    /// [`dtw_core::Error::OutOfMemory`] with the bytes requested and available.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer>;

    /// Memory of somebody else's, which the buffer does not free.
    ///
    /// # Safety
    /// `address` is a multiple of 256, and the device's memory has `bytes` bytes there that are the buffer's alone
    /// until everything that was asked of this handle with it is done.
    unsafe fn borrow(&self, address: u64, bytes: usize) -> Self::Buffer;

    /// Memory for what stays as it is over many calls. [`CallerMemory`](crate::CallerMemory) has it from elsewhere than
    /// scratch.
    ///
    /// # Errors
    /// As [`Machine::allocate`].
    fn allocate_lasting(&self, bytes: usize) -> Result<Self::Buffer> {
        self.allocate(bytes)
    }

    /// Whether a buffer may still be written in this call.
    fn is_current(&self, buffer: &Self::Buffer) -> bool {
        let _ = buffer;
        true
    }

    /// Whether what is asked of this handle is recorded, to be done later and perhaps often, instead of being done.
    ///
    /// # Errors
    /// See [`Machine`].
    fn is_recording(&self) -> Result<bool> {
        Ok(false)
    }

    /// Keeps what a recording uses beside memory: it may be played as long as the process lives.
    fn keep_for_recordings(&self) {}

    /// Ends a call of a handle whose memory a call on another queue may use next.
    ///
    /// # Errors
    /// See [`Machine`].
    fn hand_over(&self) -> Result<()> {
        Ok(())
    }

    /// Begins a call: what is asked of this handle from now on comes after the call that was handed over last.
    ///
    /// # Errors
    /// See [`Machine`].
    fn take_over(&self) -> Result<()> {
        Ok(())
    }

    /// Copies `bytes` to `to`, from byte `offset` on. `bytes` may be changed as soon as this returns.
    ///
    /// # Errors
    /// See [`Machine`].
    fn upload(&self, to: &Self::Buffer, offset: usize, bytes: &[u8]) -> Result<()>;

    /// Copies from byte `offset` of `from` on, after all that was launched before.
    ///
    /// # Errors
    /// See [`Machine`].
    fn download(&self, from: &Self::Buffer, offset: usize, bytes: &mut [u8]) -> Result<()>;

    /// Sets bytes to zero.
    ///
    /// # Errors
    /// See [`Machine`].
    fn zero(&self, buffer: &Self::Buffer, offset: usize, bytes: usize) -> Result<()>;

    /// Launches a kernel in `blocks` blocks of [`BLOCK_THREADS`] threads.
    ///
    /// # Errors
    /// See [`Machine`].
    fn launch(&self, kernel: &Kernel, params: &[u8], blocks: u32) -> Result<()>;

    /// Blocks of this kernel that the whole device runs at once, at least 1.
    ///
    /// # Errors
    /// See [`Machine`].
    fn resident_blocks(&self, kernel: &Kernel) -> Result<u32>;

    /// Waits for everything asked of this handle.
    ///
    /// # Errors
    /// See [`Machine`], of anything launched before.
    fn synchronize(&self) -> Result<()>;

    /// Begins to copy `bytes` bytes from byte `offset` of `from` on, after all that was launched before, while later
    /// launches run. `slot` (less than [`TRANSFER_SLOTS`]) names the transfer; it is free again after
    /// [`Machine::download_end`] of the same slot, or after an error. Until then nothing launched may write there.
    ///
    /// The default does nothing: [`Machine::download_end`] then copies.
    ///
    /// # Errors
    /// See [`Machine`].
    fn download_begin(&self, slot: usize, from: &Self::Buffer, offset: usize, bytes: usize) -> Result<()> {
        let _ = (slot, from, offset, bytes);
        Ok(())
    }

    /// Waits for the transfer `slot` alone and hands its bytes to `take`, in memory that any number may lie in; the
    /// arguments are those of its beginning.
    ///
    /// # Errors
    /// See [`Machine`]; nothing is handed over then.
    fn download_end(
        &self,
        slot: usize,
        from: &Self::Buffer,
        offset: usize,
        bytes: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let _ = slot;
        let mut room = vec![0_u64; bytes.div_ceil(size_of::<u64>())];
        let room = &mut bytes_mut(&mut room)[..bytes];
        self.download(from, offset, room)?;
        take(room);
        Ok(())
    }
}
