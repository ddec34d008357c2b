// Soft-DTW as Z = e^(−D/γ): Z(i,j) = e^(−c/γ) · (Z(i−1,j−1) + Z(i−1,j) + Z(i,j−1)). −log₂(e)/γ is `a`.
//! uses: exponents, scaled, closed

alias Price = vec2<f32>;

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return exp2_parts(cost(x.point, y.point) * params.a);
}
