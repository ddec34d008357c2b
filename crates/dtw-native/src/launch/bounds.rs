//! Lower bounds of the windows of a stretch, on the device: which of them a query may match better than a cut.

use dtw_core::bounds::{Envelope, rows_of_columns};
use dtw_core::{ColumnRanges, Dtype, Result};
use dtw_kernels::params::{self, BOUNDS_AT_ONCE, Params, WINDOW_CHUNK};
use dtw_kernels::{Kernel, Role, catalog};

use crate::machine::{Machine, blocks_for};
use crate::memory::bytes::Number;
use crate::memory::region::{Region, default_of};

/// Windows of one launch, where memory allows.
pub(crate) const WINDOWS_AT_ONCE: usize = 1 << 23;

/// Windows of univariate points that are on the device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    /// Address of the first point.
    pub(crate) points: u64,
    pub(crate) windows: usize,
    /// Points of a window.
    pub(crate) length: usize,
}

impl Stretch {
    fn points(&self) -> usize {
        self.windows + self.length - 1
    }

    pub(crate) fn chunks(&self) -> usize {
        self.windows.div_ceil(WINDOW_CHUNK as usize)
    }
}

/// What bounds ask of a query.
#[derive(Debug, Clone)]
pub(crate) struct BoundedQuery<T> {
    /// Middle and half the width of its envelope at each point of a window, side by side.
    envelope: Vec<T>,
    /// Added to the slack of every window.
    more_slack: f64,
    /// Address of its points, if they are as many as those of a window.
    points: Option<u64>,
    /// How far the points of a window lie before and behind those of the query that a band pairs with them, at most.
    reach: (usize, usize),
}

impl<T: Number> BoundedQuery<T> {
    /// Of the points as they are swept, which are at `address`, and the cells that the band allows.
    pub(crate) fn new(values: &[T], address: u64, ranges: &ColumnRanges) -> Self {
        let mut both = Envelope::default();
        both.fill(values, rows_of_columns(ranges).into_iter());
        let unit = match T::DTYPE {
            Dtype::F32 => f64::from(f32::EPSILON) / 2.0,
            Dtype::F64 => f64::EPSILON / 2.0,
        };
        let mut envelope = Vec::with_capacity(2 * (ranges.m() + BOUNDS_AT_ONCE as usize));
        let mut height = values.iter().fold(0.0, |height: f64, value| height.max(value.to_f64().abs()));
        for (low, high) in both.lower.iter().zip(&both.upper) {
            let (low, high) = (low.to_f64(), high.to_f64());
            let middle = T::from_f64(0.5 * (low + high));
            let half = (high - middle.to_f64()).max(middle.to_f64() - low);
            // Raised, so that the interval holds both ends whatever was rounded.
            let half = half * (1.0 + 8.0 * unit) + f64::from(f32::MIN_POSITIVE);
            height = height.max(middle.to_f64().abs() + half);
            envelope.extend([middle, T::from_f64(half)]);
        }
        // Beyond the last point nothing is added.
        envelope.extend([T::ZERO, T::from_f64(1e30)].into_iter().cycle().take(2 * BOUNDS_AT_ONCE as usize));
        let (mut before, mut after) = (0, 0);
        for i in 0..ranges.n() {
            let row = ranges.row(i);
            (before, after) =
                (before.max(i.saturating_sub(row.start)), after.max(row.end.saturating_sub(i + 1)));
        }
        Self {
            envelope,
            more_slack: 8.0 * unit * (height + 1.0) + f64::from(f32::MIN_POSITIVE),
            points: (ranges.n() == ranges.m()).then_some(address),
            reach: (before, after),
        }
    }
}

/// What bounds need on the device and on the way back; kept between calls.
#[derive(Debug)]
pub(crate) struct Bounds<T: Number, M: Machine> {
    scale: Region<M>,
    offset: Region<M>,
    slack: Region<M>,
    shifts: Region<M>,
    envelope: Region<M>,
    lower: [Region<M>; 2],
    upper: [Region<M>; 2],
    survives: Region<M>,
    least: Region<M>,
    place: Region<M>,
    /// Offsets of windows that are swept.
    pub(crate) offsets: Region<M>,
    host_survives: Vec<u32>,
    host_least: Vec<T>,
    host_place: Vec<u32>,
}

default_of!(Bounds<T: Number, M: Machine> { scale, offset, slack, shifts, envelope, lower, upper, survives, least, place, offsets, host_survives, host_least, host_place });

impl<T: Number, M: Machine> Bounds<T, M> {
    pub(crate) fn bytes(&self) -> usize {
        let regions = [&self.scale, &self.offset, &self.slack, &self.shifts, &self.envelope, &self.survives];
        let others = self.lower.iter().chain(&self.upper).chain([&self.least, &self.place, &self.offsets]);
        regions.into_iter().chain(others).map(Region::bytes).sum::<usize>()
            + (self.host_survives.capacity() + self.host_place.capacity()) * size_of::<u32>()
            + self.host_least.capacity() * size_of::<T>()
    }

    /// Bytes on the device for each window of a launch.
    pub(crate) fn window_bytes() -> u64 {
        (7 * size_of::<T>() + size_of::<u32>()) as u64
    }

