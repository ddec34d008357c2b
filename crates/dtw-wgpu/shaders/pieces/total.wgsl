// States of one number, and what borders are unless a measure says otherwise.

alias State = f32;

fn origin() -> State {
    return 0.0;
}

fn forbidden() -> State {
    return LARGEST;
}
