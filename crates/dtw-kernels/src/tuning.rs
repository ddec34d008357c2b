//! What kernels cost on which device: the files of tuning/, which say where each number was measured.

use crate::{Kernel, SweepKind};

/// The numbers by which kernels are chosen on a kind of device. A backend hands over those of its device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// The file's name without ending.
    pub name: &'static str,
    /// Schedulers of a multiprocessor; each issues for one warp at a time.
    pub schedulers: f64,
    /// Registers of a scheduler over the lanes that it issues for at once.
    pub registers: f64,
    /// Most registers of a lane.
    pub most_registers: f64,
    /// Most warps of a scheduler: blocks of a multiprocessor, where a block has a warp for each scheduler.
    pub most_blocks: f64,
    /// Most blocks of a multiprocessor for strips that wait for each other.
    pub spread_blocks: u32,
    rules: &'static [Rule],
}

/// Costs, and of which kernels: all conditions that are there must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rule {
    kinds: Option<&'static [SweepKind]>,
    masked: Option<bool>,
    functors: Option<&'static [&'static str]>,
    dtype: Option<&'static str>,
    untimed: Option<bool>,
    below: Option<u32>,
    one_strip: Option<bool>,
    least_channels: Option<u32>,
    costs: Costs,
}

/// Cycles that a warp's instructions take, and registers of a lane.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// To issue one cell of every lane.
    pub cell: f64,
    /// What each channel but the first adds to that.
    pub channel: f64,
    /// From a cell to the next that depends on it, with what else is issued meanwhile.
    pub cell_latency: f64,
    /// To issue what a row needs besides its cells.
    pub row: f64,
    /// From a row's last cell to the next lane's first.
    pub row_latency: f64,
    /// Registers: some, more for each row at once, more for each column.
    pub registers: [f64; 3],
    /// Rows by which a strip follows the strip to its left, when both are under way at once.
    pub strip_lag: f64,
}

include!(concat!(env!("OUT_DIR"), "/tuning.rs"));

/// What kernels cost on a chip of AMD's, one of [`HIP_CHIPS`](crate::images::HIP_CHIPS): gfx906 is taken for gfx90a,
/// which came after it and has waves of 64 lanes on as many schedulers; gfx1030 and gfx1201 for gfx1100, which lies
/// between them and has waves of 32. Any other chip is taken for one of these, by the lanes of its waves: gfx9 and
/// before have 64.
#[must_use]
pub fn of_hip(chip: &str) -> &'static Tuning {
    match chip {
        "gfx942" => &GFX942,
        _ if chip.starts_with("gfx9") => &GFX90A,
        _ => &GFX1100,
    }
}

impl Tuning {
    /// What a sweep of points of so many channels costs; `one_strip`: in a launch of one strip whose lanes share one
    /// column at most.
    ///
    /// # Panics
    ///
    /// Never: the build refuses a file whose last row has conditions.
    #[must_use]
    pub fn costs(&self, kernel: &Kernel, one_strip: bool, channels: usize) -> &'static Costs {
        let rule = self.rules.iter().find(|rule| rule.holds(kernel, one_strip, channels));
        &rule.expect("the last row is for all").costs
    }

    /// Warps of such a kernel that a scheduler has registers for.
    #[must_use]
    pub fn resident_warps(&self, kernel: &Kernel, costs: &Costs) -> f64 {
        let [some, of_row, of_column] = costs.registers;
        let lane = some + of_row * f64::from(kernel.rows) + of_column * f64::from(kernel.columns);
        (self.registers / lane.min(self.most_registers)).floor().clamp(1.0, self.most_blocks)
    }
}

impl Rule {
    fn holds(&self, kernel: &Kernel, one_strip: bool, channels: usize) -> bool {
        let is_of = |kinds: &[SweepKind]| kernel.kind().is_some_and(|kind| kinds.contains(&kind));
        self.kinds.is_none_or(is_of)
            && self.masked.is_none_or(|masked| masked == (kernel.band || kernel.many))
            && self.functors.is_none_or(|keys| keys.contains(&kernel.key))
            && self.dtype.is_none_or(|dtype| dtype == kernel.dtype)
            && self.untimed.is_none_or(|untimed| untimed == kernel.untimed)
            && self.below.is_none_or(|below| kernel.columns < below)
            && self.one_strip.is_none_or(|wanted| wanted == one_strip)
            && self.least_channels.is_none_or(|least| channels >= least as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn every_row_is_of_some_kernel() {
        let used = |tuning: &Tuning, costs: &Costs| {
            catalog::kernels().iter().filter(|kernel| kernel.kind().is_some()).any(|kernel| {
                let mut launches =
                    [1, 2, 64].iter().flat_map(|channels| [(false, *channels), (true, *channels)]);
                launches.any(|(one, channels)| std::ptr::eq(tuning.costs(kernel, one, channels), costs))
            })
        };
        for tuning in [&SM90, &GFX90A, &GFX942, &GFX1100] {
            for rule in tuning.rules {
                let name = tuning.name;
                assert!(used(tuning, &rule.costs), "{name}: {rule:?}: rows before it match all that it does");
            }
        }
    }

    #[test]
    fn every_chip_has_the_tuning_of_its_waves() {
        let of = |chip: &&str| of_hip(chip).name;
        let expected = ["gfx90a", "gfx90a", "gfx942", "gfx1100", "gfx1100", "gfx1100"];
        assert_eq!(crate::images::HIP_CHIPS.iter().map(of).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lanes_of_many_registers_leave_room_for_few_warps() {
        let of = |tuning: &Tuning, symbol| {
            let kernel = catalog::find(symbol).unwrap();
            tuning.resident_warps(kernel, tuning.costs(kernel, false, 1))
        };
        assert!((of(&SM90, "dtw_dtw_narrow_f32_one_8x64x2") - 3.0).abs() < 1e-9);
        assert!((of(&SM90, "dtw_dtw_narrow_f32_one_8x4") - 12.0).abs() < 1e-9);
    }
}
