//! Plain numbers as bytes, for copies to and from a device.

use dtw_core::Scalar;

/// Numbers without padding for which every pattern of bits is a value.
///
/// # Safety
///
/// The type is that.
pub unsafe trait Plain: Copy + 'static {}

// SAFETY: an integer or a float.
unsafe impl Plain for u32 {}
// SAFETY: an integer or a float.
unsafe impl Plain for u64 {}
// SAFETY: an integer or a float.
unsafe impl Plain for f32 {}
// SAFETY: an integer or a float.
unsafe impl Plain for f64 {}
// SAFETY: two u32 in the order of C, without padding.
unsafe impl Plain for dtw_kernels::params::Range {}

/// The bytes of a slice.
pub(crate) fn bytes<V: Plain>(values: &[V]) -> &[u8] {
    // SAFETY: `Plain` promises initialised bytes throughout; the slice borrows `values`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}

/// The bytes of a slice, to be written.
pub(crate) fn bytes_mut<V: Plain>(values: &mut [V]) -> &mut [u8] {
    // SAFETY: `Plain` promises that any bytes are values; the slice borrows `values` mutably.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values)) }
}

mod sealed {
    pub trait Number: super::Plain {}
    impl Number for f32 {}
    impl Number for f64 {}
}

/// The number types that kernels are built for: `f32` and `f64`.
pub trait Number: Scalar + sealed::Number {}
impl Number for f32 {}
impl Number for f64 {}
