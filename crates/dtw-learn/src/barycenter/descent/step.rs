//! An optimiser takes one step at a time, and asks for the function where it likes.

use dtw_core::Result;

/// A position with the function's value and gradient there.
#[derive(Debug, Clone)]
pub(super) struct Evaluated {
    pub(super) position: Vec<f64>,
    pub(super) value: f64,
    pub(super) gradient: Vec<f64>,
}

/// The function at a position. The value is infinite where the position or the value is out of the type's range.
pub(super) type Evaluate<'a> = dyn FnMut(Vec<f64>) -> Result<Evaluated> + 'a;

/// An optimiser: takes one step from a position to another.
pub(super) trait Step {
    fn step(&mut self, from: &Evaluated, evaluate: &mut Evaluate<'_>) -> Result<Evaluated>;
    /// Whether the value rests because there is nothing to gain, not because the steps are short.
    fn is_at_rest(&self) -> bool;
}
