//! Two series with the points that a warping path joins, and the path itself beside them.

use std::ops::Range;

use anyhow::Result;
use plotters::element::{PathElement, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::axis::Axis;
use super::outline::reduced;
use super::style::{
    AXIS, BLUE, Chart, GRID, INK, MUTED, VERMILLION, anchored, bold, px, spread, stroke, text, titled,
};
use super::{Figure, Sheet};

/// One channel of `x` and `y` and a path of index pairs.
pub(crate) struct AlignmentFigure<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) x: &'a [f64],
    pub(crate) y: &'a [f64],
    pub(crate) x_name: String,
    pub(crate) y_name: String,
    /// Pairs (i, j), in order.
    pub(crate) path: &'a [(usize, usize)],
    /// The columns a path may use in each row from `first_row` on; empty: all, and no band is drawn.
    pub(crate) band: &'a [Range<usize>],
    pub(crate) first_row: usize,
}

const WIDTH: u32 = 980;
const HEIGHT: u32 = 420;
/// More connecting lines than this hide each other.
const MAX_LINKS: usize = 130;
/// Finer than the picture can show.
const MAX_PATH_POINTS: usize = 6000;
const MAX_BAND_ROWS: usize = 600;

impl Figure for AlignmentFigure<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, HEIGHT)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let rest = titled(&sheet.area, &self.title, &self.subtitle)?;
        let side = HEIGHT as i32 * super::SCALE as i32 - px(56.0);
        let (left, right) = rest.split_horizontally(px(f64::from(WIDTH)) - side - px(16.0));
        self.draw_series(&left)?;
        self.draw_path(&right)
    }
}

impl AlignmentFigure<'_> {
    /// `x` above, `y` below, links between.
    fn draw_series(&self, area: &super::Area<'_>) -> Result<()> {
        let values = Axis::of(self.x.iter().chain(self.y).copied(), 0.0, "");
        let shown = |series: &[f64]| series.iter().map(|v| values.shown(*v)).collect::<Vec<f64>>();
        let (x, y) = (shown(self.x), shown(self.y));
        let (x_low, x_high) = extremes(&x);
        let (y_low, y_high) = extremes(&y);
        let span = (x_high - x_low).max(y_high - y_low);
        // x's lowest point sits a third of the span above y's highest.
        let lift = y_high - x_low + 0.33 * if span > 0.0 { span } else { 1.0 };
        let (low, high) = (y_low, x_high + lift);
        let time = Axis::of_points(x.len().max(y.len()), 1.0, "time (points)");
        let mut chart = Chart::on(area, &time, &values.unnumbered(low..high, 0.09))?;
        let at = |index: usize| time.shown(index as f64);
        chart.shapes(spread(self.path.len(), MAX_LINKS).map(|k| {
            let (i, j) = self.path[k];
            let ends = vec![(at(i), x[i] + lift), (at(j), y[j])];
            PathElement::new(ends, stroke(MUTED.mix(0.42), 0.6))
        }))?;
        let columns = chart.columns() / 4;
        let points = |values: &[f64], up: f64| -> Vec<(f64, f64)> {
            reduced(values, columns).into_iter().map(|(index, v)| (at(index), v + up)).collect()
        };
        chart.line(points(&x, lift), BLUE, 2.0)?;
        chart.line(points(&y, 0.0), VERMILLION, 2.0)?;

        // In the corners above and below, where neither curves nor links are.
        let margin = 0.085 * (high - low);
        let named = |color: RGBColor, v: VPos| anchored(bold(12.0, color), HPos::Left, v);
        chart.text(self.x_name.clone(), (0.0, high + margin), named(BLUE, VPos::Top))?;
        chart.text(self.y_name.clone(), (0.0, low - margin), named(VERMILLION, VPos::Bottom))
    }

    /// The path in the grid of (j, i), the band it keeps to, the diagonal of an unwarped alignment as reference.
    fn draw_path(&self, area: &super::Area<'_>) -> Result<()> {
        let down = Axis::of_points(self.x.len(), 1.0, &self.x_name);
        let across = Axis::of_points(self.y.len(), 1.0, &self.y_name);
        let mut chart = Chart::on(area, &across, &down)?;
        let (m, n) = (across.end(), down.end());
        let at = |i: f64, j: f64| (across.shown(j).clamp(0.0, m), down.shown(i).clamp(0.0, n));
        if !self.band.is_empty() {
            let rows: Vec<usize> = spread(self.band.len(), MAX_BAND_ROWS).collect();
            let row = |k: usize| (self.first_row + k) as f64;
            // Cells reach half a step to all sides of their point.
            let edges = |k: usize, j: f64| [at(row(k) - 0.5, j), at(row(k) + 0.5, j)];
            let left = rows.iter().flat_map(|k| edges(*k, self.band[*k].start as f64 - 0.5));
            let right = rows.iter().flat_map(|k| edges(*k, self.band[*k].end as f64 - 0.5));
            let right: Vec<(f64, f64)> = right.collect();
            let outline: Vec<(f64, f64)> = left.chain(right.into_iter().rev()).collect();
            chart.shapes([Polygon::new(outline, BLUE.mix(0.12).filled())])?;
        }
        chart.shapes([Rectangle::new([(0.0, 0.0), (m, n)], stroke(AXIS, 1.0))])?;
        chart.line([(0.0, 0.0), (m, n)], GRID, 1.0)?;
        let path = spread(self.path.len(), MAX_PATH_POINTS).map(|k| self.path[k]);
        chart.line(path.map(|(i, j)| at(i as f64, j as f64)), INK, 1.6)?;
        let label = |color| anchored(text(11.0, color), HPos::Right, VPos::Bottom);
        if !self.band.is_empty() {
            chart.text("band".to_owned(), (m * 0.99, n * 0.09), label(BLUE))?;
        }
        chart.text("warping path".to_owned(), (m * 0.99, n * 0.03), label(MUTED))
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}
