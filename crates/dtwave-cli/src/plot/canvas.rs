//! What figures are drawn on: an SVG document or pixels, one type for both.
//!
//! Pixels are drawn at the resolution of the drawing units and averaged two by two, so that text is smooth too; lines
//! join and end round, as the SVG document asks of its viewer. The background is opaque.

use plotters::prelude::DrawingBackend;
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind};
use plotters_svg::SVGBackend;
use tiny_skia::{
    FillRule, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke, Transform,
};

type Drawn = Result<(), DrawingErrorKind<std::io::Error>>;

/// The backend that plotters draws with.
pub(crate) enum Canvas<'a> {
    Svg(SVGBackend<'a>),
    Pixels(Pixels<'a>),
}

/// A picture whose pixels are drawing units.
pub(crate) struct Pixels<'a>(pub(super) &'a mut Pixmap);

impl Pixels<'_> {
    /// Paints the path that `build` makes: its inside, or a line along it.
    fn paint(&mut self, color: BackendColor, line: Option<u32>, build: impl FnOnce(&mut PathBuilder)) {
        let mut path = PathBuilder::new();
        build(&mut path);
        // Nothing to see in a path of less than two points.
        let Some(path) = path.finish() else { return };
        let mut paint = Paint::default();
        let (r, g, b) = color.rgb;
        paint.set_color_rgba8(r, g, b, (color.alpha * 255.0).round() as u8);
        let as_is = Transform::identity();
        match line {
            None => self.0.fill_path(&path, &paint, FillRule::Winding, as_is, None),
            Some(width) => {
                let stroke = Stroke {
                    width: width as f32,
                    line_cap: LineCap::Round,
                    line_join: LineJoin::Round,
                    ..Stroke::default()
                };
                self.0.stroke_path(&path, &paint, &stroke, as_is, None);
            }
        }
    }

    fn polyline(path: &mut PathBuilder, points: impl IntoIterator<Item = BackendCoord>) {
        for (k, (x, y)) in points.into_iter().enumerate() {
            let (x, y) = (x as f32, y as f32);
            if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
        }
    }

    fn blend(&mut self, (x, y): BackendCoord, color: BackendColor) {
        let (width, height) = (self.0.width() as i32, self.0.height() as i32);
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let pixel = &mut self.0.pixels_mut()[(y * width + x) as usize];
        let mix = |below: u8, above: u8| {
            (f64::from(below) * (1.0 - color.alpha) + f64::from(above) * color.alpha).round() as u8
        };
        let (r, g, b) = color.rgb;
        let (r, g, b) = (mix(pixel.red(), r), mix(pixel.green(), g), mix(pixel.blue(), b));
        *pixel =
            PremultipliedColorU8::from_rgba(r, g, b, u8::MAX).expect("no colour exceeds an opaque alpha");
    }
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        match self {
            Self::Svg(svg) => svg.get_size(),
            Self::Pixels(pixels) => (pixels.0.width(), pixels.0.height()),
        }
    }

    fn ensure_prepared(&mut self) -> Drawn {
        match self {
            Self::Svg(svg) => svg.ensure_prepared(),
            Self::Pixels(_) => Ok(()),
        }
    }

    fn present(&mut self) -> Drawn {
        match self {
            Self::Svg(svg) => svg.present(),
            Self::Pixels(_) => Ok(()),
        }
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_pixel(point, color),
            Self::Pixels(pixels) => {
                pixels.blend(point, color);
                Ok(())
            }
        }
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_line(from, to, style),
            Self::Pixels(_) => self.draw_path([from, to], style),
        }
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_rect(upper_left, bottom_right, style, fill),
            Self::Pixels(pixels) => {
                let ((left, top), (right, bottom)) = (upper_left, bottom_right);
                let line = (!fill).then(|| style.stroke_width());
                if let Some(rect) = Rect::from_ltrb(left as f32, top as f32, right as f32, bottom as f32) {
                    pixels.paint(style.color(), line, |path| path.push_rect(rect));
                }
                Ok(())
            }
        }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        points: I,
        style: &S,
    ) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_path(points, style),
            Self::Pixels(pixels) => {
                let line = Some(style.stroke_width());
                pixels.paint(style.color(), line, |path| Pixels::polyline(path, points));
                Ok(())
            }
        }
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_circle(center, radius, style, fill),
            Self::Pixels(pixels) => {
                let line = (!fill).then(|| style.stroke_width());
                let (x, y) = (center.0 as f32, center.1 as f32);
                pixels.paint(style.color(), line, |path| path.push_circle(x, y, radius as f32));
                Ok(())
            }
        }
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        points: I,
        style: &S,
    ) -> Drawn {
        match self {
            Self::Svg(svg) => svg.fill_polygon(points, style),
            Self::Pixels(pixels) => {
                pixels.paint(style.color(), None, |path| {
                    Pixels::polyline(path, points);
                    path.close();
                });
                Ok(())
            }
        }
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        match self {
            Self::Svg(svg) => svg.draw_text(text, style, at),
            Self::Pixels(pixels) => Glyphs(pixels).draw_text(text, style, at),
        }
    }
}

/// Pixels alone, so that text is drawn as plotters draws it where a backend has no text of its own.
struct Glyphs<'p, 'a>(&'p mut Pixels<'a>);

impl DrawingBackend for Glyphs<'_, '_> {
    type ErrorType = std::io::Error;

    fn get_size(&self) -> (u32, u32) {
        (self.0.0.width(), self.0.0.height())
    }
    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }
    fn present(&mut self) -> Drawn {
        Ok(())
    }
    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.0.blend(point, color);
        Ok(())
    }
}
