//! Random series that make bounds, ties and normalisation difficult.

use dtw_cpu::Element;

/// A generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
    /// One of these.
    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
    /// A number around zero, at most one half away.
    pub(crate) fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30) - 0.5
    }

    /// Series that make bounds, ties and normalisation difficult.
    pub(crate) fn series<T: Element>(&mut self, count: usize) -> Vec<T> {
        let kind = self.below(9);
        let (offset, period, levels) = (self.one(&[0.0, 1.0, 1e6]), 1 + self.below(30), 1 + self.below(4));
        let mut values: Vec<f64> = Vec::new();
        let mut level = 0.0;
        while values.len() < count {
            let k = values.len();
            let value = match kind {
                0 => self.unit(),
                1 => {
                    level += self.unit();
                    level
                }
                2 => self.below(levels) as f64,
                3 => {
                    level = if self.below(8) == 0 { self.below(4) as f64 * 0.7 } else { level };
                    level
                }
                4 => 0.1,
                5 if k >= period => values[k - period],
                6 => (k as f64 * 0.3).sin() + self.unit() * 0.1,
                7 if self.below(40) == 0 => 1e5 * self.unit(),
                7 => self.unit() * 1e-3,
                8 => [0.0, self.unit()][(k / 40) % 2],
                _ => self.unit(),
            };
            values.push(value);
        }
        values.into_iter().map(|v| T::from_f64(v + offset)).collect()
    }
}
