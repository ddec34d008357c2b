//! Cases for half precision: what may be computed in it, at the lengths where couples fill their lanes or do not, and at
//! the values where halves have few digits or too small a range. And some of all else, which must stay full.

use dtw_core::{Pairing, Task};

use super::series::{Look, SplitMix, look};
use super::{Case, distances, variants};
use crate::batch::Batch;
use crate::check::distances::Call;
use crate::oracle::{Band, Measure};
use crate::tolerance::{HALF_RELATIVE, HALF_RELATIVE_LONG, HALF_RELATIVE_RUNS, HALF_RELATIVE_WORST};

/// The measures that may be computed in half precision.
pub const KEYS: [&str; 2] = ["dtw", "subsequence_dtw"];

/// Of every so many cases for distances, one is asked for in half precision.
const OTHERS: usize = 23;

/// Round the lanes' widths, and between.
const SHORT: [usize; 21] = [1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 70];

const LOOKS: [Look; 7] =
    [Look::Noise, Look::Walk, Look::FreeWalk, Look::Plateaus, Look::Spikes, Look::Constant, Look::Mixed];

/// Scales and offsets. The last few leave the range in which points can be scaled.
const UNITS: [(f64, f64); 8] =
    [(1.0, 0.0), (1e-6, 0.0), (1e9, 0.0), (1.0, 1e3), (30.0, -1e4), (0.01, 5.0), (1e-15, 0.0), (1e15, 0.0)];

/// A case and how it is asked for.
#[derive(Clone, Debug)]
pub struct HalfCase {
    /// What is asked.
    pub case: Case,
    /// How: always in half precision.
    pub call: Call,
}

/// Cases of `dtw` or `subsequence_dtw`, all of which may be computed in half precision.
///
/// # Panics
/// For another key.
pub fn cases(key: &str) -> Vec<HalfCase> {
    let measure = variants(key).remove(0);
    let mut builder = Builder { cases: Vec::new(), random: SplitMix::new(44), measure };
    match key {
        "dtw" => builder.pairs(),
        "subsequence_dtw" => builder.searches(),
        other => panic!("{other} is not computed in half precision"),
    }
    builder.cases
}

/// Some cases of every measure for distances.
pub fn others() -> Vec<Case> {
    super::KEYS.into_iter().flat_map(|key| distances::cases(key).into_iter().step_by(OTHERS)).collect()
}

/// Cases for what is not a distance.
pub fn tasks() -> Vec<(Task, Case)> {
    let mut random = SplitMix::new(45);
    let mut case =
        |key: &str, pairing: Pairing, (n_x, length_x): (usize, usize), (n_y, length_y): (usize, usize)| {
            let mut batch = |count, length| batch(Look::Noise, (1.0, 0.0), &vec![length; count], &mut random);
            Case {
                name: format!("{pairing:?} {n_x} of {length_x} and {n_y} of {length_y}"),
                measure: variants(key).remove(0),
                band: Band::Full,
                pairing,
                x: batch(n_x, length_x),
                y: batch(n_y, length_y),
            }
        };
    vec![
        (Task::Matches, case("subsequence_dtw", Pairing::Cross, (3, 96), (2, 200))),
        (Task::Matches, case("subsequence_dtw", Pairing::Zipped, (3, 512), (3, 600))),
        (Task::Paths, case("dtw", Pairing::Zipped, (5, 64), (5, 64))),
        (Task::Paths, case("dtw", Pairing::Zipped, (2, 300), (2, 512))),
        (Task::Gradients, case("soft_dtw", Pairing::Zipped, (5, 64), (5, 64))),
        (Task::Gradients, case("soft_dtw", Pairing::Zipped, (2, 64), (2, 128))),
    ]
}

fn batch(kind: Look, (scale, offset): (f64, f64), lengths: &[usize], random: &mut SplitMix) -> Batch {
    let place = |value: f64| vec![f64::from((value * scale + offset) as f32)];
    let one = |length: usize| look(kind, length, random).into_iter().map(place).collect();
    Batch::new(lengths.iter().copied().map(one).collect())
}

struct Builder {
    cases: Vec<HalfCase>,
    random: SplitMix,
    measure: Measure,
}

impl Builder {
    fn batch(&mut self, kind: Look, units: (f64, f64), lengths: &[usize]) -> Batch {
        batch(kind, units, lengths, &mut self.random)
    }

