//! Seconds, taken many times.

use std::time::Instant;

#[derive(Debug, Clone, Default)]
pub(crate) struct Times(Vec<f64>);

impl Times {
    pub(crate) fn push(&mut self, secs: f64) {
        self.0.push(secs);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The middle one; the mean of the two in the middle of an even number.
    pub(crate) fn median(&self) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
    }

    pub(crate) fn best(&self) -> f64 {
        self.0.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// Seconds that `work` takes, and what it returns.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let began = Instant::now();
    let result = work();
    (began.elapsed().as_secs_f64(), result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_best() {
        let mut times = Times::default();
        for secs in [3.0, 1.0, 2.0] {
            times.push(secs);
        }
        assert_eq!((times.median(), times.best()), (2.0, 1.0));
        times.push(5.0);
        assert_eq!(times.median(), 2.5);
    }
}
