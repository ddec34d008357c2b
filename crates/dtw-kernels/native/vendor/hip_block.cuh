// AMD. The contract is in block.cuh.
#pragma once

// What a block shares is local memory (LDS), or, where that is too little, a piece of the device's memory that no other
// block has meanwhile.
#define DTW_KERNEL_SHARING(symbol, blocks, bytes, Params, ...) \
    DTW_KERNEL(symbol, Params, const dtw::Lease<(bytes)> lease; __VA_ARGS__)

namespace dtw {

DTW_DEVICE void sync_block() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    // One thread may announce to other blocks what all of this one wrote, but its release waits for the stores of its
    // own wave alone. So every wave waits for its stores here, where the fence does not say so.
#if defined(__gfx90a__) || defined(__gfx942__)
    asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#elif defined(__gfx1030__)
    asm volatile("s_waitcnt_vscnt null, 0x0" ::: "memory");
#endif
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Bytes of local memory that a block can have.
constexpr uint32_t kLocalBytes = 65536;
// Three tiles of doubles and what goes with them; so many blocks at once have a piece.
constexpr uint32_t kPieceBytes = 102400, kPieces = 256;

#if !defined(DTW_HOST)
extern DTW_SHARED uint64_t dtw_shared[];
DTW_DEVICE void* local_memory() { return dtw_shared; }
DTW_DEVICE uint32_t& local_word() {
    static DTW_SHARED uint32_t word;
    return word;
}
#endif

static DTW_MEMORY uint64_t dtw_pieces[kPieces * (kPieceBytes / 8)];
static DTW_MEMORY uint32_t dtw_taken[kPieces];

// Held while a kernel runs: a piece of the device's memory, if what the block shares does not fit the local one. A
// block that finds none free waits; those that have one wait for no block that has none, because it has no ticket yet.
template <uint32_t kBytes>
struct Lease {
    static_assert(kBytes <= kPieceBytes, "a piece is as large as what any kernel shares");
    static constexpr bool kNeeded = kBytes > kLocalBytes;

    DTW_DEVICE Lease() {
        if constexpr (kNeeded) {
            if (thread() == 0) {
                uint32_t at = __builtin_amdgcn_workgroup_id_x() % kPieces;
                while (__scoped_atomic_exchange_n(dtw_taken + at, 1u, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_DEVICE) != 0) {
                    at = (at + 1) % kPieces;
                    pause();
                }
                local_word() = at;
            }
            sync_block();
        }
    }
    DTW_DEVICE ~Lease() {
        if constexpr (kNeeded) {
            sync_block();
            if (thread() == 0) {
                store_release(dtw_taken + local_word(), 0);
            }
        }
    }
};

template <uint32_t kBytes>
DTW_DEVICE void* shared_memory() {
    if constexpr (Lease<kBytes>::kNeeded) {
        return dtw_pieces + local_word() * (kPieceBytes / 8);
    } else {
        return local_memory();
    }
}
template <class T>
DTW_DEVICE void load_four(const T* p, T (&v)[4]) {
    DTW_UNROLL
    for (uint32_t k = 0; k < sizeof(v) / 8; ++k) {
        const uint64_t word = load_relaxed(reinterpret_cast<const uint64_t*>(p) + k);
        __builtin_memcpy(reinterpret_cast<uint64_t*>(v) + k, &word, sizeof(word));
    }
}
template <class T>
DTW_DEVICE T load_always(const T* p) { return *const_cast<const volatile T*>(p); }
DTW_DEVICE float least_of(float a, float b) { return a < b ? a : b; }
DTW_DEVICE double least_of(double a, double b) { return a < b ? a : b; }
DTW_DEVICE float reciprocal(float v) {
    const float r = __builtin_amdgcn_rcpf(v);
    return fma_(r, fma_(-v, r, 1.0f), r);
}
DTW_DEVICE double reciprocal(double v) { return 1.0 / v; }
// CDNA has matrix units for floats, of other shapes; RDNA has none for them.
constexpr bool kMatrixUnits = false;
DTW_DEVICE void multiply_add(float (&)[4], const float (&)[4], const float (&)[2]) {}

}  // namespace dtw
