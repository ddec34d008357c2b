//! Searches for longer queries than other cases have: at the lengths where kernels change, at all scales, in series of
//! many kinds, and in so little memory that there are several tiles.

use dtw_core::{Pairing, Problem, Spec};

use super::series::{Look, SplitMix, look};
use super::{Case, variants};
use crate::batch::Batch;

/// Round the lanes' widths, and between.
const SHORT: [usize; 21] = [1, 2, 3, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 40, 47, 48, 63, 64, 65, 70];

const LOOKS: [Look; 7] =
    [Look::Noise, Look::Walk, Look::FreeWalk, Look::Plateaus, Look::Spikes, Look::Constant, Look::Mixed];

/// Scales and offsets.
const UNITS: [(f64, f64); 8] =
    [(1.0, 0.0), (1e-6, 0.0), (1e9, 0.0), (1.0, 1e3), (30.0, -1e4), (0.01, 5.0), (1e-15, 0.0), (1e15, 0.0)];

/// A case and the scratch memory for it.
#[derive(Clone, Debug)]
pub struct LongCase {
    /// What is asked.
    pub case: Case,
    /// Within how many bytes.
    pub memory_limit_bytes: u64,
}

/// Cases of `subsequence_dtw`.
pub fn cases() -> Vec<LongCase> {
    let spec = variants("subsequence_dtw").remove(0);
    let mut builder = Builder { cases: Vec::new(), random: SplitMix::new(44), spec };
    builder.searches();
    builder.cases
}

fn batch(kind: Look, (scale, offset): (f64, f64), lengths: &[usize], random: &mut SplitMix) -> Batch {
    let place = |value: f64| vec![f64::from((value * scale + offset) as f32)];
    let one = |length: usize| look(kind, length, random).into_iter().map(place).collect();
    Batch::new(lengths.iter().copied().map(one).collect())
}

struct Builder {
    cases: Vec<LongCase>,
    random: SplitMix,
    spec: Spec,
}

impl Builder {
    fn batch(&mut self, kind: Look, units: (f64, f64), lengths: &[usize]) -> Batch {
        batch(kind, units, lengths, &mut self.random)
    }

    fn add(&mut self, name: String, pairing: Pairing, x: Batch, y: Batch) -> &mut LongCase {
        let case = Case { name, spec: self.spec.clone(), pairing, x, y };
        self.cases.push(LongCase { case, memory_limit_bytes: Problem::DEFAULT_MEMORY_LIMIT_BYTES });
        self.cases.last_mut().expect("just pushed")
    }

    fn cross(&mut self, kind: Look, units: (f64, f64), xs: &[usize], ys: &[usize]) -> &mut LongCase {
        let (x, y) = (self.batch(kind, units, xs), self.batch(kind, units, ys));
        let name = format!("{kind:?} in {units:?}, cross {xs:?} {ys:?}");
        self.add(name, Pairing::Cross, x, y)
    }

    fn zipped(&mut self, kind: Look, xs: &[usize], ys: &[usize]) -> &mut LongCase {
        let (x, y) = (self.batch(kind, UNITS[0], xs), self.batch(kind, UNITS[0], ys));
        self.add(format!("{kind:?}, zipped {xs:?} {ys:?}"), Pairing::Zipped, x, y)
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
            self.cross(kind, UNITS[0], &[2000; 2], &[2100]);
        }
        self.cross(Look::Mixed, UNITS[0], &[2000; 2], &[2100]);
        self.cross(Look::Constant, UNITS[0], &[1000; 3], &[60, 20, 1]);
        self.cross(Look::Noise, UNITS[0], &[64, 64, 128, 127, 3, 3, 250], &[400, 300, 1]);
        let lengths = self.lengths(9, 1, 130);
        self.cross(Look::Walk, UNITS[0], &lengths, &[200; 3]);
        self.zipped(Look::Noise, &[96; 5], &[200; 5]);
        self.zipped(Look::Mixed, &lengths, &[220, 90, 180, 181, 260, 130, 140, 150, 160]);
        self.found();
        self.limited(Pairing::Cross, &[64; 40], &[200; 3], 96 << 10);
        self.limited(Pairing::Cross, &[512; 7], &[1500; 2], 1 << 19);
    }

    /// Series that are also on the other side, as they are or nearly; spikes far above all else; constants.
    fn found(&mut self) {
        let x = self.batch(Look::Noise, UNITS[0], &[64; 3]);
        let y = Batch::new([0, 2].map(|s| [&x.series[s][..], &x.series[1][..9]].concat()).into());
        self.add("copies".to_owned(), Pairing::Cross, x.clone(), y);
        self.add("the same series".to_owned(), Pairing::Zipped, x.clone(), x.clone());
        let mut near = x.clone();
        for point in near.series.iter_mut().flatten() {
            let noise = 1e-4 * (self.random.between(0, 2000) as f64 / 1000.0 - 1.0);
            point[0] = f64::from((point[0] + noise) as f32);
        }
        self.add("near copies".to_owned(), Pairing::Cross, near, x.clone());
        for height in [100.0, 1e6, 1e15] {
            let (mut xs, mut ys) = (x.clone(), self.batch(Look::Walk, UNITS[0], &[64; 3]));
            xs.series[1][7][0] = height;
            let name = format!("a spike of {height} in x");
            self.add(name, Pairing::Cross, xs, ys.clone());
            ys.series[0][60][0] = -height;
            let name = format!("a spike of {height} in y");
            self.add(name, Pairing::Cross, x.clone(), ys);
        }
        for (a, b) in [(1.5, 1.5), (1.5, -0.25), (0.0, 0.0), (0.1, 0.1002), (1e3, 1001.0)] {
            let constant = |value: f64| Batch::new(vec![vec![vec![f64::from(value as f32)]; 64]; 3]);
            let name = format!("constants {a} and {b}");
            self.add(name, Pairing::Cross, constant(a), constant(b));
        }
    }

    /// In so little memory that there must be several tiles.
    fn limited(&mut self, pairing: Pairing, xs: &[usize], ys: &[usize], limit: u64) {
        let (x, y) = (self.batch(Look::Noise, UNITS[0], xs), self.batch(Look::Noise, UNITS[0], ys));
        let name = format!("{pairing:?} {} by {} in {limit} bytes", xs.len(), ys.len());
        self.add(name, pairing, x, y).memory_limit_bytes = limit;
    }
}
