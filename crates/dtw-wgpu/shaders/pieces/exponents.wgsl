// Powers of two and exponentials, exact to a digit or two whatever the device's own are.

// 2^e for integral e from −126 to 127.
fn pow2(e: f32) -> f32 {
    return bitcast<f32>(u32(i32(e) + 127) << 23u);
}

// The integer e with 2^e <= v < 2^(e+1), of a positive normal number.
fn exponent_of(v: f32) -> f32 {
    return f32(i32(bitcast<u32>(v) >> 23u) - 127);
}

// v · 2^e for integral e <= 0; what would vanish is scaled by 2^LEAST_EXPONENT instead.
fn scaled_down(v: f32, e: f32) -> f32 {
    return v * pow2(max(e, LEAST_EXPONENT));
}

// 2^r − 1 for |r| <= ½: a fit at Chebyshev nodes, relative error of 2^r 2.0e-9.
fn exp2_tail(r: f32) -> f32 {
    var tail = 0.00015461445;
    tail = fma(tail, r, 0.0013400428);
    tail = fma(tail, r, 0.009618057);
    tail = fma(tail, r, 0.055503272);
    tail = fma(tail, r, 0.24022651);
    tail = fma(tail, r, 0.6931472);
    return tail * r;
}

// 2^t for t <= 0 as a mantissa near 1 and an integral exponent.
fn exp2_parts(t: f32) -> vec2<f32> {
    let bounded = max(t, LEAST_LOG2);
    let exponent = round(bounded);
    return vec2(1.0 + exp2_tail(bounded - exponent), exponent);
}

// a / b for positive numbers, to the last digit: WGSL allows quotients to be off by two and a half.
fn quotient(a: f32, b: f32) -> f32 {
    let guess = a / b;
    return fma(fma(-guess, b, a), 1.0 / b, guess);
}
