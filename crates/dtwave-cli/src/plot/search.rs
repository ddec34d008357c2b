//! Where a query was found: the whole reference with the hits marked, and a closer look at each.

use anyhow::Result;
use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::style::{
    Axes, BLUE, INK, MUTED, PALETTE, anchored, bold, chart, line, padded, reduced, short, text, titled,
};
use super::{Area, Figure, Sheet};

/// A stretch of the reference, both ends included, and its distance to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) distance: f64,
}

/// One channel of reference and query, and the hits, best first.
pub(crate) struct SearchFigure<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) reference: &'a [f64],
    pub(crate) query: &'a [f64],
    pub(crate) hits: &'a [Hit],
    /// Whether query and windows were z-normalised: the close-ups then show them so.
    pub(crate) normalized: bool,
    /// Points per unit of the time axis, and the unit.
    pub(crate) points_per_unit: f64,
    pub(crate) time_label: String,
    pub(crate) value_label: String,
}

const WIDTH: u32 = 1040;
const OVERVIEW_PX: u32 = 250;
const PANEL_PX: u32 = 212;
/// Close-ups per row.
const ACROSS: usize = 4;
const MAX_PANELS: usize = 8;

impl SearchFigure<'_> {
    fn panels(&self) -> usize {
        self.hits.len().min(MAX_PANELS)
    }

    /// Rows and columns of close-ups.
    fn grid(&self) -> (usize, usize) {
        let across = self.panels().clamp(1, ACROSS);
        (self.panels().div_ceil(across), across)
    }
}

impl Figure for SearchFigure<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, 56 + OVERVIEW_PX + PANEL_PX * self.grid().0 as u32)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let rest = titled(&sheet.area, &self.title, &self.subtitle)?;
        let (top, bottom) = rest.split_vertically(OVERVIEW_PX * super::SCALE);
        self.draw_overview(&top)?;
        if self.panels() > 0 {
            for (rank, panel) in bottom.split_evenly(self.grid()).iter().enumerate().take(self.panels()) {
                self.draw_hit(panel, rank)?;
            }
        }
        Ok(())
    }
}

impl SearchFigure<'_> {
    fn draw_overview(&self, area: &Area<'_>) -> Result<()> {
        let unit = self.points_per_unit;
        let y = padded(self.reference.iter().copied(), 0.12);
        let axes = Axes {
            x: 0.0..(self.reference.len().max(2) - 1) as f64 / unit,
            y: y.clone(),
            x_label: &self.time_label,
            y_label: &self.value_label,
            y_ticks: true,
        };
        let mut chart = chart(area, &axes)?;
        // A hit stays visible however long the reference is.
        let least = (axes.x.end - axes.x.start) / 500.0;
        for (rank, hit) in self.hits.iter().enumerate() {
            let (start, end) = (hit.start as f64 / unit, hit.end as f64 / unit);
            let widen = ((least - (end - start)) / 2.0).max(0.0);
            let corners = [(start - widen, y.start), (end + widen, y.end)];
            chart.draw_series([Rectangle::new(corners, self.color(rank).mix(0.22).filled())])?;
        }
        let columns = chart.plotting_area().dim_in_pixel().0 as usize / super::SCALE as usize * 2;
        let points = reduced(self.reference, 0.0, columns);
        line(&mut chart, points.into_iter().map(|(t, v)| (t / unit, v)), INK.mix(0.8), 0.8)?;
        for (rank, hit) in self.hits.iter().enumerate().take(self.panels()) {
            let middle = (hit.start + hit.end) as f64 / 2.0 / unit;
            let style = anchored(bold(11.0, self.color(rank)), HPos::Center, VPos::Top);
            chart.plotting_area().draw(&Text::new((rank + 1).to_string(), (middle, y.end), style))?;
        }
        Ok(())
    }

    fn color(&self, rank: usize) -> plotters::style::RGBColor {
        // The blues after these are the query's.
        PALETTE[rank % 4]
    }

    /// The hit and the query drawn from its start, over the time of the hit.
    fn draw_hit(&self, area: &Area<'_>, rank: usize) -> Result<()> {
        let hit = self.hits[rank];
        let found = &self.reference[hit.start..=hit.end];
        let (found, query) = match self.normalized {
            true => (z_normalized(found), z_normalized(self.query)),
            false => (found.to_vec(), self.query.to_vec()),
        };
        let length = found.len().max(query.len()).max(2);
        let y = padded(found.iter().chain(&query).copied(), 0.18);
        let axes = Axes {
            x: 0.0..(length - 1) as f64,
            y: y.clone(),
            x_label: "time (points)",
            y_label: "",
            y_ticks: true,
        };
        let mut chart = chart(area, &axes)?;
        let columns = chart.plotting_area().dim_in_pixel().0 as usize / 4;
        // A broad band under the match, so that both are seen where they agree.
        line(&mut chart, reduced(&query, 0.0, columns), BLUE.mix(0.35), 5.0)?;
        line(&mut chart, reduced(&found, 0.0, columns), self.color(rank), 1.5)?;
        let plot = chart.plotting_area();
        let title = format!("{} · at {}", rank + 1, self.place(hit.start));
        let left = anchored(bold(11.0, self.color(rank)), HPos::Left, VPos::Top);
        plot.draw(&Text::new(title, (0.0, y.end), left))?;
        let right = anchored(text(11.0, MUTED), HPos::Right, VPos::Top);
        plot.draw(&Text::new(format!("d = {}", short(hit.distance)), (axes.x.end, y.end), right))?;
        if rank == 0 {
            let corner = anchored(bold(11.0, BLUE), HPos::Right, VPos::Bottom);
            plot.draw(&Text::new("query".to_owned(), (axes.x.end, y.start), corner))?;
        }
        Ok(())
    }

    fn place(&self, point: usize) -> String {
        if self.points_per_unit == 1.0 {
            format!("point {point}")
        } else {
            format!("{:.2} s", point as f64 / self.points_per_unit)
        }
    }
}

/// Zero mean and unit variance (population); a constant series becomes zeros.
fn z_normalized(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    values.iter().map(|v| if deviation > 0.0 { (v - mean) / deviation } else { 0.0 }).collect()
}
