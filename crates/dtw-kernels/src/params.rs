//! What a kernel is told: `native/params.h`, `local_cost.h`, `settle.h`, `total.h` and `tiles/params.h` beside it,
//! field by field.
//!
//! Addresses are device addresses as plain numbers; 0 is null. The structures have no padding bytes. That names, order
//! and sizes agree with the header is checked by a test, and once more by every compiler that builds the kernels.

use std::mem::{offset_of, size_of};

pub use crate::constants::*;

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

params! {
    /// Name, size in bytes and fields of every structure of the header.
    STRUCTURES;

    /// Columns `start <= j < end` of a row.
    struct Range {
        /// First column.
        start: u32,
        /// One behind the last.
        end: u32,
    }

    /// One side of the pairs, prepared. Addresses of numbers are of the kernel's number type.
    struct Side {
        /// `[point][channel]`.
        values: u64,
        /// Per point: the cost of deleting it; null unless the measure has gaps.
        gaps: u64,
        /// Per point: running sum of the gaps within its series; null unless the borders need it.
        sums: u64,
        /// Per point: its time; null: 1, 2, ...
        times: u64,
        /// First point (u64) of each series in `values`; null: series s starts at `PAD + s * stride`.
        offsets: u64,
        /// Length (u32) of each series; null: all `length`.
        lengths: u64,
        /// Points from series to series.
        stride: u64,
        /// Points of every series, or of the longest.
        length: u32,
        /// Series.
        count: u32,
    }

    /// One launch of a sweep or of a tracing kernel.
    struct Sweep {
        /// Which pairs, and where their results go.
        pairs: Pairs,
        /// Which cells, and whether strips of one pair go to different warps.
        grid: Grid,
        /// Which strips, and what passes from one to the next.
        strips: Strips,
        /// What is recorded besides results.
        trace: Trace,
        /// What a recurrence is told, and of which results.
        measure: Measure,
    }

    /// One launch of `prepare`: raw series to prepared ones.
    struct Prepare {
        /// `[point][channel]`, series one after the other.
        raw: u64,
        /// Per raw point: its time; or null.
        raw_times: u64,
        /// First raw point (u64) of each series; null: series s starts at `s * raw_stride`.
        raw_offsets: u64,
        /// First prepared point (u64) of each series; null: `PAD + s * stride`.
        offsets: u64,
        /// Raw length (u32) of each series; null: all `length`.
        lengths: u64,
        /// Where prepared values go.
        values: u64,
        /// Where gaps go; null: none wanted.
        gaps: u64,
        /// Where running sums of gaps go; null: none wanted.
        sums: u64,
        /// Where times go; null: none wanted.
        times: u64,
        /// Raw points from series to series.
        raw_stride: u64,
        /// Prepared points from series to series.
        stride: u64,
        /// Series.
        count: u64,
        /// Raw points of every series, or of the longest.
        length: u32,
        /// Channels of a raw point.
        channels: u32,
        /// With `one_channel`: which to take.
        channel: u32,
        /// 1: write one channel of several.
        one_channel: u32,
        /// 1: Keogh-Pazzani derivative, two points fewer.
        derivative: u32,
        /// 1: zero mean and unit population deviation per channel; constant series become zero.
        normalize: u32,
        /// 0 none, 1 erp, 2 twed.
        gap_kind: u32,
        /// `prepare_strided`: how raw numbers are written, `FORMAT_F32` and so on.
        format: u32,
        /// Values are multiplied by this; 1: left as they are.
        scale: f64,
        /// erp: gap; twed: nu, lambda, degree.
        parameters: [f64; 4],
        /// `prepare_strided`: numbers from a series to the next, without `raw_offsets`.
        series_stride: i64,
        /// `prepare_strided`: numbers from a point to the next.
        point_stride: i64,
        /// `prepare_strided`: numbers from a channel to the next.
        channel_stride: i64,
    }

    /// One launch of `best`: the best ends of subsequence sweeps, from their last columns.
    struct Best {
        /// `task * stride + j`.
        totals: u64,
        /// Likewise (u32), or null.
        starts: u64,
        /// Reference length (u32) of each task; null: `length`.
        lengths: u64,
        /// `task * top_k + hit`.
        costs: u64,
        /// (start, end) as u32 at `2 * (task * top_k + hit)`; null: none wanted.
        found: u64,
        /// Hits (u32) per task; null: none wanted.
        counts: u64,
        /// A bit per end, `task * ceil(stride / 32)` words; zeroed before; null if `top_k` is 1.
        excluded: u64,
        /// Ends from task to task.
        stride: u64,
        /// Tasks.
        tasks: u64,
        /// Reference length of every task, or of the longest.
        length: u32,
        /// Hits wanted of each task.
        top_k: u32,
        /// Ends this close to a better one are left out.
        exclusion: u64,
    }

    /// One launch of `normalize`: z-normalisation of univariate series of equal length.
    struct Normalize {
        /// The series, one after the other.
        r#in: u64,
        /// Where they go; may be `in`.
        out: u64,
        /// Series.
        count: u64,
        /// Points of each.
        length: u64,
    }

    /// One launch of `settle`: results of a tile, put in their places or together. It is in `native/settle.h`.
    struct Settle {
        /// Row after row of the tile.
        first: u64,
        /// Likewise: plain values, for places where `first` is not finite; null: none.
        second: u64,
        /// Of a divergence: the excess of each row of `out` with itself; null: no divergence.
        own_x: u64,
        /// Of each column.
        own_y: u64,
        /// All results.
        out: u64,
        /// Class (u32) of each row of `out`; null: all 0.
        classes_x: u64,
        /// Of each column; null: all 0.
        classes_y: u64,
        /// `class of x * classes + class of y` (f64): the logarithm of the number of paths.
        log_paths: u64,
        /// Likewise: what a divergence has too much.
        divergences: u64,
        /// Likewise: the least logarithm that keeps its digits. Not null: `second` is judged, and the excess of what
        /// kept its digits goes to `out`, a tile as well, else NaN.
        least: u64,
        /// Numbers from row to row of the tile.
        tile_stride: u64,
        /// Numbers from row to row of `out`.
        out_stride: u64,
        /// Of the tile's first pair, in `out`.
        row: u64,
        /// Likewise.
        column: u64,
        /// Of the tile.
        rows: u64,
        /// Likewise; of zipped pairs not looked at.
        columns: u64,
        /// Of logarithms in results.
        unit: f64,
        /// Of y.
        classes: u32,
        /// [`CROSS`]; [`SYMMETRIC`]: the upper triangle of `out`, and its mirror image; [`ZIPPED`].
        pairing: u32,
        /// 1: added to what is in `out`.
        adds: u32,
        /// 0.
        reserved: u32,
    }

    /// One launch of `total`: weighted sums of rows of numbers. It is in `native/total.h`.
    struct Total {
        /// Row after row.
        r#in: u64,
        /// A last column: a number for each row; null: none.
        beside: u64,
        /// Of each row (f64); null: all 1.
        weights: u64,
        /// Piece after piece of the rows (f64): the sum of each column.
        out: u64,
        /// Rows.
        rows: u64,
        /// Numbers of a row of `in`.
        columns: u64,
        /// Rows of a piece; the last one may have fewer.
        piece: u64,
    }

    /// One launch of `walk`: the way back through recorded choices.
    struct Walk {
        /// As a tracing kernel recorded them.
        choices: u64,
        /// (i, j) as u32 from the last to the first, at `2 * (task * path_stride + step)`.
        points: u64,
        /// Per task, u32: i, j, steps, done.
        state: u64,
        /// Points per task.
        path_stride: u64,
        /// Words of choices per task.
        choice_stride: u64,
        /// Tasks.
        tasks: u64,
        /// Walk inside this strip.
        strip: u32,
        /// 0.
        reserved: u32,
    }

    /// One launch of `soft_forward` or `soft_backward`: pairs in tiles of [`TILE`] x [`TILE`] cells. Tile (r, c) of
    /// task k has the number `(k * down + r) * across + c`, or `k * across + c` where edges are not kept.
    struct Soft {
        /// Its pairs, grid, ticket and measure.
        sweep: Sweep,
        /// Last row of each tile: exponents, then mantissas.
        bottoms: u64,
        /// Last column of each tile, likewise; null: edges are not kept.
        rights: u64,
        /// What is added to the exponents of each tile (f64).
        bases: u64,
        /// Forward: tiles done (u32), `k * down + r`; backward: tiles whose inflow is there; zeroed before.
        progress: u64,
        /// Backward: tiles whose part of `grad_y` is there, likewise; zeroed before.
        added: u64,
        /// Backward: what the strip below hands up to each column, `(k * across + c) * TILE + column`.
        inflow: u64,
        /// Gradients: where the values of `sweep.pairs.x` are, in memory of the same shape.
        grad_x: u64,
        /// Likewise.
        grad_y: u64,
        /// Per task: what gradients are multiplied by; null: 1.
        upstream: u64,
        /// Times `upstream`: the expected alignment of the first task; null: none wanted. Tiles outside the band, and
        /// cells behind a task's lengths, are left as they are.
        alignment: u64,
        /// Numbers from task to task.
        alignment_task: u64,
        /// From row to row.
        alignment_row: u64,
        /// Of the first cell of the first task: costs of the caller's; null: those of x and y. With costs, there are no
        /// gradients to x and y.
        costs: u64,
        /// Numbers from task to task.
        costs_task: i64,
        /// From row to row.
        costs_row: i64,
        /// From column to column.
        costs_column: i64,
        /// Most tiles below each other of any task.
        down: u32,
        /// Most tiles beside each other.
        across: u32,
    }
}

