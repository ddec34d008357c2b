//! Figures as `.svg` or `.png`.
//!
//! A [`Figure`] draws itself on a [`Sheet`] in units of a quarter CSS pixel, so that whole-numbered coordinates are
//! fine enough; the sheet becomes an SVG, and a PNG is that SVG rasterised at twice the resolution. The one font
//! travels in the program: no system font is looked for, and figures look the same on every machine.

mod alignment;
mod axis;
mod barycenter;
mod heatmap;
mod search;
mod style;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use anyhow::{Context, Result, anyhow, bail};
use base64::Engine;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::style::{FontStyle, register_font};
use plotters_svg::SVGBackend;
use resvg::{tiny_skia, usvg};

use crate::output::Target;
use crate::report;

pub(crate) use alignment::AlignmentFigure;
pub(crate) use barycenter::{BarycenterFigure, Group};
pub(crate) use heatmap::HeatMapFigure;
pub(crate) use search::{Hit, SearchFigure};
pub(crate) use style::short;

/// Drawing units per CSS pixel.
const SCALE: u32 = 4;
/// Pixels of a PNG per CSS pixel.
const PNG_SCALE: f32 = 2.0;
/// The family that text names; a viewer of the SVG resolves it, the PNG uses the font below.
const FONT_FAMILY: &str = "sans-serif";
const EMBEDDED_FAMILY: &str = "DejaVu Sans";

/// The rectangle a figure draws on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Something that can be drawn.
pub(crate) trait Figure {
    /// Width and height in CSS pixels.
    fn size(&self) -> (u32, u32);
    /// Draws the figure on the whole sheet.
    fn draw(&self, sheet: &Sheet<'_>) -> Result<()>;
}

/// A page to draw on: plotters' area, and images that are laid over it.
pub(crate) struct Sheet<'a> {
    area: Area<'a>,
    images: RefCell<String>,
}

impl Sheet<'_> {
    /// Lays an RGB image of `width` pixels per row over the rectangle at `x`, `y` (drawing units), unsmoothed.
    fn image(&self, x: i32, y: i32, size: (u32, u32), width: u32, rgb: &[u8]) -> Result<()> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, rgb.len() as u32 / 3 / width);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(rgb)?;
        writer.finish()?;
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        writeln!(
            self.images.borrow_mut(),
            "<image x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
             image-rendering=\"optimizeSpeed\" style=\"image-rendering: pixelated\" \
             href=\"data:image/png;base64,{data}\"/>",
            size.0,
            size.1
        )?;
        Ok(())
    }
}

/// What a file name asks for.
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

/// Draws `figure` into a file, `.svg` or `.png`.
pub(crate) fn save(figure: &dyn Figure, target: Target) -> Result<()> {
    let format = Format::of(target.shown())?;
    let svg = to_svg(figure)?;
    let bytes = match format {
        Format::Svg => svg.into_bytes(),
        Format::Png => to_png(&svg)?,
    };
    target.write(|out| out.write_all(&bytes))
}

/// The figure as an SVG document.
pub(crate) fn to_svg(figure: &dyn Figure) -> Result<String> {
    LazyLock::force(&FONTS_REGISTERED);
    let (width, height) = figure.size();
    let mut svg = String::new();
    let images = {
        let area = SVGBackend::with_string(&mut svg, (width * SCALE, height * SCALE)).into_drawing_area();
        area.fill(&plotters::style::WHITE)?;
        let sheet = Sheet { area, images: RefCell::default() };
        figure.draw(&sheet)?;
        sheet.area.present()?;
        sheet.images.into_inner()
    };

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

/// Rasterises an SVG document.
fn to_png(svg: &str) -> Result<Vec<u8>> {
    let options = usvg::Options { fontdb: Arc::clone(&FONTS), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options)?;
    let size = tree.size();
    let (width, height) = (size.width() * PNG_SCALE, size.height() * PNG_SCALE);
    let mut pixels = tiny_skia::Pixmap::new(width.round() as u32, height.round() as u32)
        .with_context(|| format!("cannot hold a picture of {width} × {height} pixels"))?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| anyhow!("cannot encode the picture: {e}"))
}

/// The fonts that pictures are rasterised with.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans_condensed::regular().to_vec());
    fonts.load_font_data(dejavu::sans_condensed::bold().to_vec());
    fonts.set_sans_serif_family(EMBEDDED_FAMILY);
    Arc::new(fonts)
});

/// The fonts that text is measured with.
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
