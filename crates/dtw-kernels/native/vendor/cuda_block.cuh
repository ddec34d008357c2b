// NVIDIA. The contract is in block.cuh.
#pragma once

namespace dtw {

DTW_DEVICE uint32_t thread() { return threadIdx.x; }
DTW_DEVICE void sync_block() { __syncthreads(); }
DTW_DEVICE void* shared_memory() {
    extern __shared__ uint4 dtw_shared[];
    return dtw_shared;
}

}  // namespace dtw
