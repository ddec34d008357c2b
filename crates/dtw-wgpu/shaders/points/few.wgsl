// Points of two, three or four channels: vectors.

const CHANNELS: u32 = {CHANNELS}u;
alias Point = vec{CHANNELS}<f32>;
alias Bits = vec{CHANNELS}<u32>;

fn vector_of(bits: Bits) -> Point {
    return bitcast<Point>(bits);
}

fn x_point(x: Series, i: u32) -> Point {
    let at = x.values + i * CHANNELS;
    return vector_of(Bits(
//# each CHANNELS
        xs[at + {k}u],
//# end
    ));
}

fn y_point(y: Series, j: u32) -> Point {
    let at = y.values + j * CHANNELS;
    return vector_of(Bits(
//# each CHANNELS
        ys[at + {k}u],
//# end
    ));
}

fn x_zero() -> Point {
    return Point();
}

fn y_zero() -> Point {
    return Point();
}

fn sum_of(parts: Point) -> f32 {
    return {SUM};
}

fn squared(x: Point, y: Point) -> f32 {
    return whole(sum_of((x - y) * (x - y)));
}

// Rounded as a plain loop rounds it, so that thresholds agree: squares are not fused with their sum.
fn euclidean(x: Point, y: Point) -> f32 {
    let squares = (x - y) * (x - y);
    return sqrt(sum_of(squares));
}

fn manhattan(x: Point, y: Point) -> f32 {
    return sum_of(abs(x - y));
}

// The norm of degree p of a difference.
fn norm(x: Point, y: Point, degree: f32) -> f32 {
    if degree == 2.0 {
        return euclidean(x, y);
    }
    if degree == 1.0 {
        return manhattan(x, y);
    }
    let parts = abs(x - y);
    let largest = {LARGEST};
    // What overflows cannot be divided by.
    if largest == 0.0 || largest > LARGEST {
        return largest;
    }
    return largest * pow(sum_of(pow(parts / largest, Point(degree))), 1.0 / degree);
}
