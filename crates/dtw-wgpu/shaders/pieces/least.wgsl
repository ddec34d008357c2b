// The least of three totals, none of which is negative: such floats are ordered as integers are, and NVIDIA's GPUs take
// the least of three integers at once.

fn least3(a: f32, b: f32, c: f32) -> f32 {
    return bitcast<f32>(min(min(bitcast<i32>(a), bitcast<i32>(b)), bitcast<i32>(c)));
}
