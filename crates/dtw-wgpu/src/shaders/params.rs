//! What a dispatch is told: the uniform buffers of shaders. A test compares them with what naga makes of the WGSL.

use bytemuck::{Pod, Zeroable};

/// Declares a uniform buffer; for tests also the name, the offset and the size of each field.
macro_rules! uniform {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        #[cfg(test)]
        impl $name {
            pub(crate) const FIELDS: &[(&str, usize, usize)] =
                &[$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$type>())),*];
        }
    };
}

uniform! {
/// What a sweep is told; `Params` of shaders/common.wgsl says what each field is.
Params {
    first: u32,
    end: u32,
    pairing: u32,
    columns: u32,
    x_place: u32,
    y_place: u32,
    x_zero: u32,
    y_zero: u32,
    channels: u32,
    stride: u32,
    edge_stride: u32,
    band: u32,
    radius: u32,
    band_offsets: u32,
    longest: u32,
    choices: u32,
    row_first: u32,
    row_end: u32,
    strip_first: u32,
    strip_end: u32,
    row_base: u32,
    saves: u32,
    edge_first: u32,
    carry_stride: u32,
    block: u32,
    pitch: u32,
    plane: u32,
    ends: u32,
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}
}

uniform! {
/// What normalising windows is told; `WindowParams` of shaders/windows.wgsl says what each field is.
WindowParams {
    skipped: u32,
    first: u32,
    count: u32,
    length: u32,
    channels: u32,
}
}
