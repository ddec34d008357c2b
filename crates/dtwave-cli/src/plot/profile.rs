//! A profile: the series with its motifs, the distances of its windows below it, and the best motif.

use anyhow::Result;
use dtwave::normalize::z_normalize;
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::axis::Axis;
use super::outline::reduced;
use super::style::{BLUE, Chart, INK, MUTED, PALETTE, anchored, bold, short, text, titled};
use super::{Area, Figure, Sheet};

/// Two windows by their first points, and their distance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    first: usize,
    second: usize,
    distance: f64,
}

impl Pair {
    pub(crate) fn new(first: usize, second: usize, distance: f64) -> Self {
        Self { first, second, distance }
    }
}

/// One channel of a series, its profile, and what stands out, the best first.
pub(crate) struct ProfileFigure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) series: Vec<f64>,
    /// Of whose windows the second ones of motifs are, if not of the series.
    pub(crate) other: Option<Vec<f64>>,
    pub(crate) window: usize,
    pub(crate) step: usize,
    /// One per window; infinite without a neighbour.
    pub(crate) distances: Vec<f64>,
    pub(crate) motifs: Vec<Pair>,
    /// First points.
    pub(crate) discords: Vec<usize>,
    /// Whether windows were z-normalised: the motif is then shown so.
    pub(crate) normalized: bool,
}

const WIDTH: u32 = 1040;
const TITLE_PX: u32 = 56;
const SERIES_PX: u32 = 220;
const PROFILE_PX: u32 = 190;
const MOTIF_PX: u32 = 230;
/// Motifs whose windows are marked.
const MARKED: usize = 4;

impl Figure for ProfileFigure {
    fn size(&self) -> (u32, u32) {
        let motif = if self.motifs.is_empty() { 0 } else { MOTIF_PX };
        (WIDTH, TITLE_PX + SERIES_PX + PROFILE_PX + motif)
    }

    fn draw(&self, sheet: &Sheet<'_>) -> Result<()> {
        let rest = titled(&sheet.area, &self.title, &self.subtitle)?;
        let (top, rest) = rest.split_vertically(SERIES_PX * super::SCALE);
        let (middle, bottom) = rest.split_vertically(PROFILE_PX * super::SCALE);
        self.draw_series(&top)?;
        self.draw_profile(&middle)?;
        match self.motifs.first() {
            Some(motif) => self.draw_motif(&bottom, *motif),
            None => Ok(()),
        }
    }
}

impl ProfileFigure {
    fn time(&self, label: &str) -> Axis {
        Axis::of_points(self.series.len(), 1.0, label)
    }

    fn color(rank: usize) -> RGBColor {
        PALETTE[rank % MARKED]
    }

    /// The series; windows of motifs in the colour of their rank.
    fn draw_series(&self, area: &Area<'_>) -> Result<()> {
        let (time, y) = (self.time(""), Axis::of(self.series.iter().copied(), 0.12, "value"));
        let mut chart = Chart::on(area, &time, &y)?;
        let least = (time.end() - time.start()) / 500.0;
        for (rank, motif) in self.motifs.iter().enumerate().take(MARKED).rev() {
            let second = self.other.is_none().then_some(motif.second);
            for start in [Some(motif.first), second].into_iter().flatten() {
                let (from, to) = (time.clamped(start as f64), time.clamped((start + self.window - 1) as f64));
                let widen = ((least - (to - from)) / 2.0).max(0.0);
                let corners = [(from - widen, y.start()), (to + widen, y.end())];
                chart.shapes([Rectangle::new(corners, Self::color(rank).mix(0.22).filled())])?;
                let style = anchored(bold(11.0, Self::color(rank)), HPos::Center, VPos::Top);
                chart.text((rank + 1).to_string(), (f64::midpoint(from, to), y.end()), style)?;
            }
        }
        let columns = chart.columns() / 4;
        let line = reduced(&self.series, columns);
        chart.line(line.into_iter().map(|(t, v)| (time.shown(t as f64), y.shown(v))), INK.mix(0.8), 0.8)
    }

    /// The distance of each window at its first point; discords are marked.
    fn draw_profile(&self, area: &Area<'_>) -> Result<()> {
        let time = self.time("first point of the window");
        let y = Axis::of(self.distances.iter().copied().chain([0.0]), 0.06, "distance to the nearest");
        let mut chart = Chart::on(area, &time, &y)?;
        let columns = chart.columns() / 4;
        let at = |start: usize| time.shown(start as f64);
        let line = reduced(&self.distances, columns);
        chart.line(line.into_iter().map(|(w, v)| (at(w * self.step), y.shown(v))), BLUE, 1.0)?;
        for start in &self.discords {
            let top = y.shown(self.distances[start / self.step]);
            chart.line([(at(*start), y.start()), (at(*start), top)], MUTED, 1.0)?;
            let style = anchored(bold(11.0, MUTED), HPos::Left, VPos::Top);
            chart.text(format!(" discord at {start}"), (at(*start), top), style)?;
        }
        Ok(())
    }

    /// Both windows of the best motif, one over the other.
    fn draw_motif(&self, area: &Area<'_>, motif: Pair) -> Result<()> {
        let other = self.other.as_ref().unwrap_or(&self.series);
        let mut windows = [(&self.series, motif.first), (other, motif.second)]
            .map(|(values, start)| values[start..start + self.window].to_vec());
        if self.normalized {
            windows.iter_mut().for_each(|window| z_normalize(window, 1));
        }
        let label = if self.normalized { "z-normalised" } else { "value" };
        let time = Axis::of_points(self.window, 1.0, "point of the window");
        let y = Axis::of(windows.iter().flatten().copied(), 0.15, label);
        let mut chart = Chart::on(area, &time, &y)?;
        let columns = chart.columns() / 4;
        for (window, (color, width)) in
            windows.iter().zip([(Self::color(0).mix(0.4), 4.0), (Self::color(0).mix(1.0), 1.5)])
        {
            let line = reduced(window, columns);
            chart.line(line.into_iter().map(|(t, v)| (time.shown(t as f64), y.shown(v))), color, width)?;
        }
        let place = if self.other.is_some() { " of the other series" } else { "" };
        let title = format!("best motif: at {} (broad) and {}{place} (thin)", motif.first, motif.second);
        chart.text(
            title,
            (time.start(), y.end()),
            anchored(bold(11.0, Self::color(0)), HPos::Left, VPos::Top),
        )?;
        let distance = format!("d = {}", short(motif.distance));
        chart.text(distance, (time.end(), y.end()), anchored(text(11.0, MUTED), HPos::Right, VPos::Top))
    }
}
