// The squared difference of numbers, fused with the addition that follows it.

fn between(x: Point, y: Point) -> f32 {
    return x - y;
}

fn add_cost(base: f32, between: f32) -> f32 {
    return fma(between, between, base);
}

fn cost(x: Point, y: Point) -> f32 {
    return squared(x, y);
}
