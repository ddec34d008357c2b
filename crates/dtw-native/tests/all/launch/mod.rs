//! A kernel's launch on the host's machine, without a planner: series as `prepare` lays them out, buffers, results.

use dtw_core::Scalar;
use dtw_kernels::Kernel;
use dtw_kernels::params::{PAD, Params, Side, Sweep};
use dtw_native::{Buffer, HostMachine, Machine};

/// A machine and what lies in its memory.
pub(crate) struct Launch {
    machine: HostMachine,
    buffers: Vec<<HostMachine as Machine>::Buffer>,
}

impl Launch {
    pub(crate) fn new() -> Self {
        Self { machine: HostMachine::new(1 << 30), buffers: Vec::new() }
    }

    /// Address of a copy.
    pub(crate) fn hold<T: Copy>(&mut self, values: &[T]) -> u64 {
        // SAFETY: only called with slices of plain numbers; the slice borrows `values`.
        let bytes = unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) };
        let buffer = self.machine.allocate(bytes.len().max(16)).unwrap();
        self.machine.upload(&buffer, 0, bytes).unwrap();
        self.buffers.push(buffer);
        self.buffers.last().unwrap().address()
    }

    /// Prepared series of one channel; `gaps` says what each point of a series costs to delete.
    #[allow(dead_code, reason = "not all tests need it")]
    pub(crate) fn side<T: Scalar>(&mut self, all: &[Vec<f64>], gaps: impl Fn(&[f64]) -> Vec<f64>) -> Side {
        self.side_of_points::<T>(1, all, gaps)
    }

    /// The same of series of several channels, point by point.
    #[allow(dead_code, reason = "not all tests need it")]
    pub(crate) fn side_of_points<T: Scalar>(
        &mut self,
        channels: usize,
        all: &[Vec<f64>],
        gaps: impl Fn(&[f64]) -> Vec<f64>,
    ) -> Side {
        let zeros = || vec![T::from_f64(0.0); PAD as usize * channels];
        let (mut values, mut costs, mut sums) = (zeros(), zeros(), zeros());
        let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
        for series in all {
            offsets.push((values.len() / channels) as u64);
            lengths.push((series.len() / channels) as u32);
            values.extend(series.iter().map(|value| T::from_f64(*value)).chain(zeros()));
            let gaps = gaps(series);
            costs.extend(gaps.iter().map(|value| T::from_f64(*value)).chain(zeros()));
            let mut total = 0.0;
            let running = gaps.iter().map(|gap| {
                total += gap;
                T::from_f64(total)
            });
            sums.extend(running.chain(zeros()));
        }
        Side {
            values: self.hold(&values),
            gaps: self.hold(&costs),
            sums: self.hold(&sums),
            offsets: self.hold(&offsets),
            lengths: self.hold(&lengths),
            length: *lengths.iter().max().unwrap(),
            count: all.len() as u32,
            ..Side::default()
        }
    }

    pub(crate) fn run(&self, kernel: &'static Kernel, p: &Sweep, blocks: u32) {
        self.machine.launch(kernel, p.bytes(), blocks).unwrap();
        self.machine.synchronize().unwrap();
    }

    /// Numbers from a buffer that was held.
    pub(crate) fn read<T: Scalar>(&self, address: u64, count: usize) -> Vec<f64> {
        let buffer = self.buffers.iter().find(|buffer| buffer.address() == address).unwrap();
        let mut raw = vec![0_u8; count * size_of::<T>()];
        self.machine.download(buffer, 0, &mut raw).unwrap();
        raw.chunks_exact(size_of::<T>())
            .map(|raw| match raw.len() {
                4 => f64::from(f32::from_ne_bytes(raw.try_into().unwrap())),
                _ => f64::from_ne_bytes(raw.try_into().unwrap()),
            })
            .collect()
    }
}

/// Numbers that look normally distributed, the same every time.
#[allow(dead_code, reason = "not all tests need it")]
pub(crate) fn noise(length: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    (0..length).map(|_| f64::from((0..12).map(|_| uniform()).sum::<f64>() as f32 - 6.0)).collect()
}
