//! Where definitions, records and the workspace are.

use std::path::{Path, PathBuf};

/// The folder `benchmarks/`: where the variable `DTWAVE_BENCHMARKS` says, else beside the folder of this program (as
/// `cargo xtask dist` lays them out), else of the workspace that it was built in.
pub(crate) fn benchmarks() -> PathBuf {
    if let Some(folder) = std::env::var_os("DTWAVE_BENCHMARKS") {
        return folder.into();
    }
    let program = std::env::current_exe().ok();
    let beside = program.as_deref().and_then(|path| path.ancestors().nth(2)).map(|up| up.join("benchmarks"));
    beside
        .filter(|folder| folder.join("definitions").is_dir())
        .unwrap_or_else(|| workspace().join("benchmarks"))
}

pub(crate) fn workspace() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("the crate lies two folders deep").to_path_buf()
}
