// What a kernel is told: plain structures, of which build/params.rs makes those of Rust. A comment before a field, or
// behind it, is about it. `// Name: ...` in a structure begins a layer, which is a structure of its own in Rust.
//
// Lengths and indices are in points. "Prepared" series are what `prepare` writes: each series with kPad points of zeros
// before it, and the last with as many behind, so that lanes that have not begun or have ended have something to read.
// What they compute from it is never seen: before the first row all cells are forbidden, and nothing that is added to
// that shows.
#pragma once

#include <stdint.h>

namespace dtw {

// Points of padding before each prepared series, and after the last.
constexpr int kPad = 64;

// Points of a series that one warp prepares.
constexpr uint32_t kPreparePiece = 128;

// Windows whose moments one warp computes, and that it bounds.
constexpr uint32_t kWindowChunk = 1024;
// Points after which a lane looks whether its windows are decided.
constexpr uint32_t kBoundsAtOnce = 32;

// How tasks are numbered.
enum Pairing : uint32_t {
    kCross = 0,      // task = i * y.count + j        -> out[i * out_stride + j]
    kSymmetric = 1,  // task in the upper triangle    -> out[i * out_stride + j] and out[j * out_stride + i]
    kZipped = 2,     // task = i = j                  -> out[i]
    kListed = 3,     // (i, j) = pairs[2 task ..]     -> out[task]
};

// Which cells of a pair are allowed.
enum BandKind : uint32_t {
    kBandFull = 0,
    kBandSakoe = 1,  // start = i - below, end = i + above + 1 from radius, n and m
    kBandTable = 2,  // ranges[range_offset(task) + i]
};

// How raw numbers are written.
enum Format : uint32_t {
    kFormatF32 = 0,
    kFormatF64 = 1,
    kFormatF16 = 2,   // IEEE binary16
    kFormatBf16 = 3,  // the upper half of a binary32
};

// Columns start <= j < end of a row.
struct Range {
    uint32_t start, end;
};

// One side of the pairs, prepared. Pointers to numbers are to the kernel's number type.
struct Side {
    const void* values;       // [point][channel]
    const void* gaps;         // per point: cost of deleting it; null unless the measure has gaps
    const void* sums;         // per point: running sum of gaps within the series; null unless the borders need it
    const void* times;        // per point; null: 1, 2, ...
    const uint64_t* offsets;  // first point of each series in `values`; null: series s starts at kPad + s * stride
    const uint32_t* lengths;  // null: all `length`
    uint64_t stride;          // points from series to series
    uint32_t length;          // points of every series, or of the longest
    uint32_t count;           // series
};

// One launch of a sweep, in layers. Here they are one: nested structures made some kernels that loop over channels 3%
// longer (nvcc 13.0, sm_90a), and these the same as ever. Numbers of 32 bits lie in twos that compilers load together:
// another order makes other code.
struct Sweep {
    // Pairs: which, and where their results go.
    Side x, y;               // rows, columns
    void* out;               // one number per task, placed as `pairing` says; null: none wanted
    const uint32_t* listed;  // kListed: i, j of every task
    uint64_t out_stride;
    uint64_t first_task;     // tasks first_task .. first_task + tasks are done
    uint64_t tasks;
    uint32_t pairing;
    uint32_t channels;

    // Banding: which cells of a pair, and whether its strips go to different warps.
    uint32_t band;
    uint32_t radius;                // kBandSakoe: points, or millionths of the longer length if radius_is_fraction
    uint32_t radius_is_fraction;
    uint32_t spread;                // kinds with strips: 1: one ticket per strip ("grid sweep"); 0: one ticket per task
    const Range* ranges;            // kBandTable
    const uint64_t* range_offsets;  // per task (counted from first_task); null: all 0

