//! The long series: read block by block as the search goes, or held in memory.
//!
//! Block by block where the file is of a kind that can be read so and the device can search so. What would need a
//! second reading (a plot, queries with different options) reads a file again; a pipe cannot be, and is then held in
//! memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use dtwave::{Blocks, OwnedBatch};

use super::ahead::Ahead;
use crate::commands::common::{Channel, Inputs, pick};
use crate::data::{Dataset, LongSeries, ReadOptions, SeriesBlocks, is_read_again, shown};
use crate::engine::{self, Element};
use crate::plot::{Hit, Sketch};
use crate::progress::Progress;
use crate::report;
use crate::words::count;

/// Points that are read at a time where nothing else says how many.
const READ_POINTS: usize = 1 << 14;

/// Why a pipe did not fit.
const ONCE: &str = "read whole, because --plot, and queries that differ in --exclusion or --window, need the reference a \
                    second time, and a pipe gives it once";

/// Why a file did not fit.
const HALF: &str = "read whole, because --precision half proposes places in a reference that is in memory";

pub(super) struct Reference {
    pub(super) name: String,
    pub(super) channels: usize,
    held: Held,
}

enum Held {
    Whole(Dataset),
    Streamed(Box<Streamed>),
}

/// A series that stays in its file.
pub(super) struct Streamed {
    path: PathBuf,
    options: ReadOptions,
    /// Open, and nothing read of it.
    fresh: Option<SeriesBlocks>,
    /// How many points there are, once that is known.
    points: Option<usize>,
    is_told: bool,
}

/// How a reference is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Block by block.
    Once,
    /// Block by block, and a second time.
    Twice,
    /// Into memory.
    Whole,
}

/// What a search goes through.
pub(super) enum Ready<'a, T> {
    Whole(OwnedBatch<T>),
    Streamed(&'a mut Streamed),
}

impl Reference {
    /// A series in memory, the only one of its dataset.
    fn whole(dataset: Dataset) -> Self {
        let (name, channels) = (dataset.name.clone(), dataset.channels);
        Reference { name, channels, held: Held::Whole(dataset) }
    }

    /// One series of a file that was read.
    fn one_of(path: &Path, dataset: &Dataset, index: Option<usize>) -> Result<Self> {
        engine::tell_of_times(path, dataset, "dtw");
        let options = Some(["--reference-index", ""]);
        Ok(Self::whole(pick(path, dataset, index, None, options)?))
    }

    /// Opens a file.
    pub(super) fn open(path: &Path, index: Option<usize>, inputs: &Inputs, reading: Reading) -> Result<Self> {
        let options = inputs.options(path);
        let opened = if let Some(dataset) = inputs.held(path) {
            return Self::one_of(path, &dataset, index);
        } else if reading == Reading::Once || reading == Reading::Twice && is_read_again(path) {
            LongSeries::open(path, &options)?
        } else {
            let why = if reading == Reading::Whole { HALF } else { ONCE };
            let read = Dataset::read(path, &options);
            LongSeries::Whole(read.map_err(|error| match report::is_over_limit(&error) {
                true => error.context(why),
                false => error,
            })?)
        };
        let blocks = match opened {
            LongSeries::Blocks(blocks) => blocks,
            LongSeries::Whole(dataset) => {
                engine::tell(path, &dataset);
                return Self::one_of(path, &dataset, index);
            }
        };
        ensure!(
            index.is_none_or(|index| index == 0),
            "{} has 1 series; --reference-index {} is out of range",
            shown(path),
            index.unwrap_or_default()
        );
        blocks.notes().iter().for_each(|note| report::note(&format!("{}: {note}", shown(path))));
        let (name, channels, points) = (blocks.name().to_owned(), blocks.channels(), blocks.points());
        let path = path.to_path_buf();
        let mut streamed = Streamed { path, options, fresh: Some(blocks), points, is_told: false };
        if let Some(points) = points {
            streamed.tell(points, channels);
        }
        Ok(Reference { name, channels, held: Held::Streamed(Box::new(streamed)) })
    }

    /// How many points it has; not known before the end of some files.
    pub(super) fn points(&self) -> Option<usize> {
        match &self.held {
            Held::Whole(dataset) => Some(dataset.length(0)),
            Held::Streamed(streamed) => streamed.points,
        }
    }

    /// Whether the size of what is read is known.
    pub(super) fn is_measured(&self) -> bool {
        match &self.held {
            Held::Whole(_) => true,
            Held::Streamed(streamed) => streamed.points.is_some() || is_read_again(&streamed.path),
        }
    }

    pub(super) fn ready<T: Element>(&mut self) -> Result<Ready<'_, T>> {
        match &mut self.held {
            Held::Whole(dataset) => Ok(Ready::Whole(engine::batch(dataset)?)),
            Held::Streamed(streamed) => Ok(Ready::Streamed(streamed)),
        }
    }

    pub(super) fn sketch(&mut self, channel: Channel, hits: &[Hit]) -> Result<Sketch> {
        let streamed = match &mut self.held {
            Held::Whole(dataset) => {
                return Ok(Sketch::of(&channel.values(&dataset.series[0]), hits));
            }
            Held::Streamed(streamed) => streamed,
        };
        let mut blocks = streamed.take()?;
        let mut sketch = Sketch::new(streamed.points.unwrap_or(0), hits);
        let mut values = Vec::new();
        loop {
            let done = blocks.done();
            values.clear();
            blocks.read(READ_POINTS, &mut values)?;
            if values.is_empty() {
                streamed.check(done)?;
                return Ok(sketch);
            }
            sketch.push(&channel.values(&values), done);
        }
    }
}

impl Streamed {
    fn take(&mut self) -> Result<SeriesBlocks> {
        if let Some(fresh) = self.fresh.take() {
            return Ok(fresh);
        }
        match LongSeries::open(&self.path, &self.options)? {
            LongSeries::Blocks(blocks) => Ok(blocks),
            LongSeries::Whole(_) => Err(self.changed()),
        }
    }

    fn changed(&self) -> anyhow::Error {
        anyhow!("{} changed while it was read; search again", shown(&self.path))
    }

    /// Notes how many points there were.
    fn check(&mut self, points: usize) -> Result<()> {
        ensure!(*self.points.get_or_insert(points) == points, self.changed());
        Ok(())
    }

    fn tell(&mut self, points: usize, channels: usize) {
        if !std::mem::replace(&mut self.is_told, true) {
            let (shown, points) = (shown(&self.path), count(points, "point"));
            let channels = count(channels, "channel");
            report::note(&format!("read {shown}: 1 series of {points}, {channels}, no labels"));
        }
    }

    /// Lets `search` go through all blocks, which are read ahead. `cells` tells how many grid cells so many points are.
    pub(super) fn feed<T: Element, R>(
        &mut self,
        progress: &Arc<Progress>,
        cells: impl Fn(usize) -> u64 + Sync,
        search: impl FnOnce(&mut dyn Blocks<T>) -> dtwave::Result<R>,
    ) -> Result<R> {
        let ahead = Ahead {
            blocks: self.take()?,
            shown: shown(&self.path),
            memory_limit_bytes: self.options.memory_limit_bytes,
            progress,
            cells: &cells,
        };
        let (found, blocks) = ahead.search(None, search)?;
        let (points, channels) = (blocks.done(), blocks.channels());
        self.check(points)?;
        self.tell(points, channels);
        Ok(found)
    }
}
