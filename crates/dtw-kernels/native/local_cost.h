// Local costs as a kernel is told them, in the option of its measure: as params.h.
#pragma once

#include <stdint.h>

namespace dtw {

// The local cost of Soft-DTW, in the order of dtw-core.
enum LocalCost : uint32_t {
    kSquaredEuclidean = 0,
    kEuclidean = 1,
    kManhattan = 2,
};

}  // namespace dtw
