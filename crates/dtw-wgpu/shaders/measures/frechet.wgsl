// Discrete Fréchet distance: D(i,j) = max(‖xᵢ − yⱼ‖, min(D(i−1,j−1), D(i−1,j), D(i,j−1))).
//! uses: total, closed

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return euclidean(x.point, y.point);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up, left);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return max(price, least3(diagonal, up, left));
}
