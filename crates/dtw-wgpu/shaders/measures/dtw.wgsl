// DTW: D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j), D(i,j−1)).
//! uses: total, closed

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return between(x.point, y.point);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up, left);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return add_cost(least3(diagonal, up, left), price);
}
