// NVIDIA: warps of 32 lanes. The contract is in vendor.cuh.
#pragma once

#include <stdint.h>

#define DTW_GROUPS 1
#define DTW_DEVICE __device__ __forceinline__
#define DTW_APART inline __device__ __noinline__
#define DTW_UNROLL _Pragma("unroll")
#define DTW_PRAGMA(text) _Pragma(#text)
#define DTW_UNROLL_BY(count) DTW_PRAGMA(unroll count)
#define DTW_UNROLL2 _Pragma("unroll 2")
#define DTW_UNROLL4 _Pragma("unroll 4")
#define DTW_KERNEL(symbol, Params, ...) DTW_KERNEL_OF(symbol, 1, Params, __VA_ARGS__)
#define DTW_KERNEL_OF(symbol, blocks, Params, ...)                                                       \
    extern "C" __global__ void __launch_bounds__(128, blocks) symbol(const __grid_constant__ Params p) { \
        __VA_ARGS__;                                                                                     \
    }

namespace dtw {

constexpr uint32_t kAll = 0xffffffffu;

DTW_DEVICE int lane() { return static_cast<int>(threadIdx.x & 31u); }
DTW_DEVICE uint32_t warp() { return (blockIdx.x * blockDim.x + threadIdx.x) >> 5; }
DTW_DEVICE uint32_t warps() { return (gridDim.x * blockDim.x) >> 5; }

template <int G, class V>
DTW_DEVICE V shift_up(V v) { return __shfl_up_sync(kAll, v, 1, G); }
template <int G, class V>
DTW_DEVICE V shift_down(V v) { return __shfl_down_sync(kAll, v, 1, G); }
template <class V>
DTW_DEVICE V broadcast(V v, int l) { return __shfl_sync(kAll, v, l); }
template <class V>
DTW_DEVICE V exchange(V v, int mask) { return __shfl_xor_sync(kAll, v, mask); }
DTW_DEVICE bool any(bool condition) { return __any_sync(kAll, condition); }
DTW_DEVICE void sync() { __syncwarp(); }
DTW_DEVICE uint32_t load_acquire(const uint32_t* p) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}
DTW_DEVICE void store_release(uint32_t* p, uint32_t v) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
template <class T>
struct Link;
template <>
struct Link<float> {
    float value;
    uint32_t mark;
};
template <>
struct alignas(16) Link<double> {
    double value;
    uint64_t mark;
};
DTW_DEVICE void send(Link<float>* p, Link<float> v) {
    const uint64_t word = static_cast<uint64_t>(v.mark) << 32 | __float_as_uint(v.value);
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(word));
}
DTW_DEVICE Link<float> receive(const Link<float>* p) {
    uint64_t word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(p));
    return {__uint_as_float(static_cast<uint32_t>(word)), static_cast<uint32_t>(word >> 32)};
}
DTW_DEVICE void send(Link<double>* p, Link<double> v) {
    asm volatile("{\n\t.reg .b128 w;\n\tmov.b128 w, {%1, %2};\n\tst.relaxed.gpu.global.b128 [%0], w;\n\t}" ::"l"(p),
                 "l"(__double_as_longlong(v.value)), "l"(v.mark));
}
DTW_DEVICE Link<double> receive(const Link<double>* p) {
    int64_t value;
    uint64_t mark;
    asm volatile("{\n\t.reg .b128 w;\n\tld.relaxed.gpu.global.b128 w, [%2];\n\tmov.b128 {%0, %1}, w;\n\t}"
                 : "=l"(value), "=l"(mark)
                 : "l"(p));
    return {__longlong_as_double(value), mark};
}
DTW_DEVICE uint64_t take(uint64_t* p) { return atomicAdd(reinterpret_cast<unsigned long long*>(p), 1ull); }
DTW_DEVICE uint64_t take_as_wave(uint64_t* p) {
    uint64_t taken = 0;
    if (lane() == 0) {
        taken = take(p);
    }
    return broadcast(taken, 0);
}
template <class V>
DTW_DEVICE V same_in_wave(V v) { return v; }
DTW_DEVICE void join_wave() {}
DTW_DEVICE void set_bits(uint32_t* p, uint32_t v) { atomicOr(p, v); }
DTW_DEVICE void begin_wait() {}
DTW_DEVICE void end_wait() {}
DTW_DEVICE void pause() { __nanosleep(20); }
template <class V>
DTW_DEVICE V load_fresh(const V* p) { return __ldcg(p); }

DTW_DEVICE int32_t min3_bits(int32_t a, int32_t b, int32_t c) { return __vimin3_s32(a, b, c); }
DTW_DEVICE int32_t max3_bits(int32_t a, int32_t b, int32_t c) { return __vimax3_s32(a, b, c); }
DTW_DEVICE int32_t add_max_bits(int32_t a, int32_t b, int32_t c) { return __viaddmax_s32(a, b, c); }

DTW_DEVICE float fma_(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DTW_DEVICE double fma_(double a, double b, double c) { return __fma_rn(a, b, c); }
DTW_DEVICE float fmin_(float a, float b) { return fminf(a, b); }
DTW_DEVICE float fmax_(float a, float b) { return fmaxf(a, b); }
DTW_DEVICE float abs_(float a) { return fabsf(a); }
DTW_DEVICE double abs_(double a) { return fabs(a); }
DTW_DEVICE float sqrt_(float a) { return __fsqrt_rn(a); }
DTW_DEVICE double sqrt_(double a) { return __dsqrt_rn(a); }
// Called: copied to every place that wants one, powers were a sixth of what all kernels take to compile.
DTW_APART float pow_(float a, float b) { return powf(a, b); }
DTW_APART double pow_(double a, double b) { return pow(a, b); }
// 2^a, to a few units in the last place.
DTW_DEVICE float exp2_(float a) {
    float v;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(v) : "f"(a));
    return v;
}
DTW_DEVICE double exp2_(double a) { return exp2(a); }
DTW_DEVICE double log_(double a) { return log(a); }
DTW_DEVICE double log1p_(double a) { return log1p(a); }
DTW_DEVICE float round_(float a) { return rintf(a); }
DTW_DEVICE double round_(double a) { return rint(a); }
// Never fused with what follows.
DTW_DEVICE float mul_exact(float a, float b) { return __fmul_rn(a, b); }
DTW_DEVICE double mul_exact(double a, double b) { return __dmul_rn(a, b); }
DTW_DEVICE float add_exact(float a, float b) { return __fadd_rn(a, b); }
DTW_DEVICE double add_exact(double a, double b) { return __dadd_rn(a, b); }

constexpr bool kPackedFloats = false;
DTW_DEVICE void subtract_both(float a, float b, float c, float (&both)[2]) { both[0] = a - b, both[1] = a - c; }

DTW_DEVICE int32_t bits_of(float a) { return __float_as_int(a); }
DTW_DEVICE int64_t bits_of(double a) { return __double_as_longlong(a); }
DTW_DEVICE float from_bits(int32_t a) { return __int_as_float(a); }
DTW_DEVICE double from_bits(int64_t a) { return __longlong_as_double(a); }

}  // namespace dtw
