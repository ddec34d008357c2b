// Points of several channels: places of their first values.

alias Point = u32;

fn x_point(x: Series, i: u32) -> Point {
    return x.values + i * params.channels;
}

fn y_point(y: Series, j: u32) -> Point {
    return y.values + j * params.channels;
}

fn x_zero() -> Point {
    return params.x_zero;
}

fn y_zero() -> Point {
    return params.y_zero;
}

fn difference(x: Point, y: Point, channel: u32) -> f32 {
    return bitcast<f32>(xs[x + channel]) - bitcast<f32>(ys[y + channel]);
}

fn squared(x: Point, y: Point) -> f32 {
    var sum = 0.0;
    for (var k = 0u; k < params.channels; k++) {
        let between = difference(x, y, k);
        sum = fma(between, between, sum);
    }
    return sum;
}

// Rounded as a plain loop rounds it, so that thresholds agree: squares are not fused with their sum.
fn euclidean(x: Point, y: Point) -> f32 {
    var sum = 0.0;
    for (var k = 0u; k < params.channels; k++) {
        let between = difference(x, y, k);
        sum += between * between;
    }
    return sqrt(sum);
}

fn manhattan(x: Point, y: Point) -> f32 {
    var sum = 0.0;
    for (var k = 0u; k < params.channels; k++) {
        sum += abs(difference(x, y, k));
    }
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
    for (var k = 0u; k < params.channels; k++) {
        largest = max(largest, abs(difference(x, y, k)));
    }
    // What overflows cannot be divided by.
    if largest == 0.0 || largest > LARGEST {
        return largest;
    }
    var sum = 0.0;
    for (var k = 0u; k < params.channels; k++) {
        sum += pow(abs(difference(x, y, k)) / largest, degree);
    }
    return largest * pow(sum, 1.0 / degree);
}
