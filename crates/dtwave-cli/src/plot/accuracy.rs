//! How many training series are classified right by the others in each band.

use anyhow::Result;
use plotters::element::Circle;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::style::{BLUE, Chart, VERMILLION, anchored, bold, px, short, titled};
use super::{Figure, Sheet};

/// The share that is right by the width of the band.
pub(crate) struct AccuracyFigure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Radius in percent of the longer series, and the share; radii increase.
    pub(crate) shares: Vec<(f64, f64)>,
    /// Place of the one that was chosen.
    pub(crate) best: usize,
}

impl Figure for AccuracyFigure {
    fn size(&self) -> (u32, u32) {
        (820, 420)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let rest = titled(&sheet.area, &self.title, &self.subtitle)?;
        let y = Axis::of(self.shares.iter().map(|(_, share)| *share), 0.12, "leave-one-out accuracy");
        let x = Axis::of_points(101, 1.0, "radius of the band (% of the longer series)");
        let mut chart = Chart::on(&rest, &x, &y)?;
        let at = |(width, share): (f64, f64)| (x.shown(width), y.shown(share));
        chart.line(self.shares.iter().map(|point| at(*point)), BLUE, 2.0)?;
        chart.shapes(self.shares.iter().map(|point| Circle::new(at(*point), px(2.2), BLUE.filled())))?;
        let best = self.shares[self.best];
        chart.shapes([Circle::new(at(best), px(5.0), VERMILLION.filled())])?;
        let text = format!("band {}%: {}", best.0, short(best.1));
        let (side, step) = if best.0 < 50.0 { (HPos::Left, 1.5) } else { (HPos::Right, -1.5) };
        let place = (x.shown(best.0 + step), at(best).1 + (y.end() - y.start()) * 0.02);
        chart.text(text, place, anchored(bold(12.0, VERMILLION), side, VPos::Bottom))
    }
}
