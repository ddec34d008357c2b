// Measures that pay differently for each direction: matching, up, left.

alias Price = vec3<f32>;

fn arrivals(diagonal: State, up: State, left: State, price: Price) -> vec3<f32> {
    return vec3(diagonal, up, left) + price;
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    return least3(diagonal + price.x, up + price.y, left + price.z);
}
