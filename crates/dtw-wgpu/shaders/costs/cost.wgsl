// The local cost: {COST}.

fn between(x: Point, y: Point) -> f32 {
    return {COST}(x, y);
}

fn add_cost(base: f32, between: f32) -> f32 {
    return base + between;
}

fn cost(x: Point, y: Point) -> f32 {
    return {COST}(x, y);
}
