// The lane before hands its state on: through workgroup memory. Two halves take turns, so one barrier a step is enough.

var<workgroup> handed: array<State, 2u * LANES>;

fn handed_on(state: State, step: u32, thread: u32) -> State {
    let half = (step & 1u) * LANES;
    handed[half + thread] = state;
    workgroupBarrier();
    return handed[half + max(thread, 1u) - 1u];
}

// The next strip or pair begins again with the first half.
fn rest() {
    workgroupBarrier();
}
