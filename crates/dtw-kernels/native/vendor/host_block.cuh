// The processor. The contract is in block.cuh.
#pragma once

namespace dtw {

inline uint32_t thread() { return warp() % fibers::kGroupsOfBlock * 32 + fibers::scheduler().lane_index; }
inline void sync_block() { fibers::talk(fibers::Want::kBlock, 0, 0); }
inline void* shared_memory() { return fibers::shared_memory(); }

}  // namespace dtw
