//! z-normalisation of all windows of a stretch at once, approximately, and how far off it is.
//!
//! [`crate::normalize::z_normalize`] takes O(length) time for each window. Here the moments of a window come from
//! prefix sums, in O(1), and a normalised value from one fused multiplication: `value · scale + offset`. Lower bounds
//! need no more, if they know how far that may be from what `z_normalize` computes: the *slack*.
//!
//! **The slack.** Let `p` be the `N` points of the stretch, windows of `m` points, `u = 2⁻⁵³`, `v` the unit roundoff
//! of the number type, `c` a number near the mean of `p`, `d = p − c`, `A = max |d|`, `M = max |p|`, and `H` slightly
//! above `√m`, which no z-normalised value exceeds. For a window, `σ` is its exact deviation and `σ̂` the one computed
//! here.
//!
//! - A prefix sum of `d` is off by at most `N·u·NA`, so a mean of a window by `4uN²A/m`, and with the rounding of `d`
//!   by `5uN²A/m`. With the same argument for `d²`, a variance is off by at most `κA²` with `κ = 30uN²/m`. Let `r =
//!   κA²/(σ̂² − κA²)`, the relative error of the variance; it must be at most `1/16`.
//! - So the exact value of the formula with moments from here is off by at most `κA/σ̂ + 2rH`.
//! - Rounding `d`, scale and offset (of two roundings before that) to the number type, and the multiplication, add at
//!   most `8vA/σ̂ + 2vH`.
//! - `z_normalize` sums up plainly, in f64: its mean is off by at most `e = 2(m + 2)uM`, its deviation by a part
//!   `(m + 10)u + (e/σ̂)²`. Its values are off by at most `e/σ̂ + 2H((m + 10)u + (e/σ̂)²) + 2vH`.
//! - Differences from an envelope, whose values are at most `H'`, add `4v(H + H')`; [`Moving::slack`] is told `H'`.
//!
//! The sum of these, and a quarter more for products of errors, is the slack. A window in which all values are equal
//! becomes zeros, exactly. Where `r` is larger, or numbers are near the ends of their range, nothing is promised: the
//! slack is so large that every bound is zero.

use crate::bounds::precision;
use crate::{Dtype, Scalar};

/// What the slack is where nothing is promised: above any normalised value, and finite in every number type.
const NO_PROMISE: f64 = 1e30;

