//! The table of backends: what is said of each, once. The options and texts of the command, Python's devices, errors,
//! `cargo xtask` and its rules about documents and features read it.

use crate::{Dtype, Error, Remedy};

/// What is known of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendKind {
    /// Its name: of the device, and of the cargo feature that builds it in. Its crate is `dtw-NAME`.
    pub name: &'static str,
    /// What it is called in a sentence.
    pub title: &'static str,
    /// What it computes on.
    pub devices: &'static str,
    /// How one of several devices is named, by examples; none where there is one device.
    pub examples: &'static [&'static str],
    /// The number types that it computes in.
    pub dtypes: &'static [Dtype],
    /// What helps in a build without it, its feature first.
    without: &'static [Remedy],
}

const BACKENDS: &[BackendKind] = &[
    BackendKind {
        name: "cpu",
        title: "CPU",
        devices: "this machine's cores",
        examples: &[],
        dtypes: &[Dtype::F32, Dtype::F64],
        without: &[Remedy::Feature("cpu")],
    },
    BackendKind {
        name: "cuda",
        title: "CUDA",
        devices: "NVIDIA GPUs",
        examples: &["cuda:1"],
        dtypes: &[Dtype::F32, Dtype::F64],
        without: &[Remedy::Feature("cuda"), Remedy::Backend("cpu")],
    },
    BackendKind {
        name: "hip",
        title: "HIP",
        devices: "AMD GPUs",
        examples: &["hip:1"],
        dtypes: &[Dtype::F32, Dtype::F64],
        without: &[Remedy::Feature("hip"), Remedy::Backend("cpu")],
    },
    BackendKind {
        name: "wgpu",
        title: "WebGPU",
        devices: "any GPU, through Vulkan, Metal or Direct3D 12",
        examples: &["wgpu:1", "wgpu:radeon"],
        dtypes: &[Dtype::F32],
        without: &[Remedy::Feature("wgpu"), Remedy::Backend("cpu")],
    },
];

impl BackendKind {
    /// Every backend, the CPU's first.
    pub const fn all() -> &'static [Self] {
        BACKENDS
    }

    /// Those of GPUs. Their features are never on by default.
    pub fn of_gpus() -> &'static [Self] {
        &BACKENDS[1..]
    }

    /// The backend of this name.
    pub fn of(name: &str) -> Option<&'static Self> {
        BACKENDS.iter().find(|kind| kind.name == name)
    }

    /// The names of all backends.
    pub fn names() -> Vec<&'static str> {
        BACKENDS.iter().map(|kind| kind.name).collect()
    }

    /// What may be written for a device: `cpu, cuda … or wgpu, or one of several GPUs, as cuda:1 …`.
    pub fn expected() -> String {
        format!("{}, or one of several GPUs, as {}", either(&Self::names()), either(&Self::examples()))
    }

    /// Examples of how one of several GPUs is named.
    pub fn examples() -> Vec<&'static str> {
        BACKENDS.iter().flat_map(|kind| kind.examples).copied().collect()
    }

    /// What helps in a build without it.
    pub const fn feature(&self) -> &'static [Remedy] {
        self.without.split_at(1).0
    }

    /// That this build is without it.
    pub fn absent(&self) -> Error {
        let what = format!("this build has no {} backend", self.title);
        Error::Unsupported { backend: self.name, what, remedies: self.without }
    }
}

/// `a, b or c`.
pub fn either(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_of_the_table() {
        assert_eq!(
            BackendKind::expected(),
            "cpu, cuda, hip or wgpu, or one of several GPUs, as cuda:1, hip:1, wgpu:1 or wgpu:radeon"
        );
        let error = BackendKind::of("wgpu").map(|kind| kind.absent().to_string());
        let told = "wgpu cannot compute this: this build has no WebGPU backend; enable the cargo feature `wgpu`, or use \
                    `Device::cpu()`";
        assert_eq!(error.as_deref(), Some(told));
        for kind in BackendKind::all() {
            assert_eq!(kind.feature(), [Remedy::Feature(kind.name)]);
            assert!(kind.examples.iter().all(|example| example.starts_with(kind.name)), "{kind:?}");
        }
    }
}
