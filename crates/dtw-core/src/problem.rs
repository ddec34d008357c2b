//! A problem: what to compute, between which series, of what shape, in which passes. Validated here once, for every
//! backend.

use std::collections::HashMap;

use crate::{Anchor, Band, Error, Measure, Remedy, Result, Scalar, SeriesBatch, Spec, bail_invalid};

/// Which pairs of series are compared, and the shape of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Pairing {
    /// Every x with every y: output `[n_x, n_y]`, row-major.
    Cross,
    /// Every x with every x; half is computed and mirrored: output `[n_x, n_x]`, row-major, diagonal included.
    SelfSymmetric,
    /// The s-th x with the s-th y: output `[n_x]`.
    Zipped,
}

/// What a plan is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Task {
    /// [`crate::Plan::distances`].
    Distances,
    /// [`crate::Plan::gradients`].
    Gradients,
    /// [`crate::Plan::alignment`].
    Alignment,
    /// [`crate::Plan::paths`].
    Paths,
    /// [`crate::Plan::matches`].
    Matches,
}

/// Which series a pass compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sides {
    /// Series of x with series of y.
    Both,
    /// Each series of x with itself.
    OwnX,
    /// Each series of y with itself.
    OwnY,
}

/// One pass over pairs: what a backend sweeps at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pass {
    /// Which pairs.
    pub pairing: Pairing,
    /// The series whose pairs are swept.
    pub sides: Sides,
    /// The channel that is swept, where each is warped on its own; `None` for points as they are.
    pub channel: Option<usize>,
}

impl Pass {
    /// Whether the results are added to those of the passes before. Otherwise they replace what is there.
    pub const fn adds(&self) -> bool {
        matches!(self.channel, Some(channel) if channel > 0)
    }
}

/// The envelope that inputs must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Series in x.
    pub n_x: usize,
    /// Series in y (equal to `n_x` unless the pairing is [`Pairing::Cross`]).
    pub n_y: usize,
    /// Longest series of x, in points.
    pub max_length_x: usize,
    /// Longest series of y, in points.
    pub max_length_y: usize,
    /// Values per point.
    pub channels: usize,
}

impl Shape {
    /// The shape of two batches.
    pub fn of<T>(x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Self {
        Self {
            n_x: x.len(),
            n_y: y.len(),
            max_length_x: x.max_length(),
            max_length_y: y.max_length(),
            channels: x.channels(),
        }
    }
}

/// What to compute, between which series, within which memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    spec: Spec,
    pairing: Pairing,
    shape: Shape,
    memory_limit_bytes: u64,
}

impl Problem {
    /// Memory a call may use for scratch unless told otherwise: 1 GiB.
    pub const DEFAULT_MEMORY_LIMIT_BYTES: u64 = 1 << 30;

    /// Validates the spec against the pairing and the shape.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the parameter.
    pub fn new(spec: Spec, pairing: Pairing, shape: Shape) -> Result<Self> {
        spec.check()?;
        if shape.channels == 0 {
            bail_invalid!("series need at least one channel, got 0");
        }
        if pairing != Pairing::Cross && shape.n_x != shape.n_y {
            bail_invalid!("paired series must be equally many: x has {}, y has {}", shape.n_x, shape.n_y);
        }
        if pairing == Pairing::SelfSymmetric
            && (spec.anchor == Anchor::Subsequence || matches!(spec.band, Band::Ranges(_)))
        {
            let is_search = spec.anchor == Anchor::Subsequence;
            let what = if is_search { "subsequence_dtw" } else { "a band of explicit ranges" };
            return Err(Error::Undefined {
                what: format!("{what} is not symmetric in x and y"),
                remedies: &[Remedy::BothSides],
            });
        }
        if matches!(spec.band, Band::Ranges(_))
            && matches!(spec.measure, Measure::SoftDtwDivergence { .. })
            && shape.max_length_x != shape.max_length_y
        {
            bail_invalid!("soft_dtw_divergence with explicit band ranges needs x and y of equal length");
        }
        Ok(Self { spec, pairing, shape, memory_limit_bytes: Self::DEFAULT_MEMORY_LIMIT_BYTES })
    }

