//! The parameters that costs are divided by: γ, and the width of the alignment kernel. They have to fit the number type
//! and the values.

use std::ops::Range;

use crate::{Dtype, LocalCost, Measure, Problem, Result, Scalar, SeriesBatch, bail_invalid};

impl Problem {
    /// Checks that parameters which divide are neither infinite nor short of digits in the precision of the values.
    /// [`Problem::check_input`] does it too; who cannot look at the values asks here.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] naming the parameter.
    pub fn check_precision<T: Scalar>(&self) -> Result<()> {
        let Some((name, value, divisor)) = self.divisor() else { return Ok(()) };
        let rate = T::from_f64(std::f64::consts::LOG2_E / divisor);
        // Below the least normal number a rate has fewer digits, and at last none.
        let least = range::<T>().start;
        if rate.finite() && rate.to_f64() >= least {
            return Ok(());
        }
        let extreme = if rate.finite() { "large" } else { "small" };
        bail_invalid!("{name} = {value:e} is too {extreme} for {} values", T::DTYPE)
    }

    /// The parameter that costs are divided by, its name and value, and what they are divided by.
    fn divisor(&self) -> Option<(&'static str, f64, f64)> {
        match self.spec().measure {
            Measure::SoftDtw { gamma, .. } | Measure::SoftDtwDivergence { gamma, .. } => {
                Some(("gamma", gamma, gamma))
            }
            Measure::LogGak { sigma } => Some(("sigma", sigma, 2.0 * sigma * sigma)),
            _ => None,
        }
    }

    /// Checks that what costs along a path may come to, divided by γ or 2σ², is a logarithm that the number type has:
    /// beyond it a finite result would be lost.
    ///
    /// Of values so large that their costs may overflow by themselves, a millionth of the range is held to that.
    pub(crate) fn check_logarithm<T: Scalar>(
        &self,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<()> {
        let Some((name, value, divisor)) = self.divisor() else { return Ok(()) };
        let cost = match self.spec().measure {
            Measure::SoftDtw { cost, .. } | Measure::SoftDtwDivergence { cost, .. } => cost,
            _ => LocalCost::SquaredEuclidean,
        };
        let largest = |batch: &SeriesBatch<'_, T>| {
            let values = (0..batch.len()).flat_map(|s| batch.get(s).values);
            values.fold(0.0, |largest: f64, value| largest.max(value.to_f64().abs()))
        };
        let (apart, channels) = (2.0 * largest(x).max(largest(y)), self.shape().channels as f64);
        let dearest = match cost {
            LocalCost::SquaredEuclidean => channels * apart * apart,
            LocalCost::Euclidean => channels.sqrt() * apart,
            LocalCost::Manhattan => channels * apart,
        };
        let steps = (self.shape().max_length_x + self.shape().max_length_y) as f64;
        // A step of the alignment kernel may cost ln 2 more.
        let most = (dearest * steps).min(1e-6 * range::<T>().end);
        let least = most * std::f64::consts::LOG2_E / -T::LEAST_LOG2;
        if divisor >= least {
            return Ok(());
        }
        let is_width = matches!(self.spec().measure, Measure::LogGak { .. });
        let least = 1.01 * if is_width { (0.5 * least).sqrt() } else { least };
        bail_invalid!(
            "{name} = {value:e} is too small for {} values as large as these: it has to be {least:.2e} or more",
            T::DTYPE
        )
    }
}

/// The least normal number of a type and the largest.
fn range<T: Scalar>() -> Range<f64> {
    match T::DTYPE {
        Dtype::F32 => f64::from(f32::MIN_POSITIVE)..f64::from(f32::MAX),
        Dtype::F64 => f64::MIN_POSITIVE..f64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use crate::{LocalCost, Measure, Pairing, Problem, SeriesBatch, Spec};

    #[test]
    fn the_least_divisor_is_that_of_the_dearest_path_of_both_lengths() {
        // Values up to 3e12, so points of two channels are up to 6e12 apart in each.
        let mut values = [0.0_f64; 32];
        values[1] = -3e12;
        for (n, m) in [(3, 5), (5, 3), (1, 9), (8, 8)] {
            let batch = |length| SeriesBatch::equal(&values[..2 * length], 1, length, 2).unwrap();
            let (x, y) = (batch(n), batch(m));
            let check = |measure: Measure| {
                let problem = Problem::of(Spec::new(measure), Pairing::Zipped, &x, &y).unwrap();
                problem.check_input(&x, &y)
            };
            // A path has fewer steps than both have points, and the exponents of a type are this many.
            let exponents = f64::MAX / 512.0;
            let least = |dearest: f64| (n + m) as f64 * dearest * std::f64::consts::LOG2_E / exponents;
            for (cost, dearest) in [
                (LocalCost::SquaredEuclidean, 2.0 * 36e24),
                (LocalCost::Euclidean, 2.0_f64.sqrt() * 6e12),
                (LocalCost::Manhattan, 2.0 * 6e12),
            ] {
                let of = |gamma| Measure::SoftDtw { gamma, cost };
                assert!(check(of(1.001 * least(dearest))).is_ok(), "{cost:?} {n} {m}");
                assert!(check(of(0.999 * least(dearest))).is_err(), "{cost:?} {n} {m}");
            }
            let width = (0.5 * least(2.0 * 36e24)).sqrt();
            assert!(check(Measure::LogGak { sigma: 1.001 * width }).is_ok(), "{n} {m}");
            let error = check(Measure::LogGak { sigma: 0.999 * width }).unwrap_err().to_string();
            assert!(error.contains(&format!("it has to be {:.2e} or more", 1.01 * width)), "{error}");
        }
    }
}
