//! Bounds on what one input may cost: processor time, and memory as the allocator is asked for it.

use peak_alloc::PeakAlloc;
use rustix::time::{ClockId, clock_gettime};

/// Most processor time for one input, in seconds. The targets are slowed down by their instrumentation.
pub const MOST_SECS: f64 = 2.0;
/// Largest file for which the other bounds are meant.
pub const MOST_FILE_BYTES: usize = 1 << 20;
/// Most memory for one input, beyond the input itself.
pub const MOST_BYTES: usize = 64 << 20;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Runs `work`.
///
/// # Panics
/// When it took more time or memory than one input may.
pub fn guarded<T>(work: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let start = secs();
    let done = work();
    let took = secs() - start;
    let peak = MEMORY.peak_usage().saturating_sub(before);
    assert!(peak <= MOST_BYTES, "{peak} bytes of memory, more than {MOST_BYTES}");
    assert!(took <= MOST_SECS, "{took} s of processor time, more than {MOST_SECS}");
    done
}

/// Processor time of this thread.
fn secs() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