    fn add(&mut self, name: String, pairing: Pairing, x: Batch, y: Batch) -> &mut HalfCase {
        let (measure, band) = (self.measure.clone(), Band::Full);
        let case = Case { name, measure, band, pairing, x, y };
        self.cases.push(HalfCase { case, call: Call::HALF });
        self.cases.last_mut().expect("just pushed")
    }

    /// The bound for series that look like this.
    fn relative(&self, kind: Look) -> f64 {
        let is_search = matches!(self.measure, Measure::SubsequenceDtw { .. });
        match kind {
            Look::Mixed if !is_search => HALF_RELATIVE_WORST,
            Look::FreeWalk | Look::Plateaus | Look::Spikes | Look::Mixed => HALF_RELATIVE_RUNS,
            _ => HALF_RELATIVE,
        }
    }

    fn cross(&mut self, kind: Look, units: (f64, f64), xs: &[usize], ys: &[usize]) -> &mut HalfCase {
        let (x, y) = (self.batch(kind, units, xs), self.batch(kind, units, ys));
        let name = format!("{kind:?} in {units:?}, cross {xs:?} {ys:?}");
        let relative = self.relative(kind);
        let half = self.add(name, Pairing::Cross, x, y);
        half.call.half_relative = relative;
        half
    }

    fn zipped(&mut self, kind: Look, xs: &[usize], ys: &[usize]) -> &mut HalfCase {
        let (x, y) = (self.batch(kind, UNITS[0], xs), self.batch(kind, UNITS[0], ys));
        self.add(format!("{kind:?}, zipped {xs:?} {ys:?}"), Pairing::Zipped, x, y)
    }

    fn symmetric(&mut self, kind: Look, lengths: &[usize]) -> &mut HalfCase {
        let x = self.batch(kind, UNITS[0], lengths);
        self.add(format!("{kind:?}, symmetric {lengths:?}"), Pairing::SelfSymmetric, x.clone(), x)
    }

    fn lengths(&mut self, count: usize, least: usize, most: usize) -> Vec<usize> {
        (0..count).map(|_| self.random.between(least, most)).collect()
    }

    fn searches(&mut self) {
        for (k, m) in SHORT.into_iter().enumerate() {
            // Queries longer than a reference, too.
            self.cross(LOOKS[k % 2], UNITS[0], &[m; 3], &[40, 90 + m]);
        }
        for kind in LOOKS {
            for units in UNITS {
                self.cross(kind, units, &[96; 3], &[150, 120]);
            }
            for m in [256, 500] {
                self.cross(kind, UNITS[0], &[m; 3], &[m + 200]);
            }
        }
        for (m, kind) in [511, 512, 513, 1023, 1024, 1025, 1041].into_iter().zip(LOOKS) {
            self.cross(kind, UNITS[0], &[m; 3], &[300, 520]);
        }
        for kind in [Look::Noise, Look::Walk] {
            self.cross(kind, UNITS[0], &[2000; 2], &[2100]).call.half_relative = HALF_RELATIVE_LONG;
        }
        self.cross(Look::Mixed, UNITS[0], &[2000; 2], &[2100]).call.half_relative = HALF_RELATIVE;
        self.cross(Look::Constant, UNITS[0], &[1000; 3], &[60, 20, 1]);
        // A couple alike, one unlike, one too short, the last by itself.
        self.cross(Look::Noise, UNITS[0], &[64, 64, 128, 127, 3, 3, 250], &[400, 300, 1]);
        let lengths = self.lengths(9, 1, 130);
        self.cross(Look::Walk, UNITS[0], &lengths, &[200; 3]);
        self.zipped(Look::Noise, &[96; 5], &[200; 5]);
        self.zipped(Look::Mixed, &lengths, &[220, 90, 180, 181, 260, 130, 140, 150, 160]);
        self.found();
        self.limited(Pairing::Cross, &[64; 40], &[200; 3], 96 << 10);
        self.limited(Pairing::Cross, &[512; 7], &[1500; 2], 1 << 19);
    }

