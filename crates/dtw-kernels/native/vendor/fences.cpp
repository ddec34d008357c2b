// Memory that nobody may touch, where AddressSanitizer watches: the zones round the buffers of the emulated device.
#include <stddef.h>

#include "fibers.h"

extern "C" void dtw_host_fence(void* start, size_t bytes) {
#if defined(DTW_ADDRESS_SANITIZER)
    __asan_poison_memory_region(start, bytes);
#else
    (void)start, (void)bytes;
#endif
}

extern "C" void dtw_host_unfence(void* start, size_t bytes) {
#if defined(DTW_ADDRESS_SANITIZER)
    __asan_unpoison_memory_region(start, bytes);
#else
    (void)start, (void)bytes;
#endif
}
