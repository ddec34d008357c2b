//! Figures are whole documents of the size they announce; text is drawn with the embedded font.

use super::*;
use crate::generate::{LENGTH, cylinder_bell_funnel};

/// Writes the figure as both formats; `DTWAVE_PLOTS=folder` keeps them for a look.
fn drawn(name: &str, figure: &dyn Figure) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("DTWAVE_PLOTS").map(std::path::PathBuf::from);
    let folder = kept.as_deref().unwrap_or(folder.path());
    let path = |extension: &str| folder.join(format!("{name}.{extension}"));
    save(figure, &path("svg")).unwrap();
    save(figure, &path("png")).unwrap();
    (std::fs::read_to_string(path("svg")).unwrap(), std::fs::read(path("png")).unwrap())
}

fn check_drawn(name: &str, figure: &dyn Figure, texts: &[&str]) {
    let (svg, picture) = drawn(name, figure);
    let (width, height) = figure.size();
    assert!(svg.starts_with(&format!("<svg width=\"{width}\" height=\"{height}\"")));
    assert!(svg.trim_end().ends_with("</svg>"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} has points off the page");
    for text in texts {
        assert!(svg.contains(text), "{name} lacks the text {text:?}");
    }
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (2 * width, 2 * height));
    let dark = pixels.chunks_exact(4).filter(|p| p[0] < 0x60 && p[1] < 0x60 && p[2] < 0x60).count();
    assert!(dark > 500, "{name} shows no text: {dark} dark pixels");
}

fn series(n: usize, shift: f64) -> Vec<f64> {
    (0..n).map(|i| ((i as f64 + shift) / n as f64 * 9.0).sin() + 0.3 * (i as f64 / 7.0).cos()).collect()
}

#[test]
fn an_alignment_is_drawn() {
    let (x, y) = (series(150, 0.0), series(120, 9.0));
    let path: Vec<(usize, usize)> = (0..150).map(|i| (i, (i * i * 119 / (149 * 149)).min(119))).collect();
    let figure = AlignmentFigure {
        title: "DTW alignment".into(),
        subtitle: "distance 12.3, path of 150 pairs".into(),
        x: &x,
        y: &y,
        x_name: "beat <0>".into(),
        y_name: "beat 1".into(),
        path: &path,
    };
    check_drawn("alignment", &figure, &["DTW alignment", "beat &lt;0&gt;", "warping path"]);
    let one = AlignmentFigure { x: &[1.0], y: &[1.0], path: &[(0, 0)], ..figure };
    check_drawn("alignment-1", &one, &["DTW alignment"]);
}

#[test]
fn a_heat_map_is_drawn_with_its_extremes() {
    let values: Vec<f64> = (0..30 * 30).map(|k| ((k / 30) as f64 - (k % 30) as f64).abs().sqrt()).collect();
    let figure = HeatMapFigure {
        title: "DTW distances".into(),
        subtitle: "30 × 30".into(),
        values: &values,
        columns: 30,
        shape: [30, 30],
        row_label: "series".into(),
        column_label: "series".into(),
        value_label: "distance".into(),
        groups: vec![(0, "cylinder".into()), (10, "bell".into()), (20, "funnel".into())],
    };
    check_drawn("heatmap", &figure, &["cylinder", "distance", "5.385", "data:image/png"]);
    let flat = HeatMapFigure { values: &[2.0; 40], columns: 20, shape: [2, 20], groups: vec![], ..figure };
    check_drawn("heatmap-flat", &flat, &["DTW distances"]);
}

#[test]
fn barycenters_are_drawn_over_their_series() {
    let dataset = cylinder_bell_funnel("cbf", 12, LENGTH, 1);
    let group = |class: usize| Group {
        name: crate::generate::CLASSES[class].into(),
        members: dataset.series[12 * class..][..12].iter().map(Vec::as_slice).collect(),
        center: series(LENGTH, 0.0).iter().map(|v| v * 3.0).collect(),
    };
    let figure = BarycenterFigure {
        title: "Soft-DTW barycenters".into(),
        subtitle: "γ = 1".into(),
        groups: (0..3).map(group).collect(),
    };
    check_drawn("barycenter-3", &figure, &["funnel (12 series)", "γ = 1"]);
    let figure = BarycenterFigure { groups: vec![group(0)], ..figure };
    check_drawn("barycenter-1", &figure, &["cylinder"]);
}

#[test]
fn search_hits_are_drawn_on_the_reference() {
    let reference = crate::ecg::recording().series.remove(0);
    let query = reference[1000..1500].to_vec();
    let hits: Vec<Hit> = (0..6)
        .map(|k| Hit { start: 1000 + 7000 * k, end: 1480 + 7000 * k + 10 * k, distance: 0.1 + k as f64 })
        .collect();
    let figure = SearchFigure {
        title: "Where the beat comes back".into(),
        subtitle: "6 best matches".into(),
        reference: &reference,
        query: &query,
        hits: &hits,
        normalized: false,
        points_per_unit: crate::ecg::SAMPLE_RATE_HZ,
        time_label: "time (s)".into(),
        value_label: "mV".into(),
    };
    check_drawn("search", &figure, &["Where the beat", "1 · at 1.39 s", "time (s)", "query"]);
    let none = SearchFigure { hits: &[], ..figure };
    check_drawn("search-none", &none, &["Where the beat"]);
}

#[test]
fn only_svg_and_png_are_drawn() {
    let error = check(Path::new("a.jpg")).unwrap_err().to_string();
    assert!(error.contains("a.jpg") && error.contains(".svg or .png"), "{error}");
    assert!(check(Path::new("no/such/a.svg")).is_err());
    assert!(check(Path::new("PLOT.PNG")).is_ok());
}