    fn pairs(&mut self) {
        for (k, n) in SHORT.into_iter().enumerate() {
            self.cross(LOOKS[k % 2], UNITS[0], &[n; 3], &[n; 5]);
            self.symmetric(LOOKS[k % 5], &[n; 5]);
            let lengths = self.lengths(7, 1, n);
            self.cross(LOOKS[k % 3], UNITS[0], &[n, n], &lengths);
            self.zipped(LOOKS[k % 4], &lengths, &[n; 7]);
        }
        for kind in LOOKS {
            for units in UNITS {
                self.cross(kind, units, &[60; 3], &[60; 5]);
            }
            self.cross(kind, UNITS[0], &[128; 3], &[128; 3]);
            self.symmetric(kind, &[9, 70, 70, 33, 64, 1, 64, 128, 20]);
        }
        for (n, kind) in [127, 128, 200, 511, 512].into_iter().zip(LOOKS) {
            self.symmetric(kind, &[n; 3]);
            self.cross(kind, UNITS[0], &[n, n], &[n; 3]);
            self.zipped(Look::Noise, &[n; 3], &[n, n - 1, n + 1]);
        }
        for kind in [Look::Noise, Look::Walk, Look::Spikes] {
            self.cross(kind, UNITS[0], &[1000], &[1000; 2]);
            self.zipped(kind, &[1000], &[700]);
        }
        let (xs, ys) = (self.lengths(9, 1, 70), self.lengths(11, 1, 200));
        self.cross(Look::Mixed, UNITS[0], &xs, &ys);
        self.symmetric(Look::Noise, &ys);
        self.found();
        self.limited(Pairing::Cross, &[50; 40], &[50; 40], 48 << 10);
        self.limited(Pairing::Zipped, &[50; 40], &[64; 40], 48 << 10);
        let ragged = self.lengths(40, 1, 60);
        self.limited(Pairing::SelfSymmetric, &ragged, &ragged, 48 << 10);
    }

    /// Series that are also on the other side, and partners that spoil their range.
    fn found(&mut self) {
        let x = self.batch(Look::Noise, UNITS[0], &[64; 3]);
        let y = Batch::new([0, 2].map(|s| [&x.series[s][..], &x.series[1][..9]].concat()).into());
        self.add("copies".to_owned(), Pairing::Cross, x.clone(), y);
        self.add("the same series".to_owned(), Pairing::Zipped, x.clone(), x.clone());
        for height in [100.0, 1e6, 1e15] {
            let (mut xs, mut ys) = (x.clone(), self.batch(Look::Walk, UNITS[0], &[64; 3]));
            let relative = self.relative(Look::Spikes);
            xs.series[1][7][0] = height;
            let name = format!("a spike of {height} in x");
            self.add(name, Pairing::Cross, xs, ys.clone()).call.half_relative = relative;
            ys.series[0][60][0] = -height;
            let name = format!("a spike of {height} in y");
            self.add(name, Pairing::Cross, x.clone(), ys).call.half_relative = relative;
        }
        for (a, b) in [(1.5, 1.5), (1.5, -0.25), (0.0, 0.0), (0.1, 0.1002), (1e3, 1001.0)] {
            let constant = |value: f64| Batch::new(vec![vec![vec![f64::from(value as f32)]; 64]; 3]);
            let (name, relative) = (format!("constants {a} and {b}"), self.relative(Look::Constant));
            self.add(name, Pairing::Cross, constant(a), constant(b)).call.half_relative = relative;
        }
    }

    /// In so little memory that there must be several tiles.
    fn limited(&mut self, pairing: Pairing, xs: &[usize], ys: &[usize], limit: u64) {
        let (x, y) = (self.batch(Look::Noise, UNITS[0], xs), self.batch(Look::Noise, UNITS[0], ys));
        let name = format!("{pairing:?} {} by {} in {limit} bytes", xs.len(), ys.len());
        self.add(name, pairing, x, y).call.memory_limit_bytes = limit;
    }
}

#[cfg(test)]
mod tests {
    use dtw_core::{Precision, Problem};

    use super::*;
    use crate::tolerance::may_be_half;

    #[test]
    fn every_case_may_be_half_and_is_asked_for_in_half() {
        for HalfCase { case, call } in KEYS.into_iter().flat_map(cases) {
            assert!(
                may_be_half::<f32>(&case.measure, &case.band, case.x.series[0][0].len(), 9, 9),
                "{}",
                case.name
            );
            assert_eq!(call.precision, Precision::Half);
            assert!(call.memory_limit_bytes <= Problem::DEFAULT_MEMORY_LIMIT_BYTES);
        }
        assert!(!may_be_half::<f64>(&variants("dtw")[0], &Band::Full, 1, 9, 9));
    }
}
