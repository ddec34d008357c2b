// What costs take away from the number of paths, kept beside Z with an exponent for both: see recurrence/excess.rs of
// dtw-core. −log₂(e)/γ (or /2σ²) is `a`; `b` is 1 for the alignment kernel.
//! uses: exponents, closed

// Each sum, and what rounding has taken from it: equal weights round alike, so errors would add up.
struct State {
    kept: vec2<f32>,
    missing: vec2<f32>,
    exponent: f32,
}
alias Price = vec2<f32>;

fn origin() -> State {
    return State(vec2(1.0, 0.0), vec2(0.0), 0.0);
}

fn forbidden() -> State {
    return State(vec2(0.0), vec2(0.0), ZERO_EXPONENT);
}

// A sum and one number more, of either sign.
fn plus(sum: vec2<f32>, term: f32) -> vec2<f32> {
    let most = rounded(sum.x + term);
    let came = rounded(most - sum.x);
    return vec2(most, sum.y + ((sum.x - (most - came)) + (term - came)));
}

fn added(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> {
    return plus(a, b.x) + vec2(0.0, b.y);
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
    let exponent = max(max(diagonal.exponent, up.exponent), left.exponent);
    let d = scaled_down(1.0, diagonal.exponent - exponent);
    let u = scaled_down(1.0, up.exponent - exponent);
    let l = scaled_down(1.0, left.exponent - exponent);
    let kept = added(added(d * diagonal.kept, u * up.kept), l * left.kept);
    let missing = added(added(d * diagonal.missing, u * up.missing), l * left.missing);
    // What is taken from one is added to the other. Where more than half is taken, what is left is the product.
    let moved = (kept.x + kept.y) * price.y;
    return State(select(kept * price.x, plus(kept, -moved), price.y < 0.5), plus(missing, moved), exponent);
}

fn rescale(state: State) -> State {
    let sum = state.kept.x + state.missing.x;
    let shift = select(0.0, exponent_of(sum), sum > 0.0);
    let scale = pow2(-shift);
    let kept = plus(vec2(state.kept.x, 0.0), state.kept.y);
    let missing = plus(vec2(state.missing.x, 0.0), state.missing.y);
    return State(kept * scale, missing * scale, state.exponent + shift);
}
