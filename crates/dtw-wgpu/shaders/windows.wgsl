// Windows of a reference as z-normalised series: a workgroup for each window and channel.
//
// Values are taken as differences from the first one of their window, in units of a power of two near the largest of
// them; then mean and deviation in two passes. So an offset costs no digits, and no square over- or underflows.

// `WindowParams` comes from src/shaders/params.rs.

@group(0) @binding(0) var<uniform> params: WindowParams;
@group(0) @binding(1) var<storage, read> points: array<f32>;
@group(0) @binding(4) var<storage, read_write> series: array<u32>;

const LANES: u32 = 64u;

var<workgroup> shared_parts: array<f32, LANES>;

fn sum_of_all(own: f32, lane: u32) -> f32 {
    shared_parts[lane] = own;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half {
            shared_parts[lane] += shared_parts[lane + half];
        }
        workgroupBarrier();
    }
    let all = shared_parts[0];
    workgroupBarrier();
    return all;
}

fn largest_of_all(own: f32, lane: u32) -> f32 {
    shared_parts[lane] = own;
    workgroupBarrier();
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        if lane < half {
            shared_parts[lane] = max(shared_parts[lane], shared_parts[lane + half]);
        }
        workgroupBarrier();
    }
    let all = shared_parts[0];
    workgroupBarrier();
    return all;
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let window = params.first + workgroup.x;
    let channel = workgroup.y;
    let length = params.length;
    let at = (params.skipped + window) * params.channels + channel;
    let begin = 2u * params.count + params.channels + window * length * params.channels;
    if lane == 0u {
        series[2u * window] = begin;
        series[2u * window + 1u] = length;
        // The zero point.
        series[2u * params.count + channel] = 0u;
    }

    let pivot = points[at];
    var own = 0.0;
    for (var i = lane; i < length; i += LANES) {
        own = max(own, abs(points[at + i * params.channels] - pivot));
    }
    let largest = largest_of_all(own, lane);
    // 2^−e of the largest difference's exponent e.
    let exponent = bitcast<u32>(largest) >> 23u;
    let scale = bitcast<f32>((254u - clamp(exponent, 1u, 253u)) << 23u);

    own = 0.0;
    for (var i = lane; i < length; i += LANES) {
        own += (points[at + i * params.channels] - pivot) * scale;
    }
    let mean = sum_of_all(own, lane) / f32(length);

    own = 0.0;
    for (var i = lane; i < length; i += LANES) {
        let off = (points[at + i * params.channels] - pivot) * scale - mean;
        own += off * off;
    }
    let deviation = sqrt(sum_of_all(own, lane) / f32(length));

    for (var i = lane; i < length; i += LANES) {
        let off = (points[at + i * params.channels] - pivot) * scale - mean;
        var value = 0.0;
        // Where all values are equal there is no deviation.
        if largest > 0.0 {
            value = off / deviation;
        }
        series[begin + i * params.channels + channel] = bitcast<u32>(value);
    }
}
