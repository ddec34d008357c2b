// WDTW: DTW of squared Euclidean cost, each cell weighted by its distance from the diagonal.
//! uses: total, closed

alias Price = f32;

// A cost that overflows has no part in a cell of weight 0, and is infinite elsewhere: 0 times infinity is no number.
// A device may take a subnormal weight for 0, so its bits are asked.
fn price(x: Sample, y: Sample, weight: f32) -> Price {
    let cost = squared(x.point, y.point);
    let overflowed = select(cost, 0.0, bitcast<u32>(weight) == 0u);
    return select(weight * cost, overflowed, cost > LARGEST);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up, left);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return price + least3(diagonal, up, left);
}
