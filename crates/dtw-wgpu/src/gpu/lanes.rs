//! How the lanes of a workgroup hand values on to each other.

use dtw_core::Result;

use crate::gpu::variables;

/// Lanes of a workgroup where values go through workgroup memory.
pub(crate) const WORKGROUP_LANES: u32 = 64;

/// How lanes hand values on, and how many lanes a workgroup has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// By shuffles: the workgroup is one subgroup, its lanes in order.
    Subgroup(u32),
    /// Through workgroup memory, with a barrier.
    Workgroup(u32),
}

/// A way for lanes to hand values on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LanesKind {
    /// By shuffles.
    Subgroup,
    /// Through workgroup memory.
    Workgroup,
}

impl LanesKind {
    /// What the variable `DTWAVE_WGPU_LANES` says, if anything.
    pub(crate) fn of_environment() -> Result<Option<Self>> {
        Ok(variables::LANES.get()?.map(|name| match name {
            "subgroup" => Self::Subgroup,
            _ => Self::Workgroup,
        }))
    }
}

impl Lanes {
    /// Lanes of a workgroup.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Subgroup(count) | Self::Workgroup(count) => count,
        }
    }
}
