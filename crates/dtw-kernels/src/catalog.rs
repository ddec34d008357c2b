//! Every kernel that there is: `permutations.toml`, expanded.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::params;

/// What a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Distances; takes [`Sweep`](crate::params::Sweep).
    Sweep,
    /// Raw series to prepared ones; takes [`Prepare`](crate::params::Prepare).
    Prepare,
    /// The best ends of subsequence sweeps; takes [`Best`](crate::params::Best).
    Best,
    /// z-normalisation; takes [`Normalize`](crate::params::Normalize).
    Normalize,
    /// A sweep that records the arrival each cell chose; takes [`Sweep`](crate::params::Sweep).
    Trace,
    /// The way back through recorded choices; takes [`Walk`](crate::params::Walk).
    Walk,
}

impl Pass {
    /// Bytes of the structure that such a kernel takes.
    #[must_use]
    pub const fn params_bytes(self) -> usize {
        match self {
            Pass::Sweep | Pass::Trace => size_of::<params::Sweep>(),
            Pass::Prepare => size_of::<params::Prepare>(),
            Pass::Best => size_of::<params::Best>(),
            Pass::Normalize => size_of::<params::Normalize>(),
            Pass::Walk => size_of::<params::Walk>(),
        }
    }
}

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// The functor's key (`dtw`, `dtw_manhattan`, ...) of sweeps and traces, else the name of the pass.
    pub key: &'static str,
    /// What it does.
    pub pass: Pass,
    /// `f32`, `f64`, or empty for kernels that see no numbers.
    pub dtype: &'static str,
    /// Whether points have several channels; false for other kernels than sweeps and traces.
    pub many: bool,
    /// Sweeps: lanes that share a pair.
    pub lanes: u32,
    /// Sweeps: columns in each lane's registers.
    pub columns: u32,
    /// Sweeps: rows that a lane takes at once.
    pub rows: u32,
    /// Sweeps: whether pairs may be wider than `lanes * columns`.
    pub edges: bool,
    /// Sweeps: whether bands are honoured; without, only [`BAND_FULL`](crate::params::BAND_FULL) may be asked for.
    pub band: bool,
    /// Sweeps with a band: whether it must be [`BAND_SAKOE`](crate::params::BAND_SAKOE), of at least
    /// `lanes * (columns - idle())` and at most `lanes * columns` offsets, for pairs of the same two lengths.
    pub slope: bool,
    /// Sweeps with edges: whether numbers pass from strip to strip as links; only the last column goes to the edges then.
    pub links: bool,
    /// Whether published timings hang on it: its build fails if registers spill.
    pub hot: bool,
    /// Its name in the image.
    pub symbol: &'static str,
    /// The unit (source file, image) that holds it.
    pub unit: &'static str,
}

impl Kernel {
    /// Places of a lane that a kernel with [`slope`](Self::slope) may leave without a cell.
    #[must_use]
    pub fn idle(&self) -> u32 {
        if self.lanes == 8 { 1 } else { 2 }
    }

    /// Columns of one strip: the widest pair of a kernel without edges.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.lanes * self.columns
    }
}

/// A generated source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Its name, without ending.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
    /// Changes with its text and with any header.
    pub hash: u64,
}

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// Every kernel; those of a unit follow each other.
#[must_use]
pub fn kernels() -> &'static [Kernel] {
    KERNELS
}

/// Every unit.
#[must_use]
pub fn source_units() -> &'static [Unit] {
    UNITS
}

/// The text of a unit, if there is one of that name.
#[must_use]
pub fn source(unit: &str) -> Option<&'static str> {
    UNITS.iter().find(|known| known.name == unit).map(|known| known.source)
}

/// The measures of dtw-core that have kernels, each with the keys of the functors that compute it.
#[must_use]
pub fn measures() -> &'static [(&'static str, &'static [&'static str])] {
    MEASURES
}

/// The kernel of this symbol.
#[must_use]
pub fn find(symbol: &str) -> Option<&'static Kernel> {
    static BY_SYMBOL: OnceLock<HashMap<&'static str, &'static Kernel>> = OnceLock::new();
    BY_SYMBOL
        .get_or_init(|| KERNELS.iter().map(|kernel| (kernel.symbol, kernel)).collect())
        .get(symbol)
        .copied()
}

/// The sweeps of a functor, for `dtype` (`f32`, `f64`) and one or several channels: every shape there is.
pub fn sweeps(key: &str, dtype: &str, many: bool) -> impl Iterator<Item = &'static Kernel> {
    KERNELS.iter().filter(move |kernel| {
        kernel.pass == Pass::Sweep && kernel.key == key && kernel.dtype == dtype && kernel.many == many
    })
}

/// The kernel of another pass: for [`Pass::Trace`] by functor, number type and channels, else `key` and `many` are not
/// looked at, and for [`Pass::Walk`] nor is `dtype`.
#[must_use]
pub fn other(pass: Pass, key: &str, dtype: &str, many: bool) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| {
        kernel.pass == pass
            && (pass == Pass::Walk || kernel.dtype == dtype)
            && (pass != Pass::Trace || (kernel.key == key && kernel.many == many))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_say_what_a_kernel_is() {
        let kernel = find("dtw_soft_dtw_sweep_f64_many_32x8_edges_band").unwrap();
        assert_eq!(
            (kernel.key, kernel.pass, kernel.dtype, kernel.many),
            ("soft_dtw", Pass::Sweep, "f64", true)
        );
        assert_eq!((kernel.width(), kernel.edges, kernel.band), (256, true, true));
        let text = source(kernel.unit).unwrap();
        let line = "(dtw::SoftDtw<double, true>), 32, 8, 1, true, true)";
        assert!(text.contains(&format!("DTW_SWEEP({}, {line}", kernel.symbol)), "{text}");
        assert!(find("dtw_none").is_none());
    }

    #[test]
    fn every_measure_has_kernels_for_every_length() {
        for (measure, keys) in measures() {
            for dtype in ["f32", "f64"] {
                let any = keys.iter().any(|key| sweeps(key, dtype, false).any(|kernel| kernel.edges));
                assert!(any, "{measure} {dtype}: {keys:?}");
            }
        }
    }

    #[test]
    fn passes_are_found() {
        for kernel in kernels().iter().filter(|kernel| kernel.pass != Pass::Sweep) {
            assert_eq!(other(kernel.pass, kernel.key, kernel.dtype, kernel.many), Some(kernel));
        }
        assert_eq!(other(Pass::Prepare, "", "f64", true).unwrap().symbol, "dtw_prepare_f64");
        assert!(other(Pass::Trace, "msm", "f32", true).is_none());
    }

    #[test]
    fn units_hold_their_kernels() {
        for kernel in kernels() {
            assert!(
                source(kernel.unit).unwrap().contains(&format!("({}", kernel.symbol)),
                "{}",
                kernel.symbol
            );
        }
    }
}
