// Lanes as fibers on one thread of the processor, in lockstep: for host.cuh.
//
// for each round, until all have ended:
//     for each wave (DTW_LANES lanes: 32, or 64 in two groups), in an order that differs from round to round:
//         each lane runs until it wants to exchange something, waits or ends
//         if no lane of the wave is in a loop that waits: make the exchange that each group wants
//         otherwise only the waiting lanes go on, next turn
//
//      wave 0                          wave 1
//   |  group 0      |  group 1      |  group 2      |  group 3      |
//   |  lane 0 .. 31 |  lane 0 .. 31 |  ...                               a lane is a fiber: a stack of its own
//
// Four groups are a block: they can wait for each other at a barrier, and share memory that is NaN when they begin.
//
// Waves take turns, so that one which waits for another's flag lets it run. The lanes of one wave execute in lockstep:
// if a lane waits for another of its wave, both wait for ever. A launch in which all that runs waits is given up: lanes
// that wait write nothing, so nothing can change any more. kIdleRounds such rounds are enough to have seen that.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
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
constexpr uint32_t kGroupsOfWave = DTW_LANES / kGroup;
constexpr uint32_t kGroupsOfBlock = 4;
// What a block of the GPU with the most shared memory has.
constexpr size_t kShared = 227 << 10;
// A waiting lane looks again within a few turns, and a wave sits out every other round or so.
constexpr uint32_t kIdleRounds = 1000;
#if defined(DTW_ADDRESS_SANITIZER)
// Zones round every variable.
constexpr size_t kStack = 1 << 20;
#else
constexpr size_t kStack = 128 << 10;
#endif

// What a lane waits for.
enum class Want : uint8_t { kRun, kShiftUp, kBroadcast, kExchange, kAny, kSync, kTake, kPause, kBlock, kEnd };

#if defined(__x86_64__)
// Saves the callee's registers on this stack, stores its top in *from, and goes on with the stack `to`. By a jump: the
// processor would guess that `ret` goes back to this stack's caller, and lose more time than all the rest takes.
__attribute__((naked, noinline)) inline void swap_stacks(void** /*from*/, void* /*to*/) {
    asm volatile(
        "pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\t"
        "popq %rcx\n\tjmp *%rcx");
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
    // Whether it is in a loop that waits for another group.
    bool waits = false;
};

// What the groups of a block have in common.
struct Block {
    std::unique_ptr<uint64_t[]> memory;
    // Groups that wait at the barrier, how often it has opened, and groups that have ended.
    uint32_t arrived = 0, opened = 0, ended = 0;
};

struct Group {
    Lane lanes[kGroup];
    uint32_t index = 0;
    Block* block = nullptr;
    // Whether it waits at the barrier of its block, and which opening it waits for.
    bool arrived = false;
    uint32_t opening = 0;
    // What lanes give to a product of matrices.
    double operands[kGroup][12];
};

struct Wave {
    Group groups[kGroupsOfWave];
    bool busy = false;
};

