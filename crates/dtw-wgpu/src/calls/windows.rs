//! Searching z-normalised windows: every window of a reference against normalised queries.
//!
//! A reference is read block by block, once, in memory that does not depend on its length. The windows of a block are
//! normalised and compared on the device, and the hits are chosen here. Only a block of values so small or so large
//! that single precision does not hold their differences is normalised here, too.

use std::sync::Arc;

use dtw_core::normalize::z_normalize;
use dtw_core::{
    Blocks, Match, OwnedBatch, Pairing, Result, SearchOptions, Selection, SeriesBatch, WindowSearch, Windows,
    search_each,
};
use dtw_plan::Order;

use crate::calls::context::Context;
use crate::calls::distances::Source;
use crate::memory::region::Region;
use crate::memory::windows::DeviceWindows;

type Batch<'a> = SeriesBatch<'a, f32>;

/// Windows of a block, where memory allows: enough to fill any device.
const MOST_WINDOWS: u64 = 1 << 18;

/// The best windows of `length` points for every query in every reference, in that order.
pub(crate) fn window_matches(
    context: &mut Context,
    region: &mut Region,
    queries: &Batch<'_>,
    references: &Batch<'_>,
    options: &SearchOptions,
    length: usize,
) -> Result<Vec<Vec<Match<f32>>>> {
    search_each(queries.len(), references, |reference| {
        window_matches_in_blocks(context, region, queries, reference, options, length)
    })
}

/// The best windows for every query in one reference that is read once, block by block.
pub(crate) fn window_matches_in_blocks(
    context: &mut Context,
    region: &mut Region,
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

    // Points come once; each is the first of a window, which has a cost for each query.
    let budget = context.engine.budget;
    let (point, costs_of_one) = (4 * channels as u64, 4 * count as u64);
    let own = point * length as u64;
    if 2 * own > budget.staging {
        return Err(budget.exceeded("a window", 2 * own, budget.staging));
    }
    if costs_of_one > budget.tile {
        return Err(budget.exceeded("the costs of one window", costs_of_one, budget.tile));
    }
    let most = ((budget.staging - own) / (2 * point)).min(budget.tile / costs_of_one).clamp(1, MOST_WINDOWS);
    // Windows that are normalised here.
    let most_here = ((budget.staging / own).min(most)).max(1) as usize;
    let share = budget.limit / 4 / count as u64;
    let selections = (0..count).map(|_| Selection::new(options, share).within(budget.limit)).collect();
    let search = WindowSearch { length, channels, most: most as usize, selections };
    let observer = Arc::clone(&context.observer);
    let (mut normal, mut costs) = (Vec::new(), Vec::new());
    search.run(reference, &*observer, |Windows { count: in_block, points, .. }, offer| {
        let (mut pass, engine) = context.pass(Pairing::Cross);
        // Differences of smaller values may be zero in shaders, those of larger ones infinite.
        let is_usual = |value: &f32| *value == 0.0 || (1e-30..1e37).contains(&value.abs());
        let most_channels = engine.gpu.limits().max_compute_workgroups_per_dimension;
        if channels <= most_channels as usize && points.iter().all(is_usual) {
            let points = region.upload(&engine.gpu, points, "points of windows")?;
            let windows = DeviceWindows { points, length, channels };
            let orders = [&Order::given(&normalized, 0), &Order::equal(in_block, length)];
            let sources = [Source::Batch(&normalized), Source::Windows(&windows)];
            costs.resize(count * in_block, 0.0);
            engine.distances_of(&mut pass, orders, sources, &mut costs)?;
            return costs.chunks_exact(in_block).enumerate().try_for_each(|(q, costs)| offer(q, 0, costs));
        }
        for start in (0..in_block).step_by(most_here) {
            let end = in_block.min(start + most_here);
            normal.clear();
            for w in start..end {
                let at = normal.len();
                normal.extend_from_slice(&points[w * channels..(w + length) * channels]);
                z_normalize(&mut normal[at..], channels);
            }
            let batch = SeriesBatch::equal(&normal, end - start, length, channels)?;
            costs.resize(count * (end - start), 0.0);
            engine.distances(&mut pass, &normalized, &batch, &mut costs)?;
            for (q, costs) in costs.chunks_exact(end - start).enumerate() {
                offer(q, start, costs)?;
            }
        }
        Ok(())
    })
}
