// The lane before hands its state on: by a shuffle. A workgroup is one subgroup.

fn handed_on(state: State, step: u32, thread: u32) -> State {
    return subgroupShuffleUp(state, 1u);
}

// The next strip or pair begins: nothing to wait for.
fn rest() {}
