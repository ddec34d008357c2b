//! What one launch is to do: a rectangle of prepared pairs, its band, and where results go.

use dtw_core::Pairing;
use dtw_kernels::{SweepKind, params};
use dtw_plan::{BandLayout, Rect};

use crate::launch::functor::Functor;

/// What a launch is to do, besides the band.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    pub(crate) functor: Functor,
    /// Channels of a prepared point.
    pub(crate) channels: usize,
    pub(crate) x: params::Side,
    pub(crate) y: params::Side,
    pub(crate) pairing: Pairing,
    /// Pairs of the pairing that are left out before the first.
    pub(crate) first_task: u64,
    pub(crate) tasks: u64,
    /// Address of the results; 0: none wanted.
    pub(crate) out: u64,
    pub(crate) out_stride: usize,
    /// Cells of the largest pair.
    pub(crate) cells: u64,
    /// Whether the last column of every task is wanted: the tasks' edges then stay until the next launch.
    pub(crate) keeps_edges: bool,
    /// Whether only results that are NaN so far are wanted.
    pub(crate) only_missing: bool,
    /// The one kind of sweep that does it; `None`: whichever is fastest.
    pub(crate) only: Option<SweepKind>,
    /// Where kernels of blocks put the states of last rows.
    pub(crate) last_row: u64,
    /// Rows that stretches begin before their own.
    pub(crate) run_up: u32,
    /// Stretches of each reference.
    pub(crate) stretches: u32,
}

impl Job {
    /// The pairs of a rectangle of prepared series, without a band: results go nowhere yet.
    pub(crate) fn of(functor: Functor, channels: usize, [x, y]: [params::Side; 2], rect: &Rect) -> Self {
        Self {
            functor,
            channels,
            x,
            y,
            pairing: rect.pairing,
            first_task: 0,
            tasks: rect.tasks(),
            out: 0,
            out_stride: 0,
            cells: u64::from(x.length) * u64::from(y.length),
            keeps_edges: false,
            only_missing: false,
            only: None,
            last_row: 0,
            run_up: 0,
            stretches: 1,
        }
    }

    /// What every kind of sweep is told, but for the weights of cells.
    pub(crate) fn params(&self, band: LaunchBand) -> params::Sweep {
        params::Sweep {
            pairs: params::Pairs {
                x: self.x,
                y: self.y,
                out: self.out,
                out_stride: self.out_stride as u64,
                first_task: self.first_task,
                tasks: self.tasks,
                pairing: pairing_code(self.pairing),
                channels: self.channels as u32,
                ..params::Pairs::default()
            },
            banding: band.banding(),
            strips: params::Strips {
                only_strip: params::ALL_STRIPS,
                keep_last: u32::from(self.keeps_edges),
                ..params::Strips::default()
            },
            trace: params::Trace {
                arrivals: self.last_row,
                arrival_stride: u64::from(self.y.length),
                run_up: self.run_up,
                stretches: self.stretches,
            },
            measure: params::Measure {
                parameters: self.functor.parameters,
                option: self.functor.option,
                only_missing: u32::from(self.only_missing),
                ..params::Measure::default()
            },
        }
    }
}

/// A pairing as kernels are told.
pub(crate) fn pairing_code(pairing: Pairing) -> u32 {
    match pairing {
        Pairing::Cross => params::CROSS,
        Pairing::SelfSymmetric => params::SYMMETRIC,
        Pairing::Zipped => params::ZIPPED,
    }
}

/// A band as a kernel is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaunchBand {
    pub(crate) layout: BandLayout,
    /// Address of the table of ranges, and of the first range of each task; 0: none.
    pub(crate) ranges: u64,
    pub(crate) offsets: u64,
}

impl LaunchBand {
    /// A form that needs no table.
    pub(crate) fn plain(layout: BandLayout) -> Self {
        Self { layout, ranges: 0, offsets: 0 }
    }

    /// The cells that it allows, for tasks that are swept whole.
    fn banding(self) -> params::Banding {
        let (band, radius, is_fraction) = match self.layout {
            BandLayout::Full => (params::BAND_FULL, 0, false),
            BandLayout::Sakoe { radius, is_fraction } => (params::BAND_SAKOE, radius, is_fraction),
            BandLayout::Table => (params::BAND_TABLE, 0, false),
        };
        params::Banding {
            band,
            radius,
            radius_is_fraction: u32::from(is_fraction),
            spread: 0,
            ranges: self.ranges,
            range_offsets: self.offsets,
        }
    }
}

/// Where the last columns of a search are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edges {
    pub(crate) address: u64,
    /// Numbers from task to task.
    pub(crate) stride: u64,
    /// Numbers from part to part.
    pub(crate) part_stride: u64,
}
