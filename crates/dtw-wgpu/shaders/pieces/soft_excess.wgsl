// What costs take away from the number of paths, kept beside Z with an exponent for both: see recurrence/excess.rs of
// dtw-core. −log₂(e)/γ (or /2σ²) is `a`; `b` is 1 for the alignment kernel.
//! uses: exponents, closed

alias State = vec3<f32>;
alias Price = vec2<f32>;

fn origin() -> State {
    return vec3(1.0, 0.0, 0.0);
}

fn forbidden() -> State {
    return vec3(0.0, 0.0, ZERO_EXPONENT);
}

// What is kept and what is taken away.
fn price(x: Sample, y: Sample, weight: f32) -> Price {
    let t = max(cost(x.point, y.point) * params.a, LEAST_EXPONENT);
    let exponent = round(t);
    let scale = pow2(exponent);
    let scaled = scale * exp2_tail(t - exponent);
    let kept = scale + scaled;
    let taken = (1.0 - scale) - scaled;
    let share = quotient(1.0, fma(params.b, taken, 1.0));
    return vec2(kept * share, (taken + params.b * taken) * share);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    let exponent = max(max(diagonal.z, up.z), left.z);
    let sum = scaled_down(1.0, diagonal.z - exponent) * diagonal.xy
        + scaled_down(1.0, up.z - exponent) * up.xy
        + scaled_down(1.0, left.z - exponent) * left.xy;
    return vec3(sum.x * price.x, sum.y + sum.x * price.y, exponent);
}

fn rescale(state: State) -> State {
    let sum = state.x + state.y;
    let shift = select(0.0, exponent_of(sum), sum > 0.0);
    return vec3(state.xy * pow2(-shift), state.z + shift);
}
