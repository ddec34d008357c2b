//! What a sweep gives: the measure, or of a sum over paths what is missing to their number.

use dtw_core::Spec;
use dtw_core::recurrence::{Point, Visitor, dispatch, excess};

use crate::lanes::Register;

/// What a sweep gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Form {
    /// The measure's recurrence.
    Value,
    /// [`dtw_core::recurrence::SoftExcess`], of a measure that has one.
    Excess,
}

/// [`dispatch`] for the form.
#[inline(always)]
pub(crate) fn dispatch_form<V: Register, P: Point<V>, F: Visitor<V, P>>(
    form: Form,
    spec: &Spec,
    any: V,
    visitor: F,
) -> F::Output {
    match form {
        Form::Excess => excess::visit::<V, P, F>(any, &spec.measure, visitor),
        Form::Value => dispatch::<V, P, F>(spec, any, visitor),
    }
}
