//! Matrices of costs that the caller has on the device: where they are and how they lie.

use dtw_kernels::params;

use crate::series::device_batch::{DeviceBatch, DeviceLayout};

/// Matrices of costs on the device, one for each pair, as numbers of the plan's type.
#[derive(Debug, Clone, Copy)]
pub struct DeviceCosts<'a> {
    /// Address of the first cost of matrix 0.
    pub values: u64,
    /// Matrices, rows and columns.
    pub shape: [usize; 3],
    /// Numbers from a matrix to the next, from a row to the next and from a column to the next. They may be 0 or
    /// negative.
    pub strides: [i64; 3],
    /// How many rows and columns of each matrix count, in host memory; `None`: all. Other costs are not read.
    pub lengths: [Option<&'a [usize]>; 2],
}

/// Where results go on the device, as addresses of numbers of the plan's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceCostGradients {
    /// Upstream gradient, one per pair, which is read; 0: all ones.
    pub upstream: u64,
    /// Values, one per pair.
    pub values: u64,
    /// Gradient to the costs, in their shape and without gaps: the expected alignment times `upstream`, and 0 where
    /// costs do not count and outside the band. 0: not wanted.
    pub gradient: u64,
}

impl<'a> DeviceCosts<'a> {
    /// The matrices as series whose points are their rows, and their columns: of these, lengths alone are looked at.
    pub(crate) fn sides(&self) -> [DeviceBatch<'a>; 2] {
        let [count, n, m] = self.shape;
        [0, 1].map(|side| {
            let length = [n, m][side];
            let layout = match self.lengths[side] {
                None => DeviceLayout::Equal { count, length },
                Some(lengths) => DeviceLayout::Padded { lengths, room: length },
            };
            DeviceBatch::packed(0, 1, layout)
        })
    }
}

/// What a launch is told of matrices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matrices {
    values: u64,
    shape: [usize; 3],
    strides: [i64; 3],
    /// 0: not wanted.
    pub(crate) gradient: u64,
}

impl Matrices {
    pub(crate) fn new(costs: &DeviceCosts<'_>, gradient: u64) -> Self {
        Self { values: costs.values, shape: costs.shape, strides: costs.strides, gradient }
    }

    /// Tells a launch whose first task is matrix `first`.
    pub(crate) fn tell<T>(&self, p: &mut params::Soft, first: usize) {
        let (bytes, [_, n, m]) = (size_of::<T>() as i64, self.shape);
        p.costs = self.values.wrapping_add_signed(first as i64 * self.strides[0] * bytes);
        [p.costs_task, p.costs_row, p.costs_column] = self.strides;
        (p.alignment_task, p.alignment_row) = ((n * m) as u64, m as u64);
        if self.gradient != 0 {
            p.alignment = self.gradient + first as u64 * p.alignment_task * bytes as u64;
        }
    }
}
