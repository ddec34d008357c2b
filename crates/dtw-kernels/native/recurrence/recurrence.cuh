// What a recurrence is told and what it tells: the vocabulary shared by all measures.
//
// A recurrence R<T, ...> has
//   State, Price                       what is kept of a cell; what a cell costs
//   Norm                               how points are compared (norm.cuh)
//   kGaps, kTimes, kPrevious, kWeights which parts of a sample it reads
//   kBorders                           false: border cells other than (0, 0) are forbidden
//   kPaddingSafe                       nothing can come from rows of padding: a number per cell, and no borders.
//                                      Narrow, wide and diagonal sweeps do it, or kBorders
//   Cells<R, K>, StripCells<R, K>      what a lane keeps of its columns in narrow and in wide sweeps
//   Offsets<R>                         what a place of a diagonal sweep holds
//   kOpen                              every row may end a path: the last column is wanted as well
//   kRescales                          rescale() must be called now and then
//   kLeavesBand                        a band restricts prices only: cells outside it have a value, outside()
//   kPriceForbids                      a cell of infinite price is infinite
//   kThreshold                         a price is a comparison with a distance
//   kTraces                            one best path makes the value: arrival() decides it
//   origin(), forbidden()              the states of (0,0) and of cells outside
//   border_right(j, sum), border_down(i, sum)   the states of (0,j) and (i,0); 1-based
//   outside(up, left)                  the state of a cell outside the band, where kLeavesBand
//   price(distance, previous, x, y, weight)
//   combine(diagonal, up, left, price)
//   arrival(diagonal, up, left, price)  0 diagonal, 1 up (i-1, j), 2 left (i, j-1)
//   finish(state, n, m)
// The same names recur in dtw-core's recurrences.
#pragma once

#include "arithmetic.cuh"
#include "../params.h"

namespace dtw {

// What one row or column brings.
template <class T>
struct Sample {
    T point;          // the point (one channel); unused for several
    T previous;       // the point before it; zero before the first
    T time;
    T previous_time;
    T gap;            // cost of deleting it
    T low, high;      // its span: from the point before it less this one to zero, or from zero to that; diagonal sweeps
};

template <class T>
struct Prices {
    T match, up, left;
};

// What a lane keeps of its columns where cells are numbers made from two points: lanes/cells.cuh.
template <class R, int K>
struct PointCells;

// What a place of a diagonal sweep holds: lanes/offset_cells.cuh.
template <class R>
struct NumberOffsets;

// The arrival that is the least of three, ties in this order.
template <class T>
DTW_DEVICE uint32_t first_least(T diagonal, T up, T left) {
    const bool not_diagonal = up < diagonal || left < diagonal;
    return not_diagonal ? (left < up ? 2u : 1u) : 0u;
}

// Total states: a single number. The base of all measures but the scaled and the located ones.
template <class T>
struct TotalBase {
    using Number = T;
    using State = T;
    static constexpr int kParts = 1;
    static constexpr bool kGaps = false, kTimes = false, kPrevious = false, kWeights = false;
    static constexpr bool kBorders = false, kPaddingSafe = false, kOpen = false, kRescales = false, kTraces = true;
    static constexpr bool kLeavesBand = false, kPriceForbids = false, kThreshold = false;
    template <class R>
    using Offsets = NumberOffsets<R>;
    DTW_DEVICE T origin() const { return T(0); }
    DTW_DEVICE T forbidden() const { return Limits<T>::infinity(); }
    DTW_DEVICE T border_right(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE T border_down(uint32_t, T) const { return forbidden(); }
    DTW_DEVICE T rescale(T state) const { return state; }
    DTW_DEVICE T finish(T state, uint32_t, uint32_t) const { return state; }
};

// A state handed to the next lane, kept in memory, and chosen between.
template <int G, class T>
DTW_DEVICE T shift_state(T v) { return shift_up<G>(v); }
template <class T>
DTW_DEVICE T broadcast_state(T v, int l) { return broadcast(v, l); }
template <class T>
DTW_DEVICE T load_state(const T* edge, uint64_t, uint64_t i, T) { return load_fresh(edge + i); }
template <class T>
DTW_DEVICE void store_state(T* edge, uint64_t, uint64_t i, T v) { edge[i] = v; }
template <class T>
DTW_DEVICE T choose(bool first, T a, T b) { return first ? a : b; }

}  // namespace dtw
