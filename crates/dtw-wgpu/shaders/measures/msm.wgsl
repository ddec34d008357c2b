// MSM: D(i,j) = min(D(i−1,j−1) + |xᵢ − yⱼ|, D(i−1,j) + C(xᵢ; xᵢ₋₁, yⱼ), D(i,j−1) + C(yⱼ; yⱼ₋₁, xᵢ)), where
// C(a; b, c) is the distance of a to the interval between b and c, plus the cost `a` of a split. One channel.
//! uses: total, closed, three

fn split(point: f32, before: f32, opposite: f32) -> f32 {
    let low = min(before, opposite);
    let high = max(before, opposite);
    return params.a + max(max(low - point, point - high), 0.0);
}

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    let here = x.point;
    let there = y.point;
    return vec3(abs(here - there), split(here, x.previous, there), split(there, y.previous, here));
}
