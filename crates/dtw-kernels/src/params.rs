//! What a kernel is told, and constants that kernels know too: made of `native/params.h`, `local_cost.h`, `combine.h`,
//! `total.h` and `tiles/params.h` when this crate is built.
//!
//! Addresses are device addresses as plain numbers; 0 is null. The structures have no padding bytes. That sizes and
//! offsets are those of C++ is checked by a test.

use std::mem::{offset_of, size_of};

/// `only_strip`: all of them.
pub const ALL_STRIPS: u32 = u32::MAX;

/// A field of a structure: its name, its offset and its size in bytes.
pub type Field = (&'static str, usize, usize);

/// A structure that a kernel takes.
///
/// # Safety
///
/// The structure is `repr(C)`, plain numbers, and has no padding bytes.
pub unsafe trait Params: Copy + Default + Send + Sync + 'static {
    /// Its name in `params.h`.
    const NAME: &'static str;
    /// Its fields in order.
    const FIELDS: &'static [Field];

    /// The bytes that the kernel sees.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the trait promises initialised bytes throughout; the slice borrows `self`.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast::<u8>(), size_of::<Self>()) }
    }
}

macro_rules! params {
    ($(#[$list:meta])* $all:ident; $($(#[$doc:meta])* struct $name:ident { $($(#[$about:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[allow(missing_docs, reason = "some names say all")]
            #[repr(C)]
            #[derive(Debug, Clone, Copy, Default, PartialEq)]
            pub struct $name {
                $($(#[$about])* pub $field: $type,)*
            }

            // The sizes of the fields add up to the size of the whole: no padding.
            const _: () = assert!(0 $(+ size_of::<$type>())* == size_of::<$name>());

            // SAFETY: repr(C), made of numbers and of such structures, without padding by the assertion above.
            unsafe impl Params for $name {
                const NAME: &'static str = stringify!($name);
                const FIELDS: &'static [Field] =
                    &[$((stringify!($field), offset_of!($name, $field), size_of::<$type>()),)*];
            }
        )*

        $(#[$list])*
        pub const $all: &[(&str, usize, &[Field])] =
            &[$(($name::NAME, size_of::<$name>(), $name::FIELDS),)*];
    };
}

include!(concat!(env!("OUT_DIR"), "/params.rs"));
