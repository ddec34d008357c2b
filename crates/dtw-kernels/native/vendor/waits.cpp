// Kernels that only the emulator's tests launch: a chain of tickets, each of which waits for the one before.
//
//   alone:      every group takes tickets of its own; in waves of two groups, one then waits for the other for ever
//   together:   every wave takes a ticket for its first group; the others are idle
#include "vendor.cuh"

namespace dtw {

struct Waits {
    uint64_t* ticket;
    uint32_t* done;  // per ticket: 1 if it is done
    uint64_t last;   // how many tickets there are
};

inline void wait_for_the_one_before(const Waits& p, uint64_t ticket) {
    if (lane() == 0 && ticket > 0) {
        begin_wait();
        while (load_acquire(p.done + ticket - 1) == 0) {
            pause();
        }
        end_wait();
    }
    sync();
    if (lane() == 0) {
        store_release(p.done + ticket, 1);
    }
}

inline void waits_alone(const Waits& p) {
    while (true) {
        const uint64_t ticket = broadcast(lane() == 0 ? take(p.ticket) : 0, 0);
        if (ticket >= p.last) {
            return;
        }
        wait_for_the_one_before(p, ticket);
    }
}

inline void waits_together(const Waits& p) {
    while (true) {
        const uint64_t ticket = take_as_wave(p.ticket);
        if (ticket >= p.last) {
            return;
        }
        if (warp() % DTW_GROUPS == 0) {
            wait_for_the_one_before(p, ticket);
        }
    }
}

}  // namespace dtw

DTW_KERNEL(dtw_waits_alone, dtw::Waits, dtw::waits_alone(p))
DTW_KERNEL(dtw_waits_together, dtw::Waits, dtw::waits_together(p))
