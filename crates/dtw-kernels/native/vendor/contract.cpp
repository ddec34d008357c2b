// What vendor.cuh promises of lanes, of hip.cuh on emulated instructions: in waves of 32 and of 64 lanes, whichever the
// other kernels are compiled for. And the functions of doubles that hip.cuh has beside the C library's.
#define DTW_AMD
// Under a name of its own: the other kernels may be those of another header.
#define dtw dtw_amd
// Word by word, as registers move.
#define DTW_SPLIT_LONGS

#include "amdgcn.h"
#include "hip.cuh"
#include "hip_block.cuh"

namespace dtw {

struct Contract {
    uint32_t* broken;  // bit k: promise k was not kept by some lane
    uint64_t* ticket;
    void* link;  // Link<double>, then Link<float>
    uint32_t* flag;
};

// A number that says where it comes from, in all its bits.
template <class V>
V mark_of(uint32_t group, uint32_t lane) {
    return static_cast<V>(1.0 / 3.0 + 64.0 * group + lane);
}

template <int G, class V>
bool shifts() {
    const uint32_t own = static_cast<uint32_t>(lane()), group = warp();
    const uint32_t below = own % G == 0 ? own : own - 1, above = own % G == G - 1 ? own : own + 1;
    const V v = mark_of<V>(group, own), up = shift_up<G>(v), down = shift_down<G>(v);
    return up == mark_of<V>(group, below) && down == mark_of<V>(group, above);
}

template <class V>
bool exchanges() {
    bool kept = shifts<1, V>();
    kept = shifts<2, V>() && kept;
    kept = shifts<4, V>() && kept;
    kept = shifts<8, V>() && kept;
    kept = shifts<16, V>() && kept;
    kept = shifts<32, V>() && kept;
    const uint32_t own = static_cast<uint32_t>(lane()), group = warp();
    const V v = mark_of<V>(group, own);
    for (uint32_t mask = 0; mask < 32; ++mask) {
        kept = exchange(v, static_cast<int>(mask)) == mark_of<V>(group, own ^ mask) && kept;
        // Every lane may ask another.
        const uint32_t from = (own * 5 + mask) % 32;
        kept = broadcast(v, static_cast<int>(from)) == mark_of<V>(group, from) && kept;
    }
    return kept;
}

inline void contract(const Contract& p) {
    const uint32_t own = static_cast<uint32_t>(lane());
    const auto check = [&](uint32_t promise, bool kept) {
        if (!kept) {
            set_bits(p.broken, 1u << promise);
        }
    };
    check(0, thread() < 128 && own == thread() % 32 && warp() % 4 == thread() / 32 && warps() % 4 == 0);
    check(1, exchanges<float>());
    check(2, exchanges<double>());
    check(3, exchanges<uint32_t>());
    // Groups of a wave are asked one by one.
    check(4, any(own == 17 && warp() % 2 == 1) == (warp() % 2 == 1));
    check(5, !any(own > 31));

    // Every wave takes one ticket; the lanes of a group have the same.
    const uint64_t ticket = take_as_wave(p.ticket);
    check(6, ticket < warps() * 32 / DTW_LANES && exchange(ticket, 1) == ticket);

    if (warp() == 0 && own == 0) {
        Link<double>* wide = static_cast<Link<double>*>(p.link);
        Link<float>* narrow = reinterpret_cast<Link<float>*>(wide + 1);
        send(wide, {-1.0 / 3.0, 7});
        const Link<double> got = receive(wide);
        check(7, got.value == -1.0 / 3.0 && got.mark == 7);
        // A later number of which one half has arrived bears the older mark, whichever half it is.
        uint64_t* halves = reinterpret_cast<uint64_t*>(wide);
        const uint64_t old[2] = {halves[0], halves[1]};
        for (int half = 0; half < 2; ++half) {
            send(wide, {2.0 / 7.0, 9});
            halves[half] = old[half];
            check(8, receive(wide).mark == 7);
        }
        send(narrow, {0.1f, 5});
        check(9, receive(narrow).value == 0.1f && receive(narrow).mark == 5);
        store_release(p.flag, 3);
        check(10, load_acquire(p.flag) == 3 && load_fresh(p.flag) == 3);
        const double numbers[] = {1.5, -2.5, 3.5, 4.5};
        double four[4];
        load_four(numbers, four);
        check(11, four[0] == 1.5 && four[3] == 4.5 && load_fresh(numbers + 1) == -2.5);
        check(12, min3_bits(3, -1, 2) == -1 && max3_bits(3, -1, 2) == 3 && add_max_bits(INT32_MAX, 1, -5) == -5);
        const float nan = from_bits(int32_t{0x7fc00000});
        check(13, fmin_(nan, 2.0f) == 2.0f && fmax_(1.0f, nan) == 1.0f && round_(2.5f) == 2.0f);
        check(14, abs_(reciprocal(3.0f) - 1.0f / 3.0f) <= 3e-8f && least_of(2.0, 1.0) == 1.0);
    }
}

}  // namespace dtw

DTW_KERNEL(dtw_contract, dtw::Contract, dtw::contract(p))

extern "C" double dtw_function(uint32_t which, double a, double b) {
    switch (which) {
        case 0:
            return dtw::exp2_(a);
        case 1:
            return dtw::log_(a);
        case 2:
            return dtw::log1p_(a);
        default:
            return dtw::pow_(a, b);
    }
}
