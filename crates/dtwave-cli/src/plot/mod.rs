//! Figures as `.svg` or `.png`.
//!
//! A [`Figure`] draws itself on a [`Sheet`] in units of a quarter CSS pixel, so that whole-numbered coordinates are
//! fine enough; the sheet becomes an SVG, or a PNG of twice its resolution. The one font travels in the program: no
//! system font is looked for, and figures look the same on every machine.

mod accuracy;
mod alignment;
mod axis;
mod barycenter;
mod canvas;
mod heatmap;
mod outline;
mod profile;
mod search;
mod style;

use std::cell::RefCell;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::{FontStyle, register_font};
use plotters_svg::SVGBackend;
use tiny_skia::Pixmap;

use crate::output::Target;
use crate::report;

pub(crate) use accuracy::AccuracyFigure;
pub(crate) use alignment::AlignmentFigure;
pub(crate) use barycenter::{BarycenterFigure, Group};
use canvas::{Canvas, Pixels};
pub(crate) use heatmap::HeatMapFigure;
pub(crate) use profile::{Pair, ProfileFigure};
pub(crate) use search::{Hit, SearchFigure, Sketch};
pub(crate) use style::short;

/// Drawing units per CSS pixel.
const SCALE: u32 = 4;
/// Pixels of a PNG per CSS pixel: half the drawing units, which are averaged two by two.
const PNG_SCALE: u32 = SCALE / 2;
/// The family that text names; a viewer of the SVG resolves it, the PNG uses the font below.
const FONT_FAMILY: &str = "sans-serif";

/// The rectangle a figure draws on.
pub(crate) type Area<'a> = DrawingArea<Canvas<'a>, Shift>;

pub(crate) trait Figure {
    /// Width and height in CSS pixels.
    fn size(&self) -> (u32, u32);
    fn draw(&self, sheet: &Sheet<'_>) -> Result<()>;
}

/// A page to draw on: plotters' area, and images that are laid over it.
pub(crate) struct Sheet<'a> {
    area: Area<'a>,
    images: RefCell<Vec<Image>>,
}

/// RGB values, row by row, over a rectangle in drawing units.
struct Image {
    at: (i32, i32),
    size: (u32, u32),
    width: u32,
    rgb: Vec<u8>,
}

impl Sheet<'_> {
    /// Lays an RGB image of `width` pixels per row over the rectangle at `x`, `y` (drawing units), unsmoothed.
    fn image(&self, x: i32, y: i32, size: (u32, u32), width: u32, rgb: &[u8]) -> Result<()> {
        ensure!(
            rgb.len().is_multiple_of(3 * width as usize),
            "an image of {} values has broken rows",
            rgb.len()
        );
        self.images.borrow_mut().push(Image { at: (x, y), size, width, rgb: rgb.to_vec() });
        Ok(())
    }
}

impl Image {
    fn height(&self) -> u32 {
        self.rgb.len() as u32 / 3 / self.width
    }

    fn element(&self) -> Result<String> {
        let bytes = encode_png(self.width, self.height(), &self.rgb)?;
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let (x, y) = self.at;
        Ok(format!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             image-rendering=\"optimizeSpeed\" style=\"image-rendering: pixelated\" \
             href=\"data:image/png;base64,{data}\"/>\n",
            self.size.0, self.size.1
        ))
    }

    /// On a picture whose pixels are drawing units.
    fn paint(&self, picture: &mut Pixmap) {
        let (width, height) = (picture.width() as i32, picture.height() as i32);
        let opaque = u8::MAX;
        for dy in 0..self.size.1 {
            let row = u64::from(dy) * u64::from(self.height()) / u64::from(self.size.1);
            for dx in 0..self.size.0 {
                let (x, y) = (self.at.0 + dx as i32, self.at.1 + dy as i32);
                if !(0..width).contains(&x) || !(0..height).contains(&y) {
                    continue;
                }
                let column = u64::from(dx) * u64::from(self.width) / u64::from(self.size.0);
                let from = 3 * (row * u64::from(self.width) + column) as usize;
                let to = 4 * (y * width + x) as usize;
                picture.data_mut()[to..to + 3].copy_from_slice(&self.rgb[from..from + 3]);
                picture.data_mut()[to + 3] = opaque;
            }
        }
    }
}

