//! Every kernel that there is: `permutations.toml`, expanded.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::{SweepKind, params};

/// What a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Distances; takes [`Sweep`](crate::params::Sweep).
    Sweep(SweepKind),
    /// Raw series to prepared ones; takes [`Prepare`](crate::params::Prepare).
    Prepare,
    /// The same of numbers of any format, at any strides; takes [`Prepare`](crate::params::Prepare) too.
    PrepareStrided,
    /// What matches cost, nearly, in half precision; takes [`Sweep`](crate::params::Sweep), whose tasks are twos of
    /// queries.
    Propose,
    /// What proposals cost in truth; takes [`Confirm`](crate::params::Confirm).
    Confirm,
    /// The best ends of subsequence sweeps; takes [`Best`](crate::params::Best).
    Best,
    /// Whether stretches of a reference begin as those before them end; takes [`Agree`](crate::params::Agree).
    Agree,
    /// Moments of windows; takes [`Moments`](crate::params::Moments).
    Moments,
    /// A step towards an envelope; takes [`Envelope`](crate::params::Envelope).
    Envelope,
    /// Lower bounds of windows; takes [`Bounds`](crate::params::Bounds).
    Bounds,
    /// z-normalisation; takes [`Normalize`](crate::params::Normalize).
    Normalize,
    /// Results of several sweeps put together; takes [`Combine`](crate::params::Combine).
    Combine,
    /// Weighted sums of rows of numbers; takes [`Total`](crate::params::Total).
    Total,
    /// A sweep that records the arrival each cell chose; takes [`Sweep`](crate::params::Sweep).
    Trace,
    /// The way back through recorded arrivals; takes [`Walk`](crate::params::Walk).
    Walk,
    /// Values of Soft-DTW in tiles, and the edges of the tiles; takes [`Soft`](crate::params::Soft).
    SoftForward,
    /// Gradients of Soft-DTW from these edges; takes [`Soft`](crate::params::Soft).
    SoftBackward,
}

impl Role {
    /// Bytes of the structure that such a kernel takes.
    #[must_use]
    pub const fn params_bytes(self) -> usize {
        match self {
            Role::Sweep(_) | Role::Trace | Role::Propose => size_of::<params::Sweep>(),
            Role::Prepare | Role::PrepareStrided => size_of::<params::Prepare>(),
            Role::Confirm => size_of::<params::Confirm>(),
            Role::Best => size_of::<params::Best>(),
            Role::Agree => size_of::<params::Agree>(),
            Role::Moments => size_of::<params::Moments>(),
            Role::Envelope => size_of::<params::Envelope>(),
            Role::Bounds => size_of::<params::Bounds>(),
            Role::Normalize => size_of::<params::Normalize>(),
            Role::Combine => size_of::<params::Combine>(),
            Role::Total => size_of::<params::Total>(),
            Role::Walk => size_of::<params::Walk>(),
            Role::SoftForward | Role::SoftBackward => size_of::<params::Soft>(),
        }
    }
}

/// A kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// The functor's key (`dtw`, `dtw_manhattan`, ...) of sweeps and traces, else the name of the role.
    pub key: &'static str,
    /// What it does.
    pub role: Role,
    /// `f32`, `f64`, or empty for kernels that see no numbers.
    pub dtype: &'static str,
    /// Whether points have several channels; false for other kernels than sweeps and traces.
    pub many: bool,
    /// Sweeps: the number of channels that it is for; 0: any that `many` says.
    pub channels: u32,
    /// Sweeps: lanes that share a pair.
    pub lanes: u32,
    /// Sweeps: columns in each lane's registers.
    pub columns: u32,
    /// Sweeps: rows that a lane takes at once.
    pub rows: u32,
    /// Sweeps: whether bands are honoured; without, only [`BAND_FULL`](crate::params::BAND_FULL) may be asked for.
    /// Those along a diagonal take nothing but [`BAND_SAKOE`](crate::params::BAND_SAKOE), of at least `least_offsets`
    /// and at most `lanes * columns` offsets.
    pub band: bool,
    /// Sweeps along a diagonal: offsets of the narrowest band.
    pub least_offsets: u32,
    /// Sweeps: whether series must have no timestamps.
    pub untimed: bool,
    /// Whether published timings hang on it: its build fails if registers spill.
    pub no_spills: bool,
    /// Bytes of memory that a block shares, beside what the kernel declares itself.
    pub shared_bytes: u32,
    /// Its name in the image.
    pub symbol: &'static str,
    /// The unit (source file, image) that holds it.
    pub unit: &'static str,
}

