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
//
// The groups of a wave must not part: one that went back alone would find nobody who takes its ticket, and go round for
// ever. So the loop has one way back and one end, and what decides between them is the same for all lanes of a wave. A
// group that is idle does nothing in its turn. Whatever a body does, `continue` included, it comes to join_wave(), from
// where alone the loop goes back. A body must not leave the loop by itself.
#pragma once

#include "task.cuh"

// DTW_FOR_EACH_TICKET(ticket, p, tickets) { body }: for every ticket that this group gets; there are `tickets` in all,
// a multiple of p.tasks. A loop, and not a function that calls a body: where a body returns, nvcc 13 makes other code
// than where it continues, and one kernel spilled registers.
#define DTW_FOR_EACH_TICKET(ticket, p, tickets)                              \
    for (uint64_t ticket; dtw::next_ticket(p, tickets, ticket); join_wave()) \
        if (dtw::is_idle(ticket)) {                                          \
        } else

namespace dtw {

#if DTW_GROUPS == 1
DTW_DEVICE bool is_idle(uint64_t) { return false; }

// Takes the next ticket by all lanes of a wave; false for all of them if there is none left.
DTW_DEVICE bool next_ticket(const Sweep& p, uint64_t tickets, uint64_t& ticket) {
    ticket = take_as_wave(p.ticket);
    return ticket < tickets;
}
#else
constexpr uint64_t kIdle = ~static_cast<uint64_t>(0);
DTW_DEVICE bool is_idle(uint64_t ticket) { return ticket == kIdle; }

// The same for each group of a wave: they get tickets of different tasks, some none.
DTW_DEVICE bool next_ticket(const Sweep& p, uint64_t tickets, uint64_t& ticket) {
    const uint64_t of_a_strip = (p.tasks + DTW_GROUPS - 1) / DTW_GROUPS;
    const uint64_t of_wave = take_as_wave(p.ticket);
    const uint64_t task = of_wave % of_a_strip * DTW_GROUPS + warp() % DTW_GROUPS;
    ticket = task < p.tasks ? of_wave / of_a_strip * p.tasks + task : kIdle;
    return of_wave < of_a_strip * (tickets / p.tasks);
}
#endif

}  // namespace dtw