// What one launch on one thread is doing.
struct Scheduler {
    std::vector<std::unique_ptr<Wave>> waves;
    // Those that have begun and not ended, by their number.
    std::map<uint32_t, Block> blocks;
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
    lane.waits = false;
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
inline void exchange(Scheduler& s, Group& group) {
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

// A group at the barrier of its block: it goes on once all groups have come.
inline void pass_barrier(Scheduler& s, Group& group) {
    for (const Lane& lane : group.lanes) {
        if (lane.want != Want::kBlock) {
            fprintf(stderr, "%s: some lanes of a group are at a barrier, others are not\n", s.symbol);
            abort();
        }
    }
    Block& block = *group.block;
    if (!group.arrived) {
        group.arrived = true;
        group.opening = block.opened + 1;
        if (++block.arrived == kGroupsOfBlock) {
            block.arrived = 0;
            ++block.opened;
        }
    }
    if (block.opened >= group.opening) {
        group.arrived = false;
        for (Lane& lane : group.lanes) {
            lane.want = Want::kRun;
        }
    }
}

// The memory of the block of the lane that runs.
inline void* shared_memory() {
    Block& block = *scheduler().group->block;
    if (!block.memory) {
        block.memory.reset(new uint64_t[kShared / sizeof(uint64_t)]);
        for (size_t k = 0; k < kShared / sizeof(uint64_t); ++k) {
            block.memory[k] = ~static_cast<uint64_t>(0);
        }
    }
    return block.memory.get();
}

// What all lanes of a wave want together: the next ticket, once for all of them.
inline void take_ticket(Wave& wave) {
    uint64_t* counter = nullptr;
    for (const Group& group : wave.groups) {
        for (const Lane& lane : group.lanes) {
            uint64_t* wanted = reinterpret_cast<uint64_t*>(lane.value);
            if (lane.want != Want::kTake || (counter != nullptr && wanted != counter)) {
                return;
            }
            counter = wanted;
        }
    }
    const uint64_t ticket = (*counter)++;
    for (Group& group : wave.groups) {
        for (Lane& lane : group.lanes) {
            lane.value = ticket;
            lane.want = Want::kRun;
        }
    }
}

// One turn of a wave: its lanes run until each wants something. While some are in a loop that waits, the others stand
// still. Returns whether a lane ran that is not in such a loop.
inline bool turn(Scheduler& s, Wave& wave) {
    uint32_t pausing[kGroupsOfWave] = {}, waiting[kGroupsOfWave] = {}, ended[kGroupsOfWave] = {};
    bool moved = false, held = false, busy = false;
    for (uint32_t g = 0; g < kGroupsOfWave; ++g) {
        Group& group = wave.groups[g];
        s.group = &group;
        for (uint32_t l = 0; l < kGroup; ++l) {
            Lane& lane = group.lanes[l];
            if (lane.want == Want::kRun || lane.want == Want::kPause) {
                s.to_lane(lane, l);
                moved = moved || !lane.waits;
            }
            pausing[g] += lane.want == Want::kPause;
            waiting[g] += lane.waits;
            ended[g] += lane.want == Want::kEnd;
        }
        held = held || waiting[g] > 0;
        busy = busy || ended[g] < kGroup;
    }
    for (uint32_t g = 0; g < kGroupsOfWave; ++g) {
        const bool wants = pausing[g] == 0 && ended[g] < kGroup && wave.groups[g].lanes[0].want != Want::kTake;
        if (wants && (!held || waiting[g] == kGroup)) {
            const bool at_barrier = wave.groups[g].lanes[0].want == Want::kBlock;
            at_barrier ? pass_barrier(s, wave.groups[g]) : exchange(s, wave.groups[g]);
        }
    }
    if (!held && busy) {
        take_ticket(wave);
    }
    for (uint32_t g = 0; !busy && g < kGroupsOfWave; ++g) {
        if (++wave.groups[g].block->ended == kGroupsOfBlock) {
            s.blocks.erase(wave.groups[g].index / kGroupsOfBlock);
        }
    }
    wave.busy = busy;
    return moved;
}

// Runs a kernel: `interleaved` waves are under way at once, and `seed` orders their turns (0: one after the other).
// Returns false for a launch that would never end: all that runs waits.
inline bool launch(const char* symbol, void (*body)(const void*), const void* params, uint32_t blocks,
                   uint32_t interleaved, uint32_t seed) {
    Scheduler& s = scheduler();
    s.symbol = symbol;
    s.body = body;
    s.params = params;
    s.groups_in_all = blocks * kGroupsOfBlock;
    s.blocks.clear();
    const uint32_t waves = interleaved == 0 ? 1 : interleaved;
    while (s.waves.size() < waves) {
        s.waves.push_back(std::make_unique<Wave>());
    }
    uint32_t next = 0, running = 0, idle_rounds = 0;
    uint64_t random = seed;
    do {
        running = 0;
        bool moved = false;
        // Where the round begins; with a seed another place every time.
        random = random * 6364136223846793005u + (seed == 0 ? 0 : 1442695040888963407u);
        const uint32_t offset = static_cast<uint32_t>(random >> 33) % waves;
        for (uint32_t w = 0; w < waves; ++w) {
            // Some waves sit a round out.
            const bool sits = seed != 0 && ((random >> (w % 31)) & 1u) != 0 && waves > 1;
            Wave& wave = *s.waves[(w + offset) % waves];
            if (!wave.busy && next < s.groups_in_all) {
                wave.busy = true;
                for (Group& group : wave.groups) {
                    group.index = next++;
                    group.block = &s.blocks[group.index / kGroupsOfBlock];
                    group.arrived = false;
                    for (Lane& lane : group.lanes) {
                        begin(lane);
                    }
                }
            }
            if (wave.busy && !sits) {
                moved = turn(s, wave) || moved;
            }
            running += wave.busy ? 1 : 0;
        }
        idle_rounds = moved ? 0 : idle_rounds + 1;
        if (idle_rounds == kIdleRounds) {
            for (std::unique_ptr<Wave>& wave : s.waves) {
                wave->busy = false;
            }
            return false;
        }
    } while (running > 0 || next < s.groups_in_all);
    return true;
}

}  // namespace fibers
}  // namespace dtw
