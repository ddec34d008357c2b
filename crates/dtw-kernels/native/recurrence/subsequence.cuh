// Subsequence DTW with the reference in the rows and the query in the columns: every row may start a match (border
// column 0), every row may end one (the last column is the result). A state carries the row where its path starts.
//
// Equal arrivals: the diagonal, then one step in the query (left here), then one in the reference (up here): the order
// in which a path is walked back. Sakoe & Chiba's recurrence with open ends; Mueller 2007, 10.1007/978-3-540-74048-3,
// 4.4.
#pragma once

#include "dtw.cuh"

namespace dtw {

template <class T>
struct Located {
    T total;
    uint32_t start;
};

template <class T, class Cost, bool kMany>
struct Subsequence {
    using Number = T;
    using State = Located<T>;
    using Price = T;
    using Norm = typename Cost::template Norm<T, kMany>;
    static constexpr int kParts = 2;
    static constexpr bool kGaps = false, kTimes = false, kPrevious = false, kWeights = false;
    static constexpr bool kBorders = true, kPaddingSafe = false, kOpen = false, kRescales = false, kTraces = true;
    static constexpr bool kLeavesBand = false;
    Norm norm;
    explicit DTW_DEVICE Subsequence(const Sweep&) : norm{} {}
    DTW_DEVICE State origin() const { return {T(0), 0}; }
    DTW_DEVICE State forbidden() const { return {Limits<T>::infinity(), 0}; }
    DTW_DEVICE State border_right(uint32_t, T) const { return forbidden(); }
    // A path through border cell (i, 0) starts with reference point i (0-based), the next row.
    DTW_DEVICE State border_down(uint32_t i, T) const { return {T(0), i}; }
    DTW_DEVICE State rescale(State state) const { return state; }
    DTW_DEVICE T price(T between, T, const Sample<T>&, const Sample<T>&, T) const { return between; }
    DTW_DEVICE State combine(State diagonal, State up, State left, T price) const {
        // Of three that are not negative, the least is one instruction where a choice by comparison takes two.
        const T best = min3_nonnegative(diagonal.total, up.total, left.total);
        const uint32_t step_start = left.total <= up.total ? left.start : up.start;
        return {Cost::template add<kMany>(best, price), diagonal.total <= best ? diagonal.start : step_start};
    }
    DTW_DEVICE uint32_t arrival(State diagonal, State up, State left, T) const {
        const bool not_diagonal = left.total < diagonal.total || up.total < diagonal.total;
        return not_diagonal ? (up.total < left.total ? 1u : 2u) : 0u;
    }
    DTW_DEVICE T finish(State state, uint32_t, uint32_t) const { return state.total; }
};

template <int G, class T>
DTW_DEVICE Located<T> shift_state(Located<T> v) {
    return {shift_up<G>(v.total), shift_up<G>(v.start)};
}
template <class T>
DTW_DEVICE Located<T> broadcast_state(Located<T> v, int l) {
    return {broadcast(v.total, l), broadcast(v.start, l)};
}
template <class T>
DTW_DEVICE Located<T> load_state(const T* edge, uint64_t part, uint64_t i, Located<T>) {
    return {load_fresh(edge + i), load_fresh(reinterpret_cast<const uint32_t*>(edge + part) + i)};
}
template <class T>
DTW_DEVICE void store_state(T* edge, uint64_t part, uint64_t i, Located<T> v) {
    edge[i] = v.total;
    reinterpret_cast<uint32_t*>(edge + part)[i] = v.start;
}
template <class T>
DTW_DEVICE Located<T> choose(bool first, Located<T> a, Located<T> b) {
    return {first ? a.total : b.total, first ? a.start : b.start};
}

}  // namespace dtw
