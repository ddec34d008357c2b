// The instructions of AMD's GPUs that hip.cuh uses, on the processor: a lane is a fiber (fibers.h).
//
// What each does is as in AMD's ISA documents ("RDNA 3" and "AMD Instinct MI300", DPP and VOP3 instructions). What an
// instruction leaves open, or what hip.cuh must not depend on, comes out as odd bits.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "host_kernel.h"

#define __AMDGCN_WAVEFRONT_SIZE DTW_LANES
#define __MEMORY_SCOPE_DEVICE 0
#define __scoped_atomic_load_n(p, order, scope) __atomic_load_n(p, order)
#define __scoped_atomic_store_n(p, v, order, scope) __atomic_store_n(p, v, order)
#define __scoped_atomic_fetch_add(p, v, order, scope) __atomic_fetch_add(p, v, order)
#define __scoped_atomic_fetch_or(p, v, order, scope) __atomic_fetch_or(p, v, order)
#define __scoped_atomic_exchange_n(p, v, order, scope) __atomic_exchange_n(p, v, order)
#define __builtin_amdgcn_fence(order, scope) __atomic_signal_fence(order)

namespace dtw {

// Bits that are nobody's.
template <class Word>
constexpr Word kOdd = static_cast<Word>(0x5ad1dead5ad1dead);
// Both words of a double at once, as far as the emulated instructions go: half the exchanges.
#if defined(DTW_SPLIT_LONGS)
constexpr bool kMovesLongs = false;
#else
constexpr bool kMovesLongs = true;
#endif
using fibers::Want;

inline uint32_t group_lane() { return fibers::scheduler().lane_index; }
inline uint32_t group_in_block() { return fibers::scheduler().group->index % fibers::kGroupsOfBlock; }
template <class Word>
Word from_lane(Word word, uint32_t lane) {
    return static_cast<Word>(fibers::talk(Want::kBroadcast, static_cast<uint64_t>(word), static_cast<int>(lane)));
}

inline uint32_t __builtin_amdgcn_workitem_id_x() { return group_in_block() * 32 + group_lane(); }
inline uint32_t __builtin_amdgcn_workgroup_id_x() {
    return fibers::scheduler().group->index / fibers::kGroupsOfBlock;
}
inline uint32_t __builtin_amdgcn_grid_size_x() { return fibers::scheduler().groups_in_all * 32; }

// DPP: one lane down or up, in a row of 16 lanes (0x111, 0x101) or in the wave (0x138, 0x130: GPUs with waves of 64).
template <class Word>
Word __builtin_amdgcn_update_dpp(Word old, Word word, int control, int rows, int banks, bool bound) {
    const uint32_t own = group_lane(), in_row = own % 16;
    const bool down = control == 0x111 || control == 0x138, in_wave = control == 0x138 || control == 0x130;
    const bool known = (down || control == 0x101 || control == 0x130) && (!in_wave || DTW_LANES == 64);
    const Word other = from_lane(word, down ? own - 1 : own + 1);
    if (!known || rows != 0xf || banks != 0xf || bound) {
        return kOdd<Word>;
    }
    if (!in_wave) {
        return in_row == (down ? 0u : 15u) ? old : other;
    }
    const uint32_t group = group_in_block() % fibers::kGroupsOfWave;
    const bool leaves_group = own == (down ? 0u : 31u), leaves_wave = group == (down ? 0u : fibers::kGroupsOfWave - 1);
    return !leaves_group ? other : leaves_wave ? old : kOdd<Word>;
}
// A lane of the other row of 16, which four bits for each lane of a row say. Waves of 32 lanes alone.
template <class Word>
Word __builtin_amdgcn_permlanex16(Word, Word word, uint32_t low, uint32_t high, bool, bool) {
    const uint32_t own = group_lane(), in_row = own % 16;
    const uint32_t chosen = ((in_row < 8 ? low : high) >> (in_row % 8 * 4)) & 15u;
    const Word other = from_lane(word, ((own / 16) ^ 1u) * 16 + chosen);
    return DTW_LANES == 32 ? other : kOdd<Word>;
}
// Bytes of an address say which lane of the wave.
template <class Word>
Word __builtin_amdgcn_ds_bpermute(int address, Word word) {
    const uint32_t lane = static_cast<uint32_t>(address) / 4 % DTW_LANES;
    const Word other = from_lane(word, lane);
    return lane / 32 == group_in_block() % fibers::kGroupsOfWave ? other : kOdd<Word>;
}
// Of a group of lanes; those of the other group of a wave count as true.
inline bool any_of_group(bool condition) { return fibers::talk(Want::kAny, condition ? 1 : 0, 0) != 0; }
inline uint32_t __builtin_amdgcn_ballot_w32(bool condition) { return any_of_group(condition) ? 1u << 7 : 0; }
inline uint64_t __builtin_amdgcn_ballot_w64(bool condition) {
    const uint64_t own = any_of_group(condition) ? 1u << 7 : 0, others = 0xffffffff;
    return group_in_block() % 2 == 0 ? others << 32 | own : own << 32 | others;
}
inline void __builtin_amdgcn_wave_barrier() { fibers::talk(Want::kSync, 0, 0); }
inline void __builtin_amdgcn_s_barrier() { fibers::talk(Want::kBlock, 0, 0); }
inline void __builtin_amdgcn_s_sleep(int) { fibers::talk(Want::kPause, 0, 0); }
inline float __builtin_amdgcn_exp2f(float v) { return exp2f(v); }
inline float __builtin_amdgcn_rcpf(float v) { return 1.0f / v; }

// Of hip.cuh and hip_block.cuh, what is more than instructions here.
inline uint32_t index_of_warp() { return group_in_block(); }
inline uint64_t take_as_wave(uint64_t* p) { return fibers::talk(Want::kTake, reinterpret_cast<uint64_t>(p), 0); }
template <class V>
V same_in_wave(V v) {
    return from_lane(v, 0) == v ? v : kOdd<V>;
}
inline void begin_wait() { fibers::scheduler().lane->waits = true; }
inline void end_wait() { fibers::scheduler().lane->waits = false; }
inline void* local_memory() { return fibers::shared_memory(); }
inline uint32_t& local_word() {
    return static_cast<uint32_t*>(fibers::shared_memory())[fibers::kShared / sizeof(uint32_t) - 1];
}

}  // namespace dtw
