// What every sweep is given, and which pair a task is.
//
// A buffer of series begins with a table: where the values of each series are, and how many points it has. A zero
// point stands behind the table. Behind the values of a series lie two numbers a point (times or sums of gaps, and
// gaps) where the measure needs them.

// `Params` comes from src/shaders/params.rs.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> xs: array<u32>;
@group(0) @binding(2) var<storage, read> ys: array<u32>;
@group(0) @binding(3) var<storage, read> tables: array<u32>;
@group(0) @binding(4) var<storage, read_write> results: array<Result>;
@group(0) @binding(5) var<storage, read_write> edges: array<State>;
@group(0) @binding(6) var<storage, read> weights: array<f32>;

// Constants in capitals come from src/shaders/constants.rs. LARGEST, the largest number, is a total that no path has:
// infinity may be assumed absent in WGSL, and whoever reads a result takes LARGEST for infinity.

struct Pair {
    x: u32,
    y: u32,
}

struct Series {
    // Where its values begin.
    values: u32,
    // Points.
    length: u32,
}

// Tasks before row r of a triangle of n columns.
fn tasks_before(r: u32, n: u32) -> u32 {
    return r * n - (r * max(r, 1u) - r) / 2u;
}

fn pair_of(task: u32) -> Pair {
    let n = params.columns;
    if params.pairing == CROSS {
        let row = task / n;
        return Pair(row, task - row * n);
    }
    if params.pairing == TRIANGLE {
        // The root is a guess: a float has too few digits.
        let b = 2.0 * f32(n) + 1.0;
        let root = (b - sqrt(max(b * b - 8.0 * f32(task), 0.0))) / 2.0;
        var row = u32(clamp(root, 0.0, f32(n - 1u)));
        while tasks_before(row, n) > task {
            row -= 1u;
        }
        while row + 1u < n && tasks_before(row + 1u, n) <= task {
            row += 1u;
        }
        return Pair(row, row + task - tasks_before(row, n));
    }
    return Pair(task, task);
}

fn x_series(number: u32) -> Series {
    let at = 2u * (params.x_place + number);
    return Series(xs[at], xs[at + 1u]);
}

fn y_series(number: u32) -> Series {
    let at = 2u * (params.y_place + number);
    return Series(ys[at], ys[at + 1u]);
}

// What one row or one column brings to the prices of its cells.
struct Sample {
    point: Point,
    // The point before it; zero before the first.
    previous: Point,
    time: f32,
    previous_time: f32,
    // What deleting it costs.
    gap: f32,
}

// Returns its argument. Compilers do not know that no pairing has such bits. They would otherwise add the parts of a
// sum to
// a total one by one, as Mesa does, which rounds each time at the size of the total.
fn whole(sum: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(sum) | (params.pairing >> 8u));
}

// Columns start <= j < end of a row.
struct Range {
    start: u32,
    end: u32,
}

// radius · longer / 10⁶, rounded down, in 32 bits.
fn millionths(radius: u32, longer: u32) -> u32 {
    let rest = longer % 1000000u;
    let thousands = radius * (rest / 1000u);
    let left = (thousands % 1000u) * 1000u + radius * (rest % 1000u);
    return radius * (longer / 1000000u) + thousands / 1000u + left / 1000000u;
}

// The columns of row i that a path of this task may visit.
fn band_of(task: u32, i: u32, n: u32, m: u32) -> Range {
    if params.band == BAND_RANGES {
        var begin = 0u;
        if params.band_offsets != 0u {
            begin = tables[params.band_offsets + task];
        }
        let at = 2u * (begin + i);
        return Range(tables[at], tables[at + 1u]);
    }
    var radius = params.radius;
    if params.band == BAND_MILLIONTHS {
        radius = millionths(radius, max(n, m));
    }
    radius = min(radius, n + m);
    let below = radius + (max(n, m) - m);
    let above = radius + (max(n, m) - n);
    return Range(i - min(i, below), min(m, i + above + 1u));
}

// The number that a sum was rounded to. Compilers may take (a + b) − a for b, and Mesa's does; a maximum hides the sum
// from it.
fn rounded(sum: f32) -> f32 {
    return max(sum, -LARGEST);
}
