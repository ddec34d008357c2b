// Points of one channel: numbers.

alias Point = f32;

fn x_point(x: Series, i: u32) -> Point {
    return bitcast<f32>(xs[x.values + i]);
}

fn y_point(y: Series, j: u32) -> Point {
    return bitcast<f32>(ys[y.values + j]);
}

fn x_zero() -> Point {
    return 0.0;
}

fn y_zero() -> Point {
    return 0.0;
}

fn euclidean(x: Point, y: Point) -> f32 {
    return abs(x - y);
}

fn squared(x: Point, y: Point) -> f32 {
    return (x - y) * (x - y);
}

fn manhattan(x: Point, y: Point) -> f32 {
    return abs(x - y);
}

// The norm of degree p of a difference.
fn norm(x: Point, y: Point, degree: f32) -> f32 {
    return abs(x - y);
}
