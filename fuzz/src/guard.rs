//! Bounds on what one input may cost: processor time, and memory as the allocator is asked for it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// Most processor time for one input, in seconds. The targets are slowed down by their instrumentation.
pub const MOST_SECS: f64 = 2.0;
/// Largest file for which the other bounds are meant.
pub const MOST_FILE_BYTES: usize = 1 << 20;
/// Most memory for one input, beyond the input itself.
pub const MOST_BYTES: usize = 64 << 20;

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call is passed to the system's allocator as it came; counting touches no memory but two atomics.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the caller promises what the system's allocator asks for.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: the caller promises what the system's allocator asks for.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    // SAFETY: the caller promises what the system's allocator asks for.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about `pointer` and `layout` is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    // SAFETY: the caller promises what the system's allocator asks for.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be there for a moment.
        count(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise about `pointer`, `layout` and `size` is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Runs `work`.
///
/// # Panics
/// When it took more time or memory than one input may.
pub fn guarded<T>(work: impl FnOnce() -> T) -> T {
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = secs();
    let done = work();
    let took = secs() - start;
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(peak <= MOST_BYTES, "{peak} bytes of memory, more than {MOST_BYTES}");
    assert!(took <= MOST_SECS, "{took} s of processor time, more than {MOST_SECS}");
    done
}

/// Processor time of this thread.
fn secs() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
