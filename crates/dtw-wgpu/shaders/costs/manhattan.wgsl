// The local cost: Manhattan.

fn between(x: Point, y: Point) -> f32 {
    return manhattan(x, y);
}

fn add_cost(base: f32, between: f32) -> f32 {
    return base + between;
}

fn cost(x: Point, y: Point) -> f32 {
    return manhattan(x, y);
}
