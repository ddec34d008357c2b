//! What shaders are told.

use bytemuck::{Pod, Zeroable};

/// What a dispatch is told; `Params` of shaders/common.wgsl.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(crate) struct Params {
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) pairing: u32,
    pub(crate) columns: u32,
    pub(crate) x_place: u32,
    pub(crate) y_place: u32,
    pub(crate) x_zero: u32,
    pub(crate) y_zero: u32,
    pub(crate) channels: u32,
    pub(crate) stride: u32,
    pub(crate) edge_stride: u32,
    pub(crate) band: u32,
    pub(crate) radius: u32,
    pub(crate) band_offsets: u32,
    pub(crate) longest: u32,
    pub(crate) choices: u32,
    pub(crate) row_first: u32,
    pub(crate) row_end: u32,
    pub(crate) strip_first: u32,
    pub(crate) strip_end: u32,
    pub(crate) row_base: u32,
    pub(crate) saves: u32,
    pub(crate) edge_first: u32,
    pub(crate) carry_stride: u32,
    pub(crate) block: u32,
    pub(crate) pitch: u32,
    pub(crate) plane: u32,
    pub(crate) ends: u32,
    pub(crate) numbers: [f32; 4],
}
