//! What a sweep gives: the measure, or of a sum over paths what is missing to their number.

use dtw_core::Spec;
use dtw_core::recurrence::{Point, Visitor, dispatch, excess};

use crate::lanes::Register;

/// What a sweep gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    /// The measure's recurrence.
    Value,
    /// [`dtw_core::recurrence::SoftExcess`], of a measure that has one.
    Excess,
}

/// [`dispatch`] for the quantity.
#[inline(always)]
pub(crate) fn dispatch_quantity<V: Register, P: Point<V>, F: Visitor<V, P>>(
    quantity: Quantity,
    spec: &Spec,
    any: V,
    visitor: F,
) -> F::Output {
    match quantity {
        Quantity::Excess => excess::visit::<V, P, F>(any, &spec.measure, visitor),
        Quantity::Value => dispatch::<V, P, F>(spec, any, visitor),
    }
}
