//! A distance matrix as a heat map in viridis, a perceptually uniform map, with a colour bar.
//!
//! A few extreme values would leave all others one colour. Where they would, the colours end at the 2nd or 98th
//! percentile, and the bar says so. Infinite distances are grey.

use anyhow::Result;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Axis;
use super::style::{AXIS, INK, MUTED, anchored, px, short, spread, stroke, text, titled};
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
const BAR_PX: f64 = 156.0;
const TOP_PX: f64 = 64.0;
const BOTTOM_PX: f64 = 66.0;

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

/// What the colours stand for.
#[derive(Debug, PartialEq)]
struct Colors {
    /// Distances at the ends of the colour map; none where no distance is finite.
    ends: Option<[f64; 2]>,
    /// The least and greatest finite distance.
    extremes: [f64; 2],
    has_infinite: bool,
}

impl Colors {
    /// The percentiles at which colours may end.
    const PERCENTILES: [f64; 2] = [2.0, 98.0];

    fn of(values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let has_infinite = sorted.len() < values.len();
        let (Some(least), Some(greatest)) = (sorted.first(), sorted.last()) else {
            return Colors { ends: None, extremes: [0.0; 2], has_infinite };
        };
        let extremes = [*least, *greatest];
        let percentiles = Self::PERCENTILES.map(|p| {
            let at = p / 100.0 * (sorted.len() - 1) as f64;
            // The lower one rounds down and the upper one up: few values have no percentiles but their extremes.
            sorted[if p < 50.0 { at.floor() } else { at.ceil() } as usize]
        });
        let axis = Axis::of(extremes, 0.0, "");
        let span = |low: f64, high: f64| axis.shown(high) - axis.shown(low);
        let robust = span(percentiles[0], percentiles[1]);
        let mut ends = extremes;
        if robust > 0.0 && span(least.to_owned(), percentiles[0]) > 0.5 * robust {
            ends[0] = percentiles[0];
        }
        if robust > 0.0 && span(percentiles[1], greatest.to_owned()) > 0.5 * robust {
            ends[1] = percentiles[1];
        }
        Colors { ends: Some(ends), extremes, has_infinite }
    }

    /// The colours of many distances, three bytes each.
    fn rgb(&self, values: &[f64]) -> Vec<u8> {
        let Some(ends) = self.ends else { return GREY.repeat(values.len()) };
        let axis = Axis::of(ends, 0.0, "");
        let [low, high] = ends.map(|end| axis.shown(end));
        let share = |v: f64| if high > low { (axis.shown(v) - low) / (high - low) } else { 0.5 };
        values.iter().flat_map(|v| if v.is_finite() { color(share(*v)) } else { GREY }).collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(ends) = self.ends
            && ends != self.extremes
        {
            notes.push(match (ends[0] != self.extremes[0], ends[1] != self.extremes[1]) {
                (true, true) => "2nd to 98th percentile".to_owned(),
                (true, false) => "from the 2nd percentile".to_owned(),
                _ => "to the 98th percentile".to_owned(),
            });
            notes.push(format!("all: {} to {}", short(self.extremes[0]), short(self.extremes[1])));
        }
        if self.has_infinite {
            notes.push("grey: infinite".to_owned());
        }
        notes
    }
}

/// The colour of a distance that is no number of the scale.
const GREY: [u8; 3] = [0xb4, 0xbc, 0xc6];

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
        let colors = Colors::of(self.values);
        sheet.image(left, top, size, self.columns as u32, &colors.rgb(self.values))?;
        let frame = [(left, top), (left + size.0 as i32, top + size.1 as i32)];
        sheet.area.draw(&Rectangle::new(frame, stroke(AXIS, 1.0)))?;

        self.draw_indices(sheet, left, top, size)?;
        let bar = (left + size.0 as i32 + px(24.0), top, px(14.0), size.1);
        draw_bar(sheet, bar, &colors, &self.value_label)
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
    colors: &Colors,
    label: &str,
) -> Result<()> {
    const STEPS: usize = 256;
    if let Some([low, high]) = colors.ends {
        let rgb: Vec<u8> = (0..STEPS).rev().flat_map(|k| color(k as f64 / (STEPS - 1) as f64)).collect();
        sheet.image(x, y, (width as u32, height), 1, &rgb)?;
        let every = [
            (0.0, VPos::Bottom),
            (0.25, VPos::Center),
            (0.5, VPos::Center),
            (0.75, VPos::Center),
            (1.0, VPos::Top),
        ];
        let equal = [(0.5, VPos::Center)];
        for (share, v) in if high > low { &every[..] } else { &equal } {
            let at = y + (f64::from(height) * (1.0 - share)) as i32;
            let value = short(low * (1.0 - share) + high * share);
            let sign = match *share {
                0.0 if low > colors.extremes[0] => "≤ ",
                1.0 if high < colors.extremes[1] => "≥ ",
                _ => "",
            };
            let style = anchored(text(11.0, MUTED), HPos::Left, *v);
            sheet.area.draw(&Text::new(format!("{sign}{value}"), (x + width + px(6.0), at), style))?;
        }
    }
    let mut at = (x - px(2.0), y + height as i32 + px(8.0));
    for (line, color) in
        [(label.to_owned(), INK)].into_iter().chain(colors.notes().into_iter().map(|n| (n, MUTED)))
    {
        sheet.area.draw(&Text::new(line, at, anchored(text(11.0, color), HPos::Left, VPos::Top)))?;
        at.1 += px(14.0);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_end_at_percentiles_where_a_few_values_would_take_them_all() {
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        assert_eq!(Colors::of(&even).ends, Some([0.0, 999.0]));
        assert_eq!(Colors::of(&even).notes(), Vec::<String>::new());
        let mut spiked = even.clone();
        spiked[7] = 1e300;
        let colors = Colors::of(&spiked);
        assert_eq!(colors.ends, Some([0.0, 981.0]));
        assert_eq!(colors.notes(), ["to the 98th percentile", "all: 0 to 1.000e300"]);
        spiked[8] = -f64::MAX;
        assert_eq!(Colors::of(&spiked).notes()[0], "2nd to 98th percentile");
        // The spread of the others is seen.
        let rgb = colors.rgb(&[0.0, 500.0, 981.0, 1e300, f64::INFINITY]);
        let shade = |k: usize| &rgb[3 * k..3 * k + 3];
        assert!(shade(0) != shade(1) && shade(1) != shade(2) && shade(2) == shade(3));
        assert_eq!(shade(4), GREY);
    }

    #[test]
    fn few_equal_and_infinite_values_have_colours() {
        assert_eq!(Colors::of(&[0.0, 1e308, -1e308, 0.0]).ends, Some([-1e308, 1e308]));
        assert_eq!(Colors::of(&[3.0; 50]).ends, Some([3.0, 3.0]));
        assert_eq!(Colors::of(&[3.0; 50]).rgb(&[3.0]), color(0.5));
        // All but one are equal: percentiles would leave no scale.
        let mut nearly = [3.0; 500];
        nearly[0] = 4.0;
        assert_eq!(Colors::of(&nearly).ends, Some([3.0, 4.0]));
        let infinite = Colors::of(&[f64::INFINITY; 4]);
        assert_eq!((infinite.ends, infinite.notes()), (None, vec!["grey: infinite".to_owned()]));
        assert_eq!(infinite.rgb(&[f64::INFINITY; 2]), GREY.repeat(2));
        let mixed = Colors::of(&[1.0, f64::INFINITY, 2.0]);
        assert_eq!((mixed.ends, mixed.has_infinite), (Some([1.0, 2.0]), true));
    }
}
