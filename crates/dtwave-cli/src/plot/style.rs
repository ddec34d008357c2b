//! How figures look: palette, text, axes.
//!
//! Colours are Okabe and Ito's, which remain distinct under the common colour-vision deficiencies
//! (<https://jfly.uni-koeln.de/color/>). Lengths given in `px` are CSS pixels.

use std::ops::Range;

use anyhow::Result;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection, Text};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBAColor, RGBColor, ShapeStyle, TextStyle};

use super::axis::Axis;
use super::canvas::Canvas;
use super::{Area, FONT_FAMILY, SCALE};

pub(super) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xb2);
pub(super) const VERMILLION: RGBColor = RGBColor(0xd5, 0x5e, 0x00);
/// Okabe–Ito in an order whose first entries contrast most; yellow is left out, it is too light for lines.
pub(super) const PALETTE: [RGBColor; 6] = [
    VERMILLION,
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    BLUE,
];
pub(super) const INK: RGBColor = RGBColor(0x1f, 0x29, 0x33);
pub(super) const MUTED: RGBColor = RGBColor(0x5f, 0x6b, 0x7a);
pub(super) const GRID: RGBColor = RGBColor(0xe4, 0xe7, 0xeb);
pub(super) const AXIS: RGBColor = RGBColor(0xb4, 0xbc, 0xc6);

type Inner<'a, 'b> = ChartContext<'a, Canvas<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Drawing units for a length in CSS pixels.
pub(super) fn px(length: f64) -> i32 {
    (length * f64::from(SCALE)).round() as i32
}

/// A line of `width` CSS pixels.
pub(super) fn stroke(color: impl Color, width: f64) -> ShapeStyle {
    color.stroke_width(px(width).max(1) as u32)
}

/// Text of `size` CSS pixels.
pub(super) fn text(size: f64, color: RGBColor) -> TextStyle<'static> {
    text_in(size, color, FontStyle::Normal)
}

/// Bold text of `size` CSS pixels.
pub(super) fn bold(size: f64, color: RGBColor) -> TextStyle<'static> {
    text_in(size, color, FontStyle::Bold)
}

fn text_in(size: f64, color: RGBColor, style: FontStyle) -> TextStyle<'static> {
    // The SVG backend divides sizes by 1.24 before it writes them.
    let units = size * f64::from(SCALE) * 1.24;
    FontDesc::new(FontFamily::from(FONT_FAMILY), units, style).color(&color)
}

pub(super) fn anchored(style: TextStyle<'static>, h: HPos, v: VPos) -> TextStyle<'static> {
    style.pos(Pos::new(h, v))
}

/// Writes the title and the line under it; returns the area left below.
pub(super) fn titled<'a>(area: &Area<'a>, title: &str, subtitle: &str) -> Result<Area<'a>> {
    const TITLE_PX: f64 = 56.0;
    let (top, rest) = area.split_vertically(px(TITLE_PX));
    let left = |style| anchored(style, HPos::Left, VPos::Top);
    top.draw(&Text::new(title.to_owned(), (px(20.0), px(14.0)), left(bold(16.0, INK))))?;
    top.draw(&Text::new(subtitle.to_owned(), (px(20.0), px(37.0)), left(text(12.0, MUTED))))?;
    Ok(rest)
}

/// A chart: its points are in the shown units of its axes.
pub(super) struct Chart<'a, 'b>(Inner<'a, 'b>);

impl<'a, 'b> Chart<'a, 'b> {
    /// Draws grid, axes and labels on `area`, which keeps a margin of its own.
    pub(super) fn on(area: &'a Area<'b>, x: &Axis, y: &Axis) -> Result<Self> {
        let (width, height) = area.dim_in_pixel();
        let (x_label, y_label) = (x.label(), y.label());
        let y_area = match (y.has_ticks(), y_label.is_empty()) {
            (true, true) => 44.0,
            (true, false) => 60.0,
            (false, true) => 8.0,
            (false, false) => 26.0,
        };
        let mut chart = ChartBuilder::on(area)
            .margin_left(px(12.0))
            .margin_right(px(20.0))
            .margin_top(px(6.0))
            .margin_bottom(px(8.0))
            .x_label_area_size(px(if x_label.is_empty() { 24.0 } else { 37.0 }))
            .y_label_area_size(px(y_area))
            .build_cartesian_2d(x.range(), y.range())?;
        let ticks =
            |extent: u32, every: f64| (f64::from(extent) / f64::from(px(every))).floor().max(2.0) as usize;
        let (x_format, y_format) = (tick_format(&x.range()), tick_format(&y.range()));
        let mut mesh = chart.configure_mesh();
        mesh.axis_style(stroke(AXIS, 1.0))
            .bold_line_style(stroke(GRID, 0.75))
            .light_line_style(RGBAColor(0, 0, 0, 0.0))
            .label_style(text(11.0, MUTED))
            .axis_desc_style(text(12.0, INK))
            .x_labels(ticks(width, 80.0))
            .y_labels(if y.has_ticks() { ticks(height, 45.0) } else { 0 })
            .x_label_formatter(&x_format)
            .y_label_formatter(&y_format)
            .set_all_tick_mark_size(px(3.0));
        if !x_label.is_empty() {
            mesh.x_desc(x_label);
        }
        if !y_label.is_empty() {
            mesh.y_desc(y_label);
        }
        if !y.has_ticks() {
            mesh.disable_y_mesh();
        }
        mesh.draw()?;
        drop(mesh);
        Ok(Chart(chart))
    }

