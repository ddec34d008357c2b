//! Opening a GPU; how its lanes hand values on is found out by trying.
//!
//! A sweep passes a value from lane to lane at every step. Within a subgroup this is one instruction, without a
//! barrier. But WebGPU does not promise that a workgroup as large as the smallest subgroup is one subgroup, with its
//! lanes in order. Devices do it all the same; so a shader is run when a device is opened, and says whether this one
//! does.

use dtw_core::Result;
use wgpu::{Adapter, Features};

use crate::gpu::device::Gpu;
use crate::gpu::failure::unsupported;
use crate::gpu::lanes::{Lanes, LanesKind, WORKGROUP_LANES};
use crate::gpu::launch::Launch;
use crate::gpu::readback::Readback;

impl Gpu {
    /// Opens the adapter with everything that it can do. `force` is a way for lanes to talk that is to be taken,
    /// whichever is the better one.
    ///
    /// # Errors
    /// [`dtw_core::Error::Backend`] where the driver refuses, [`dtw_core::Error::Unsupported`] where the device cannot
    /// do what is forced.
    pub(crate) async fn open(adapter: Adapter, force: Option<LanesKind>) -> Result<Self> {
        let mut gpu = Self::untried(adapter).await?;
        let lanes = lanes_of(&gpu, force).await?;
        gpu.set_lanes(lanes);
        Ok(gpu)
    }

    /// As [`Gpu::open`]; waits.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn open_blocking(adapter: Adapter, force: Option<LanesKind>) -> Result<Self> {
        pollster::block_on(Self::open(adapter, force))
    }
}

/// How lanes of this device hand values on; `force` asks for one way.
async fn lanes_of(gpu: &Gpu, force: Option<LanesKind>) -> Result<Lanes> {
    let fallback = Lanes::Workgroup(WORKGROUP_LANES);
    if force == Some(LanesKind::Workgroup) {
        return Ok(fallback);
    }
    let lanes = gpu.adapter_info().subgroup_min_size;
    let refused = if !gpu.device().features().contains(Features::SUBGROUP) {
        "it has none"
    } else if !(lanes.is_power_of_two() && (4..=64).contains(&lanes)) {
        "there are too many or too few lanes in them"
    } else if !in_order(gpu, lanes).await? {
        "its subgroups are not workgroups in order"
    } else {
        return Ok(Lanes::Subgroup(lanes));
    };
    match force {
        Some(_) => {
            let name = &gpu.adapter_info().name;
            Err(unsupported(format!(
                "DTWAVE_WGPU_LANES=subgroup asks for shuffles in subgroups of {lanes} lanes, and {name} does not do them: \
                 {refused}; use workgroup"
            )))
        }
        None => Ok(fallback),
    }
}

/// Workgroups of the trial.
const GROUPS: u32 = 64;

/// Whether workgroups of so many lanes are subgroups with their lanes in order, in a trial.
async fn in_order(gpu: &Gpu, lanes: u32) -> Result<bool> {
    let source = || PROBE.replace("LANES", &lanes.to_string());
    // A device that does not even compile this has no subgroups for us.
    let Ok(pipeline) = gpu.pipeline(&format!("probe of subgroups of {lanes}"), source) else {
        gpu.check("trying subgroups")?;
        return Ok(false);
    };
    let mut found = vec![0_u32; (GROUPS * lanes) as usize];
    let out = gpu.storage(4 * found.len() as u64, "the trial of subgroups")?;
    let launch = Launch { pipeline, group: gpu.bind_group(&[(4, &out)])? };
    gpu.submit("trying subgroups", |encoder, _| launch.record(encoder, [GROUPS, 1], None))?;
    let mut readback = Readback::default();
    readback.begin(gpu, &out, 0, 4 * found.len() as u64)?;
    readback.finish_async(gpu, &mut found).await?;
    Ok(found.iter().all(|right| *right == 1))
}

/// Writes 1 for each lane that its left neighbour reaches through several steps, and that is where it should be.
const PROBE: &str = "
@group(0) @binding(4) var<storage, read_write> right: array<u32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
    @builtin(subgroup_invocation_id) place: u32,
) {
    let first = group.x * 1000u;
    var value = first + lane;
    var all_right = place == lane;
    for (var step = 1u; step < LANESu; step++) {
        let received = subgroupShuffleUp(value, 1u);
        if lane >= step {
            all_right = all_right && received == first + lane - step;
        }
        value = received;
    }
    let last = subgroupShuffle(first + lane, LANESu - 1u);
    all_right = all_right && last == first + LANESu - 1u;
    right[group.x * LANESu + lane] = select(0u, 1u, all_right);
}
";
