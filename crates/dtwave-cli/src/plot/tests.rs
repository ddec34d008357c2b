//! Figures are whole documents of the size they announce; text is drawn with the embedded font.

use super::*;
use crate::generate::{LENGTH, cylinder_bell_funnel};

/// Writes the figure as both formats; `DTWAVE_PLOTS=folder` keeps them for a look.
fn drawn(name: &str, figure: &dyn Figure) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("DTWAVE_PLOTS").map(std::path::PathBuf::from);
    let folder = kept.as_deref().unwrap_or(folder.path());
    let path = |extension: &str| folder.join(format!("{name}.{extension}"));
    save(figure, take(&path("svg")).unwrap()).unwrap();
    save(figure, take(&path("png")).unwrap()).unwrap();
    (std::fs::read_to_string(path("svg")).unwrap(), std::fs::read(path("png")).unwrap())
}

fn check_drawn(name: &str, figure: &dyn Figure, texts: &[&str]) {
    let (svg, picture) = drawn(name, figure);
    let (width, height) = figure.size();
    assert!(svg.starts_with(&format!("<svg width=\"{width}\" height=\"{height}\"")));
    assert!(svg.trim_end().ends_with("</svg>"));
    check_on_page(name, &svg);
    for text in texts {
        assert!(svg.contains(text), "{name} lacks the text {text:?}");
    }
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (2 * width, 2 * height));
    let dark = pixels
        .chunks_exact(info.color_type.samples())
        .filter(|p| p[0] < 0x60 && p[1] < 0x60 && p[2] < 0x60)
        .count();
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
        band: &[],
        first_row: 0,
    };
    check_drawn("alignment", &figure, &["DTW alignment", "beat &lt;0&gt;", "warping path"]);
    assert!(!to_svg(&figure).unwrap().contains("<polygon"));
    let band: Vec<_> =
        (0..150_usize).map(|i| (i * 119 / 149).saturating_sub(30)..(i * 119 / 149 + 30).min(120)).collect();
    let banded = AlignmentFigure { band: &band, ..figure };
    check_drawn("alignment-band", &banded, &["warping path", "band"]);
    assert!(to_svg(&banded).unwrap().contains("<polygon"));
    let one = AlignmentFigure { x: &[1.0], y: &[1.0], path: &[(0, 0)], band: &[], ..banded };
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
        members: dataset.series[12 * class..][..12].to_vec(),
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
    let reference: Vec<f64> = crate::ecg::CSV.lines().map(|line| line.parse().unwrap()).collect();
    let query = reference[1000..1500].to_vec();
    let hits: Vec<Hit> = (0..6)
        .map(|k| Hit { start: 1000 + 7000 * k, end: 1480 + 7000 * k + 10 * k, distance: 0.1 + k as f64 })
        .collect();
    let figure = SearchFigure {
        title: "Where the beat comes back".into(),
        subtitle: "6 best matches".into(),
        reference: Sketch::of(&reference, &hits),
        query,
        hits,
        normalized: false,
        points_per_unit: crate::ecg::SAMPLE_RATE_HZ,
        time_label: "time (s)".into(),
        value_label: "mV".into(),
    };
    check_drawn("search", &figure, &["Where the beat", "1 · at 1.39 s", "time (s)", "query"]);
    let none = SearchFigure { hits: Vec::new(), ..figure };
    check_drawn("search-none", &none, &["Where the beat"]);
    // All hits are numbered, those with a close-up and those without.
    let many: Vec<Hit> = (0..30)
        .map(|k| Hit { start: 700 + 1400 * k, end: 1100 + 1400 * k, distance: 0.1 + k as f64 })
        .collect();
    let figure = SearchFigure { reference: Sketch::of(&reference, &many), hits: many, ..none };
    check_drawn("search-30", &figure, &["close-ups of the first 24", "24 · at", "\n30\n"]);
}

#[test]
fn only_svg_and_png_are_drawn() {
    let error = take(Path::new("a.jpg")).unwrap_err().to_string();
    assert!(error.contains("a.jpg") && error.contains(".svg or .png"), "{error}");
    assert!(take(Path::new("no/such/a.svg")).is_err());
    assert!(take(Path::new("PLOT.PNG")).is_ok());
}

/// Values at the ends of what numbers can be.
fn extremes() -> Vec<(&'static str, Vec<f64>)> {
    let mixed = |a: f64, b: f64| vec![a, b, 0.0, a, b, b, a];
    vec![
        ("one point", vec![1e308]),
        ("huge", vec![0.0, 1.0, 8e307, 0.5, 0.0]),
        ("huge and equal", vec![f64::MAX; 9]),
        ("huge of both signs", mixed(1e308, -1e308)),
        ("the whole range", mixed(f64::MAX, -f64::MAX)),
        ("the least", mixed(5e-324, 0.0)),
        ("the least and equal", vec![5e-324; 5]),
        ("subnormal", mixed(1e-310, -3e-310)),
        ("neighbours", mixed(1e300, 1e300 * (1.0 + f64::EPSILON))[..2].to_vec()),
        ("close", mixed(1.7e9, 1.7e9 + 1e-6)[..2].to_vec()),
        ("zeros", vec![0.0, -0.0, 0.0]),
    ]
}

