// How much of a cell's Z comes from each of its predecessors: diagonal, up, left. 0 where none is reached.

fn shares(diagonal: State, up: State, left: State) -> vec3<f32> {
    let exponent = max(max(diagonal.y, up.y), left.y);
    let parts = vec3(
        scaled_down(diagonal.x, diagonal.y - exponent),
        scaled_down(up.x, up.y - exponent),
        scaled_down(left.x, left.y - exponent),
    );
    // Rescaled mantissas that are not zero come to more.
    return parts / max(parts.x + parts.y + parts.z, 1e-12);
}
