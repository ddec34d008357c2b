// From the expected alignment to one side's gradient: sums of E·∂c/∂x, without constant factors, over a row of the
// grid, or over a column. A lane has one channel of one point. What it adds to is a sum and what rounding has added to
// it.

fn along(difference: f32) -> f32 {
    return sign(difference); //# if SIGNS
    return difference; //# if !SIGNS
}

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = params.first + workgroup.x * LANES + thread;
    if number >= params.end {
        return;
    }
    let task = number / params.stride;
    let value = number - task * params.stride;
    let pair = pair_of(task);
    let x = x_series(pair.x);
    let y = y_series(pair.y);
    let point = value / params.channels;
    let channel = value - point * params.channels;
//# if OF_X
    let i = params.block + point;
    if i >= x.length {
        return;
    }
    let here = bitcast<f32>(xs[x.values + i * params.channels + channel]);
    let place = params.edge_first + task * params.edge_stride + i * params.channels + channel;
    let step = 1u;
    let first = params.strip_first;
    let end = min(params.strip_end, y.length);
    var at = 3u * params.plane * task + point * params.pitch + first;
    var there = y.values + first * params.channels + channel;
//# else
    if point >= y.length {
        return;
    }
    let here = bitcast<f32>(ys[y.values + value]);
    let place = params.edge_first + task * params.edge_stride + value;
    let step = params.pitch;
    let first = params.row_first;
    let end = min(params.row_end, x.length);
    var at = 3u * params.plane * task + (first - params.block) * params.pitch + point;
    var there = x.values + first * params.channels + channel;
//# end
    var sum = edges[place];
    for (var k = first; k < end; k++) {
        let difference = here - bitcast<f32>(ys[there]); //# if OF_X
        let difference = bitcast<f32>(xs[there]) - here; //# if !OF_X
        let term = results[at] * along(difference) - sum.y;
        let next = rounded(sum.x + term);
        sum = vec2(next, (next - sum.x) - term);
        at += step;
        there += params.channels;
    }
    edges[place] = sum;
}