    /// Columns of drawing units across the plot.
    pub(super) fn columns(&self) -> usize {
        self.0.plotting_area().dim_in_pixel().0 as usize
    }

    /// Rows of drawing units across the plot.
    pub(super) fn rows(&self) -> usize {
        self.0.plotting_area().dim_in_pixel().1 as usize
    }

    /// Draws one line; it has a gap where a point has no place.
    pub(super) fn line(
        &mut self,
        points: impl IntoIterator<Item = (f64, f64)>,
        color: impl Color,
        width: f64,
    ) -> Result<()> {
        let points: Vec<(f64, f64)> = points.into_iter().collect();
        let style = stroke(color, width);
        for stretch in points.split(|(x, y)| !x.is_finite() || !y.is_finite()).filter(|s| !s.is_empty()) {
            self.0.draw_series(LineSeries::new(stretch.iter().copied(), style))?;
        }
        Ok(())
    }

    pub(super) fn shapes<E>(&mut self, shapes: impl IntoIterator<Item = E>) -> Result<()>
    where
        for<'e> &'e E: PointCollection<'e, (f64, f64)>,
        E: Drawable<Canvas<'b>>,
    {
        self.0.draw_series::<_, E, E, _>(shapes)?;
        Ok(())
    }

    pub(super) fn text(&self, text: String, at: (f64, f64), style: TextStyle<'static>) -> Result<()> {
        self.0.plotting_area().draw(&Text::new(text, at, style))?;
        Ok(())
    }
}

/// Tick labels with the decimals that the range of shown numbers calls for.
fn tick_format(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let span = (range.end - range.start).abs().max(f64::MIN_POSITIVE);
    let decimals = (2.0 - span.log10().ceil()).clamp(0.0, 12.0) as usize;
    move |value| trimmed(&format!("{value:.decimals$}"))
}

/// A number in at most four significant digits.
pub(crate) fn short(value: f64) -> String {
    if value.is_finite() && value != 0.0 && (value.abs() >= 1e6 || value.abs() < 1e-3) {
        return format!("{value:.3e}");
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = (3 - magnitude).max(0) as usize;
    trimmed(&format!("{value:.decimals$}"))
}

/// Without zeros at the end, and without the sign of a zero.
fn trimmed(number: &str) -> String {
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    if number == "-0" { "0".to_owned() } else { number.to_owned() }
}

/// At most `limit` indices of `0..n`, spread evenly, both ends included.
pub(super) fn spread(n: usize, limit: usize) -> impl Iterator<Item = usize> {
    let count = n.min(limit);
    (0..count).map(move |k| if count < 2 { 0 } else { k * (n - 1) / (count - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (1.5, "1.5"), (1234.56, "1235"), (0.0123456, "0.01235"), (12.3456, "12.35")];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
        assert_eq!(short(-0.0), "0");
        assert_eq!(short(f64::INFINITY), "inf");
        assert_eq!(short(5e-324), "4.941e-324");
        assert_eq!(short(1e-7), "1.000e-7");
        assert_eq!(short(-2.5e7), "-2.500e7");
    }

    #[test]
    fn ticks_have_the_decimals_of_their_range() {
        assert_eq!(tick_format(&(0.0..1.0))(&0.25), "0.25");
        assert_eq!(tick_format(&(0.0..10.0))(&2.5), "2.5");
        assert_eq!(tick_format(&(0.0..300.0))(&-0.0), "0");
        assert_eq!(tick_format(&(0.0..43_081.0))(&20_000.0), "20000");
    }

    #[test]
    fn spreading_includes_both_ends() {
        assert_eq!(spread(5, 10).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(spread(100, 3).collect::<Vec<_>>(), [0, 49, 99]);
        assert_eq!(spread(7, 1).collect::<Vec<_>>(), [0]);
        assert_eq!(spread(0, 3).count(), 0);
    }
}
