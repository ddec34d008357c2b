//! Rules about the device kernels: who asks which vendor it is.

use super::project::{Complaints, Project};

/// Where the kernels' sources are.
const NATIVE: &str = "crates/dtw-kernels/native/";
/// Where they may ask for a vendor.
const VENDOR: &str = "crates/dtw-kernels/native/vendor/";

/// Words by which a source asks which compiler or device it is for.
const CONDITIONALS: &[&str] = &[
    "__CUDACC__",
    "__CUDACC_RTC__",
    "__CUDA_ARCH__",
    "__NVCC__",
    "__HIP__",
    "__HIPCC__",
    "__HIP_DEVICE_COMPILE__",
    "__HIP_PLATFORM_AMD__",
    "__AMDGCN__",
    "__GNUC__",
    "__clang__",
    "_MSC_VER",
    "DTW_CUDA",
    "DTW_HIP",
    "DTW_HOST",
    "DTW_LANES",
];

/// Only the vendors' own headers ask which vendor it is.
pub(super) fn vendors(project: &Project) -> Complaints {
    let mut complaints = Complaints::new();
    for file in project.under(NATIVE).filter(|file| !file.path.starts_with(VENDOR)) {
        for (number, line) in file.text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
            if let Some(word) = words.find(|word| CONDITIONALS.contains(word)) {
                complaints.push(format!(
                    "{}:{}: {word}: only files in {VENDOR} may ask",
                    file.path,
                    number + 1
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::super::project::project;
    use super::*;

    #[test]
    fn conditionals_are_found_outside_the_vendors_headers() {
        let text = "// DTW_HOST is explained here.\n#if defined(__CUDACC__)\nint DTW_HOSTS;\n";
        let files = [("sweep.cuh", text), ("vendor/cuda.cuh", text)]
            .map(|(name, text)| (NATIVE.to_owned() + name, text));
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let found = vendors(&project(&files));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with(&format!("{NATIVE}sweep.cuh:2: __CUDACC__")), "{}", found[0]);
    }
}
