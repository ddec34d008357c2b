// The processor: a lane is a fiber (fibers.h). The contract is in vendor.cuh.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>

#include "host_kernel.h"

#define DTW_GROUPS (DTW_LANES / 32)
#define DTW_DEVICE inline
#define DTW_UNROLL
#define DTW_UNROLL_BY(count)
#define DTW_UNROLL2
#define DTW_UNROLL4

namespace dtw {

inline int lane() { return static_cast<int>(fibers::scheduler().lane_index); }
inline uint32_t warp() { return fibers::scheduler().group->index; }
inline uint32_t warps() { return fibers::scheduler().groups_in_all; }

// An exchange of anything of up to 8 bytes.
template <class V>
V talk(fibers::Want want, V v, int argument) {
    static_assert(sizeof(V) <= 8, "lanes exchange words");
    uint64_t word = 0;
    memcpy(&word, &v, sizeof(V));
    word = fibers::talk(want, word, argument);
    memcpy(&v, &word, sizeof(V));
    return v;
}

template <int G, class V>
V shift_up(V v) { return talk(fibers::Want::kShiftUp, v, G); }
template <int G, class V>
V shift_down(V v) { return talk(fibers::Want::kBroadcast, v, lane() % G == G - 1 ? lane() : lane() + 1); }
template <class V>
V broadcast(V v, int l) { return talk(fibers::Want::kBroadcast, v, l); }
template <class V>
V exchange(V v, int mask) { return talk(fibers::Want::kExchange, v, mask); }
inline bool any(bool condition) { return fibers::talk(fibers::Want::kAny, condition ? 1 : 0, 0) != 0; }
inline void sync() { fibers::talk(fibers::Want::kSync, 0, 0); }
// All lanes of a launch are fibers of one thread: plain accesses are ordered as written.
inline uint32_t load_acquire(const uint32_t* p) { return *const_cast<const volatile uint32_t*>(p); }
inline void store_release(uint32_t* p, uint32_t v) { *const_cast<volatile uint32_t*>(p) = v; }
template <class T>
struct Link {
    T value;
    typename std::conditional<sizeof(T) == 8, uint64_t, uint32_t>::type mark;
};
template <class T>
void send(Link<T>* p, Link<T> v) { *p = v; }
template <class T>
Link<T> receive(const Link<T>* p) {
    return {const_cast<const volatile Link<T>*>(p)->value, const_cast<const volatile Link<T>*>(p)->mark};
}
inline uint64_t take(uint64_t* p) { return (*p)++; }
inline void set_bits(uint32_t* p, uint32_t v) { *p |= v; }
inline uint64_t take_as_wave(uint64_t* p) {
    return fibers::talk(fibers::Want::kTake, reinterpret_cast<uint64_t>(p), 0);
}
template <class V>
V same_in_wave(V v) { return v; }
inline void join_wave() {}
inline void begin_wait() { fibers::scheduler().lane->waits = true; }
inline void end_wait() { fibers::scheduler().lane->waits = false; }
inline void pause() { fibers::talk(fibers::Want::kPause, 0, 0); }
template <class V>
V load_fresh(const V* p) { return *p; }

inline int32_t min3_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t m = a < b ? a : b;
    return m < c ? m : c;
}
inline int32_t max3_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t m = a > b ? a : b;
    return m > c ? m : c;
}
inline int32_t add_max_bits(int32_t a, int32_t b, int32_t c) {
    const int32_t sum = static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
    return sum > c ? sum : c;
}

inline float fma_(float a, float b, float c) { return fmaf(a, b, c); }
inline double fma_(double a, double b, double c) { return fma(a, b, c); }
inline float fmin_(float a, float b) { return fminf(a, b); }
inline float fmax_(float a, float b) { return fmaxf(a, b); }
inline float abs_(float a) { return fabsf(a); }
inline double abs_(double a) { return fabs(a); }
inline float sqrt_(float a) { return sqrtf(a); }
inline double sqrt_(double a) { return sqrt(a); }
inline float pow_(float a, float b) { return powf(a, b); }
inline double pow_(double a, double b) { return pow(a, b); }
inline float exp2_(float a) { return exp2f(a); }
inline double exp2_(double a) { return exp2(a); }
inline double log_(double a) { return log(a); }
inline double log1p_(double a) { return log1p(a); }
inline float round_(float a) { return rintf(a); }
inline double round_(double a) { return rint(a); }
inline float mul_exact(float a, float b) { return a * b; }
inline double mul_exact(double a, double b) { return a * b; }
inline float add_exact(float a, float b) { return a + b; }
inline double add_exact(double a, double b) { return a + b; }

constexpr bool kPackedFloats = false;
inline void subtract_both(float a, float b, float c, float (&both)[2]) { both[0] = a - b, both[1] = a - c; }

inline int32_t bits_of(float a) {
    int32_t b;
    memcpy(&b, &a, sizeof(b));
    return b;
}
inline int64_t bits_of(double a) {
    int64_t b;
    memcpy(&b, &a, sizeof(b));
    return b;
}
inline float from_bits(int32_t a) {
    float b;
    memcpy(&b, &a, sizeof(b));
    return b;
}
inline double from_bits(int64_t a) {
    double b;
    memcpy(&b, &a, sizeof(b));
    return b;
}

}  // namespace dtw
