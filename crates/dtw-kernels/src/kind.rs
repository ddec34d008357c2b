//! The kinds of sweeps: which lanes own which cells. `native/` has a header for each.
//!
//! The build script reads this file too: a row of permutations.toml names its kind.

/// A way to sweep the grids of many pairs. What each can do grows towards [`General`](SweepKind::General) and
/// [`Strips`](SweepKind::Strips), which can do every measure, any number of channels and every band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SweepKind {
    /// Pairs of one strip: a group of lanes owns all columns of a pair.
    General,
    /// Pairs of any width, strip by strip, by one warp or by a warp for each strip; the edges between strips go through
    /// memory.
    Strips,
    /// One strip, one channel, no band, at full speed: rows of padding are swept like others, so no lane asks whether
    /// it has begun. Measures with borders ask in the first steps.
    Narrow,
    /// The same for pairs of any width: each number that passes from strip to strip bears a mark, so its arrival is its
    /// own flag.
    Wide,
    /// A Sakoe-Chiba band of nearly `lanes * columns` offsets for pairs of the same two lengths: lanes own offsets from
    /// the diagonal, so no cell is masked.
    Diagonal,
    /// Sums over all paths in one strip: the cells of a lane share an exponent. It gives up pairs that need more.
    Soft,
    /// The same in a Sakoe-Chiba band for pairs of the same two lengths: lanes own offsets, as those of diagonal
    /// sweeps.
    SoftDiagonal,
    /// One strip, a few channels, no band: as narrow sweeps, with all channels of a lane's columns in registers.
    Few,
    /// Strips of pairs of several channels, with any band: the lanes of a warp price a tile of cells together, then
    /// sweep it.
    Priced,
    /// A block of rows of a search, which goes on from the row before it and leaves its last row behind.
    Block,
}

impl std::str::FromStr for SweepKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no kind of sweep {name:?}; there are: {names}")
        })
    }
}

impl SweepKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::General,
        Self::Strips,
        Self::Narrow,
        Self::Wide,
        Self::Diagonal,
        Self::Soft,
        Self::SoftDiagonal,
        Self::Few,
        Self::Priced,
        Self::Block,
    ];

    /// Its name in permutations.toml, in symbols and in tuning.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Strips => "strips",
            Self::Narrow => "narrow",
            Self::Wide => "wide",
            Self::Diagonal => "diagonal",
            Self::Soft => "soft",
            Self::SoftDiagonal => "soft_diagonal",
            Self::Few => "few",
            Self::Priced => "priced",
            Self::Block => "block",
        }
    }

    /// Whether pairs may have any number of columns; without strips, at most `lanes * columns` (along a
    /// diagonal: offsets).
    #[must_use]
    pub const fn has_strips(self) -> bool {
        matches!(self, Self::Strips | Self::Wide | Self::Priced | Self::Block)
    }

    /// Whether it gives up pairs whose numbers it cannot hold: their results are NaN, for a sweep of another kind.
    #[must_use]
    pub const fn may_give_up(self) -> bool {
        matches!(self, Self::Soft | Self::SoftDiagonal)
    }

    /// Whether lanes own offsets from the diagonal of a Sakoe-Chiba band.
    #[must_use]
    pub const fn is_along_diagonal(self) -> bool {
        matches!(self, Self::Diagonal | Self::SoftDiagonal)
    }

    /// The kind that does what this one cannot, for the same measure; `None`: there is nothing that it cannot do, or
    /// nothing else does its task.
    #[must_use]
    pub const fn fallback(self) -> Option<Self> {
        match self {
            Self::General | Self::Wide | Self::Diagonal | Self::SoftDiagonal | Self::Priced => {
                Some(Self::Strips)
            }
            Self::Narrow | Self::Soft => Some(Self::General),
            Self::Few => Some(Self::Priced),
            Self::Strips | Self::Block => None,
        }
    }
}
