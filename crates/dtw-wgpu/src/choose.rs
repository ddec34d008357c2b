//! Which shader sweeps pairs of given lengths: the one place that knows what is fast.

use crate::functor::Functor;
use crate::gpu::Gpu;
use crate::lanes::Lanes;
use crate::shader::{Mode, Sweep, TRACE_WIDTH};

/// Columns of a lane, at least.
const LEAST_WIDTH: u32 = 4;

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
    let most = match mode {
        Mode::Trace => TRACE_WIDTH,
        // States are wide, and settled at the edge of a lane.
        _ if functor.settles() => 8,
        _ => 16,
    };
    let one = channels == 1;
    let sweep = |group, width, one_strip| Sweep { functor, one, lanes, group, width, one_strip, band, mode };
    let wide = sweep(count, most, false);
    if mode == Mode::Trace || m as u64 > u64::from(wide.span()) {
        return wide;
    }
    // As many columns a lane as there are, in as few lanes as hold them.
    let group = (m as u32).div_ceil(most).next_power_of_two().min(count);
    let width = (m as u32).div_ceil(group).next_power_of_two().clamp(LEAST_WIDTH, most);
    let narrow = sweep(group, width, true);
    let turns = (n as u64 + u64::from(group)) * narrow.turns(channels as u32);
    let is_too_long = gpu.loop_limit().is_some_and(|limit| turns > limit) || n > MOST_ROWS;
    if is_too_long { wide } else { narrow }
}

impl Lanes {
    /// Lanes of a workgroup.
    pub(crate) fn count(self) -> u32 {
        match self {
            Self::Subgroup(count) | Self::Workgroup(count) => count,
        }
    }
}
