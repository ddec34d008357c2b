// The lane before hands its state on: by a shuffle. A workgroup is one subgroup.

fn handed_on(state: State, step: u32, thread: u32) -> State {
    return subgroupShuffleUp(state, 1u); //# if !PAIRS_OF_NUMBERS
//# if PAIRS_OF_NUMBERS
    let sums = subgroupShuffleUp(vec4(state.kept, state.missing), 1u);
    return State(sums.xy, sums.zw, subgroupShuffleUp(state.exponent, 1u));
//# end
}

// The next strip or pair begins: nothing to wait for.
fn rest() {}