fn encode_png(width: u32, height: u32, rgb: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(rgb)?;
    writer.finish()?;
    Ok(bytes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        match extension.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => bail!("cannot draw {}: unknown extension; expected .svg or .png", path.display()),
        }
    }
}

/// Takes a plot file before any work is done.
pub(crate) fn take(path: &Path) -> Result<Target> {
    Format::of(path)?;
    crate::engine::take(path)
}

pub(crate) fn save(figure: &dyn Figure, target: Target) -> Result<()> {
    let format = Format::of(target.shown())?;
    let bytes = match format {
        Format::Svg => to_svg(figure)?.into_bytes(),
        Format::Png => to_png(figure)?,
    };
    target.write(|out| out.write_all(&bytes))
}

/// Draws the figure on the canvas; returns the images to be laid over it.
fn draw(figure: &dyn Figure, canvas: Canvas<'_>) -> Result<Vec<Image>> {
    LazyLock::force(&FONTS_REGISTERED);
    let area = canvas.into_drawing_area();
    area.fill(&plotters::style::WHITE)?;
    let sheet = Sheet { area, images: RefCell::default() };
    figure.draw(&sheet)?;
    sheet.area.present()?;
    Ok(sheet.images.into_inner())
}

pub(crate) fn to_svg(figure: &dyn Figure) -> Result<String> {
    let (width, height) = figure.size();
    let mut svg = String::new();
    let size = (width * SCALE, height * SCALE);
    let images = draw(figure, Canvas::Svg(SVGBackend::with_string(&mut svg, size)))?;
    let images = images.iter().map(Image::element).collect::<Result<String>>()?;

    // Shown at a quarter of the drawing units; lines join and end round.
    let drawn = format!("width=\"{}\" height=\"{}\" viewBox", width * SCALE, height * SCALE);
    let shown = format!(
        "width=\"{width}\" height=\"{height}\" stroke-linejoin=\"round\" stroke-linecap=\"round\" viewBox"
    );
    let end = svg.rfind("</svg>").filter(|_| svg.contains(&drawn));
    let end = end.context("the plotting library wrote an unexpected SVG document")?;
    svg.insert_str(end, &images);
    // Names and labels may hold characters that no XML document may.
    Ok(report::printable(&svg.replacen(&drawn, &shown, 1)))
}

/// Largest picture that is drawn in memory.
const MOST_PICTURE_BYTES: u64 = 1 << 30;

fn to_png(figure: &dyn Figure) -> Result<Vec<u8>> {
    let (width, height) = figure.size();
    let bytes = 4 * u64::from(width) * u64::from(height) * u64::from(SCALE * SCALE);
    ensure!(
        bytes <= MOST_PICTURE_BYTES,
        "a PNG of {width} × {height} takes {} MiB to draw; write an .svg instead",
        bytes >> 20
    );
    let mut picture = Pixmap::new(width * SCALE, height * SCALE)
        .with_context(|| format!("cannot hold a picture of {width} × {height} pixels"))?;
    for image in draw(figure, Canvas::Pixels(Pixels(&mut picture)))? {
        image.paint(&mut picture);
    }
    let row_bytes = 4 * (width * SCALE) as usize;
    let mut rgb = Vec::with_capacity(3 * (width * height * PNG_SCALE * PNG_SCALE) as usize);
    for rows in picture.data().chunks_exact(2 * row_bytes) {
        let (upper, lower) = rows.split_at(row_bytes);
        for (upper, lower) in upper.chunks_exact(8).zip(lower.chunks_exact(8)) {
            for k in 0..3 {
                let sum = [upper[k], upper[k + 4], lower[k], lower[k + 4]].map(u16::from).iter().sum::<u16>();
                rgb.push(((sum + 2) / 4) as u8);
            }
        }
    }
    encode_png(width * PNG_SCALE, height * PNG_SCALE, &rgb)
}

/// The fonts that text is measured and, in pictures, drawn with.
static FONTS_REGISTERED: LazyLock<()> = LazyLock::new(|| {
    let fonts = [
        (FontStyle::Normal, dejavu::sans_condensed::regular()),
        (FontStyle::Bold, dejavu::sans_condensed::bold()),
    ];
    for (style, bytes) in fonts {
        assert!(register_font(FONT_FAMILY, style, bytes).is_ok(), "the embedded font is valid");
    }
});

#[cfg(test)]
mod tests;
