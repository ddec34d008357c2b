// Chooses the vendor: the one place that asks which compiler this is.
//
// Each vendor header defines, in namespace dtw:
//   DTW_DEVICE                                     marks a function that kernels call
//   DTW_UNROLL, DTW_UNROLL2, DTW_UNROLL4           unrolls the loop that follows, wholly or two or four times
//   DTW_KERNEL(symbol, Params, body)               the kernel `symbol` taking one `Params p`; `body` is a statement
//   DTW_KERNEL_OF(symbol, blocks, Params, body)    the same; registers such that a multiprocessor holds so many blocks
//                                                  at least (0: as the compiler likes)
//   lane()                                         0..31 within a group of 32 lanes
//   warp(), warps()                                index and number of such groups in the launch
//   DTW_GROUPS                                     such groups in a wave, the lanes that execute in lockstep: 1 or
//                                                  more; their indices follow each other, from a multiple of DTW_GROUPS
//   shift_up<G>(v)                                 v of the lane below in each group of G lanes; the lowest keeps its
//                                                  own
//   shift_down<G>(v)                               v of the lane above in each group of G lanes; the highest keeps its
//                                                  own
//   broadcast(v, l)                                v of lane l of the 32
//   exchange(v, mask)                              v of lane (lane() ^ mask)
//   any(condition)                                 whether true in any of the 32 lanes
//   sync()                                         orders memory between the 32 lanes
//   load_acquire(p), store_release(p, v)           of a uint32_t, device-wide
//   Link<T>, send(p, link), receive(p)             a number and a mark that are stored and loaded as one, device-wide
//   take(p)                                        *p++ on a uint64_t, device-wide, by the calling lane alone
//   set_bits(p, v)                                 *p |= v on a uint32_t, device-wide
//   take_as_wave(p)                                the same once for all lanes of a wave, which call it together and
//                                                  all get what was there
//   same_in_wave(v)                                v, which is the same in all lanes of a wave; the compiler is told so
//   join_wave()                                    where lanes of a wave go on together, whatever each has done; the
//                                                  compiler may not let some of them go on alone
//   begin_wait(), end_wait()                       before and after a loop that waits for another group
//   pause()                                        in such a loop, between two looks
//   load_fresh(p)                                  a load that sees what other lanes wrote (no read-only cache)
//   min3_bits(a, b, c), max3_bits(a, b, c)         least and largest of three int32_t
//   add_max_bits(a, b, c)                          the larger of a + b, which wraps round, and c, of int32_t
//   fma_, abs_, sqrt_, pow_, exp2_, log_, round_, mul_exact, add_exact   on float and double
//   log1p_                                         on double
//   fmin_, fmax_                                   on float; of a NaN and a number the latter
//   kPackedFloats                                  whether it takes one instruction to
//   subtract_both(a, b, c, both)                   both[0] = a - b, both[1] = a - c, of float
//   bits_of / from_bits                            float <-> int32_t, double <-> int64_t
#pragma once

#if defined(DTW_HOST) && DTW_LANES == 64
// A wave of 64 lanes on the processor is AMD's: the header for it, on emulated instructions.
#define DTW_AMD
#include "amdgcn.h"
#include "hip.cuh"
#elif defined(DTW_HOST)
#include "host.cuh"
#elif defined(__HIP__)
#define DTW_AMD
#include "hip.cuh"
#else
#include "cuda.cuh"
#endif
