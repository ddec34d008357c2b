// Points of five to sixteen channels: arrays whose numbers stay in registers, because every index is a constant.

fn x_point(x: Series, i: u32) -> Point {
    let at = x.values + i * CHANNELS;
    return Point({XS});
}

fn y_point(y: Series, j: u32) -> Point {
    let at = y.values + j * CHANNELS;
    return Point({YS});
}

fn x_zero() -> Point {
    return Point();
}

fn y_zero() -> Point {
    return Point();
}

// Rounded as a plain loop rounds it, so that thresholds agree: squares are not fused with their sum.
fn squared(x: Point, y: Point) -> f32 {
    var sum = 0.0;
    {SQUARES}
    return whole(sum);
}

fn euclidean(x: Point, y: Point) -> f32 {
    return sqrt(squared(x, y));
}

fn manhattan(x: Point, y: Point) -> f32 {
    var sum = 0.0;
    {ABSOLUTE}
    return sum;
}

// The norm of degree p of a difference.
fn norm(x: Point, y: Point, degree: f32) -> f32 {
    if degree == 2.0 {
        return euclidean(x, y);
    }
    if degree == 1.0 {
        return manhattan(x, y);
    }
    var largest = 0.0;
    {LARGEST}
    // What overflows cannot be divided by.
    if largest == 0.0 || largest > LARGEST {
        return largest;
    }
    var sum = 0.0;
    {POWERS}
    return largest * pow(sum, 1.0 / degree);
}
