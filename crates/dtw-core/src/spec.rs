//! What to compute, as data: the measure, the band and the anchor.

use crate::measure::{Kind, Parameter, Value};
use crate::{Anchor, Band, Error, LocalCost, Measure, Result, bail_invalid};

/// Everything that fixes the value of a distance between two given series.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The recurrence and its parameters.
    pub measure: Measure,
    /// The cells that may be visited.
    pub band: Band,
    /// Whether both ends of both series must be matched.
    pub anchor: Anchor,
}

impl Spec {
    /// The measure over the full grid, both ends anchored.
    pub const fn new(measure: Measure) -> Self {
        Self { measure, band: Band::Full, anchor: Anchor::Global }
    }
    /// DTW of squared Euclidean cost, full grid.
    pub const fn dtw() -> Self {
        Self::new(Measure::DTW)
    }
    /// Subsequence DTW: all of the query against any stretch of the reference.
    pub const fn subsequence_dtw(cost: LocalCost) -> Self {
        Self { measure: Measure::Dtw { cost }, band: Band::Full, anchor: Anchor::Subsequence }
    }
    /// Soft-DTW of squared Euclidean cost, full grid.
    pub const fn soft_dtw(gamma: f64) -> Self {
        Self::new(Measure::soft_dtw(gamma))
    }
    /// This spec with this band.
    #[must_use]
    pub fn with_band(mut self, band: Band) -> Self {
        self.band = band;
        self
    }

    /// What is known of it whatever its parameters and band.
    pub const fn kind(&self) -> &'static Kind {
        self.measure.anchored(self.anchor)
    }

    /// The key of what is computed: the measure's, or `subsequence_dtw`.
    pub const fn key(&self) -> &'static str {
        self.kind().key
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the parameter, its range and its value.
    pub fn check(&self) -> Result<()> {
        self.measure.check()?;
        self.band.check()?;
        if self.anchor == Anchor::Subsequence && !matches!(self.measure, Measure::Dtw { .. }) {
            bail_invalid!("a subsequence search is defined for dtw only, got {}", self.measure.key());
        }
        if let (Band::Ranges(ranges), true) = (&self.band, self.measure.kind().has_open_borders) {
            for (i, pair) in ranges.windows(2).enumerate() {
                if pair[1].start < pair[0].start || pair[1].end < pair[0].end {
                    bail_invalid!(
                        "{} needs explicit ranges of which neither end ever decreases: row {i} is {:?}, row {} is {:?}",
                        self.measure.key(),
                        pair[0],
                        i + 1,
                        pair[1]
                    );
                }
            }
        }
        Ok(())
    }
}

impl Kind {
    /// The measure with these values, on the full grid. Where `value` has none the default stands in.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a parameter without a value and a default, a value that is no choice of its parameter,
    /// and as [`Spec::check`].
    pub fn spec(&self, mut value: impl FnMut(&Parameter) -> Option<Value>) -> Result<Spec> {
        let measure = (self.measure)(&mut value).map_err(|name| {
            let parameter = self.parameter(name);
            let expected = parameter.map_or_else(String::new, |p| format!(" {}", p.expected()));
            Error::invalid(format!("{} needs {name}{expected}, which has no default", self.key))
        })?;
        let spec = Spec { measure, band: Band::Full, anchor: self.anchor };
        spec.check()?;
        Ok(spec)
    }

    /// The usual spec of this kind and others, to try things on.
    pub fn specs(&self) -> impl Iterator<Item = Spec> {
        let anchor = self.anchor;
        self.examples.iter().map(move |&measure| Spec { measure, band: Band::Full, anchor })
    }
}
