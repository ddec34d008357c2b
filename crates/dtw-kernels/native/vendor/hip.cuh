// AMD: waves of 32 or 64 lanes, without ROCm's headers and device libraries. The contract is in vendor.cuh.
//
// A group of 32 lanes is a wave on RDNA and half a wave on CDNA and older GPUs. Lanes talk through DPP, which moves
// registers within a row of 16 lanes (or, on the older ones, within the wave), else through the crossbar of the local
// memory (bpermute).
//
// On the processor (DTW_HOST) amdgcn.h has the instructions, and what asks for more than one of them.
#pragma once

#include <stdint.h>

#include <type_traits>

#define DTW_GROUPS (__AMDGCN_WAVEFRONT_SIZE / 32)
#define DTW_DEVICE __attribute__((device, always_inline)) inline
#define DTW_APART __attribute__((device, noinline)) inline
#define DTW_SHARED __attribute__((shared))
#define DTW_MEMORY __attribute__((device))
#define DTW_UNROLL _Pragma("unroll")
#define DTW_PRAGMA(text) _Pragma(#text)
#define DTW_UNROLL_BY(count) DTW_PRAGMA(unroll count)
#define DTW_UNROLL2 _Pragma("unroll 2")
#define DTW_UNROLL4 _Pragma("unroll 4")
#if !defined(DTW_HOST)
// How many blocks fit a compute unit is left to the compiler: it has up to 512 registers for a lane.
#define DTW_KERNEL_OF(symbol, blocks, Params, ...) DTW_KERNEL(symbol, Params, __VA_ARGS__)
#define DTW_KERNEL(symbol, Params, ...)                                                                    \
    extern "C" __attribute__((global, amdgpu_flat_work_group_size(128, 128))) void symbol(const Params p) { \
        __VA_ARGS__;                                                                                       \
    }
#endif

#include "hip_math.cuh"