impl Kernel {
    /// Which sweep it is, if it is one.
    #[must_use]
    pub const fn kind(&self) -> Option<SweepKind> {
        match self.role {
            Role::Sweep(kind) => Some(kind),
            _ => None,
        }
    }

    /// Whether it is a sweep of this kind.
    #[must_use]
    pub fn is(&self, kind: SweepKind) -> bool {
        self.kind() == Some(kind)
    }

    /// Whether it sweeps pairs of any width, strip by strip.
    #[must_use]
    pub fn has_strips(&self) -> bool {
        self.kind().is_some_and(SweepKind::has_strips)
    }

    /// Whether its groups, or blocks, take tickets for what they do.
    #[must_use]
    pub fn takes_tickets(&self) -> bool {
        self.has_strips()
            || matches!(self.role, Role::Trace | Role::Propose | Role::SoftForward | Role::SoftBackward)
    }

    /// Columns of one strip: the widest pair of a kernel without strips.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.lanes * self.columns
    }
}

/// What computes a measure, and what it wants to know of the series: a row of permutations.toml, which says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Functor {
    /// Its key.
    pub key: &'static str,
    /// The keys of dtw-core that it computes.
    pub measures: &'static [&'static str],
    /// The value of their option that it is for, where kernels differ in it.
    pub choice: Option<&'static str>,
    /// Numbers that make a state.
    pub parts: usize,
    /// What a point costs to delete.
    pub gaps: Gaps,
    /// Whether cells have weights, which come in a table.
    pub weights: bool,
    /// The functor of what the costs add to a sum over all paths.
    pub excess: Option<&'static str>,
    /// The functor of a search that does not ask where matches start.
    pub costs: Option<&'static str>,
    /// The functor of the Euclidean and the Manhattan cost, which has kernels in tiles alone; its option says which.
    pub norm: Option<&'static str>,
}

/// What a point costs to delete, where a measure has such a cost; the numbers are `Prepare::gap_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// No such cost.
    None = 0,
    /// Its distance to the gap value; borders add up, so running sums are wanted too.
    Erp = 1,
    /// Its distance to the point before, in value and time.
    Twed = 2,
}

/// A generated source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// Its name, without ending.
    pub name: &'static str,
    /// Its text.
    pub source: &'static str,
    /// Changes with its text and with any header, but for those of other vendors.
    hashes: [u64; 2],
}

/// Whose compiler makes images of the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vendor {
    /// NVIDIA: one image for all chips.
    Cuda,
    /// AMD: an image for each chip.
    Hip,
}

impl Unit {
    /// Changes with what this vendor's compiler sees of the unit.
    #[must_use]
    pub fn hash(&self, vendor: Vendor) -> u64 {
        self.hashes[vendor as usize]
    }
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

/// The functor of a measure of dtw-core, whose option, where it has one that kernels differ in, has this value.
#[must_use]
pub fn functor(measure: &str, choice: Option<&str>) -> Option<&'static Functor> {
    FUNCTORS.iter().find(|functor| {
        functor.measures.contains(&measure) && (functor.choice.is_none() || functor.choice == choice)
    })
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

/// The sweeps of a functor, for `dtype` (`f32`, `f64`) and one or several channels: every kind and shape
/// there is, in the order of the table.
pub fn sweeps(key: &str, dtype: &str, many: bool) -> impl Iterator<Item = &'static Kernel> {
    static BY_KEY: OnceLock<HashMap<&'static str, Vec<&'static Kernel>>> = OnceLock::new();
    let by_key = BY_KEY.get_or_init(|| {
        let mut by_key: HashMap<_, Vec<_>> = HashMap::new();
        for kernel in KERNELS.iter().filter(|kernel| kernel.kind().is_some()) {
            by_key.entry(kernel.key).or_default().push(kernel);
        }
        by_key
    });
    let sweeps = by_key.get(key).into_iter().flatten().copied();
    sweeps.filter(move |kernel| kernel.many == many && kernel.dtype == dtype)
}

