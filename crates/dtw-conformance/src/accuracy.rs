//! How wrong the single-precision values of a section are on the whole, beside those of a plain loop.
//!
//! A single value of a plain loop may be exact by chance, so each value is also allowed a few roundings
//! ([`tolerance`](crate::tolerance)). Of many values together no such allowance is needed: chance evens out, and the
//! errors of a backend are compared with those of the loop as they are.

use crate::tolerance::F32_FACTOR;

/// Fewest values that say something on the whole.
const ENOUGH: usize = 100;

/// Errors larger than this, in units in the last place of the scale, count as this much: one value whose digits nobody
/// can save must not excuse all others.
const LARGEST: f64 = 8.0;

/// Sums over the values of a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accuracy {
    values: usize,
    /// Sum of squared errors, in units in the last place of the scale.
    squares: f64,
    /// Sum of squared errors of the plain loop.
    plain_squares: f64,
}

impl Accuracy {
    /// Adds one value of single precision. Both errors are relative to the scale.
    pub fn add(&mut self, error: f64, plain_error: f64) {
        let square = |error: f64| (error / f64::from(f32::EPSILON)).min(LARGEST).powi(2);
        self.values += 1;
        self.squares += square(error);
        self.plain_squares += square(plain_error);
    }

    /// Adds the values of another section.
    pub fn absorb(&mut self, other: Self) {
        self.values += other.values;
        self.squares += other.squares;
        self.plain_squares += other.plain_squares;
    }

    /// Root mean squares of the errors and of the plain loop's, in units in the last place of the scale; none of too
    /// few values.
    pub fn root_mean_squares(&self) -> Option<(f64, f64)> {
        let root = |squares: f64| (squares / self.values as f64).sqrt();
        (self.values >= ENOUGH).then(|| (root(self.squares), root(self.plain_squares)))
    }

    /// Compares the errors on the whole with [`F32_FACTOR`] times those of the plain loop.
    ///
    /// # Errors
    /// A message with both, where they are larger.
    pub fn judge(&self) -> Result<(), String> {
        match self.root_mean_squares() {
            Some((own, plain)) if own > F32_FACTOR * plain => Err(format!(
                "the root mean square of the errors of {} values is {own:.3} units in the last place, {:.1} times that of \
                 a plain loop ({plain:.3}); allowed are {F32_FACTOR}",
                self.values,
                own / plain
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(count: usize, error: f64, plain: f64) -> Accuracy {
        let mut accuracy = Accuracy::default();
        let ulp = f64::from(f32::EPSILON);
        (0..count).for_each(|_| accuracy.add(error * ulp, plain * ulp));
        accuracy
    }

    #[test]
    fn errors_on_the_whole_are_held_to_twice_the_plain_loops() {
        assert!(of(1000, 1.9, 1.0).judge().is_ok());
        let message = of(1000, 2.1, 1.0).judge().unwrap_err();
        assert!(message.contains("2.1 times that of a plain loop"), "{message}");
        assert!(of(10, 2.1, 1.0).judge().is_ok(), "too few to tell");
        assert!(of(1000, 0.0, 0.0).judge().is_ok());
    }

    #[test]
    fn one_value_of_the_loop_without_digits_excuses_no_other() {
        let mut accuracy = of(1000, 3.0, 1.0);
        accuracy.absorb(of(1, 1.0, 1e9));
        assert!(accuracy.judge().is_err());
    }
}
