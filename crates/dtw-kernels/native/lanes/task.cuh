// From a task's number to its pair, its series and its place in the output.
#pragma once

#include "../params.h"
#include "../vendor/vendor.cuh"

namespace dtw {

struct Task {
    uint32_t i, j;  // series of x and y
    uint32_t n, m;  // their lengths
};

// First point and length of series `s` of a prepared side.
DTW_DEVICE uint64_t first_point(const Side& side, uint32_t s) {
    return side.offsets ? side.offsets[s] : kPad + s * side.stride;
}
DTW_DEVICE uint32_t length_of(const Side& side, uint32_t s) { return side.lengths ? side.lengths[s] : side.length; }

// Row of the upper triangle (diagonal included) of an n x n matrix that holds element `k`, row after row.
DTW_DEVICE uint64_t triangle_row(uint64_t k, uint64_t n) {
    // Counted from the end, rows are triangular numbers. The root is only a first guess.
    const uint64_t from_end = n * (n + 1) / 2 - 1 - k;
    uint64_t row = static_cast<uint64_t>((sqrt_(8.0 * static_cast<double>(from_end) + 1.0) - 1.0) * 0.5);
    while (row * (row + 1) / 2 > from_end) {
        --row;
    }
    while ((row + 1) * (row + 2) / 2 <= from_end) {
        ++row;
    }
    return n - 1 - row;
}

// The pair of task `k`, counted from first_task.
DTW_DEVICE Task task_of(const Sweep& p, uint64_t k) {
    Task t;
    const uint64_t number = p.first_task + k;
    switch (p.pairing) {
        case kListed:
            t.i = p.listed[2 * number];
            t.j = p.listed[2 * number + 1];
            break;
        case kZipped:
            t.i = t.j = static_cast<uint32_t>(number);
            break;
        case kSymmetric: {
            const uint64_t n = p.x.count;
            const uint64_t row = triangle_row(number, n);
            t.i = static_cast<uint32_t>(row);
            t.j = static_cast<uint32_t>(row + (number - (row * n - row * (row - 1) / 2)));
            if (row == 0) {
                t.j = static_cast<uint32_t>(number);
            }
            break;
        }
        default:
            t.i = static_cast<uint32_t>(number / p.y.count);
            t.j = static_cast<uint32_t>(number % p.y.count);
    }
    t.n = length_of(p.x, t.i);
    t.m = length_of(p.y, t.j);
    return t;
}

// Where the result of a task goes; with kSymmetric, the first of its two places.
template <class T>
DTW_DEVICE T* place_of(const Sweep& p, uint64_t k, const Task& t) {
    T* out = static_cast<T*>(p.out);
    return p.pairing == kListed ? out + p.first_task + k : p.pairing == kZipped ? out + t.i : out + t.i * p.out_stride + t.j;
}

// Whether a task is to be done: with only_missing, those whose result is NaN.
template <class T>
DTW_DEVICE bool is_wanted(const Sweep& p, uint64_t k, const Task& t) {
    if (p.only_missing == 0) {
        return true;
    }
    const T value = load_fresh(place_of<T>(p, k, t));
    return value != value;
}

// Writes the result of a task.
template <class T>
DTW_DEVICE void write_result(const Sweep& p, uint64_t k, const Task& t, T value) {
    if (p.out == nullptr) {
        return;
    }
    *place_of<T>(p, k, t) = value;
    if (p.pairing == kSymmetric) {
        static_cast<T*>(p.out)[t.j * p.out_stride + t.i] = value;
    }
}

}  // namespace dtw
