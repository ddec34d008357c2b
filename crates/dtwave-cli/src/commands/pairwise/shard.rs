//! A shard of a matrix: which tiles it has, and computing them into a file of its own.
//!
//! All shards must agree on the cut without asking each other. So it follows from the inputs, the options that change
//! results, and the number of shards alone: not from the memory limit, the threads, or anything else of a machine.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Result, ensure};
use dtwave::{Pairing, Problem, SeriesBatch, Session, Spec, Tile, TilePlan};

use super::memory::Overflow;
use super::stream::{Filled, fill, place};
use crate::engine::{Cut, Element, Engine, Matrix};
use crate::matrix::{self, Identity, Opened, Part};
use crate::options::byte_size;
use crate::output::Target;
use crate::progress::Progress;
use crate::report;

/// A shard has about so many tiles at least, where they are not too small for that: shards differ by a tile.
const TILES: usize = 16;
/// Rows and columns of a tile that is worth a call of a device.
const LEAST_SIDE: usize = 16;

/// What came of a shard.
pub(super) struct Computed {
    /// Grid cells that this run swept.
    pub(super) cells: u64,
    pub(super) overflow: Overflow,
    /// How many tiles the shard has, and how many the matrix.
    pub(super) tiles: [usize; 2],
}

/// Computes a shard, or what an earlier run left of it.
pub(super) fn compute<T: Element>(
    engine: &Engine,
    matrix: &Matrix<'_, T>,
    job: &Identity,
    part: Part,
    target: Target,
    progress: &Arc<Progress>,
    finish: impl Fn(T) -> T,
) -> Result<Computed> {
    let file = target.shown().to_path_buf();
    // Everything that is refused of a matrix is refused of a shard.
    engine.cut(matrix)?;
    let work = Work::new(matrix)?;
    let cut = cut(engine, matrix, part, &work)?;
    let tiles = [cut.share.len(), cut.plan.len()];
    let before = progress.cells();
    progress.expect(before + work.cells(cut.tiles()));
    let overflow_of_all = || -> Result<Overflow> {
        let mut overflow = Overflow::default();
        let symmetric = matrix.pairing == Pairing::SelfSymmetric;
        matrix::read_shard::<T>(&file, |tile, values| {
            overflow.count(values, if symmetric && tile.rows != tile.columns { 2 } else { 1 });
        })?;
        Ok(overflow)
    };
    let places = cut.tiles().map(|tile| place(&tile)).collect();
    let (writer, notes) = match matrix::open_shard::<T>(target, job, part, places)? {
        Opened::Unfinished(writer, notes) => (writer, notes),
        Opened::Finished | Opened::Named(_) => {
            report::note(&format!("{} is finished already", file.display()));
            return Ok(Computed { cells: 0, overflow: overflow_of_all()?, tiles });
        }
    };
    notes.iter().for_each(|note| report::warn(note));
    let filled = fill(engine, matrix, &cut, *writer, progress, finish, "the same command continues", true)?;
    let Filled { spared, done, mut overflow } = filled;
    engine.cancel.keeps(format!("; the shard is in {}", file.display()));
    if done > 0 {
        // The earlier run did not live to tell of its own.
        overflow = overflow_of_all()?;
    }
    Ok(Computed { cells: (progress.cells() - before).saturating_sub(spared), overflow, tiles })
}

/// The tiles of all shards, and those of this one.
fn cut<T: Element>(engine: &Engine, matrix: &Matrix<'_, T>, part: Part, work: &Work) -> Result<Cut> {
    let Matrix { spec, pairing, x, y, .. } = matrix;
    let values = x.len() as u64 * y.len() as u64 / if *pairing == Pairing::SelfSymmetric { 2 } else { 1 };
    let side = (values / (TILES * part.count()) as u64).isqrt() as usize;
    let session = Session::new((*spec).clone()).memory_limit(u64::MAX);
    let plan = session.tile_plan(*pairing, x, y)?.with_max_side(side.max(LEAST_SIDE));
    // As much of the limit as a tile of any matrix takes.
    let side = plan.side();
    let least_bytes = 10 * (side * side * T::BYTES) as u64;
    ensure!(
        engine.memory_limit_bytes >= least_bytes,
        "--memory-limit is too small: all shards of this matrix have tiles of {side} × {side}, which need {}",
        byte_size(least_bytes)
    );
    let share = share(&plan, part, |tile| work.of(tile));
    Ok(Cut { plan, share })
}

/// The tiles of a shard, by their numbers: consecutive ones, so that shards have about the same work.
fn share(plan: &TilePlan, part: Part, work: impl Fn(&Tile) -> u128) -> Range<usize> {
    let all: u128 = plan.tiles().map(|tile| work(&tile)).sum();
    let count = part.count() as u128;
    let mut before = 0;
    // A tile is of the shard in whose part of the work its middle lies.
    let of = plan.tiles().map(|tile| {
        let own = work(&tile);
        let middle = 2 * before + own;
        before += own;
        (middle * count / (2 * all).max(1)).min(count - 1) as usize + 1
    });
    let mut share = 0..0;
    for (index, number) in of.enumerate() {
        share.start = if number < part.number() { index + 1 } else { share.start };
        share.end = if number <= part.number() { index + 1 } else { share.end };
    }
    share
}

