// NVIDIA. The contract is in half.cuh.
#pragma once

namespace dtw {

constexpr int kHalfBytes = 2;
struct Half2 {
    uint32_t word;
};
DTW_DEVICE Half2 half2_of(float first, float second) {
    Half2 v;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v.word) : "f"(second), "f"(first));
    return v;
}
DTW_DEVICE float first_of(Half2 v) {
    float f;
    asm("{\n\t.reg .f16 a, b;\n\tmov.b32 {a, b}, %1;\n\tcvt.f32.f16 %0, a;\n\t}" : "=f"(f) : "r"(v.word));
    return f;
}
DTW_DEVICE float second_of(Half2 v) {
    float f;
    asm("{\n\t.reg .f16 a, b;\n\tmov.b32 {a, b}, %1;\n\tcvt.f32.f16 %0, b;\n\t}" : "=f"(f) : "r"(v.word));
    return f;
}
DTW_DEVICE Half2 operator+(Half2 a, Half2 b) {
    Half2 v;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(v.word) : "r"(a.word), "r"(b.word));
    return v;
}
DTW_DEVICE Half2 operator-(Half2 a, Half2 b) {
    Half2 v;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(v.word) : "r"(a.word), "r"(b.word));
    return v;
}
DTW_DEVICE Half2 fma_(Half2 a, Half2 b, Half2 c) {
    Half2 v;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(v.word) : "r"(a.word), "r"(b.word), "r"(c.word));
    return v;
}
// Two instructions that become one where there is one (sm_90).
DTW_DEVICE Half2 min3_(Half2 a, Half2 b, Half2 c) {
    Half2 v;
    asm("{\n\t.reg .b32 m;\n\tmin.f16x2 m, %1, %2;\n\tmin.f16x2 %0, m, %3;\n\t}"
        : "=r"(v.word)
        : "r"(a.word), "r"(b.word), "r"(c.word));
    return v;
}
template <int G>
DTW_DEVICE Half2 shift_up(Half2 v) { return {shift_up<G>(v.word)}; }

}  // namespace dtw
