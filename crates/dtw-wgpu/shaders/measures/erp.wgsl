// ERP: D(i,j) = min(D(i−1,j−1) + ‖xᵢ − yⱼ‖, D(i−1,j) + ‖xᵢ − g‖, D(i,j−1) + ‖yⱼ − g‖). Borders are sums of gaps.
//! uses: total, three

fn price(x: Sample, y: Sample, weight: f32) -> Price {
    return vec3(euclidean(x.point, y.point), x.gap, y.gap);
}

fn border_down(i: u32, sum: f32) -> State {
    return sum;
}

fn border_right(j: u32, sum: f32) -> State {
    return sum;
}
