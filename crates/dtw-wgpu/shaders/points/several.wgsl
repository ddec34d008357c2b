// Points of five to sixteen channels: arrays whose numbers stay in registers, because every index is a constant.

const CHANNELS: u32 = {CHANNELS}u;
alias Point = array<f32, {CHANNELS}>;

fn x_point(x: Series, i: u32) -> Point {
    let at = x.values + i * CHANNELS;
    return Point(
//# each CHANNELS
        bitcast<f32>(xs[at + {k}u]),
//# end
    );
}

fn y_point(y: Series, j: u32) -> Point {
    let at = y.values + j * CHANNELS;
    return Point(
//# each CHANNELS
        bitcast<f32>(ys[at + {k}u]),
//# end
    );
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
//# each CHANNELS
    sum += (x[{k}] - y[{k}]) * (x[{k}] - y[{k}]);
//# end
    return whole(sum);
}

fn euclidean(x: Point, y: Point) -> f32 {
    return sqrt(squared(x, y));
}

fn manhattan(x: Point, y: Point) -> f32 {
    var sum = 0.0;
//# each CHANNELS
    sum += abs(x[{k}] - y[{k}]);
//# end
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
//# each CHANNELS
    largest = max(largest, abs(x[{k}] - y[{k}]));
//# end
    // What overflows cannot be divided by.
    if largest == 0.0 || largest > LARGEST {
        return largest;
    }
    var sum = 0.0;
//# each CHANNELS
    sum += pow(abs(x[{k}] - y[{k}]) / largest, degree);
//# end
    return largest * pow(sum, 1.0 / degree);
}