/// The kernel of another role: for [`Role::Trace`], [`Role::SoftForward`] and [`Role::SoftBackward`] by functor, number
/// type and channels, else `key` and `many` are not looked at, and for [`Role::Walk`] nor is `dtype`.
#[must_use]
pub fn other(role: Role, key: &str, dtype: &str, many: bool) -> Option<&'static Kernel> {
    let of_a_functor = matches!(role, Role::Trace | Role::SoftForward | Role::SoftBackward);
    KERNELS.iter().find(|kernel| {
        kernel.role == role
            && (role == Role::Walk || kernel.dtype == dtype)
            && (!of_a_functor || (kernel.key == key && kernel.many == many))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_say_what_a_kernel_is() {
        let kernel = find("dtw_soft_dtw_strips_f64_many_32x8_band").unwrap();
        assert_eq!(
            (kernel.key, kernel.role, kernel.dtype, kernel.many),
            ("soft_dtw", Role::Sweep(SweepKind::Strips), "f64", true)
        );
        assert_eq!((kernel.width(), kernel.has_strips(), kernel.band), (256, true, true));
        let text = source(kernel.unit).unwrap();
        let line = "(dtw::SoftDtw<double, true>), 8, true, 1)";
        assert!(text.contains(&format!("DTW_STRIPS({}, {line}", kernel.symbol)), "{text}");
        assert!(find("dtw_none").is_none());
    }

    #[test]
    fn every_measure_has_kernels_for_every_length() {
        for (measure, keys) in measures() {
            for dtype in ["f32", "f64"] {
                let any = keys
                    .iter()
                    .any(|key| sweeps(key, dtype, false).any(|kernel| kernel.is(SweepKind::Strips)));
                assert!(any, "{measure} {dtype}: {keys:?}");
            }
        }
    }

    #[test]
    fn norms_have_kernels_in_tiles_alone() {
        let norms: Vec<_> = FUNCTORS.iter().filter_map(|functor| functor.norm).collect();
        assert_eq!(norms, ["soft_dtw_norm"]);
        for (dtype, many) in [("f32", false), ("f32", true), ("f64", false), ("f64", true)] {
            assert_eq!(sweeps(norms[0], dtype, many).count(), 0);
            for role in [Role::SoftForward, Role::SoftBackward] {
                assert!(other(role, norms[0], dtype, many).is_some(), "{dtype} {many}");
            }
        }
    }

    #[test]
    fn what_a_kind_cannot_do_another_does() {
        for kernel in kernels() {
            let fallback = kernel.kind().and_then(SweepKind::fallback);
            let is_there = |kind| sweeps(kernel.key, kernel.dtype, kernel.many).any(|other| other.is(kind));
            assert!(fallback.is_none_or(is_there), "{}: no {fallback:?}", kernel.symbol);
        }
        // Pairs that are given up end with a kind that gives up none.
        for kind in SweepKind::ALL {
            let chain = std::iter::successors(Some(kind), |kind| kind.fallback());
            assert!(
                chain.take(8).last().is_some_and(|last| last.fallback().is_none() && !last.may_give_up())
            );
        }
    }

    #[test]
    fn blocks_share_no_more_than_every_gpu_has() {
        // Compute capability 8.6, 8.9 and 12: 99 KiB.
        assert!(kernels().iter().all(|kernel| kernel.shared_bytes <= 101_376));
        assert!(kernels().iter().any(|kernel| kernel.shared_bytes > 0));
    }

    #[test]
    fn passes_are_found() {
        for kernel in kernels().iter().filter(|kernel| kernel.kind().is_none()) {
            assert_eq!(other(kernel.role, kernel.key, kernel.dtype, kernel.many), Some(kernel));
        }
        assert_eq!(other(Role::Prepare, "", "f64", true).unwrap().symbol, "dtw_prepare_f64");
        assert!(other(Role::Trace, "msm", "f32", true).is_none());
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
