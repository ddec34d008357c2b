// NVIDIA. The contract is in block.cuh.
#pragma once

#define DTW_KERNEL_SHARING(symbol, blocks, bytes, Params, ...) DTW_KERNEL_OF(symbol, blocks, Params, __VA_ARGS__)

namespace dtw {

DTW_DEVICE uint32_t thread() { return threadIdx.x; }
DTW_DEVICE void sync_block() { __syncthreads(); }
template <uint32_t>
DTW_DEVICE void* shared_memory() {
    extern __shared__ uint4 dtw_shared[];
    // Hides where the address comes from: else it is worked out anew in every step of a loop.
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(dtw_shared));
    asm volatile("" : "+r"(address));
    return __cvta_shared_to_generic(address);
}
DTW_DEVICE void load_four(const float* p, float (&v)[4]) {
    const float4 all = __ldcg(reinterpret_cast<const float4*>(p));
    v[0] = all.x, v[1] = all.y, v[2] = all.z, v[3] = all.w;
}
DTW_DEVICE void load_four(const double* p, double (&v)[4]) {
    const double2 low = __ldcg(reinterpret_cast<const double2*>(p));
    const double2 high = __ldcg(reinterpret_cast<const double2*>(p) + 1);
    v[0] = low.x, v[1] = low.y, v[2] = high.x, v[3] = high.y;
}
template <class T>
DTW_DEVICE T load_always(const T* p) { return *const_cast<const volatile T*>(p); }
DTW_DEVICE float least_of(float a, float b) { return fminf(a, b); }
DTW_DEVICE double least_of(double a, double b) { return a < b ? a : b; }
DTW_DEVICE float reciprocal(float v) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return __fmaf_rn(r, __fmaf_rn(-v, r, 1.0f), r);
}
DTW_DEVICE double reciprocal(double v) {
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(v));
    r = __fma_rn(r, __fma_rn(-v, r, 1.0), r);
    return __fma_rn(r, __fma_rn(-v, r, 1.0), r);
}
constexpr bool kMatrixUnits = true;
DTW_DEVICE void multiply_add(float (&c)[4], const float (&a)[4], const float (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
          "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}

}  // namespace dtw
