//! Progress on a terminal, silence in a pipe; time and speed.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::report;

/// A bar over grid cells with rate and time left; hidden unless stderr is a terminal, and by `--quiet`.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for `cells` grid cells of work.
    pub(crate) fn new(what: &str, cells: u64) -> Self {
        let target = if std::io::stderr().is_terminal() && !report::is_quiet() {
            ProgressDrawTarget::stderr_with_hz(5)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(cells), target);
        let style = ProgressStyle::with_template("{msg} {bar:30.cyan/dim} {percent:>3}% {rate} {left}")
            .expect("the template is valid")
            .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{}", told(state));
            })
            .with_key("left", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                if !told(state).is_empty() {
                    let _ = write!(out, "{} left", clock(state.eta()));
                }
            })
            .progress_chars("━━─");
        bar.set_style(style);
        bar.set_message(what.to_owned());
        Progress { bar }
    }

    /// A bar for an amount of which no rate is worth telling.
    pub(crate) fn of_amount(what: &str, all: u64) -> Self {
        let progress = Progress::new(what, all);
        let style = ProgressStyle::with_template("{msg} {bar:30.cyan/dim} {percent:>3}%")
            .expect("the template is valid")
            .progress_chars("━━─");
        progress.bar.set_style(style);
        progress
    }

    /// Nothing on the terminal.
    pub(crate) fn silent() -> Self {
        Progress { bar: ProgressBar::hidden() }
    }

    /// A spinner with the rate, for work whose end is not known.
    pub(crate) fn open_ended(what: &str) -> Self {
        let progress = Progress::new(what, 0);
        progress.bar.unset_length();
        let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {rate} {elapsed:.dim}")
            .expect("the template is valid")
            .with_key("rate", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{}", told(state));
            });
        progress.bar.set_style(style);
        progress
    }

    /// Corrects how many cells there are.
    pub(crate) fn expect(&self, cells: u64) {
        self.bar.set_length(cells.max(self.bar.position()));
    }

    pub(crate) fn cells(&self) -> u64 {
        self.bar.position()
    }

    pub(crate) fn advance(&self, cells: u64) {
        self.bar.inc(cells);
    }

    /// Leaves work already done by an earlier run out of the rate.
    pub(crate) fn skip(&self, cells: u64) {
        self.bar.inc(cells);
        self.bar.reset_eta();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The rate, once it is worth telling: see [`is_estimate`].
fn told(state: &ProgressState) -> String {
    let rate_now = state.per_sec();
    if is_estimate(state.elapsed(), rate_now) { rate(rate_now) } else { String::new() }
}

/// Whether a rate says anything: after a second, and where something was done.
fn is_estimate(elapsed: Duration, cells_per_second: f64) -> bool {
    elapsed >= Duration::from_secs(1) && cells_per_second >= 1.0
}

/// Cells per second with a metric prefix.
pub(crate) fn rate(cells_per_second: f64) -> String {
    const PREFIXES: [&str; 5] = ["", "k", "M", "G", "T"];
    let mut value = cells_per_second.max(0.0);
    let mut prefix = 0;
    while value >= 999.5 && prefix + 1 < PREFIXES.len() {
        value /= 1000.0;
        prefix += 1;
    }
    let digits = usize::from(value < 9.95) + usize::from(value < 99.5 && prefix > 0);
    format!("{value:.digits$} {}cells/s", PREFIXES[prefix])
}

fn clock(time: Duration) -> String {
    let secs = time.as_secs();
    match secs {
        0..=59 => format!("{secs} s"),
        60..=3599 => format!("{}:{:02} min", secs / 60, secs % 60),
        _ => format!("{}:{:02} h", secs / 3600, secs / 60 % 60),
    }
}

pub(crate) struct Stopwatch {
    start: Instant,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Stopwatch { start: Instant::now() }
    }

    /// The time since the start: call it when the results are there, before they are written or drawn.
    pub(crate) fn stop(&self, cells: u64) -> Took {
        Took { secs: self.start.elapsed().as_secs_f64(), cells }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) secs: f64,
    pub(crate) cells: u64,
}

impl Took {
    /// `1.24 s, 3.1 Gcells/s`
    pub(crate) fn summary(self) -> String {
        let Took { secs, cells } = self;
        if cells == 0 {
            return format!("{secs:.2} s");
        }
        format!("{secs:.2} s, {}", rate(cells as f64 / secs.max(1e-9)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_as_three_digits() {
        assert_eq!(rate(0.0), "0.0 cells/s");
        assert_eq!(rate(999.0), "999 cells/s");
        assert_eq!(rate(1_234.0), "1.23 kcells/s");
        assert_eq!(rate(56_700_000.0), "56.7 Mcells/s");
        assert_eq!(rate(2.5e9), "2.50 Gcells/s");
        assert_eq!(rate(f64::NAN), "0.0 cells/s");
    }

    #[test]
    fn no_rate_is_told_before_there_is_one() {
        assert!(!is_estimate(Duration::from_millis(900), 1e9));
        assert!(!is_estimate(Duration::from_secs(5), 0.0) && !is_estimate(Duration::from_secs(5), f64::NAN));
        assert!(is_estimate(Duration::from_secs(1), 5.0));
        assert_eq!(Took { secs: 0.5, cells: 0 }.summary(), "0.50 s");
    }

    #[test]
    fn time_left_reads_as_a_clock() {
        assert_eq!(clock(Duration::from_secs(59)), "59 s");
        assert_eq!(clock(Duration::from_secs(61)), "1:01 min");
        assert_eq!(clock(Duration::from_secs(3_725)), "1:02 h");
    }

    #[test]
    fn a_hidden_bar_counts_silently() {
        let progress = Progress::new("x", 10);
        progress.advance(3);
        progress.skip(1);
        assert_eq!(progress.cells(), 4);
        progress.expect(20);
        assert_eq!(progress.bar.length(), Some(20));
        progress.expect(2);
        assert_eq!(progress.bar.length(), Some(4));
        assert_eq!(Progress::open_ended("x").cells(), 0);
    }
}
