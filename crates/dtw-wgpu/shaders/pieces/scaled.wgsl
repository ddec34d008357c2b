// Positive numbers of any size: mantissa · 2^exponent, the exponent an integral float. The exponent of zero is
// ZERO_EXPONENT, so negative that no sum of exponents between two rescaled states leaves the type.

alias State = vec2<f32>;

fn origin() -> State {
    return vec2(1.0, 0.0);
}

fn forbidden() -> State {
    return vec2(0.0, ZERO_EXPONENT);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    let exponent = max(max(diagonal.y, up.y), left.y);
    let sum = scaled_down(diagonal.x, diagonal.y - exponent)
        + scaled_down(up.x, up.y - exponent)
        + scaled_down(left.x, left.y - exponent);
    return vec2(sum * price.x, exponent + price.y);
}

fn rescale(state: State) -> State {
    let shift = select(0.0, exponent_of(state.x), state.x > 0.0);
    return vec2(state.x * pow2(-shift), max(state.y + shift, ZERO_EXPONENT));
}
