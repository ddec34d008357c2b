//! Pieces of shaders that are exact whatever a device's own operations are, and whatever its compiler takes for equal.

use super::{fetched, opened, run};
use crate::gpu::pipelines::BINDINGS;

/// A device that divides as badly as WGSL allows; the text of a piece, and what it gives for pairs, in two numbers.
const MAIN: &str = "
const LARGEST: f32 = 0x1.fffffep+127f;

fn divided(a: f32, b: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(a / b) + 2u);
}

@group(0) @binding(1) var<storage, read> pairs: array<vec2<f32>>;
@group(0) @binding(4) var<storage, read_write> found: array<vec2<f32>>;

@compute @workgroup_size(1)
fn main() {
    for (var k = 0u; k < arrayLength(&pairs); k++) {
        found[k] = of_pair(pairs[k].x, pairs[k].y);
    }
}
";

/// A function of a piece.
fn function<'p>(piece: &'p str, name: &str) -> &'p str {
    let text = &piece[piece.find(&format!("fn {name}(")).expect("the piece has it")..];
    &text[..text.find("\n}").expect("it ends") + 2]
}

/// Pairs of different numbers of 1 to 2, and what a shader with this text gives for them.
fn of_pairs(key: &str, text: &str) -> Vec<([f32; 2], [f32; 2])> {
    let pairs: Vec<[f32; 2]> =
        (1..=400).map(|k| [1.0 + (k * 7 % 31) as f32 / 31.0, 1.0 + k as f32 / 400.0]).collect();
    let gpu = opened();
    let mut buffers = vec![gpu.uniform(16).unwrap()];
    buffers.extend((1..BINDINGS).map(|_| gpu.storage(8 * pairs.len() as u64, "pairs").unwrap()));
    gpu.upload(&buffers[1], 0, &pairs).unwrap();
    let bound: Vec<_> = buffers.iter().enumerate().collect();
    run(&gpu, key, &format!("{MAIN}\n{text}"), &bound, None);
    let bytes = fetched(&gpu, &buffers[4], 0, 8 * pairs.len()).unwrap();
    pairs.into_iter().zip(bytes.chunks_exact(8).map(bytemuck::pod_read_unaligned)).collect()
}

#[test]
fn quotients_are_exact_where_division_is_not() {
    let quotient = function(include_str!("../../shaders/pieces/exponents.wgsl"), "quotient");
    let text = quotient.replace("a / b", "divided(a, b)").replace("1.0 / b", "divided(1.0, b)")
        + "\nfn of_pair(a: f32, b: f32) -> vec2<f32> { return vec2(quotient(a, b)); }";
    for ([a, b], [found, _]) in of_pairs("quotients", &text) {
        assert!(found.to_bits().abs_diff((a / b).to_bits()) <= 1, "{a} / {b} is {found}");
    }
}

#[test]
fn what_rounding_takes_from_a_sum_is_kept() {
    let text = [
        function(include_str!("../../shaders/common.wgsl"), "rounded"),
        function(include_str!("../../shaders/pieces/soft_excess.wgsl"), "plus"),
        "fn of_pair(a: f32, b: f32) -> vec2<f32> { return plus(vec2(a * 1000.0, 0.0), b); }",
    ];
    for ([a, b], [sum, rest]) in of_pairs("sums", &text.join("\n")) {
        let exact = f64::from(a * 1000.0) + f64::from(b);
        assert_eq!(f64::from(sum) + f64::from(rest), exact, "{a} · 1000 + {b} is {sum} and {rest}");
    }
}
