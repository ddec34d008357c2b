//! Which shader sweeps pairs of given lengths: the one place that knows what is fast.

use crate::gpu::device::Gpu;
use crate::gpu::lanes::Lanes;
use crate::shaders::constants::RESCALE_COLUMNS;
use crate::shaders::functor::Functor;
use crate::shaders::sweep::{Mode, Points, Sweep, TRACE_WIDTH};

/// Columns of a lane, at least.
const LEAST_WIDTH: u32 = 4;

/// Lanes of a workgroup, at most: every device has so many.
const MOST_LANES: u32 = 256;

/// Rows of a pair that is swept in one dispatch, whatever the device.
const MOST_ROWS: usize = 1 << 16;

/// The shader for pairs of up to `n` rows and `m` columns.
pub(crate) fn choose(
    gpu: &Gpu,
    functor: Functor,
    channels: usize,
    (n, m): (usize, usize),
    band: bool,
    mode: Mode,
) -> Sweep {
    let lanes = gpu.lanes();
    let count = lanes.count();
    let points = Points::of(channels, mode);
    let most = match mode {
        Mode::Trace => TRACE_WIDTH,
        // States have several numbers, and are rescaled at the edge of a lane.
        _ if functor.needs.rescales => most_width(gpu, &functor, points).min(RESCALE_COLUMNS),
        _ => most_width(gpu, &functor, points),
    };
    let (lanes, count) = match larger_workgroup(gpu, lanes, m.div_ceil(most as usize)) {
        Some(lanes) => (lanes, lanes.count()),
        None => (lanes, count),
    };
    let sweep =
        |group, width, one_strip| Sweep { functor, points, lanes, group, width, one_strip, band, mode };
    // A driver that leaves long loops must get through a row of a strip.
    let leaves_a_row = |width| {
        let turns = sweep(count, width, false).turns_of_rows(1, channels as u32);
        gpu.loop_limit().is_some_and(|limit| turns > limit)
    };
    let mut most = most;
    while mode != Mode::Trace && most > LEAST_WIDTH && leaves_a_row(most) {
        most /= 2;
    }
    let in_strips = sweep(count, most, false);
    if mode.has_own_workgroup() || m as u64 > u64::from(in_strips.strip_columns()) {
        return in_strips;
    }
    // As many columns a lane as there are, in as few lanes as hold them.
    let group = (m as u32).div_ceil(most).next_power_of_two().min(count);
    let width = (m as u32).div_ceil(group).next_power_of_two().clamp(LEAST_WIDTH, most);
    let in_one_strip = sweep(group, width, true);
    let turns = in_one_strip.turns_of_rows(n as u64, channels as u32);
    let is_too_long = gpu.loop_limit().is_some_and(|limit| turns > limit) || n > MOST_ROWS;
    if is_too_long { in_strips } else { in_one_strip }
}

/// Lanes of a larger workgroup, where as many as `wanted` are busy in one: a pair then takes fewer strips, or one. On
/// an H200, dtw of 2047 points took 1.3 times as long in two strips of a subgroup as one of 1023 points for each cell.
fn larger_workgroup(gpu: &Gpu, lanes: Lanes, wanted: usize) -> Option<Lanes> {
    // A processor has no use for more of them.
    if is_software(gpu) || wanted <= lanes.count() as usize {
        return None;
    }
    let limits = gpu.limits();
    let most =
        limits.max_compute_invocations_per_workgroup.min(limits.max_compute_workgroup_size_x).min(MOST_LANES);
    let count = u32::try_from(wanted.next_power_of_two()).unwrap_or(u32::MAX).min(1 << most.ilog2());
    (count > lanes.count()).then_some(Lanes::Workgroup(count))
}

fn is_software(gpu: &Gpu) -> bool {
    gpu.adapter_info().device_type == wgpu::DeviceType::Cpu
}

/// Columns of a lane, at most: a power of two such that their points, states and gaps fit the registers. Measured on an
/// H200: dtw of 511 points 2.6, 4.0, 5.0 · 10¹² cells a second with 8, 16, 32 columns.
fn most_width(gpu: &Gpu, functor: &Functor, points: Points) -> u32 {
    // Long shaders take long to compile for a processor, and win nothing there.
    let registers = if is_software(gpu) { 32 } else { 64 };
    let of_column = points.registers() + 1 + if functor.needs.gaps { 1 } else { 0 };
    (registers / of_column).next_power_of_two().min(registers / 2).max(LEAST_WIDTH)
}
