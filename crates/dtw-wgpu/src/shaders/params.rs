//! The arguments of shaders: uniform buffers, declared here and written into the shaders.

use bytemuck::{Pod, Zeroable};

/// Declares a uniform buffer, here and in WGSL.
macro_rules! uniform {
    ($(#[$doc:meta])* $name:ident { $($(#[$what:meta])* $field:ident: $type:ident,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
        pub(crate) struct $name {
            $($(#[$what])* pub(crate) $field: $type,)*
        }

        impl $name {
            /// Its declaration for shaders.
            pub(crate) const WGSL: &str = concat!(
                "struct ", stringify!($name), " {\n",
                $("    ", stringify!($field), ": ", stringify!($type), ",\n",)*
                "}\n"
            );
        }

        // Fields of four bytes lie one behind the other, here as in WGSL.
        const _: () = assert!($(size_of::<$type>() == 4)&&*);
    };
}

uniform! {
/// The arguments of a sweep.
Params {
    /// Tasks of this dispatch.
    first: u32,
    end: u32,
    /// CROSS: every row with every column; TRIANGLE: those on and above the diagonal; ZIPPED: the k-th with the k-th.
    pairing: u32,
    /// Series in the columns of the rectangle of pairs.
    columns: u32,
    /// The first row and the first column, as numbers in the tables of series.
    x_place: u32,
    y_place: u32,
    /// Where zero points are.
    x_zero: u32,
    y_zero: u32,
    channels: u32,
    /// Results from row to row.
    stride: u32,
    /// States of an edge between strips, for each workgroup: one for each row of a piece, and the one above them.
    edge_stride: u32,
    /// What the band is, one of BAND_FULL, BAND_POINTS, BAND_MILLIONTHS and BAND_RANGES.
    band: u32,
    radius: u32,
    /// Where each task's first range is found; 0: all have the same ranges.
    band_offsets: u32,
    /// Points of the longest series, where cells are weighted: the table begins with the weight at minus this.
    longest: u32,
    /// Words of choices from task to task.
    choices: u32,
    /// Rows and strips of this dispatch, where pairs are swept in pieces.
    row_first: u32,
    row_end: u32,
    strip_first: u32,
    strip_end: u32,
    /// Rows that came in dispatches before, of other buffers: a reference that comes in blocks.
    row_base: u32,
    /// Whether the last row is kept for the rows to come.
    saves: u32,
    /// Before the edges are the last rows of pieces: where edges begin, and states of a row for each workgroup.
    edge_first: u32,
    carry_stride: u32,
    /// For gradients: the first row of the grid that is kept, numbers from row to row and from one number of a cell to
    /// the next one, and where the last cells' states are.
    block: u32,
    pitch: u32,
    plane: u32,
    ends: u32,
    /// The measure's numbers.
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}
}

uniform! {
/// The arguments of the shader that normalises windows.
WindowParams {
    /// Points before the first window.
    skipped: u32,
    /// Windows before the first of this dispatch, and all of them.
    first: u32,
    count: u32,
    /// Points of a window.
    length: u32,
    channels: u32,
}
}
