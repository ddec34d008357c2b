//! The `dtwave` command.
fn main() {}
