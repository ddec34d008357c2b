//! Costs between two points, summed over channels: `Σₖ (aₖ−bₖ)²`, its square root, `Σₖ |aₖ−bₖ|`, and the
//! `p`-norm. Channels are dependent: they are warped together.

use std::fmt::Debug;

use dtw_core::LocalCost;

/// The two floating-point types the oracles run in.
pub trait Real: num_traits::Float + std::iter::Sum + Debug + Send + Sync + 'static {
    /// The nearest value to `value` in this type.
    fn of(value: f64) -> Self;
    /// This value in double precision.
    fn wide(self) -> f64;
}

impl Real for f64 {
    fn of(value: f64) -> Self {
        value
    }
    fn wide(self) -> f64 {
        self
    }
}

impl Real for f32 {
    fn of(value: f64) -> Self {
        value as f32
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

/// The cost of aligning points `a` and `b`.
pub fn between<F: Real>(cost: LocalCost, a: &[F], b: &[F]) -> F {
    match cost {
        LocalCost::SquaredEuclidean => squared_euclidean(a, b),
        LocalCost::Euclidean => euclidean(a, b),
        LocalCost::Manhattan => a.iter().zip(b).map(|(&a, &b)| (a - b).abs()).sum(),
    }
}

/// The derivative of the cost by each channel of `a`: `2(aₖ−bₖ)`, `(aₖ−bₖ)/‖a−b‖` or the sign of `aₖ−bₖ`. The one by
/// `b` is its opposite. At a kink, where `a = b` or `aₖ = bₖ`, it is 0.
pub fn slope<F: Real>(cost: LocalCost, a: &[F], b: &[F]) -> impl Iterator<Item = F> {
    let zero_or = |value: F, slope: F| if value == F::zero() { F::zero() } else { slope };
    let length = if cost == LocalCost::Euclidean { euclidean(a, b) } else { F::one() };
    a.iter().zip(b).map(move |(&a, &b)| match cost {
        LocalCost::SquaredEuclidean => F::of(2.0) * (a - b),
        LocalCost::Euclidean => zero_or(length, (a - b) / length),
        LocalCost::Manhattan => zero_or(a - b, (a - b).signum()),
    })
}

/// `Σₖ (aₖ−bₖ)²`.
pub fn squared_euclidean<F: Real>(a: &[F], b: &[F]) -> F {
    a.iter().zip(b).map(|(&a, &b)| (a - b) * (a - b)).sum()
}

/// `√Σₖ (aₖ−bₖ)²`.
pub fn euclidean<F: Real>(a: &[F], b: &[F]) -> F {
    squared_euclidean(a, b).sqrt()
}

/// `(Σₖ |aₖ−bₖ|ᵖ)^(1/p)`.
pub fn p_norm<F: Real>(a: &[F], b: &[F], p: F) -> F {
    if p == F::one() {
        between(LocalCost::Manhattan, a, b)
    } else if p == F::of(2.0) {
        euclidean(a, b)
    } else {
        let sum: F = a.iter().zip(b).map(|(&a, &b)| (a - b).abs().powf(p)).sum();
        sum.powf(F::one() / p)
    }
}