    /// What makes of the points of the windows of every so many chunks their normalised values.
    pub(crate) fn moments(&mut self, machine: &M, stretch: Stretch, every: usize) -> Result<()> {
        let numbers = stretch.chunks() * WINDOW_CHUNK as usize * size_of::<T>();
        for region in [&mut self.scale, &mut self.offset, &mut self.slack] {
            region.reserve(machine, numbers)?;
        }
        self.shifts.reserve(machine, stretch.chunks() * size_of::<T>())?;
        let p = params::Moments {
            points: stretch.points,
            scale: self.scale.address(),
            offset: self.offset.address(),
            slack: self.slack.address(),
            shifts: self.shifts.address(),
            windows: stretch.windows as u64,
            length: stretch.length as u64,
            most: match T::DTYPE {
                Dtype::F32 => 1e15,
                Dtype::F64 => 1e140,
            },
            every: every as u64,
        };
        let chunks = stretch.chunks().div_ceil(every) as u64;
        machine.launch(kernel::<T>(Role::Moments, "moments"), p.bytes(), blocks_for(chunks))
    }

    /// Of every so many chunks of windows the least bound and its window; infinite where nothing is known. Their
    /// moments are known.
    pub(crate) fn least(
        &mut self,
        machine: &M,
        stretch: Stretch,
        query: &BoundedQuery<T>,
        every: usize,
    ) -> Result<impl Iterator<Item = (T, usize)> + '_> {
        let chunks = stretch.chunks().div_ceil(every);
        self.least.reserve(machine, chunks * size_of::<T>())?;
        self.place.reserve(machine, chunks * size_of::<u32>())?;
        let p = params::Bounds {
            least: self.least.address(),
            place: self.place.address(),
            every: every as u64,
            ..self.params(machine, stretch, query)?
        };
        machine.launch(kernel::<T>(Role::Bounds, "bounds"), p.bytes(), blocks_for(chunks as u64))?;
        self.least.fetch(machine, &mut self.host_least, chunks)?;
        self.place.fetch(machine, &mut self.host_place, chunks)?;
        Ok(self.host_least.iter().zip(&self.host_place).map(|(least, place)| (*least, *place as usize)))
    }

    /// Calls `each` with the windows whose bound is below `cut`, or unknown, in order.
    pub(crate) fn survivors(
        &mut self,
        machine: &M,
        stretch: Stretch,
        query: &BoundedQuery<T>,
        cut: T,
        mut each: impl FnMut(usize),
    ) -> Result<()> {
        let words = stretch.chunks() * WINDOW_CHUNK as usize / 32;
        self.survives.reserve(machine, words * size_of::<u32>())?;
        let mut p = params::Bounds {
            survives: self.survives.address(),
            cut: cut.to_f64(),
            every: 1,
            ..self.params(machine, stretch, query)?
        };
        if let Some(points) = query.points {
            let side = self.envelopes(machine, stretch, query.reach)?;
            (p.query, p.lower, p.upper) = (points, self.lower[side].address(), self.upper[side].address());
        }
        machine.launch(
            kernel::<T>(Role::Bounds, "bounds"),
            p.bytes(),
            blocks_for(stretch.chunks() as u64),
        )?;
        self.survives.fetch(machine, &mut self.host_survives, words)?;
        // Most of them are zero.
        for (k, some) in self.host_survives.chunks(16).enumerate().filter(|(_, some)| **some != [0; 16]) {
            for (word, bits) in some.iter().enumerate() {
                let mut left = *bits;
                while left != 0 {
                    each(32 * (16 * k + word) + left.trailing_zeros() as usize);
                    left &= left - 1;
                }
            }
        }
        Ok(())
    }

    fn params(&mut self, machine: &M, stretch: Stretch, query: &BoundedQuery<T>) -> Result<params::Bounds> {
        Ok(params::Bounds {
            points: stretch.points,
            scale: self.scale.address(),
            offset: self.offset.address(),
            slack: self.slack.address(),
            shifts: self.shifts.address(),
            envelope: self.envelope.hold(machine, &query.envelope)?,
            windows: stretch.windows as u64,
            length: stretch.length as u64,
            more_slack: query.more_slack,
            ..params::Bounds::default()
        })
    }

    /// The extremes of the points from `before` before to `after` behind each point; in which regions they are.
    fn envelopes(&mut self, machine: &M, stretch: Stretch, (before, after): (usize, usize)) -> Result<usize> {
        let points = stretch.points();
        for region in self.lower.iter_mut().chain(&mut self.upper) {
            region.reserve(machine, points * size_of::<T>())?;
        }
        let (mut lower, mut upper, mut side, mut run) = (stretch.points, stretch.points, 0, 1_usize);
        let mut step = |places: [i64; 4]| {
            let (to_lower, to_upper) = (self.lower[side].address(), self.upper[side].address());
            let p = params::Envelope {
                lower,
                upper,
                new_lower: to_lower,
                new_upper: to_upper,
                points: points as u64,
                places,
            };
            (lower, upper, side) = (to_lower, to_upper, 1 - side);
            let warps = points.div_ceil(32) as u64;
            machine.launch(kernel::<T>(Role::Envelope, "envelope"), p.bytes(), blocks_for(warps))
        };
        let all = before + after + 1;
        while 2 * run <= all {
            // Of four runs, or of two where four are too many.
            let runs = if 4 * run <= all { 4 } else { 2 };
            step(std::array::from_fn(|q| (q.min(runs - 1) * run) as i64))?;
            run *= runs;
        }
        let joined = after as i64 + 1 - run as i64;
        step([-(before as i64), joined, joined, joined])?;
        Ok(1 - side)
    }
}

fn kernel<T: Number>(role: Role, key: &str) -> &'static Kernel {
    catalog::other(role, key, T::DTYPE.name(), false).expect("permutations.toml lists it")
}