namespace dtw {

constexpr uint32_t kThreads = 128;

DTW_DEVICE uint32_t thread() { return __builtin_amdgcn_workitem_id_x(); }
DTW_DEVICE int lane() { return static_cast<int>(thread() & 31u); }
// Among all lanes of the wave.
DTW_DEVICE uint32_t lane_in_wave() { return thread() % __AMDGCN_WAVEFRONT_SIZE; }
#if !defined(DTW_HOST)
DTW_DEVICE uint32_t index_of_warp() {
#if DTW_GROUPS == 1
    // The same for all lanes: may be kept in a scalar register.
    return static_cast<uint32_t>(__builtin_amdgcn_readfirstlane(static_cast<int>(thread() >> 5)));
#else
    return thread() >> 5;
#endif
}
#endif
DTW_DEVICE uint32_t warp() { return __builtin_amdgcn_workgroup_id_x() * (kThreads / 32) + index_of_warp(); }
DTW_DEVICE uint32_t warps() { return __builtin_amdgcn_grid_size_x() / 32; }

#if !defined(DTW_HOST)
// A register moves 4 bytes.
constexpr bool kMovesLongs = false;
#endif
// Anything of 4 or 8 bytes, word by word.
template <class V, class Move>
DTW_DEVICE V moved(V v, Move move) {
    static_assert(sizeof(V) <= 8, "lanes exchange words");
    constexpr bool kLong = sizeof(V) > sizeof(int) && kMovesLongs;
    using Word = typename std::conditional<kLong, int64_t, int>::type;
    Word words[(sizeof(V) + sizeof(Word) - 1) / sizeof(Word)] = {};
    __builtin_memcpy(words, &v, sizeof(V));
    DTW_UNROLL
    for (Word& word : words) {
        word = move(word);
    }
    __builtin_memcpy(&v, words, sizeof(V));
    return v;
}
// The word of another lane of the group.
template <class Word>
DTW_DEVICE Word word_of(Word word, int from) {
    const uint32_t in_wave = (lane_in_wave() & ~31u) + static_cast<uint32_t>(from & 31);
    return __builtin_amdgcn_ds_bpermute(static_cast<int>(in_wave * 4), word);
}

// DPP controls: one lane up or down in a row of 16 lanes, or in the wave. Lanes without a neighbour keep `word`.
#define DTW_DPP(word, control) __builtin_amdgcn_update_dpp((word), (word), (control), 0xf, 0xf, false)
constexpr int kRowUp = 0x111, kRowDown = 0x101, kWaveUp = 0x138, kWaveDown = 0x130;

// The word of the next lane below (kUp: words go up), or above, in each group of G; the last in this direction keeps
// its own.
template <int G, bool kUp, class Word>
DTW_DEVICE Word word_beside(Word word) {
    static_assert(G == 1 || G == 2 || G == 4 || G == 8 || G == 16 || G == 32, "a group is a power of two");
    constexpr int kLast = kUp ? 0 : G - 1, kRow = kUp ? kRowUp : kRowDown;
    if constexpr (G == 16) {
        return DTW_DPP(word, kRow);
    } else if constexpr (G < 16) {
        const Word beside = DTW_DPP(word, kRow);
        return lane() % G == kLast ? word : beside;
    } else {
#if DTW_GROUPS == 1
        // The first lane of a row takes what the other row's last lane has, that of the group its own.
        constexpr uint32_t kFrom = kUp ? ~0u : 0u;
        const Word other = __builtin_amdgcn_permlanex16(word, word, kFrom, kFrom, true, false);
        return __builtin_amdgcn_update_dpp(lane() == kLast ? word : other, word, kRow, 0xf, 0xf, false);
#else
        const Word beside = DTW_DPP(word, kUp ? kWaveUp : kWaveDown);
        return lane() == kLast ? word : beside;
#endif
    }
}
#undef DTW_DPP

template <int G, class V>
DTW_DEVICE V shift_up(V v) {
    return moved(v, [](auto word) { return word_beside<G, true>(word); });
}
template <int G, class V>
DTW_DEVICE V shift_down(V v) {
    return moved(v, [](auto word) { return word_beside<G, false>(word); });
}
template <class V>
DTW_DEVICE V broadcast(V v, int l) {
    return moved(v, [l](auto word) { return word_of(word, l); });
}
template <class V>
DTW_DEVICE V exchange(V v, int mask) {
    return moved(v, [mask](auto word) { return word_of(word, lane() ^ mask); });
}
DTW_DEVICE bool any(bool condition) {
#if DTW_GROUPS == 1
    return __builtin_amdgcn_ballot_w32(condition) != 0;
#else
    return static_cast<uint32_t>(__builtin_amdgcn_ballot_w64(condition) >> (lane_in_wave() & 32u)) != 0;
#endif
}
DTW_DEVICE void sync() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

DTW_DEVICE uint32_t load_acquire(const uint32_t* p) {
    return __scoped_atomic_load_n(p, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE);
}
DTW_DEVICE void store_release(uint32_t* p, uint32_t v) {
    __scoped_atomic_store_n(p, v, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}
DTW_DEVICE uint64_t load_relaxed(const uint64_t* p) {
    return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
DTW_DEVICE uint32_t load_relaxed(const uint32_t* p) {
    return __scoped_atomic_load_n(p, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
DTW_DEVICE void store_relaxed(uint64_t* p, uint64_t v) {
    __scoped_atomic_store_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

DTW_DEVICE uint64_t two_words(uint32_t low, uint32_t high) { return static_cast<uint64_t>(high) << 32 | low; }

template <class T>
struct Link;
template <>
struct alignas(8) Link<float> {
    float value;
    uint32_t mark;
};
// Memory stores 8 bytes as one, no more: each half of a double has the mark beside it.
template <>
struct alignas(16) Link<double> {
    double value;
    uint64_t mark;
};
DTW_DEVICE void send(Link<float>* p, Link<float> v) {
    store_relaxed(reinterpret_cast<uint64_t*>(p), two_words(static_cast<uint32_t>(bits_of(v.value)), v.mark));
}
DTW_DEVICE Link<float> receive(const Link<float>* p) {
    const uint64_t word = load_relaxed(reinterpret_cast<const uint64_t*>(p));
    return {from_bits(static_cast<int32_t>(word)), static_cast<uint32_t>(word >> 32)};
}
// Marks are below 2^32.
DTW_DEVICE void send(Link<double>* p, Link<double> v) {
    uint64_t* words = reinterpret_cast<uint64_t*>(p);
    const uint64_t bits = static_cast<uint64_t>(bits_of(v.value));
    const uint32_t mark = static_cast<uint32_t>(v.mark);
    store_relaxed(words, two_words(static_cast<uint32_t>(bits), mark));
    store_relaxed(words + 1, two_words(static_cast<uint32_t>(bits >> 32), mark));
}
// Halves of different marks are halves of different numbers: the older mark says that the newer has not arrived.
DTW_DEVICE Link<double> receive(const Link<double>* p) {
    const uint64_t* words = reinterpret_cast<const uint64_t*>(p);
    const uint64_t low = load_relaxed(words), high = load_relaxed(words + 1);
    const uint32_t of_low = static_cast<uint32_t>(low >> 32), of_high = static_cast<uint32_t>(high >> 32);
    const uint64_t bits = two_words(static_cast<uint32_t>(low), static_cast<uint32_t>(high));
    return {from_bits(static_cast<int64_t>(bits)), of_low < of_high ? of_low : of_high};
}
DTW_DEVICE uint64_t take(uint64_t* p) {
    return __scoped_atomic_fetch_add(p, uint64_t{1}, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
DTW_DEVICE void set_bits(uint32_t* p, uint32_t v) {
    __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
// No instruction, but the compiler may neither copy it nor let it depend on more than it does. So a loop that ends with
// it has one way back.
DTW_DEVICE void join_wave() { __builtin_amdgcn_wave_barrier(); }
#if !defined(DTW_HOST)
template <class V>
DTW_DEVICE V same_in_wave(V v) {
    return moved(v, [](int word) { return __builtin_amdgcn_readfirstlane(word); });
}
DTW_DEVICE uint64_t take_as_wave(uint64_t* p) { return same_in_wave(lane_in_wave() == 0 ? take(p) : uint64_t{0}); }
DTW_DEVICE void begin_wait() {}
DTW_DEVICE void end_wait() {}
#endif
DTW_DEVICE void pause() { __builtin_amdgcn_s_sleep(1); }
template <class V>
DTW_DEVICE V load_fresh(const V* p) {
    static_assert(sizeof(V) == 4 || sizeof(V) == 8, "loaded as one");
    V v;
    if constexpr (sizeof(V) == 4) {
        const uint32_t word = load_relaxed(reinterpret_cast<const uint32_t*>(p));
        __builtin_memcpy(&v, &word, sizeof(V));
    } else {
        const uint64_t word = load_relaxed(reinterpret_cast<const uint64_t*>(p));
        __builtin_memcpy(&v, &word, sizeof(V));
    }
    return v;
}

DTW_DEVICE int32_t min3_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t m = a < b ? a : b;
    return m < c ? m : c;
}
DTW_DEVICE int32_t max3_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t m = a > b ? a : b;
    return m > c ? m : c;
}
DTW_DEVICE int32_t add_max_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t sum = static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    return sum > c ? sum : c;
}

}  // namespace dtw
