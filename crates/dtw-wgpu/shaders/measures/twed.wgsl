// TWED: match D(i−1,j−1) + ‖xᵢ − yⱼ‖ₚ + ‖xᵢ₋₁ − yⱼ₋₁‖ₚ + ν(|tᵢ − sⱼ| + |tᵢ₋₁ − sⱼ₋₁|); deletions cost their gaps.
// ν is `a`, the degree p is `c`.
//! uses: total, closed, three
//! channel loops: 4

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    let lag = abs(x.time - y.time) + abs(x.previous_time - y.previous_time);
    let gap = norm(x.point, y.point, params.c) + norm(x.previous, y.previous, params.c);
    return vec3(fma(params.a, lag, gap), x.gap, y.gap);
}
