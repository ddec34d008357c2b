//! Averages drawn over the series they stand for: one panel per group.

use anyhow::Result;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::outline::reduced;
use super::style::{Chart, INK, MUTED, PALETTE, anchored, bold, spread, titled};
use super::{Figure, Sheet};

/// Series and their average, one channel.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) members: Vec<Vec<f64>>,
    pub(crate) center: Vec<f64>,
}

/// One panel per group, on common axes.
pub(crate) struct BarycenterFigure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) groups: Vec<Group>,
}

/// Panels per row.
const ACROSS: usize = 3;
/// More members than this hide each other.
const MAX_MEMBERS: usize = 120;

impl BarycenterFigure {
    fn grid(&self) -> (usize, usize) {
        let across = self.groups.len().clamp(1, ACROSS);
        (self.groups.len().div_ceil(across).max(1), across)
    }
}

impl Figure for BarycenterFigure {
    fn size(&self) -> (u32, u32) {
        match self.grid() {
            (1, 1) => (820, 420),
            (down, across) => (40 + 320 * across as u32, 70 + 250 * down as u32),
        }
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let rest = titled(&sheet.area, &self.title, &self.subtitle)?;
        let all = || self.groups.iter().flat_map(|g| g.members.iter().chain([&g.center]));
        let longest = all().map(Vec::len).max().unwrap_or(2);
        let y = Axis::of(all().flatten().copied(), 0.05, "");
        let (down, across) = self.grid();
        let single = self.groups.len() == 1;
        for (index, (panel, group)) in rest.split_evenly((down, across)).iter().zip(&self.groups).enumerate()
        {
            let label = if index + across >= self.groups.len() { "time (points)" } else { "" };
            let time = Axis::of_points(longest, 1.0, label);
            let mut chart = Chart::on(panel, &time, &y)?;
            let opacity = (8.0 / group.members.len() as f64).clamp(0.1, 0.45);
            let columns = chart.columns() / 4;
            let points = |values: &[f64]| -> Vec<(f64, f64)> {
                let place = |(t, v): (usize, f64)| (time.shown(t as f64), y.shown(v));
                reduced(values, columns).into_iter().map(place).collect()
            };
            for member in spread(group.members.len(), MAX_MEMBERS) {
                chart.line(points(&group.members[member]), MUTED.mix(opacity), 0.9)?;
            }
            let color = PALETTE[index % PALETTE.len()];
            chart.line(points(&group.center), color, 2.4)?;
            let label = if single {
                group.name.clone()
            } else {
                format!("{} ({} series)", group.name, group.members.len())
            };
            let style = anchored(bold(12.0, if single { color } else { INK }), HPos::Right, VPos::Top);
            chart.text(label, (time.end(), y.end()), style)?;
        }
        Ok(())
    }
}