/// How much work tiles are, from the lengths of their series.
///
/// The work of a pair is the product of two numbers, each the root of the cells of a series with itself: exact on the
/// full grid, and near for bands. So a tile takes no longer than its edges.
struct Work {
    /// Sums over the series before each one.
    x: Vec<u128>,
    y: Vec<u128>,
    /// Of the squares.
    own: Vec<u128>,
}

impl Work {
    fn new<T: Element>(matrix: &Matrix<'_, T>) -> Result<Self> {
        let mut known = HashMap::new();
        let x = roots(matrix.spec, &matrix.x, &mut known)?;
        let y = roots(matrix.spec, &matrix.y, &mut known)?;
        let squares: Vec<u128> = x.iter().map(|root| root * root).collect();
        let [x, y, own] = [x, y, squares].map(|numbers| sums(&numbers));
        Ok(Work { x, y, own })
    }

    fn of(&self, tile: &Tile) -> u128 {
        let over = |sums: &[u128], range: &Range<usize>| sums[range.end] - sums[range.start];
        let all = over(&self.x, &tile.rows) * over(&self.y, &tile.columns);
        match tile.pairing {
            Pairing::SelfSymmetric => (all + over(&self.own, &tile.rows)) / 2,
            _ => all,
        }
    }

    /// About how many cells tiles have.
    fn cells(&self, tiles: impl Iterator<Item = Tile>) -> u64 {
        u64::try_from(tiles.map(|tile| self.of(&tile)).sum::<u128>()).unwrap_or(u64::MAX)
    }
}

/// The root of the cells of each series with itself.
fn roots<T: Element>(
    spec: &Spec,
    batch: &SeriesBatch<'_, T>,
    known: &mut HashMap<usize, u128>,
) -> Result<Vec<u128>> {
    let root = |at: usize| {
        let length = batch.length(at);
        if let Some(root) = known.get(&length) {
            return Ok(*root);
        }
        let own = batch.slice(at..at + 1);
        let cells = Problem::of(spec.clone(), Pairing::Cross, &own, &own)?.cells(&own, &own)?;
        let root = u128::from(cells.isqrt().max(1));
        known.insert(length, root);
        Ok(root)
    };
    (0..batch.len()).map(root).collect()
}

/// 0, the first, the first two …
fn sums(numbers: &[u128]) -> Vec<u128> {
    let mut sum = 0;
    let running = numbers.iter().map(|number| {
        sum += number;
        sum
    });
    [0].into_iter().chain(running).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: usize, count: usize) -> Part {
        Part::new(number, count).unwrap()
    }

    /// All tiles, each in one shard, in order; and no shard has more than its part of the work and a tile.
    #[test]
    fn shares_are_all_tiles_and_about_the_same_work() {
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric] {
            // Long series first, so that tiles differ.
            let roots: Vec<u128> = (0..97).map(|i| 200 - 2 * i).collect();
            let squares: Vec<u128> = roots.iter().map(|root| root * root).collect();
            let [x, y, own] = [&roots, &roots, &squares].map(|numbers| sums(numbers));
            let work = Work { x, y, own };
            let plan = TilePlan::new(pairing, 97, 97, 8, 8 * 100).unwrap();
            let of = |range: Range<usize>| -> u128 {
                plan.tiles().filter(|tile| range.contains(&tile.index)).map(|tile| work.of(&tile)).sum()
            };
            let largest = plan.tiles().map(|tile| work.of(&tile)).max().unwrap();
            for count in [1, 2, 3, 7, 16, 300] {
                let mut next = 0;
                for number in 1..=count {
                    let share = share(&plan, part(number, count), |tile| work.of(tile));
                    assert_eq!(share.start.max(next), next, "{pairing:?} {number}/{count}");
                    assert!(share.is_empty() || share.start == next, "{pairing:?} {number}/{count}");
                    next = next.max(share.end);
                    let fair = of(0..plan.len()) / count as u128;
                    assert!(of(share.clone()) <= fair + largest, "{pairing:?} {number}/{count}: {share:?}");
                }
                assert_eq!(next, plan.len(), "{pairing:?} {count}");
            }
        }
    }

    /// The work of a tile is the number of its cells, where every pair has its full grid.
    #[test]
    fn work_is_cells_on_the_full_grid() {
        let mut batch = dtwave::OwnedBatch::<f64>::new(1).unwrap();
        (1..30).for_each(|length| batch.push(&vec![0.5; length]).unwrap());
        let (spec, all) = (Spec::dtw(), batch.batch());
        for pairing in [Pairing::Cross, Pairing::SelfSymmetric] {
            let matrix = Matrix { spec: &spec, pairing, x: batch.batch(), y: batch.batch(), cutoff: None };
            let work = Work::new(&matrix).unwrap();
            let plan = TilePlan::new(pairing, 29, 29, 8, 8 * 49).unwrap();
            let problem = Problem::of(spec.clone(), pairing, &all, &all).unwrap();
            assert_eq!(work.cells(plan.tiles()), problem.cells(&all, &all).unwrap());
            for tile in plan.tiles() {
                let (x, y) = (all.slice(tile.rows.clone()), all.slice(tile.columns.clone()));
                let problem = Problem::of(spec.clone(), tile.pairing, &x, &y).unwrap();
                assert_eq!(work.of(&tile), u128::from(problem.cells(&x, &y).unwrap()), "{tile:?}");
            }
        }
    }
}
