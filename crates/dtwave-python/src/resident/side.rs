//! Series in a GPU's memory, as the Python half describes them.

use dtwave::Float;
use dtwave::cuda::{DeviceBatch, DeviceLayout, Format, Strided};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Series on the device: `(address, format, (series, points, channels), strides, times, lengths, room)`. Strides are
/// counted in numbers. `lengths` are those of padded series that lie `room` points apart; without `room` they follow
/// each other.
pub(super) struct Side {
    address: u64,
    format: Format,
    pub(super) shape: (usize, usize, usize),
    strides: (i64, i64, i64),
    times: u64,
    layout: Layout,
}

enum Layout {
    Equal,
    /// Offsets.
    Ragged(Vec<usize>),
    Padded(Vec<usize>, usize),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Side {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        type Parts<'a> = (
            u64,
            std::borrow::Cow<'a, str>,
            (usize, usize, usize),
            (i64, i64, i64),
            u64,
            Option<Vec<usize>>,
            Option<usize>,
        );
        let (address, format, shape, strides, times, lengths, room): Parts<'_> = object.extract()?;
        let format = match &*format {
            "f32" => Format::F32,
            "f64" => Format::F64,
            "f16" => Format::F16,
            "bf16" => Format::Bf16,
            other => return Err(PyTypeError::new_err(format!("no kernel reads {other}"))),
        };
        let layout = match (lengths, room) {
            (None, _) => Layout::Equal,
            (Some(lengths), Some(room)) => Layout::Padded(lengths, room),
            (Some(lengths), None) => {
                let ends = lengths.iter().scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                });
                Layout::Ragged(std::iter::once(0).chain(ends).collect())
            }
        };
        Ok(Self { address, format, shape, strides, times, layout })
    }
}

impl Side {
    pub(super) fn layout(&self) -> DeviceLayout<'_> {
        match &self.layout {
            Layout::Equal => DeviceLayout::Equal { count: self.shape.0, length: self.shape.1 },
            Layout::Ragged(offsets) => DeviceLayout::Ragged(offsets),
            Layout::Padded(lengths, room) => DeviceLayout::Padded { lengths, room: *room },
        }
    }

    pub(super) fn longest(&self) -> usize {
        match &self.layout {
            Layout::Equal => self.shape.1,
            Layout::Ragged(offsets) => offsets.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0),
            // With the padding, so that lengths may change from call to call of a plan.
            Layout::Padded(..) => self.shape.1,
        }
    }

    pub(super) fn batch<T: Float>(&self) -> DeviceBatch<'_> {
        let (_, points, channels) = self.shape;
        let (series, point, channel) = self.strides;
        let own = if size_of::<T>() == 4 { Format::F32 } else { Format::F64 };
        // Where there is one of something, its stride does not matter.
        let is_packed = self.format == own
            && (channels == 1 || channel == 1)
            && (points == 1 || point == channels as i64)
            && match self.layout {
                Layout::Equal => self.shape.0 == 1 || series == (points * channels) as i64,
                _ => true,
            };
        let strided = Strided { format: self.format, series, point, channel };
        DeviceBatch {
            values: self.address,
            strided: (!is_packed).then_some(strided),
            times: self.times,
            channels,
            layout: self.layout(),
        }
    }
}
