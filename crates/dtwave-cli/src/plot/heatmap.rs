//! A distance matrix as a heat map in viridis, a perceptually uniform map, with a colour bar.

use anyhow::Result;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, VPos};

use super::style::{AXIS, INK, MUTED, anchored, padded, px, short, spread, stroke, text, titled};
use super::{Figure, Sheet};

/// Distances `[rows][columns]`, row-major, averaged over blocks if there are more than a picture shows.
pub(crate) struct HeatMapFigure<'a> {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// At most [`HeatMapFigure::MAX_PIXELS`] rows of `columns` values.
    pub(crate) values: &'a [f64],
    /// At most [`HeatMapFigure::MAX_PIXELS`].
    pub(crate) columns: usize,
    /// Rows and columns of the whole matrix.
    pub(crate) shape: [usize; 2],
    pub(crate) row_label: String,
    pub(crate) column_label: String,
    pub(crate) value_label: String,
    /// Where a group of rows (and columns, in a square matrix) starts, and its name.
    pub(crate) groups: Vec<(usize, String)>,
}

const LONG_PX: f64 = 470.0;
const SHORT_PX: f64 = 120.0;
const LEFT_PX: f64 = 80.0;
const BAR_PX: f64 = 120.0;
const TOP_PX: f64 = 64.0;
const BOTTOM_PX: f64 = 56.0;

impl HeatMapFigure<'_> {
    /// Most values per side of the picture.
    pub(crate) const MAX_PIXELS: usize = 1200;

    /// The map's extent in CSS pixels: square cells, within limits.
    fn extent(&self) -> (f64, f64) {
        let [rows, columns] = self.shape.map(|extent| extent as f64);
        let cell = LONG_PX / rows.max(columns);
        ((columns * cell).max(SHORT_PX), (rows * cell).max(SHORT_PX))
    }
}

fn color(share: f64) -> [u8; 3] {
    let color = colorous::VIRIDIS.eval_continuous(share.clamp(0.0, 1.0));
    [color.r, color.g, color.b]
}

impl Figure for HeatMapFigure<'_> {
    fn size(&self) -> (u32, u32) {
        let (width, height) = self.extent();
        ((LEFT_PX + width + BAR_PX).max(420.0) as u32, (TOP_PX + height + BOTTOM_PX) as u32)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        titled(&sheet.area, &self.title, &self.subtitle)?;
        let (width, height) = self.extent();
        let (left, top) = (px(LEFT_PX), px(TOP_PX));
        let size = (px(width) as u32, px(height) as u32);
        let range = padded(self.values.iter().copied(), 0.0);
        let (low, high) = (range.start, range.end);

        let rgb: Vec<u8> = self.values.iter().flat_map(|v| color((v - low) / (high - low))).collect();
        sheet.image(left, top, size, self.columns as u32, &rgb)?;
        let frame = [(left, top), (left + size.0 as i32, top + size.1 as i32)];
        sheet.area.draw(&Rectangle::new(frame, stroke(AXIS, 1.0)))?;

        self.draw_indices(sheet, left, top, size)?;
        let bar = (left + size.0 as i32 + px(24.0), top, px(14.0), size.1);
        draw_bar(sheet, bar, low, high, &self.value_label)
    }
}

impl HeatMapFigure<'_> {
    /// Indices or group names along both sides.
    fn draw_indices(&self, sheet: &Sheet<'_>, left: i32, top: i32, size: (u32, u32)) -> Result<()> {
        let area = &sheet.area;
        let (right, bottom) = (left + size.0 as i32, top + size.1 as i32);
        let along = |index: f64, count: usize, extent: u32| (index / count as f64 * f64::from(extent)) as i32;
        let below = |style| anchored(style, HPos::Center, VPos::Top);
        let beside = |style| anchored(style, HPos::Right, VPos::Center);
        let [rows, columns] = self.shape;
        let square = rows == columns;
        if self.groups.is_empty() {
            for index in ticks(columns) {
                let x = left + along(index as f64 + 0.5, columns, size.0);
                area.draw(&Text::new(index.to_string(), (x, bottom + px(6.0)), below(text(11.0, MUTED))))?;
            }
            for index in ticks(rows) {
                let y = top + along(index as f64 + 0.5, rows, size.1);
                area.draw(&Text::new(index.to_string(), (left - px(6.0), y), beside(text(11.0, MUTED))))?;
            }
        }
        for (k, (start, name)) in self.groups.iter().enumerate() {
            let end = self.groups.get(k + 1).map_or(rows, |next| next.0);
            let middle = (*start + end) as f64 / 2.0;
            let y = top + along(middle, rows, size.1);
            area.draw(&Text::new(name.clone(), (left - px(8.0), y), beside(text(11.0, INK))))?;
            let edge = top + along(*start as f64, rows, size.1);
            let tick = |from, to| PathElement::new(vec![from, to], stroke(INK, 1.0));
            area.draw(&tick((left - px(6.0), edge), (left, edge)))?;
            if square {
                let x = left + along(middle, columns, size.0);
                area.draw(&Text::new(name.clone(), (x, bottom + px(8.0)), below(text(11.0, INK))))?;
                let edge = left + along(*start as f64, columns, size.0);
                area.draw(&tick((edge, bottom), (edge, bottom + px(6.0))))?;
            }
        }
        let middle = ((left + right) / 2, bottom + px(26.0));
        area.draw(&Text::new(self.column_label.clone(), middle, below(text(12.0, INK))))?;
        let style = text(12.0, INK).transform(plotters::style::FontTransform::Rotate270);
        let at = (px(16.0), (top + bottom) / 2);
        area.draw(&Text::new(self.row_label.clone(), at, anchored(style, HPos::Center, VPos::Top)))?;
        Ok(())
    }
}

/// Round indices, at most about eight.
fn ticks(count: usize) -> Vec<usize> {
    let step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
        .into_iter()
        .find(|step| count.div_ceil(*step) <= 8);
    match step {
        Some(step) => (0..count).step_by(step).collect(),
        None => spread(count, 5).collect(),
    }
}

fn draw_bar(
    sheet: &Sheet<'_>,
    (x, y, width, height): (i32, i32, i32, u32),
    low: f64,
    high: f64,
    label: &str,
) -> Result<()> {
    const STEPS: usize = 256;
    let rgb: Vec<u8> = (0..STEPS).rev().flat_map(|k| color(k as f64 / (STEPS - 1) as f64)).collect();
    sheet.image(x, y, (width as u32, height), 1, &rgb)?;
    let style = |v| anchored(text(11.0, MUTED), HPos::Left, v);
    for (share, v) in [
        (0.0, VPos::Bottom),
        (0.25, VPos::Center),
        (0.5, VPos::Center),
        (0.75, VPos::Center),
        (1.0, VPos::Top),
    ] {
        let at = y + (f64::from(height) * (1.0 - share)) as i32;
        let value = short(low + share * (high - low));
        sheet.area.draw(&Text::new(value, (x + width + px(6.0), at), style(v)))?;
    }
    let at = (x - px(2.0), y + height as i32 + px(10.0));
    sheet.area.draw(&Text::new(label.to_owned(), at, anchored(text(11.0, INK), HPos::Left, VPos::Top)))?;
    Ok(())
}
