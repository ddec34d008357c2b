//! The library where there may be no threads, no clock and no standard output: golden numbers, and a session's calls.
//!
//! A program of its own rather than tests of the usual kind, so that `cargo xtask elsewhere wasm` can run it under
//! Node.js. It panics at the first thing that is wrong, and says last how many cases passed.

use dtw_conformance::report::Report;
use dtw_conformance::suite::run_section_from;
use dtwave::{Band, Blocks, Device, SearchOptions, Session, Spec, devices};

/// Chosen cases of every kind of result, and some random ones.
const SECTIONS: &[&str] = &[
    "golden",
    "dtw",
    "twed",
    "lcss",
    "soft_dtw",
    "gradients_soft_dtw",
    "alignment",
    "random_paths",
    "matches",
    "bad_input",
    "progress_and_cancellation",
    "random_dtw",
    "random_soft_dtw",
];

fn main() {
    // The question of test runners what there is.
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--list") {
        if !arguments.iter().any(|argument| argument == "--ignored") {
            say("anywhere: test");
        }
        return;
    }
    std::panic::set_hook(Box::new(|panic| say(&panic.to_string())));
    let cpu = devices().into_iter().find(|device| device.backend == "cpu").expect("there is a processor");
    say(&format!("cpu: {}", cpu.description));
    a_session_works();
    let device = Device::cpu_with_threads(2).expect("a device where there are no threads is the caller's");
    let mut whole = Report::default();
    // Where there is an operating system, the tests of dtw-cpu run the others.
    let sections = if cfg!(target_family = "wasm") { SECTIONS } else { &SECTIONS[..1] };
    for section in sections {
        let mut report = run_section_from(0, section, device.backend::<f64>());
        report.absorb(run_section_from(0, section, device.backend::<f32>()));
        say(&format!("{section}: {report}"));
        report.assert();
        whole.absorb(report);
    }
    say(&whole.to_string());
}

/// A matrix of many tiles, gradients, an alignment and a search, which all share their work among threads if there are
/// any.
fn a_session_works() {
    // More series than lanes, of lengths that differ.
    let series: Vec<Vec<f64>> =
        (0..40).map(|k| (0..5 + k % 7).map(|i| f64::from(i * k % 11)).collect()).collect();
    let session = Session::new(Spec::dtw());
    let matrix = session.pairwise(&series).expect("a matrix");
    let loops = |x: &[f64], y: &[f64]| {
        let mut row = vec![f64::INFINITY; y.len() + 1];
        row[0] = 0.0;
        for a in x {
            let mut next = vec![f64::INFINITY; y.len() + 1];
            for (j, b) in y.iter().enumerate() {
                next[j + 1] = (a - b) * (a - b) + row[j].min(row[j + 1]).min(next[j]);
            }
            row = next;
        }
        row[y.len()]
    };
    for (a, x) in series.iter().enumerate() {
        for (b, y) in series.iter().enumerate() {
            // Sums of squares of small whole numbers: exact.
            assert_eq!(matrix[[a, b]], loops(x, y), "series {a} and {b}");
        }
    }
    let (x, y) = (&series[3], &series[8]);
    let path = session.align(x, y).expect("an alignment");
    let sum: f64 = path.points.iter().map(|&(i, j)| (x[i] - y[j]).powi(2)).sum();
    assert_eq!((sum, path.distance), (matrix[[3, 8]], matrix[[3, 8]]));
    let banded = Session::new(Spec::soft_dtw(1.0).with_band(Band::sakoe_chiba(3)));
    let gradients = banded.gradients(&series[..8], &series[..8], None).expect("gradients");
    assert_eq!(gradients.distances.len(), 8);
    // The reference holds the query from point 5 on.
    let reference: Vec<f64> = [&[90.0; 5][..], x, &[90.0; 5]].concat();
    let best = session.search(x, &reference, &SearchOptions::default()).expect("a search");
    assert_eq!((best[0].distance, best[0].start), (0.0, 5));
    let found = session.search_blocks(&[x.as_slice()][..], &mut Rest(&reference), &SearchOptions::default());
    assert_eq!(found.expect("a search in blocks"), [best]);
}

/// A reference that is handed out in blocks of seven points.
struct Rest<'a>(&'a [f64]);

impl Blocks<f64> for Rest<'_> {
    fn channels(&self) -> usize {
        1
    }

    fn read(&mut self, points: usize, block: &mut Vec<f64>) -> dtwave::Result<()> {
        let (next, rest) = self.0.split_at(points.min(7).min(self.0.len()));
        block.extend_from_slice(next);
        self.0 = rest;
        Ok(())
    }
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
fn say(text: &str) {
    use std::io::Write as _;
    writeln!(std::io::stdout(), "{text}").expect("standard output takes a line");
}

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
fn say(text: &str) {
    // SAFETY: xtask's run.mjs has this function; it reads the text, within the program's memory or not at all, before
    // it returns.
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        safe fn say(text: *const u8, bytes: usize);
    }
    say(text.as_ptr(), text.len());
}