params! {
    /// Name, size in bytes and fields of the layers of [`Sweep`], in its order. The header has their fields one after
    /// the other: nested there, some kernels come out longer.
    LAYERS;

    /// Which pairs, and where their results go.
    struct Pairs {
        /// The rows.
        x: Side,
        /// The columns.
        y: Side,
        /// One number per task, placed as `pairing` says; null: none wanted.
        out: u64,
        /// Pairs (u32, u32) of [`LISTED`] tasks.
        listed: u64,
        /// Numbers from row to row of `out`.
        out_stride: u64,
        /// Tasks `first_task .. first_task + tasks` are done.
        first_task: u64,
        /// How many.
        tasks: u64,
        /// How tasks are numbered: [`CROSS`], [`SYMMETRIC`], [`ZIPPED`] or [`LISTED`].
        pairing: u32,
        /// Channels of a point.
        channels: u32,
    }

    /// Which cells, and whether strips of one pair go to different warps.
    struct Grid {
        /// [`BAND_FULL`], [`BAND_SAKOE`] or [`BAND_TABLE`].
        band: u32,
        /// [`BAND_SAKOE`]: points, or millionths of the longer length.
        radius: u32,
        /// 1: `radius` is in millionths.
        radius_is_fraction: u32,
        /// Kinds [with strips](crate::SweepKind::has_strips): 1: one ticket per strip ("grid sweep"); 0: one ticket per
        /// task.
        spread: u32,
        /// [`BAND_TABLE`]: a [`Range`] per row.
        ranges: u64,
        /// Per task, counted from `first_task`: its first range (u64); null: all 0.
        range_offsets: u64,
    }

    /// Which strips, and what passes from one to the next. Kinds [without strips](crate::SweepKind::has_strips) do not
    /// look at it.
    struct Strips {
        /// States at edges: `slot * edge_stride + i`, part p at `p * edge_part_stride`.
        edges: u64,
        /// Rows per slot.
        edge_stride: u64,
        /// Numbers from part to part.
        edge_part_stride: u64,
        /// [Wide](crate::SweepKind::Wide) sweeps, never null: numbers on their way from strip to strip, each with a
        /// mark as wide, at `slot * edge_stride + i`; with `spread` zeroed before the launch.
        links: u64,
        /// `spread`, of other kinds: rows done (u32), at `task * most_strips + strip`; zeroed before the launch.
        progress: u64,
        /// The next ticket (u64); zeroed before the launch.
        ticket: u64,
        /// Most strips of any task.
        most_strips: u32,
        /// Tracing kernels: the one strip to sweep, or [`ALL_STRIPS`].
        only_strip: u32,
        /// Tracing kernels: 1: only keep edges (first pass); 0: record choices of `only_strip`.
        keep_edges: u32,
        /// 1: the last strip writes its right edge too: the last column of the grid.
        keep_last: u32,
    }

    /// What is recorded besides results.
    struct Trace {
        /// Tracing kernels: recorded choices. [Blocks](crate::SweepKind::Block): the last row's states, totals at
        /// `task * choice_stride + j`, then starts (u32) as many numbers behind as `tasks * choice_stride`.
        choices: u64,
        /// Tracing kernels: words of choices per task; blocks: numbers.
        choice_stride: u64,
    }

    /// What a recurrence is told, and of which results.
    struct Measure {
        /// Weight of `h = 2|i - j| - max(n, m)` at `weights[h + weight_center]`.
        weights: u64,
        /// Where h = 0 is in `weights`.
        weight_center: i64,
        /// The measure's parameters in the order of docs/measures.md.
        parameters: [f64; 4],
        /// Which of its values the measure's option has (edr: 1 normalized; lcss: 1 length; Soft-DTW:
        /// [`SQUARED_EUCLIDEAN`], [`EUCLIDEAN`] or [`MANHATTAN`]).
        option: u32,
        /// 1: only tasks whose place in `out` holds NaN: pairs that a kind which
        /// [may give up](crate::SweepKind::may_give_up) left.
        only_missing: u32,
    }
}
