// Block sweep: subsequence DTW, one block of rows of the reference after another, so that a reference of any length
// fits the memory. Other kernels do not include this header, so a change here recompiles none of them.
//
//   for each ticket (a strip of a task), as in strips.cuh:
//       border above the first row = last row of the block before: totals in y's `sums` (infinite before the first),
//       start of a path that comes from column j = kCarried + j
//       sweep the strip, each row's last cell to the edge: every row may end a match
//       write the last row to p.arrivals: totals at task * arrival_stride + column, then starts likewise
//
//      reference
//        | block 0 | rows ... last row ---+
//        |         |                      |   through the host, which knows where each path of it really starts
//        | block 1 | border  <------------+
//
// Each cell carries the row in which its path starts. A path that comes from an earlier block crosses the border; until
// the host knows better, its start is kCarried plus the border's column. No row has such a number. The host replaces it
// by the row in which the path to that column really starts, so starts are exact however long the reference is.
//
// A block may be cut into stretches, which are tasks of their own, swept side by side. Each but the first begins some
// rows early (p.run_up), with no path before it, as if the reference began there. Its states after these rows are
// written beside those of its last row. Where they are the last states of the stretch before, starts included, every
// later state is that of one sweep of the whole: a state depends on nothing else (passes/agree.cuh compares).
//
//      stretch 0  | rows ............. last row |        the states of these two rows are compared
//      stretch 1                | run-up    row | own rows ........... last row |
//
// The last row has a buffer of its own. It must not overwrite the border: a strip reads its corner from the border when
// it begins, which may be after its neighbour has ended.
#pragma once

#include "../kernels.cuh"

namespace dtw {

// Larger than any row of a block. Row and column are below 2^31, so kCarried + column fits 32 bits.
constexpr uint32_t kCarried = 0x80000000u;

// A search whose border above its first row is the last row of the block before, or nothing above a later stretch.
template <class R>
struct Continued : R {
    bool continues;
    explicit DTW_DEVICE Continued(const Sweep& p) : R(p), continues(true) {}
    DTW_DEVICE typename R::State border_right(uint32_t j, typename R::Number total) const {
        return {continues ? total : Limits<typename R::Number>::infinity(), kCarried + j};
    }
};

// Computes the cells of a row as the sweep does, to the same bits, and writes those of the last row and of the run-up's
// last row.
template <class R, int K>
struct LastRow {
    using T = typename R::Number;
    T* states;      // of this task
    uint64_t part;  // numbers from totals to starts
    uint32_t rows, columns;
    uint32_t run_up;  // 0: none
    uint32_t first;   // column of the lane
    typename R::State cell[K];

    DTW_DEVICE void begin(uint32_t strip, uint32_t) { first = (strip * 32 + static_cast<uint32_t>(lane())) * K; }
    template <class S, class P>
    DTW_DEVICE void record(int k, const R& r, const S& diagonal, const S& up, const S& left, const P& price) {
        cell[k] = r.combine(diagonal, up, left, price);
    }
    DTW_DEVICE void outside(int, bool) {}
    DTW_DEVICE void row(bool there, uint32_t i) {
        if (there && (i + 1 == rows || i + 1 == run_up)) {
            T* to = i + 1 == rows ? states : states + 2 * part;
            DTW_UNROLL
            for (int k = 0; k < K; ++k) {
                if (first + k < columns) {
                    store_state(to, part, first + k, cell[k]);
                }
            }
        }
    }
};

// Strips of all tasks side by side, as sweep_strips spreads them.
template <class Search, int K>
DTW_DEVICE void sweep_block(const Sweep& p) {
    using R = Continued<Search>;
    using T = typename R::Number;
    R r(p);
    DTW_FOR_EACH_TICKET(ticket, p, p.tasks * p.most_strips) {
        const uint64_t k = ticket % p.tasks;
        const uint32_t strip = static_cast<uint32_t>(ticket / p.tasks);
        const Task task = task_of(p, k);
        if (strip * (32 * K) >= task.m) {
            continue;
        }
        r.continues = task.i % p.stretches == 0;
        const Band band = band_of(p, k, task.n, task.m);
        T* edge = static_cast<T*>(p.edges) + k * p.edge_stride;
        uint32_t* done = p.progress + k * p.most_strips + strip;
        LastRow<R, K> last{reinterpret_cast<T*>(p.arrivals) + k * p.arrival_stride,
                           p.tasks * p.arrival_stride,
                           task.n,
                           task.m,
                           r.continues ? 0 : p.run_up,
                           0,
                           {}};
        sweep_strip<R, K, false, Channels<Search>::many>(r, p, k, task, band, strip, edge, edge, strip > 0 ? done - 1 : nullptr,
                                                    done, last);
    }
}

}  // namespace dtw

#define DTW_BLOCK(symbol, R, K, BLOCKS) \
    DTW_KERNEL_OF(symbol, BLOCKS, dtw::Sweep, dtw::sweep_block<DTW_ARGUMENTS R, K>(p))
