// Subsequence DTW: rows are the reference, columns the query. The border column is free: a path may start at any row.
// A state is a total's bits and the row where its path starts. Equal arrivals: diagonal, then left (the query's point
// before), then up (the reference's), the order in which a path is walked back.

alias State = vec2<u32>;
alias Price = f32;

fn origin() -> State {
    return vec2(0u, 0u);
}

fn forbidden() -> State {
    return vec2(bitcast<u32>(LARGEST), 0u);
}

fn border_down(i: u32, sum: f32) -> State {
    return vec2(0u, i);
}

fn border_right(j: u32, sum: f32) -> State {
    return forbidden();
}

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return between(x.point, y.point);
}

fn total_of(state: State) -> f32 {
    return bitcast<f32>(state.x);
}

fn combine(diagonal: State, up: State, left: State, price: Price) -> State {
    var best = up;
    if total_of(left) <= total_of(best) {
        best = left;
    }
    if total_of(diagonal) <= total_of(best) {
        best = diagonal;
    }
    return vec2(bitcast<u32>(add_cost(total_of(best), price)), best.y);
}
