//! Where a query was found: the whole reference with the hits marked, and a closer look at each.

use anyhow::Result;
use dtwave::normalize::z_normalize;
use plotters::element::Rectangle;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::outline::{Outline, reduced};
use super::style::{BLUE, Chart, INK, MUTED, PALETTE, anchored, bold, px, short, text, titled};
use super::{Area, Figure, Sheet};

/// A stretch of the reference, both ends included, and its distance to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) distance: f64,
}

/// What a figure shows of one channel of a reference, gathered as its points come by: all of it reduced, and the
/// stretches of the hits that have a close-up.
pub(crate) struct Sketch {
    outline: Outline,
    stretches: Vec<(Hit, Vec<f64>)>,
}

impl Sketch {
    /// A picture of a reference of `points` points, in which there are these hits, best first.
    pub(crate) fn new(points: usize, hits: &[Hit]) -> Self {
        let stretches = hits.iter().take(MAX_PANELS).map(|hit| (*hit, Vec::new())).collect();
        Sketch { outline: Outline::new(points, OVERVIEW_COLUMNS), stretches }
    }

    /// A picture of a reference in memory.
    pub(crate) fn of(values: &[f64], hits: &[Hit]) -> Self {
        let mut sketch = Self::new(values.len(), hits);
        sketch.push(values, 0);
        sketch
    }

    /// The next values, of which `done` came before.
    pub(crate) fn push(&mut self, values: &[f64], done: usize) {
        values.iter().for_each(|value| self.outline.push(*value));
        for (hit, stretch) in &mut self.stretches {
            let (from, to) = (hit.start.max(done), (hit.end + 1).min(done + values.len()));
            if from < to {
                stretch.extend_from_slice(&values[from - done..to - done]);
            }
        }
    }
}

/// One channel of reference and query, and the hits, best first.
pub(crate) struct SearchFigure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Made for the same hits.
    pub(crate) reference: Sketch,
    pub(crate) query: Vec<f64>,
    pub(crate) hits: Vec<Hit>,
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
/// Columns that the overview is reduced to: two for each pixel.
const OVERVIEW_COLUMNS: usize = 2 * WIDTH as usize;
const ACROSS: usize = 4;
/// Hits with a close-up; the overview marks all.
const MAX_PANELS: usize = 24;
/// Rows of numbers above the overview's curve.
const NUMBER_ROWS: usize = 3;

impl SearchFigure {
    fn panels(&self) -> usize {
        self.hits.len().min(MAX_PANELS)
    }

    fn grid(&self) -> (usize, usize) {
        let across = self.panels().clamp(1, ACROSS);
        (self.panels().div_ceil(across), across)
    }
}

impl Figure for SearchFigure {
    fn size(&self) -> (u32, u32) {
        (WIDTH, 56 + OVERVIEW_PX + PANEL_PX * self.grid().0 as u32)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let subtitle = match self.hits.len() > MAX_PANELS {
            true => format!("{}; close-ups of the first {MAX_PANELS}", self.subtitle),
            false => self.subtitle.clone(),
        };
        let rest = titled(&sheet.area, &self.title, &subtitle)?;
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

impl SearchFigure {
    fn draw_overview(&self, area: &Area<'_>) -> Result<()> {
        let unit = self.points_per_unit;
        // Room for numbers above the curve: for one row of them, or for all.
        let headroom = if self.hits.len() > 12 { 0.3 } else { 0.12 };
        let points = self.reference.outline.points();
        let y = Axis::of(points.iter().map(|point| point.1), headroom, &self.value_label);
        let time = Axis::of_points(self.reference.outline.len(), unit, &self.time_label);
        let mut chart = Chart::on(area, &time, &y)?;
        let at = |index: usize| time.clamped(index as f64 / unit);
        // A hit stays visible however long the reference is.
        let least = (time.end() - time.start()) / 500.0;
        // From the last to the first, so that the best lies on top.
        for (rank, hit) in self.hits.iter().enumerate().rev() {
            let (start, end) = (at(hit.start), at(hit.end));
            let widen = ((least - (end - start)) / 2.0).max(0.0);
            let corners = [(start - widen, y.start()), (end + widen, y.end())];
            chart.shapes([Rectangle::new(corners, self.color(rank).mix(0.22).filled())])?;
        }
        chart.line(points.iter().map(|&(t, v)| (at(t), y.shown(v))), INK.mix(0.8), 0.8)?;
        self.number_hits(&chart, &time, &y)
    }

    /// Numbers the hits, best first, each in the first row where it has room; a number that has none is left out.
    fn number_hits(&self, chart: &Chart<'_, '_>, time: &Axis, y: &Axis) -> Result<()> {
        let unit = (time.end() - time.start()) / chart.columns().max(1) as f64;
        let row_height = (y.end() - y.start()) / chart.rows().max(1) as f64 * f64::from(px(13.0));
        let mut taken: [Vec<(f64, f64)>; NUMBER_ROWS] = Default::default();
        for (rank, hit) in self.hits.iter().enumerate() {
            let number = (rank + 1).to_string();
            let middle = time.clamped((hit.start + hit.end) as f64 / 2.0 / self.points_per_unit);
            let half = unit * f64::from(px(4.0 * number.len() as f64 + 2.0));
            let (left, right) = (middle - half, middle + half);
            let is_free = |row: &Vec<(f64, f64)>| row.iter().all(|(a, b)| right < *a || *b < left);
            let Some(row) = taken.iter().position(is_free) else { continue };
            taken[row].push((left, right));
            let style = anchored(bold(11.0, self.color(rank)), HPos::Center, VPos::Top);
            chart.text(number, (middle, y.end() - row as f64 * row_height), style)?;
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
        let (mut found, mut query) = (self.reference.stretches[rank].1.clone(), self.query.clone());
        if self.normalized {
            z_normalize(&mut found, 1);
            z_normalize(&mut query, 1);
        }
        let time = Axis::of_points(found.len().max(query.len()), 1.0, "time (points)");
        let y = Axis::of(found.iter().chain(&query).copied(), 0.18, "");
        let mut chart = Chart::on(area, &time, &y)?;
        let columns = chart.columns() / 4;
        let points = |values: &[f64]| -> Vec<(f64, f64)> {
            let place = |(t, v): (usize, f64)| (time.shown(t as f64), y.shown(v));
            reduced(values, columns).into_iter().map(place).collect()
        };
        // A broad band under the match, so that both are seen where they agree.
        chart.line(points(&query), BLUE.mix(0.35), 5.0)?;
        chart.line(points(&found), self.color(rank), 1.5)?;
        let title = format!("{} · at {}", rank + 1, self.place(hit.start));
        chart.text(title, (0.0, y.end()), anchored(bold(11.0, self.color(rank)), HPos::Left, VPos::Top))?;
        let distance = format!("d = {}", short(hit.distance));
        chart.text(distance, (time.end(), y.end()), anchored(text(11.0, MUTED), HPos::Right, VPos::Top))?;
        if rank == 0 {
            let corner = anchored(bold(11.0, BLUE), HPos::Right, VPos::Bottom);
            chart.text("query".to_owned(), (time.end(), y.start()), corner)?;
        }
        Ok(())
    }

    fn place(&self, point: usize) -> String {
        if self.points_per_unit == 1.0 {
            return format!("point {point}");
        }
        let secs = point as f64 / self.points_per_unit;
        if secs == 0.0 || (0.01..1e6).contains(&secs) {
            format!("{secs:.2} s")
        } else {
            format!("{} s", short(secs))
        }
    }
}