    // Strips: which, and what passes from one to the next. Kinds without strips do not look at it.
    void* edges;                // states: slot * edge_stride + i, part by part: part p at p * edge_part_stride
    uint64_t edge_stride;       // rows per slot
    uint64_t edge_part_stride;  // numbers from part to part
    void* links;                // wide: Link<number> slot * edge_stride + i; marks zeroed before the launch
    uint32_t* progress;         // spread, not wide: rows done, task * most_strips + strip; zeroed before the launch
    uint64_t* ticket;           // zeroed before the launch
    uint32_t most_strips;       // of any task
    uint32_t only_strip;        // tracing: the one strip to sweep, else all (0xffffffff)
    uint32_t keep_edges;        // tracing: 1: only keep edges (first pass); 0: record arrivals of only_strip
    uint32_t keep_last;         // 1: the last strip writes its right edge too: the last column of the grid

    // Trace: what is recorded besides results.
    uint32_t* arrivals;       // tracing: see passes/trace.cuh; blocks: states of the last row, see sweeps/block.cuh
    uint64_t arrival_stride;  // tracing: words of arrivals per task; blocks: numbers
    uint32_t run_up;          // rows that a stretch begins before its own, see sweeps/block.cuh
    uint32_t stretches;       // blocks: of a reference, one series of x each

