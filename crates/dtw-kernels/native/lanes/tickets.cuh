// Tickets: who sweeps which strip. Warps take them from one counter in memory, until there are none.
//
//   ticket = strip * tasks + task          3 tasks of 2 strips:        task 0   task 1   task 2
//                                                           strip 0       0        1        2
//                                                           strip 1       3        4        5
//
// A strip waits only for the strip to its left. That one's ticket is lower, so a warp that runs has taken it before.
// Strips of all tasks lie side by side, so a strip's turn comes well after that of the strip it waits for.
//
// On some GPUs two groups of 32 lanes are one wave: they execute in lockstep. While one of them waits, the other one
// stands still, so neither may wait for the other. Such a wave takes one ticket for all its groups: the same strip of
// as many tasks.
//
//   tickets of a wave of 2 groups:   wave's ticket 0:  0 | 1       wave's ticket 1:  2 | (idle)
//                                    wave's ticket 2:  3 | 4       wave's ticket 3:  5 | (idle)
#pragma once

#include "task.cuh"

// DTW_TAKE_TICKET(ticket, p, tickets): the head of an endless loop. Declares `ticket`, the next one of this group;
// there are `tickets` in all, a multiple of p.tasks. Returns if there is none left; an idle group continues.
// A macro, because with a function nvcc 13 allocates other registers in most kernels and reorders some.
#if DTW_GROUPS == 1
#define DTW_TAKE_TICKET(ticket, p, tickets) \
    uint64_t ticket = 0;                    \
    if (lane() == 0) {                      \
        ticket = take(p.ticket);            \
    }                                       \
    ticket = broadcast(ticket, 0);          \
    if (ticket >= (tickets)) {              \
        return;                             \
    }
#else
#define DTW_TAKE_TICKET(ticket, p, tickets)              \
    const uint64_t ticket = ticket_in_wave(p, tickets); \
    if (ticket == kNoMore) {                             \
        return;                                          \
    }                                                    \
    if (ticket == kIdle) {                               \
        continue;                                        \
    }

namespace dtw {

constexpr uint64_t kNoMore = ~static_cast<uint64_t>(0), kIdle = kNoMore - 1;

DTW_DEVICE uint64_t ticket_in_wave(const Sweep& p, uint64_t tickets) {
    const uint64_t of_a_strip = (p.tasks + DTW_GROUPS - 1) / DTW_GROUPS;
    const uint64_t ticket = take_as_wave(p.ticket);
    if (p.tasks == 0 || ticket >= of_a_strip * (tickets / p.tasks)) {
        return kNoMore;
    }
    const uint64_t task = ticket % of_a_strip * DTW_GROUPS + warp() % DTW_GROUPS;
    return task < p.tasks ? ticket / of_a_strip * p.tasks + task : kIdle;
}

}  // namespace dtw
#endif
