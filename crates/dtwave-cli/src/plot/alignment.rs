//! Two series with the points that a warping path joins, and the path itself beside them.

use anyhow::Result;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::style::{
    AXIS, Axes, BLUE, GRID, INK, MUTED, VERMILLION, anchored, bold, chart, line, padded, px, reduced, spread,
    stroke, text, titled,
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
}

const WIDTH: u32 = 980;
const HEIGHT: u32 = 420;
/// More connecting lines than this hide each other.
const MAX_LINKS: usize = 130;
/// Finer than the picture can show.
const MAX_PATH_POINTS: usize = 6000;

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
        let (x_range, y_range) = (padded(self.x.iter().copied(), 0.0), padded(self.y.iter().copied(), 0.0));
        let span = (x_range.end - x_range.start).max(y_range.end - y_range.start);
        // x's lowest point sits a third of the span above y's highest.
        let lift = y_range.end - x_range.start + 0.33 * span;
        let length = self.x.len().max(self.y.len());
        let mut chart = chart(
            area,
            &Axes {
                x: 0.0..(length.max(2) - 1) as f64,
                y: padded([y_range.start, x_range.end + lift], 0.09),
                x_label: "time (points)",
                y_label: "",
                y_ticks: false,
            },
        )?;
        let links = spread(self.path.len(), MAX_LINKS).map(|k| {
            let (i, j) = self.path[k];
            let ends = vec![(i as f64, self.x[i] + lift), (j as f64, self.y[j])];
            PathElement::new(ends, stroke(MUTED.mix(0.42), 0.6))
        });
        chart.draw_series(links)?;
        let columns = chart.plotting_area().dim_in_pixel().0 as usize / 4;
        let points = |values: &[f64], up: f64| -> Vec<(f64, f64)> {
            reduced(values, 0.0, columns).into_iter().map(|(t, v)| (t, v + up)).collect()
        };
        line(&mut chart, points(self.x, lift), BLUE, 2.0)?;
        line(&mut chart, points(self.y, 0.0), VERMILLION, 2.0)?;

        // In the corners above and below, where neither curves nor links are.
        let (low, high) = (y_range.start, x_range.end + lift);
        let margin = 0.085 * (high - low);
        let named = |name: &str, at: f64, v: VPos, color: RGBColor| {
            Text::new(name.to_owned(), (0.0, at), anchored(bold(12.0, color), HPos::Left, v))
        };
        let plot = chart.plotting_area();
        plot.draw(&named(&self.x_name, high + margin, VPos::Top, BLUE))?;
        plot.draw(&named(&self.y_name, low - margin, VPos::Bottom, VERMILLION))?;
        Ok(())
    }

    /// The path in the grid of (j, i), the diagonal of an unwarped alignment as reference.
    fn draw_path(&self, area: &super::Area<'_>) -> Result<()> {
        let (n, m) = ((self.x.len().max(2) - 1) as f64, (self.y.len().max(2) - 1) as f64);
        let axes = Axes { x: 0.0..m, y: 0.0..n, x_label: &self.y_name, y_label: &self.x_name, y_ticks: true };
        let mut chart = chart(area, &axes)?;
        chart.draw_series([Rectangle::new([(0.0, 0.0), (m, n)], stroke(AXIS, 1.0))])?;
        line(&mut chart, [(0.0, 0.0), (m, n)], GRID, 1.0)?;
        let path = spread(self.path.len(), MAX_PATH_POINTS).map(|k| self.path[k]);
        line(&mut chart, path.map(|(i, j)| (j as f64, i as f64)), INK, 1.6)?;
        let label = anchored(text(11.0, MUTED), HPos::Right, VPos::Bottom);
        chart.plotting_area().draw(&Text::new("warping path", (m, n * 0.03), label))?;
        Ok(())
    }
}