    // Measure: what a recurrence is told, and of which results.
    const void* weights;    // kWeights: weight of h = 2|i-j| - max(n,m), at weights[h + weight_center]
    int64_t weight_center;
    double parameters[4];   // in the order of docs/measures.md
    uint32_t option;        // edr: 1 normalized; lcss: 1 length
    uint32_t only_missing;  // 1: only tasks whose place in `out` holds NaN
};

// One launch of `prepare`: raw series to prepared ones.
struct Prepare {
    const void* raw;              // [point][channel], series one after the other
    const void* raw_times;        // per raw point, or null
    const uint64_t* raw_offsets;  // first raw point of each series; null: series s starts at s * raw_stride
    const uint64_t* offsets;      // first prepared point of each series; null: kPad + s * stride
    const uint32_t* lengths;      // raw length of each series; null: all `length`
    void* values;
    void* gaps;                   // null: none wanted
    void* sums;                   // null: none wanted
    void* times;                  // null: none wanted
    uint64_t raw_stride, stride;
    uint64_t count;
    uint32_t length;
    uint32_t channels;
    uint32_t channel;             // with `one_channel`: which channel to take
    uint32_t one_channel;         // 1: write one channel of several
    uint32_t derivative;          // 1: Keogh-Pazzani derivative, two points fewer
    uint32_t normalize;           // 1: zero mean, unit population deviation per channel; constant series become zero
    uint32_t gap_kind;            // 0 none, 1 erp: |x - gap|, 2 twed: |x - previous| + nu (t - previous t) + lambda
    uint32_t format;              // prepare_strided: how raw numbers are written
    double scale;                 // values are multiplied by this (1: left as they are)
    double parameters[4];         // erp: gap; twed: nu, lambda, degree
    // prepare_strided: numbers from one to the next; `raw` is the first of series 0. With raw_offsets, series begin at
    // points of the first.
    int64_t series_stride, point_stride, channel_stride;
};

// One launch of `best`: the best ends of subsequence sweeps, from their last columns (edges).
struct Best {
    const void* totals;       // task * stride + j
    const uint32_t* starts;   // likewise, or null
    const uint32_t* lengths;  // reference length of each task; null: `length`
    void* costs;              // task * top_k + hit
    uint32_t* found;          // (start, end) at 2 * (task * top_k + hit); null: none wanted
    uint32_t* counts;         // hits per task; null: none wanted
    uint32_t* excluded;       // bit per end, task * ((stride + 31) / 32): zeroed before; null if top_k is 1
    uint64_t stride;
    uint64_t tasks;
    uint32_t length;
    uint32_t top_k;
    uint64_t exclusion;
};

// One launch of `agree`: which stretches of a reference begin with the states that those before them end with.
struct Agree {
    const void* states;         // what the sweep of blocks wrote to p.arrivals
    const uint64_t* offsets;    // first prepared point of each stretch
    const uint32_t* lengths;    // of each query; null: all `length`
    uint32_t* agreed;           // stretch * queries + query: 1 if its states agree; 1 for the first stretch
    uint64_t stride;            // arrival_stride of the sweep
    uint64_t tasks;             // stretches * queries
    uint32_t queries;
    uint32_t length;
    uint32_t has_starts;
    uint32_t reserved;          // 0
};

// One launch of `moments`: what makes of each window of a stretch its z-normalised points, nearly, and how nearly; see
// passes/moments.cuh. `scale`, `offset` and `slack` have room for whole chunks.
struct Moments {
    const void* points;  // windows + length - 1 of them, univariate
    void* scale;         // of each window
    void* offset;
    void* slack;
    void* shifts;        // of each chunk of kWindowChunk windows
    uint64_t windows;
    uint64_t length;     // points of a window
    double most;         // numbers whose squares stay normal
    uint64_t every;      // only every so many chunks
};

// One launch of `envelope`: the least and the largest of four places each; see passes/envelope.cuh.
struct Envelope {
    const void* lower;
    const void* upper;
    void* new_lower;  // other memory
    void* new_upper;
    uint64_t points;
    int64_t places[4];  // so far behind a point, held to what there is
};

// One launch of `bounds`: lower bounds of the distances between a query and the windows of a stretch; see
// passes/bounds.cuh.
struct Bounds {
    const void* points;
    const void* scale;     // as of `moments`
    const void* offset;
    const void* slack;
    const void* shifts;
    const void* envelope;  // of the query for each point of a window: its middle and half its width; kBoundsAtOnce more
    const void* query;     // its points, as many as those of a window; null: no second bound
    const void* lower;     // envelope of the points; null like `query`
    const void* upper;
    uint32_t* survives;    // a bit for each window whose distance may be below `cut`, in whole chunks; or null:
    void* least;           //   of each of these chunks the least bound, infinite where none is known,
    uint32_t* place;       //   and its window
    uint64_t windows;
    uint64_t length;
    double cut;            // raised as rounding wants
    double more_slack;     // to be added to each window's
    uint64_t every;        // only every so many chunks: 1 where windows survive
};

// One launch of `normalize`: z-normalisation of equal-length univariate series in place or from `in` to `out`.
struct Normalize {
    const void* in;
    void* out;
    uint64_t count;
    uint64_t length;
};

// One launch of `confirm`: what proposals of a search (sweeps/propose.cuh) cost in truth; see passes/confirm.cuh.
struct Confirm {
    const void* exact;         // last columns of the windows that were swept: window * exact_stride + row
    const uint32_t* starts;    // likewise: the row in which the path starts, or where it comes from above (sweeps/block.cuh)
    const uint32_t* windows;   // for each: task, first point of the reference, first row that is wanted, and how many
    void* proposals;           // task * stride + end
    uint32_t* known;           // likewise: 0: proposed; 1 + start: exact; kCarried: costs no less
    void* excess;              // for each window: the largest part that a proposal was of what it costs in truth
    uint64_t exact_stride;
    uint64_t stride;
    uint64_t count;            // windows
};

// One launch of `walk`: the way back through recorded arrivals; see passes/trace.cuh.
struct Walk {
    const uint32_t* arrivals;
    uint32_t* points;      // (i, j) from the last to the first: 2 * (task * path_stride + step)
    uint32_t* state;       // per task: i, j, steps, done; starts at the end cell (1-based), 0 steps
    uint64_t path_stride;  // points per task
    uint64_t arrival_stride;  // words per task
    uint64_t tasks;
    uint32_t strip;        // walk inside this strip of kTraceColumns columns
    uint32_t reserved;     // 0
};

}  // namespace dtw
