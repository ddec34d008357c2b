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
unsafe impl Plain for dtw_plan::RowRange {}

// Kernels read the ranges of a band as `dtw_kernels::params::Range`.
const _: () = assert!(
    size_of::<dtw_plan::RowRange>() == size_of::<dtw_kernels::params::Range>()
        && std::mem::offset_of!(dtw_plan::RowRange, end)
            == std::mem::offset_of!(dtw_kernels::params::Range, end)
);

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

/// The values that bytes are.
///
/// # Panics
/// Where they lie so that they cannot be, or are not a whole number of values.
pub(crate) fn values<V: Plain>(bytes: &[u8]) -> &[V] {
    // SAFETY: `Plain` promises that any bytes are values.
    let (before, values, after) = unsafe { bytes.align_to::<V>() };
    assert!(before.is_empty() && after.is_empty(), "no whole values");
    values
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

#[cfg(test)]
mod tests {
    use dtw_plan::RowRange as Range;

    use super::*;

    #[test]
    fn numbers_go_through_bytes_and_come_back() {
        fn round<V: Plain + PartialEq + std::fmt::Debug>(values: &[V], fresh: V) {
            let mut back = vec![fresh; values.len()];
            bytes_mut(&mut back).copy_from_slice(bytes(values));
            assert_eq!(back, values);
        }
        assert_eq!(bytes(&[0x0403_0201_u32.to_le(), 5_u32.to_le()]), [1, 2, 3, 4, 5, 0, 0, 0]);
        assert!(bytes::<f64>(&[]).is_empty());
        round(&[1.5_f32, -0.0, f32::MAX], 0.0);
        round(&[1.5_f64, f64::INFINITY], 0.0);
        round(&[1_u64, u64::MAX], 0);
        let range = |k| Range { start: k, end: k + 1 };
        let mut ranges = [range(1), range(2), range(3)];
        bytes_mut(&mut ranges[1..2]).fill(0xff);
        assert_eq!(ranges.map(|r| (r.start, r.end)), [(1, 2), (u32::MAX, u32::MAX), (3, 4)]);
    }
}
