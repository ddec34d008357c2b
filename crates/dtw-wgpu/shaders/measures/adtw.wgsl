// ADTW: D(i,j) = c(xᵢ, yⱼ) + min(D(i−1,j−1), D(i−1,j) + ω, D(i,j−1) + ω). ω is `a`.
//! uses: total, closed

alias Price = f32;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return squared(x.point, y.point);
}

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up + params.a, left + params.a);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return price + least3(diagonal, up + params.a, left + params.a);
}
