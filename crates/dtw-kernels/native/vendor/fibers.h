// Lanes as fibers on one thread of the processor, in lockstep: for host.cuh.
//
// A group of 32 lanes runs until each of them wants to exchange something, pauses or ends. When all that are left want
// the same exchange, it is made and they run on. Groups take turns, so that one which waits for another's flag lets it
// run. DTW_LANES = 64 emulates wavefronts of 64 lanes: two groups that always take their turns together.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <memory>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#define DTW_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DTW_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(DTW_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef DTW_LANES
#define DTW_LANES 32
#endif

namespace dtw {
namespace fibers {

constexpr uint32_t kGroup = 32;
constexpr uint32_t kTogether = DTW_LANES / kGroup;
#if defined(DTW_ADDRESS_SANITIZER)
// Zones round every variable.
constexpr size_t kStack = 1 << 20;
#else
constexpr size_t kStack = 128 << 10;
#endif

// What a lane waits for.
enum class Want : uint8_t { kRun, kShiftUp, kBroadcast, kExchange, kAny, kSync, kPause, kEnd };

#if defined(__x86_64__)
// Saves the callee's registers on this stack, stores its top in *from, and goes on with the stack `to`.
__attribute__((naked, noinline)) inline void swap_stacks(void** /*from*/, void* /*to*/) {
    asm volatile(
        "pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
#endif

// A stack as AddressSanitizer is told of it; where there is none, nothing is told.
struct Known {
    const void* bottom = nullptr;
    size_t size = 0;
    // The sanitizer's own, while the stack is not in use.
    void* fake = nullptr;

    // Called on this stack, before one goes on with `to`; `last` if this one is never returned to.
    void leave_for(const Known& to, bool last) {
#if defined(DTW_ADDRESS_SANITIZER)
        __sanitizer_start_switch_fiber(last ? nullptr : &fake, to.bottom, to.size);
#else
        (void)to, (void)last;
#endif
    }
    // Called on this stack, as the first thing after coming from another, whose place is learnt.
    void arrive_from(Known& from) {
#if defined(DTW_ADDRESS_SANITIZER)
        __sanitizer_finish_switch_fiber(fake, &from.bottom, &from.size);
#else
        (void)from;
#endif
    }
    // Nothing of what ran here before is left.
    void clear(char* stack) {
        bottom = stack, size = kStack, fake = nullptr;
#if defined(DTW_ADDRESS_SANITIZER)
        __asan_unpoison_memory_region(stack, kStack);
#endif
    }
};

struct Lane {
    std::unique_ptr<char[]> stack;
    Known known;
#if defined(__x86_64__)
    void* top = nullptr;
#else
    ucontext_t context;
#endif
    Want want = Want::kEnd;
    uint64_t value = 0;
    int argument = 0;
};

struct Group {
    Lane lanes[kGroup];
    uint32_t index = 0;
    bool busy = false;
};

// What one launch on one thread is doing.
struct Scheduler {
    std::vector<std::unique_ptr<Group>> groups;
    void (*body)(const void*) = nullptr;
    const void* params = nullptr;
    const char* symbol = "";
    uint32_t groups_in_all = 0;
    Group* group = nullptr;
    Lane* lane = nullptr;
    uint32_t lane_index = 0;
    Known known;
#if defined(__x86_64__)
    void* top = nullptr;
#else
    ucontext_t context;
#endif

    void to_lane(Lane& to, uint32_t index) {
        lane = &to;
        lane_index = index;
        known.leave_for(to.known, false);
#if defined(__x86_64__)
        swap_stacks(&top, to.top);
#else
        swapcontext(&context, &to.context);
#endif
        known.arrive_from(to.known);
    }
    void to_scheduler() {
        Lane& from = *lane;
        from.known.leave_for(known, from.want == Want::kEnd);
#if defined(__x86_64__)
        swap_stacks(&from.top, top);
#else
        swapcontext(&from.context, &context);
#endif
        from.known.arrive_from(known);
    }
};

inline Scheduler& scheduler() {
    static thread_local Scheduler own;
    return own;
}

// Where a lane's stack begins.
[[noreturn]] inline void enter() {
    Scheduler& s = scheduler();
    s.lane->known.arrive_from(s.known);
    s.body(s.params);
    s.lane->want = Want::kEnd;
    s.to_scheduler();
    abort();
}

inline void begin(Lane& lane) {
    if (!lane.stack) {
        lane.stack.reset(new char[kStack]);
    }
    lane.known.clear(lane.stack.get());
    lane.want = Want::kRun;
#if defined(__x86_64__)
    // As swap_stacks leaves a stack: six registers, then where to return to; 16-byte aligned as at a call.
    const uintptr_t end = (reinterpret_cast<uintptr_t>(lane.stack.get()) + kStack) & ~static_cast<uintptr_t>(15);
    void** top = reinterpret_cast<void**>(end) - 1;
    *top = nullptr;
    *--top = reinterpret_cast<void*>(&enter);
    for (int k = 0; k < 6; ++k) {
        *--top = nullptr;
    }
    lane.top = top;
#else
    getcontext(&lane.context);
    lane.context.uc_stack.ss_sp = lane.stack.get();
    lane.context.uc_stack.ss_size = kStack;
    lane.context.uc_link = nullptr;
    makecontext(&lane.context, reinterpret_cast<void (*)()>(&enter), 0);
#endif
}

// Called by a lane: wants something, and returns when it has been done.
inline uint64_t talk(Want want, uint64_t value, int argument) {
    Scheduler& s = scheduler();
    Lane* own = s.lane;
    own->want = want;
    own->value = value;
    own->argument = argument;
    s.to_scheduler();
    return own->value;
}

// Makes the exchange that all lanes of a group want.
inline void settle(Scheduler& s, Group& group) {
    uint64_t values[kGroup];
    bool any = false;
    const Want want = group.lanes[0].want;
    const int argument = group.lanes[0].argument;
    for (uint32_t l = 0; l < kGroup; ++l) {
        const Lane& lane = group.lanes[l];
        if (lane.want != want || (want == Want::kShiftUp && lane.argument != argument)) {
            fprintf(stderr, "%s: lanes 0 and %u of a group want different exchanges (%d and %d)\n", s.symbol, l,
                    static_cast<int>(want), static_cast<int>(lane.want));
            abort();
        }
        values[l] = lane.value;
        any = any || lane.value != 0;
    }
    for (uint32_t l = 0; l < kGroup; ++l) {
        Lane& lane = group.lanes[l];
        switch (want) {
            case Want::kShiftUp:
                lane.value = l % static_cast<uint32_t>(argument) == 0 ? values[l] : values[l - 1];
                break;
            case Want::kBroadcast:
                lane.value = values[static_cast<uint32_t>(lane.argument) % kGroup];
                break;
            case Want::kExchange:
                lane.value = values[(l ^ static_cast<uint32_t>(lane.argument)) % kGroup];
                break;
            case Want::kAny:
                lane.value = any ? 1 : 0;
                break;
            default:
                break;
        }
        lane.want = Want::kRun;
    }
}

// One turn of a group: its lanes run until each wants something.
inline void turn(Scheduler& s, Group& group) {
    s.group = &group;
    uint32_t pausing = 0, ended = 0;
    for (uint32_t l = 0; l < kGroup; ++l) {
        Lane& lane = group.lanes[l];
        if (lane.want == Want::kRun || lane.want == Want::kPause) {
            s.to_lane(lane, l);
        }
        pausing += lane.want == Want::kPause;
        ended += lane.want == Want::kEnd;
    }
    if (ended == kGroup) {
        group.busy = false;
    } else if (pausing == 0) {
        settle(s, group);
    }
}

// Runs a kernel: `interleaved` hardware warps are under way at once, and `seed` orders their turns (0: one after the
// other).
inline void launch(const char* symbol, void (*body)(const void*), const void* params, uint32_t blocks,
                   uint32_t interleaved, uint32_t seed) {
    Scheduler& s = scheduler();
    s.symbol = symbol;
    s.body = body;
    s.params = params;
    s.groups_in_all = blocks * 4;
    const uint32_t most = (interleaved == 0 ? 1 : interleaved) * kTogether;
    while (s.groups.size() < most) {
        s.groups.push_back(std::make_unique<Group>());
    }
    uint32_t next = 0, running = 0;
    uint64_t random = seed;
    do {
        running = 0;
        // Where the round begins; with a seed another place every time.
        random = random * 6364136223846793005u + (seed == 0 ? 0 : 1442695040888963407u);
        const uint32_t wavefronts = most / kTogether, offset = static_cast<uint32_t>(random >> 33) % wavefronts;
        for (uint32_t w = 0; w < wavefronts; ++w) {
            // Some wavefronts sit a round out.
            const bool sits = seed != 0 && ((random >> (w % 31)) & 1u) != 0 && wavefronts > 1;
            for (uint32_t t = 0; t < kTogether; ++t) {
                Group& group = *s.groups[((w + offset) % wavefronts) * kTogether + t];
                if (!group.busy && next < s.groups_in_all) {
                    group.index = next++;
                    group.busy = true;
                    for (Lane& lane : group.lanes) {
                        begin(lane);
                    }
                }
                if (group.busy && !sits) {
                    turn(s, group);
                }
                running += group.busy ? 1 : 0;
            }
        }
    } while (running > 0 || next < s.groups_in_all);
}

}  // namespace fibers
}  // namespace dtw
