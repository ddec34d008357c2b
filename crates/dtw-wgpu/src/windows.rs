//! Searching z-normalised windows: every window of a reference against normalised queries.
//!
//! A reference is read block by block, once, in memory that does not depend on its length. The windows of a block are
//! normalised and compared on the device, and the hits are chosen here. Only a block of values so small or so large
//! that single precision does not hold their differences is normalised here, too.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use dtw_core::normalize::z_normalize;
use dtw_core::{
    Blocks, InMemory, Match, OwnedBatch, Pairing, Result, SearchOptions, Selection, SeriesBatch,
    WindowBlocks, Windows,
};
use dtw_plan::{Order, stop_if_cancelled};

use crate::engine::{Pass, Source};
use crate::gpu::Gpu;
use crate::pipelines::BINDINGS;
use crate::plan::WgpuPlan;
use crate::side::Side;

type Batch<'a> = SeriesBatch<'a, f32>;

/// Windows of a block, where memory allows: enough to fill any device.
const MOST_WINDOWS: u64 = 1 << 18;

impl WgpuPlan {
    /// The best windows of `length` points for every query in every reference, in that order.
    pub(crate) fn window_matches(
        &mut self,
        queries: &Batch<'_>,
        references: &Batch<'_>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let mut matches = vec![Vec::new(); queries.len() * references.len()];
        for (r, reference) in references.iter().enumerate() {
            let mut reference = InMemory::new(reference);
            let hits = self.window_matches_in_blocks(queries, &mut reference, options, length)?;
            for (q, hits) in hits.into_iter().enumerate() {
                matches[q * references.len() + r] = hits;
            }
        }
        Ok(matches)
    }

    /// The same in a reference that is read once.
    pub(crate) fn window_matches_in_blocks(
        &mut self,
        queries: &Batch<'_>,
        reference: &mut dyn Blocks<f32>,
        options: &SearchOptions,
        length: usize,
    ) -> Result<Vec<Vec<Match<f32>>>> {
        let (channels, count) = (queries.channels(), queries.len());
        let mut normalized = OwnedBatch::new(channels)?;
        for (q, query) in queries.iter().enumerate() {
            normalized.push(query.values)?;
            z_normalize(normalized.series_mut(q), channels);
        }
        let normalized = normalized.batch();

        // Points come once; each is the first of a window, which brings a cost of each query.
        let budget = self.engine.budget;
        let (point, costs_of_one) = (4 * channels as u64, 4 * count as u64);
        let own = point * length as u64;
        if 2 * own > budget.staging {
            return Err(budget.exceeded("a window", 2 * own, budget.staging));
        }
        if costs_of_one > budget.tile {
            return Err(budget.exceeded("the costs of one window", costs_of_one, budget.tile));
        }
        let most =
            ((budget.staging - own) / (2 * point)).min(budget.tile / costs_of_one).clamp(1, MOST_WINDOWS);
        // Windows that are normalised here.
        let most_here = ((budget.staging / own).min(most)).max(1) as usize;
        let share = budget.limit / 4 / count as u64;
        let mut selections: Vec<Selection<f32>> =
            (0..count).map(|_| Selection::new(options, share).within(budget.limit)).collect();
        let mut blocks = WindowBlocks::new(length, channels);
        let (mut normal, mut costs) = (Vec::new(), Vec::new());
        loop {
            stop_if_cancelled(&*self.observer)?;
            let Some(Windows { first, count: given, points }) = blocks.next(reference, most as usize)? else {
                return Ok(blocks.matches(selections));
            };
            if given == 0 {
                continue;
            }
            let Self { problem, functor, banding, engine, points: region, observer, .. } = self;
            let mut pass = Pass {
                spec: problem.spec(),
                functor: *functor,
                excess: false,
                channel: None,
                pairing: Pairing::Cross,
                banding,
                observer: &**observer,
                adds: false,
            };
            // Of smaller ones there could be differences that shaders take for zero; of larger ones, infinite ones.
            let is_usual = |value: &f32| *value == 0.0 || (1e-30..1e37).contains(&value.abs());
            let most_channels = engine.gpu.limits().max_compute_workgroups_per_dimension;
            if channels <= most_channels as usize && points.iter().all(is_usual) {
                let bytes = bytemuck::cast_slice(points);
                let buffer = region.reserve(&engine.gpu, bytes.len() as u64, "points of windows")?;
                engine.gpu.upload(buffer, 0, bytes)?;
                let windows = DeviceWindows { points: buffer, length, channels };
                let orders = [&Order::given(&normalized, 0), &Order::equal(given, length)];
                let sources = [Source::Batch(&normalized), Source::Windows(&windows)];
                costs.resize(count * given, 0.0);
                engine.distances_of(&mut pass, orders, sources, &mut costs)?;
                for (selection, costs) in selections.iter_mut().zip(costs.chunks_exact(given)) {
                    selection.offer(costs, |w| first + w)?;
                }
                continue;
            }
            for start in (0..given).step_by(most_here) {
                let end = given.min(start + most_here);
                normal.clear();
                for w in start..end {
                    let at = normal.len();
                    normal.extend_from_slice(&points[w * channels..(w + length) * channels]);
                    z_normalize(&mut normal[at..], channels);
                }
                let batch = SeriesBatch::equal(&normal, end - start, length, channels)?;
                costs.resize(count * (end - start), 0.0);
                engine.distances(&mut pass, &normalized, &batch, &mut costs)?;
                for (selection, costs) in selections.iter_mut().zip(costs.chunks_exact(end - start)) {
                    selection.offer(costs, |w| first + start + w)?;
                }
            }
        }
    }
}

/// The points of a reference on the device, whose windows are a side's series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeviceWindows<'a> {
    points: &'a wgpu::Buffer,
    length: usize,
    pub(crate) channels: usize,
}

/// What a dispatch is told; `Told` of shaders/windows.wgsl.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Told {
    skipped: u32,
    first: u32,
    count: u32,
    length: u32,
    channels: u32,
}

impl DeviceWindows<'_> {
    /// Normalises the windows at these places into a side, about `values` values a dispatch.
    pub(crate) fn load(
        &self,
        gpu: &Gpu,
        params: &wgpu::Buffer,
        values: u64,
        side: &mut Side,
        places: &Range<usize>,
    ) -> Result<()> {
        let (count, points) = (places.len() as u64, (self.length * self.channels) as u64);
        let most = u64::from(gpu.limits().max_compute_workgroups_per_dimension);
        let step = (values / points).clamp(1, most);
        let series = side.reserve(gpu, places, 4 * (2 * count + self.channels as u64 + count * points))?;
        let mut buffers: [&wgpu::Buffer; BINDINGS] = std::array::from_fn(|binding| gpu.unused(binding));
        (buffers[0], buffers[1], buffers[4]) = (params, self.points, series);
        let group = gpu.bind_group(buffers)?;
        let source = || include_str!("../shaders/windows.wgsl").to_owned();
        let pipeline = gpu.pipeline("windows", source)?;
        for first in (0..count).step_by(step as usize) {
            let told = Told {
                skipped: places.start as u32,
                first: first as u32,
                count: count as u32,
                length: self.length as u32,
                channels: self.channels as u32,
            };
            let now = step.min(count - first);
            gpu.scoped("normalising windows", |device, queue| {
                queue.write_buffer(params, 0, bytemuck::bytes_of(&told));
                let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(now as u32, self.channels as u32, 1);
                drop(pass);
                queue.submit([encoder.finish()]);
            })?;
        }
        Ok(())
    }
}
