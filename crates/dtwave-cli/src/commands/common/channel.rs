//! The channel that a figure shows.

use anyhow::{Result, ensure};

use crate::data::Dataset;
use crate::plot::{BarycenterFigure, Group};
use crate::words::count;

/// One channel of series that have several, or the only one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Channel {
    pub(crate) index: usize,
    channels: usize,
}

impl Channel {
    /// The channel that `--plot-channel` names, the first where it is left out; refuses one that the series do not
    /// have.
    pub(crate) fn of(option: Option<usize>, channels: usize) -> Result<Self> {
        let index = option.unwrap_or(0);
        let held = count(channels, "channel");
        ensure!(index < channels, "--plot-channel {index} is out of range: {held}");
        Ok(Channel { index, channels })
    }

    /// `, channel 2` where there are several.
    pub(crate) fn named(self) -> String {
        if self.channels > 1 { format!(", channel {}", self.index) } else { String::new() }
    }

    /// Its values in a series, whose channels lie side by side.
    pub(crate) fn values(self, series: &[f64]) -> Vec<f64> {
        series.iter().skip(self.index).step_by(self.channels).copied().collect()
    }
}

/// Groups of a dataset's series as panels: the name of each group, its members, and the centre that stands for them.
pub(crate) fn grouped(
    title: String,
    dataset: &Dataset,
    channel: Channel,
    groups: impl Iterator<Item = (String, Vec<usize>, Vec<f64>)>,
) -> BarycenterFigure {
    let groups = groups.map(|(name, members, center)| Group {
        name,
        members: members.iter().map(|index| channel.values(&dataset.series[*index])).collect(),
        center: channel.values(&center),
    });
    BarycenterFigure {
        title,
        subtitle: format!("{}: {}{}", dataset.name, dataset.summary(), channel.named()),
        groups: groups.collect(),
    }
}
