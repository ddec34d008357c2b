//! Move–split–merge: `D(i,j) = min(D(i−1,j−1) + |xᵢ−yⱼ|, D(i−1,j) + C(xᵢ; xᵢ₋₁, yⱼ), D(i,j−1) + C(yⱼ; yⱼ₋₁, xᵢ))`,
//! where `C(a; b, d) = c` if `a` lies between `b` and `d` (ends included), and `c + min(|a−b|, |a−d|)` otherwise.
//!
//! `D(0,0) = 0`, the other borders +∞, which gives the paper's first row and column. The paper defines a single
//! channel; with several, each channel has a matrix of its own and the distance is the **sum of the channels'
//! distances**, so that there is no common path.
//!
//! Source: Stefan, Athitsos & Das 2013 (doi:10.1109/TKDE.2012.88).

use super::{Answer, Input, OracleError, Real};

/// The cost of splitting or merging value `a` between `b` and `d`.
fn split_or_merge<F: Real>(a: F, b: F, d: F, c: F) -> F {
    if (b <= a && a <= d) || (d <= a && a <= b) { c } else { c + (a - b).abs().min((a - d).abs()) }
}

/// The sum of the channels' distances; `c` is the cost of one split or merge.
pub(super) fn answer<F: Real>(input: &Input<'_, F>, c: f64) -> Result<Answer<F>, OracleError> {
    let (x, y, c) = (input.x, input.y, F::of(c));
    let of_channel = |k: usize| {
        input.filled(|i, j, [diagonal, up, left]| {
            let (xi, yj) = (x[i - 1][k], y[j - 1][k]);
            let up = if i > 1 { up + split_or_merge(xi, x[i - 2][k], yj, c) } else { F::infinity() };
            let left = if j > 1 { left + split_or_merge(yj, y[j - 2][k], xi, c) } else { F::infinity() };
            [diagonal + (xi - yj).abs(), up, left]
        })
    };
    if x[0].len() == 1 {
        return of_channel(0);
    }
    let values = (0..x[0].len()).map(|k| Ok(of_channel(k)?.value));
    Ok(Answer { value: values.sum::<Result<F, OracleError>>()?, grid: None })
}