    /// The problem of these very batches.
    ///
    /// # Errors
    /// As [`Problem::new`].
    pub fn of<T>(
        spec: Spec,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<Self> {
        Self::new(spec, pairing, Shape::of(x, y))
    }

    /// This problem with this limit on scratch memory.
    #[must_use]
    pub const fn with_memory_limit(mut self, bytes: u64) -> Self {
        self.memory_limit_bytes = bytes;
        self
    }

    /// What is computed.
    pub const fn spec(&self) -> &Spec {
        &self.spec
    }
    /// Which pairs.
    pub const fn pairing(&self) -> Pairing {
        self.pairing
    }
    /// The envelope inputs must fit.
    pub const fn shape(&self) -> Shape {
        self.shape
    }
    /// Bytes of scratch a call may use.
    pub const fn memory_limit_bytes(&self) -> u64 {
        self.memory_limit_bytes
    }
    /// Values in the output of [`crate::Plan::distances`].
    pub const fn output_len(&self) -> usize {
        match self.pairing {
            Pairing::Cross => self.shape.n_x * self.shape.n_y,
            Pairing::SelfSymmetric => self.shape.n_x * self.shape.n_x,
            Pairing::Zipped => self.shape.n_x,
        }
    }

    /// Whether this task has a meaning for this problem. What has one, a backend can still lack
    /// ([`Backend::supports`](crate::Backend::supports)).
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::Undefined`] with the reason, and what has a meaning.
    pub fn admits(&self, task: Task) -> Result<()> {
        let (measure, key, channels) = (&self.spec.measure, self.spec.key(), self.shape.channels);
        match task {
            Task::Gradients if !measure.has_gradient() => {
                bail_invalid!("{key} has no gradient: only soft_dtw and soft_dtw_divergence have one")
            }
            Task::Alignment if !matches!(measure, Measure::SoftDtw { .. }) => {
                bail_invalid!("{key} has no expected alignment: only soft_dtw has one")
            }
            Task::Paths if !measure.has_path(1) => Err(Error::Undefined {
                what: format!("{key} has no warping path: it sums over all paths"),
                remedies: &[Remedy::ExpectedAlignment],
            }),
            Task::Paths if !measure.has_path(channels) => bail_invalid!(
                "{key} of {channels} channels has no common warping path: each channel is warped on its own"
            ),
            Task::Matches if !matches!(measure, Measure::Dtw { .. }) => {
                bail_invalid!("a search is defined for dtw only, got {key}")
            }
            _ => Ok(()),
        }
    }

    /// Checks the batches of one call: shape, lengths, finite values, timestamps. Each call of a [`crate::Plan`] does
    /// it.
    ///
    /// Cost: one pass over the values.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the batch, the series and the position.
    pub fn check_input<T: Scalar>(&self, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Result<()> {
        let y = if self.pairing == Pairing::SelfSymmetric { x } else { y };
        self.check_batches(x, y)
    }

    /// [`Problem::check_input`] of a call that reads y whatever the pairing.
    pub(crate) fn check_batches<T: Scalar>(
        &self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<()> {
        if x.channels() != y.channels() {
            bail_invalid!("x has {} channels, y has {}: they must be equal", x.channels(), y.channels());
        }
        let (shape, own) = (Shape::of(x, y), self.shape);
        if shape.n_x != own.n_x || shape.n_y != own.n_y || shape.channels != own.channels {
            bail_invalid!(
                "planned for {} x {} series of {} channels, got {} x {} of {}",
                own.n_x,
                own.n_y,
                own.channels,
                shape.n_x,
                shape.n_y,
                shape.channels
            );
        }
        if shape.max_length_x > own.max_length_x || shape.max_length_y > own.max_length_y {
            bail_invalid!(
                "planned for series of at most {} and {} points, got {} and {}",
                own.max_length_x,
                own.max_length_y,
                shape.max_length_x,
                shape.max_length_y
            );
        }
        for (name, batch) in [("x", x), ("y", y)] {
            batch.check(name)?;
            let least = self.spec.measure.min_length();
            if let Some(s) = (0..batch.len()).find(|s| batch.length(*s) < least) {
                bail_invalid!(
                    "{} needs series of at least {least} points; series {s} of {name} has {}",
                    self.spec.measure.key(),
                    batch.length(s)
                );
            }
            if batch.has_times() && !self.spec.measure.takes_times() {
                bail_invalid!(
                    "timestamps are used by twed only, but {name} has them and the measure is {}",
                    self.spec.key()
                );
            }
        }
        self.check_precision::<T>()?;
        self.check_logarithm(x, y)?;
        if x.has_times() != y.has_times() {
            bail_invalid!("either both x and y have timestamps or neither");
        }
        Ok(())
    }

    /// Checks the queries of a search in a reference of `channels` values per point that is still to be read.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the series and the position, and for subsequences in a band, which is that of the
    /// whole grid.
    pub fn check_queries<T: Scalar>(&self, queries: &SeriesBatch<'_, T>, channels: usize) -> Result<()> {
        if queries.channels() != channels {
            bail_invalid!(
                "x has {} channels, the reference has {channels}: they must be equal",
                queries.channels()
            );
        }
        let own = self.shape;
        if (queries.len(), channels) != (own.n_x, own.channels) || queries.max_length() > own.max_length_x {
            bail_invalid!(
                "planned for {} queries of at most {} points and {} channels, got {} of {} and {channels}",
                own.n_x,
                own.max_length_x,
                own.channels,
                queries.len(),
                queries.max_length()
            );
        }
        if self.is_subsequence() && self.spec.band != Band::Full {
            bail_invalid!(
                "a band needs the whole reference: search without a band, or in a reference that is in memory"
            );
        }
        queries.check("x")?;
        if queries.has_times() {
            bail_invalid!("timestamps are used by twed only, but x has them and this is a search");
        }
        Ok(())
    }

    /// Checks that x and y have equally many series, which gradients and paths need, whatever the pairing.
    ///
    /// # Errors
    /// [`Error::Invalid`] with both numbers; `what` is wanted.
    pub fn check_zipped(&self, what: &str) -> Result<()> {
        let Shape { n_x, n_y, .. } = self.shape;
        if n_x == n_y {
            return Ok(());
        }
        bail_invalid!("{what} are of zipped pairs: x has {n_x} series, y has {n_y}")
    }

    /// Checks the length of an output slice.
    ///
    /// # Errors
    /// [`Error::Invalid`] with both lengths.
    pub fn check_output(&self, len: usize) -> Result<()> {
        if len == self.output_len() {
            return Ok(());
        }
        bail_invalid!("the output needs {} values, got a slice of {len}", self.output_len())
    }

    /// The passes of a distances call, in the order in which they are swept.
    pub fn passes(&self) -> impl Iterator<Item = Pass> + use<> {
        self.passes_of(self.pairing())
    }

    /// The passes of a call with another pairing than the problem's.
    pub fn passes_of(&self, pairing: Pairing) -> impl Iterator<Item = Pass> + use<> {
        let (measure, channels) = (self.spec().measure, self.shape().channels);
        let splits = measure.sums_channels() && channels > 1;
        let over_both = (0..if splits { channels } else { 1 }).map(move |channel| Pass {
            pairing,
            sides: Sides::Both,
            channel: splits.then_some(channel),
        });
        let own: &[Sides] = match (measure, pairing) {
            (Measure::SoftDtwDivergence { .. }, Pairing::SelfSymmetric) => &[Sides::OwnX],
            (Measure::SoftDtwDivergence { .. }, _) => &[Sides::OwnX, Sides::OwnY],
            _ => &[],
        };
        over_both.chain(own.iter().map(|sides| Pass {
            pairing: Pairing::Zipped,
            sides: *sides,
            channel: None,
        }))
    }

    /// Cells of the dynamic program that a distances call sweeps: the total of a progress bar. The divergence also
    /// sweeps every series against itself.
    ///
    /// Cost: O(number of distinct length pairs × length) plus O(pairs).
    ///
    /// # Errors
    /// [`Error::Invalid`] when the band leaves some pair no path.
    pub fn cells<T>(&self, x: &SeriesBatch<'_, T>, y: &SeriesBatch<'_, T>) -> Result<u64> {
        let y = if self.pairing == Pairing::SelfSymmetric { x } else { y };
        let is_mirrored = self.pairing == Pairing::SelfSymmetric;
        let mut known: HashMap<(usize, usize), u64> = HashMap::new();
        let mut cells = |n: usize, m: usize| -> Result<u64> {
            let (n, m) = (self.spec.measure.swept_length(n), self.spec.measure.swept_length(m));
            let (n, m) = if is_mirrored { (n.min(m), n.max(m)) } else { (n, m) };
            if let Some(cells) = known.get(&(n, m)) {
                return Ok(*cells);
            }
            let cells = self.spec.band.ranges(n, m, self.spec.anchor)?.cells();
            known.insert((n, m), cells);
            Ok(cells)
        };
        let how_often = |batch: &SeriesBatch<'_, T>| {
            let mut lengths: HashMap<usize, u64> = HashMap::new();
            (0..batch.len()).for_each(|s| *lengths.entry(batch.length(s)).or_default() += 1);
            lengths
        };
        let mut both = 0;
        if self.pairing == Pairing::Zipped {
            for s in 0..x.len() {
                both += cells(x.length(s), y.length(s))?;
            }
        } else {
            let lengths_y = how_often(y);
            for (n, times_n) in how_often(x) {
                for (m, times_m) in &lengths_y {
                    both += times_n * times_m * cells(n, *m)?;
                }
            }
        }
        let mut own = |batch: &SeriesBatch<'_, T>| -> Result<u64> {
            (0..batch.len()).map(|s| cells(batch.length(s), batch.length(s))).sum()
        };
        if is_mirrored {
            both = (both + own(x)?) / 2;
        }
        self.passes().try_fold(0, |total, pass| {
            Ok(total
                + match pass.sides {
                    Sides::Both => both,
                    Sides::OwnX => own(x)?,
                    Sides::OwnY => own(y)?,
                })
        })
    }

    /// Whether the last row, not the last cell, holds the result.
    pub fn is_subsequence(&self) -> bool {
        self.spec.anchor == Anchor::Subsequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalCost;

    #[test]
    fn queries_are_as_many_and_as_long_as_planned_at_most() {
        let values = [0.0_f64; 24];
        let batch = |count, length, channels| {
            SeriesBatch::equal(&values[..count * length * channels], count, length, channels).unwrap()
        };
        let spec = Spec::subsequence_dtw(LocalCost::SquaredEuclidean);
        let problem = Problem::of(spec, Pairing::Cross, &batch(2, 4, 1), &batch(1, 12, 1)).unwrap();
        for (queries, channels, is_right) in [
            (batch(2, 4, 1), 1, true),
            (batch(2, 3, 1), 1, true),
            (batch(2, 5, 1), 1, false),
            (batch(3, 4, 1), 1, false),
            (batch(2, 4, 1), 2, false),
            (batch(2, 4, 2), 2, false),
        ] {
            assert_eq!(problem.check_queries(&queries, channels).is_ok(), is_right, "{queries:?} {channels}");
        }
    }
}
