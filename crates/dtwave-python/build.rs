//! What a linker needs for a module that an interpreter loads: on macOS, to leave Python's symbols open.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
