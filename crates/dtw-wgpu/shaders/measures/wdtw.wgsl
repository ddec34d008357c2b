// WDTW: DTW of squared Euclidean cost, each cell weighted by its distance from the diagonal.

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return weight * squared(x.point, y.point);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up, left);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return price + least3(diagonal, up, left);
}
