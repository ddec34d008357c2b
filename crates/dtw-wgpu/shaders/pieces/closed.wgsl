// Borders that no path may visit.

fn border_down(i: u32, sum: f32) -> State {
    return forbidden();
}

fn border_right(j: u32, sum: f32) -> State {
    return forbidden();
}