/// The windows of a stretch, approximately z-normalised. Univariate.
#[derive(Debug, Clone, Default)]
pub struct Moving<T> {
    /// The stretch, shifted; it is of these values that windows are made.
    pub points: Vec<T>,
    /// For each window, what its values are multiplied by; not negative.
    pub scale: Vec<T>,
    /// For each window, what is added then.
    pub offset: Vec<T>,
    slack: Vec<f64>,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl<T: Scalar> Moving<T> {
    /// Bytes held for each point of a stretch, at most.
    pub const POINT_BYTES: usize = 3 * size_of::<T>() + 3 * size_of::<f64>();

    /// Takes the windows of `length` points of a stretch that has one at least. O(points) time.
    #[inline(always)]
    pub fn fill(&mut self, stretch: &[T], length: usize) {
        let Self { points, scale, offset, slack, sums, squares } = self;
        let (all, m, unit) = (stretch.len() as f64, length as f64, f64::EPSILON / 2.0);
        let (own_unit, _) = precision::<T>();
        // Numbers between 1/most and most have squares that stay normal.
        let most = match T::DTYPE {
            Dtype::F32 => 1e15,
            Dtype::F64 => 1e140,
        };
        let largest = largest(stretch, 0.0);
        let shift = if largest < most { mean(stretch) } else { 0.0 };
        points.clear();
        sums.clear();
        squares.clear();
        let (mut sum, mut square) = (0.0, 0.0);
        sums.push(sum);
        squares.push(square);
        points.extend(stretch.iter().map(|p| T::from_f64(p.to_f64() - shift)));
        for p in stretch {
            let d = p.to_f64() - shift;
            sum += d;
            square += d * d;
            sums.push(sum);
            squares.push(square);
        }
        let farthest = self::largest(stretch, shift);
        let kappa = 30.0 * unit * all * all / m;
        let height = m.sqrt() * 1.01 + 1.0;
        let mean_error = 2.0 * (m + 2.0) * unit * largest;
        let doubt = kappa * farthest * farthest;
        let count = stretch.len() + 1 - length;
        for numbers in [&mut *scale, &mut *offset] {
            numbers.clear();
            numbers.resize(count, T::ZERO);
        }
        slack.clear();
        slack.resize(count, NO_PROMISE);
        let outs = scale.iter_mut().zip(offset.iter_mut()).zip(slack.iter_mut());
        let prefixes = sums.iter().zip(&sums[length..]).zip(squares.iter().zip(&squares[length..]));
        let (mut promised, in_range) = (0, largest < most);
        for (((scale, offset), slack), ((sum, sum_after), (square, square_after))) in outs.zip(prefixes) {
            let mean = (sum_after - sum) / m;
            let variance = (square_after - square) / m - mean * mean;
            let deviation = variance.sqrt();
            let part = doubt / (variance - doubt);
            let lost = mean_error / deviation;
            let off = (kappa + 8.0 * own_unit) * farthest / deviation
                + 2.0 * part * height
                + 8.0 * own_unit * height
                + lost
                + 2.0 * height * ((m + 10.0) * unit + lost * lost);
            // Where it is large it is of no use, and its digits are not worth an argument.
            let is_promised =
                in_range & (variance > 17.0 * doubt) & (deviation > 1.0 / most) & (off <= 0.125);
            let scaled = 1.0 / deviation;
            *scale = T::from_f64(if is_promised { scaled } else { 0.0 });
            *offset = T::from_f64(if is_promised { -mean * scaled } else { 0.0 });
            *slack = if is_promised { off } else { NO_PROMISE };
            promised += usize::from(is_promised);
        }
        if promised < count {
            constants(stretch, length, slack);
        }
    }

    /// The slack of each window, for bounds with an envelope whose values are at most `height` in size.
    pub fn slack(&self, height: f64, out: &mut Vec<T>) {
        let (unit, tiny) = precision::<T>();
        out.clear();
        out.extend(
            self.slack.iter().map(|off| T::from_f64(1.25 * (off + 4.0 * unit * (height + 1.0)) + tiny)),
        );
    }
}

/// The mean of these values, nearly: partial sums do not wait for each other.
#[inline(always)]
fn mean<T: Scalar>(values: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    let chunks = values.chunks_exact(8);
    let rest: f64 = chunks.remainder().iter().map(|v| v.to_f64()).sum();
    for chunk in chunks {
        for (sum, v) in sums.iter_mut().zip(chunk) {
            *sum += v.to_f64();
        }
    }
    (sums.iter().sum::<f64>() + rest) / values.len() as f64
}

/// The largest distance from `shift`.
#[inline(always)]
fn largest<T: Scalar>(values: &[T], shift: f64) -> f64 {
    let mut most = [0.0_f64; 8];
    for chunk in values.chunks(8) {
        for (most, v) in most.iter_mut().zip(chunk) {
            let d = (v.to_f64() - shift).abs();
            *most = if d > *most { d } else { *most };
        }
    }
    most.into_iter().fold(0.0, f64::max)
}

/// Windows of equal values become zeros, exactly.
fn constants<T: Scalar>(stretch: &[T], length: usize, slack: &mut [f64]) {
    // Points up to here, itself included, that are equal.
    let mut equal = 0;
    for (last, p) in stretch.iter().enumerate() {
        equal = if last > 0 && stretch[last - 1] == *p { equal + 1 } else { 1 };
        if equal >= length {
            slack[last + 1 - length] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::z_normalize;

    fn check<T: Scalar>(name: &str, values: &[f64], length: usize, useful: bool) {
        let values: Vec<T> = values.iter().map(|v| T::from_f64(*v)).collect();
        let (mut moving, mut slack) = (Moving::default(), Vec::new());
        moving.fill(&values, length);
        moving.slack(0.0, &mut slack);
        let mut promised = 0;
        for (w, window) in values.windows(length).enumerate() {
            let mut exact = window.to_vec();
            z_normalize(&mut exact, 1);
            for (j, exact) in exact.iter().enumerate() {
                let near = moving.points[w + j].mul_add(moving.scale[w], moving.offset[w]);
                let off = (near.to_f64() - exact.to_f64()).abs();
                assert!(off <= slack[w].to_f64(), "{name}, window {w} of {length}: {near} for {exact}");
            }
            promised += usize::from(slack[w].to_f64() < 0.01);
        }
        let windows = values.len() - length + 1;
        assert!(!useful || promised == windows, "{name} {length}: {promised} of {windows} windows");
    }

    #[test]
    fn values_are_within_their_slack() {
        let mut state = 3_u64;
        let mut random = move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let noise: Vec<f64> = (0..500).map(|_| random()).collect();
        let mut level = 0.0;
        let walk: Vec<f64> = noise
            .iter()
            .map(|v| {
                level += v;
                level
            })
            .collect();
        let made = |f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
            noise.iter().enumerate().map(|(k, v)| f(k, *v)).collect()
        };
        for length in [2, 3, 17, 128, 500] {
            check::<f64>("noise", &noise, length, length > 3);
            check::<f32>("noise", &noise, length, length > 3);
            check::<f64>("walk", &walk, length, length > 3);
            check::<f32>("walk", &walk, length, false);
            for (name, values) in [
                ("far away", made(&|_, v| v + 1e7)),
                ("farther away", made(&|_, v| v + 1e14)),
                ("large", made(&|_, v| v * 1e37)),
                ("small", made(&|_, v| v * 1e-30)),
                ("tiny", made(&|_, v| v * 1e-300)),
                ("huge", made(&|_, v| v * 1e306)),
                ("spikes", made(&|k, v| if k % 60 == 0 { 1e6 } else { v })),
                ("large spikes", made(&|k, v| if k % 90 == 0 { 1e15 } else { v })),
                ("steps", made(&|k, _| (k / 40 % 3) as f64 * 0.1)),
                ("constant", made(&|_, _| 0.1)),
                ("nearly constant", made(&|k, _| if k == 250 { 0.1 + 1e-16 } else { 0.1 })),
            ] {
                if name != "huge" {
                    check::<f32>(name, &values, length, false);
                }
                check::<f64>(name, &values, length, name == "constant");
            }
        }
    }
}
