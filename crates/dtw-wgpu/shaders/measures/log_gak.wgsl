// The global alignment kernel: Z(i,j) = κ · (Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1)), κ = q/(2 − q), q = e^(−d/2σ²).
// −log₂(e)/2σ² is `a`.
//! uses: exponents, scaled, closed

alias Price = vec2<f32>;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    let parts = exp2_parts(squared(x.point, y.point) * params.a);
    let q = scaled_down(parts.x, parts.y);
    return vec2(quotient(parts.x, 2.0 - q), parts.y);
}
