// LCSS, kept as −L: L(i,j) = L(i−1,j−1) + 1 if ‖xᵢ − yⱼ‖ ≤ ε, else max(L(i−1,j), L(i,j−1)); borders 0. ε is `a`.
// A band restricts matches: outside it L is the larger of its neighbours.
//! uses: total

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return select(0.0, -1.0, euclidean(x.point, y.point) <= params.a);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal + price, up, left);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return min(min(diagonal + price, up), left);
}

fn outside(up: State, left: State) -> State {
    return min(up, left);
}

fn border_down(i: u32, sum: f32) -> State {
    return 0.0;
}

fn border_right(j: u32, sum: f32) -> State {
    return 0.0;
}
