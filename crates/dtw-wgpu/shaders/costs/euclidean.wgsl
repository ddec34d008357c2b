// The local cost: Euclidean.

fn between(x: Point, y: Point) -> f32 {
    return euclidean(x, y);
}

fn add_cost(base: f32, between: f32) -> f32 {
    return base + between;
}

fn cost(x: Point, y: Point) -> f32 {
    return euclidean(x, y);
}
