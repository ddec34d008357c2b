// EDR: D(i,j) = min(D(i−1,j−1) + [‖xᵢ − yⱼ‖ > ε], D(i−1,j) + 1, D(i,j−1) + 1); borders i and j. ε is `a`.
//! uses: total

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return select(1.0, 0.0, euclidean(x.point, y.point) <= params.a);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal + price, up + 1.0, left + 1.0);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return min(diagonal + price, min(up, left) + 1.0);
}

fn border_down(i: u32, sum: f32) -> State {
    return f32(i);
}

fn border_right(j: u32, sum: f32) -> State {
    return f32(j);
}