/// Draws in a thread of its own, so that drawing without end is a failure; all of it lies on the page.
fn draw_within_reason(what: &str, draw: impl FnOnce() -> String + Send + 'static) {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(draw()));
    let limit = std::time::Duration::from_secs(120);
    let svg = result.recv_timeout(limit).unwrap_or_else(|_| panic!("{what}: no picture after {limit:?}"));
    check_on_page(what, &svg);
}

/// Every line and every area keeps to the page.
fn check_on_page(what: &str, svg: &str) {
    let without_images =
        svg.split("base64,").map(|part| part.split_once("\"/>").map_or(part, |(_, rest)| rest));
    let without_images: Vec<&str> = without_images.collect();
    let head = svg.split("base64,").next().unwrap();
    let svg = [head, &without_images[1..].concat()].concat();
    assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{what} has points without a place");
    let size = |name: &str| -> f64 {
        let (_, rest) = svg.split_once(&format!(" {name}=\"")).unwrap();
        rest.split_once('"').unwrap().0.parse::<f64>().unwrap() * f64::from(SCALE)
    };
    let (width, height) = (size("width"), size("height"));
    for points in svg.split("points=\"").skip(1) {
        for point in points.split_once('"').unwrap().0.split_whitespace() {
            let (x, y) = point.split_once(',').unwrap();
            let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
            assert!(
                (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
                "{what}: {point} is off the page"
            );
        }
    }
}

#[test]
fn any_values_are_drawn() {
    let mut all = extremes();
    all.push(("a million points", (0..1_000_000).map(|t| (f64::from(t) * 1e-3).sin()).collect()));
    for (what, values) in all {
        let series = values.clone();
        draw_within_reason(&format!("alignment, {what}"), move || {
            let path: Vec<(usize, usize)> = (0..series.len()).map(|i| (i, series.len() - 1)).collect();
            let band: Vec<_> = (0..series.len()).map(|i| i..i + 1).collect();
            to_svg(&AlignmentFigure {
                title: String::new(),
                subtitle: String::new(),
                x: &series,
                y: &[0.0, 1.0],
                x_name: String::new(),
                y_name: String::new(),
                path: &path.iter().map(|(i, _)| (*i, i % 2)).collect::<Vec<_>>(),
                band: &band,
                first_row: 0,
            })
            .unwrap()
        });
        let series = values.clone();
        draw_within_reason(&format!("barycenter, {what}"), move || {
            let group = |k: usize| Group {
                name: k.to_string(),
                members: vec![series.clone(), series[..1].to_vec()],
                center: series.iter().map(|v| v / 3.0).collect(),
            };
            let groups = (0..2).map(group).collect();
            to_svg(&BarycenterFigure { title: String::new(), subtitle: String::new(), groups }).unwrap()
        });
        for (normalized, points_per_unit) in
            [(false, 1.0), (true, 1.0), (false, 1e-304), (false, 1e308), (false, 5e-324)]
        {
            let series = values.clone();
            draw_within_reason(&format!("search, {what}, {points_per_unit}"), move || {
                let hits = vec![Hit { start: 0, end: series.len() - 1, distance: series[0] }; 2];
                to_svg(&SearchFigure {
                    title: String::new(),
                    subtitle: String::new(),
                    reference: Sketch::of(&series, &hits),
                    query: vec![1.0, 2.0],
                    hits,
                    normalized,
                    points_per_unit,
                    time_label: "time (s)".into(),
                    value_label: "value".into(),
                })
                .unwrap()
            });
        }
        let (columns, rows) = (values.len().min(1000), values.len().div_ceil(1000));
        draw_within_reason(&format!("heat map, {what}"), move || {
            to_svg(&HeatMapFigure {
                title: String::new(),
                subtitle: String::new(),
                values: &values,
                columns,
                shape: [rows, columns],
                row_label: String::new(),
                column_label: String::new(),
                value_label: "distance".into(),
                groups: vec![],
            })
            .unwrap()
        });
    }
}

/// An axis that does not show its values as they are says what to do with them.
#[test]
fn extreme_values_are_named_on_the_axes() {
    let huge = [0.0, 2e307, 8e307, 1e307, 0.0];
    let groups = vec![Group { name: "huge".into(), members: vec![huge.to_vec()], center: huge.to_vec() }];
    let figure = BarycenterFigure { title: "Averages".into(), subtitle: "of huge values".into(), groups };
    check_drawn("barycenter-huge", &figure, &["×10³⁰⁷"]);
    let mut values: Vec<f64> = (0..400).map(|k| f64::from(k % 21)).collect();
    (values[5], values[77]) = (1e300, f64::INFINITY);
    let figure = HeatMapFigure {
        title: "Distances".into(),
        subtitle: "with a spike".into(),
        values: &values,
        columns: 20,
        shape: [20, 20],
        row_label: "rows".into(),
        column_label: "columns".into(),
        value_label: "distance".into(),
        groups: vec![],
    };
    check_drawn("heatmap-spike", &figure, &["to the 98th percentile", "1.000e300", "grey: infinite", "≥ 20"]);
}
