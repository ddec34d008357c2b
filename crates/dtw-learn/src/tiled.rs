//! Distance matrices, tile by tile.
//!
//! ```text
//! D[i, j] = d(x_i, y_j)        [n_x, n_y], visited as rectangles that fit the memory limit
//! ```
//!
//! Knows no measure: it cuts ([`dtw_core::TilePlan`]), plans once per tile shape, and hands each tile to a visitor.
//!
//! ```
//! use dtw_core::{Pairing, SeriesBatch, Spec};
//! use dtw_learn::{Context, pairwise};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let values = [0.0_f64, 0.0, 1.0, 1.0, 3.0, 3.0];
//! let x = SeriesBatch::equal(&values, 3, 2, 1)?;
//! let matrix = pairwise(&Context::new(&backend), &Spec::dtw(), Pairing::SelfSymmetric, x, x)?;
//! assert_eq!(matrix, [0.0, 2.0, 18.0, 2.0, 0.0, 8.0, 18.0, 8.0, 0.0]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dtw_core::{
    Anchor, Error, Pairing, Problem, Result, Scalar, SeriesBatch, Shape, Spec, Tile, TilePlan, bail_invalid,
};

use crate::Context;
use crate::ahead::ahead;

/// Tiles are no larger than this even where memory allows more, so that cancelling and progress stay prompt.
const MAX_SIDE: usize = 2048;

/// As [`MAX_SIDE`], of backends that compute elsewhere: they are fast, and idle from the end of a tile to the next.
const MAX_SIDE_ELSEWHERE: usize = 4096;

/// Calls `visit` with every tile of the distance matrix and its values, `[tile.rows, tile.columns]` row-major.
///
/// `pairing` is [`Pairing::Cross`], or [`Pairing::SelfSymmetric`] (`y` is then ignored): only the upper triangle of
/// tiles is visited, and the visitor mirrors those for which [`Tile::is_mirrored`] says so. Tiles come row by row.
/// A backend that computes elsewhere ([`dtw_core::Backend::computes_elsewhere`]) goes on with the next tile while one
/// is visited. A quarter of the context's memory limit goes to tiles, the rest to the backend's scratch.
///
/// Time: one sweep per pair. Memory: one tile, or two.
///
/// # Errors
/// [`Error::Invalid`] for bad series or parameters, for [`Pairing::Zipped`], and for a symmetric matrix of subsequence
/// distances, which are not symmetric; [`Error::OutOfMemory`] when not one value fits; [`Error::Cancelled`]; what the
/// backend or the visitor returns.
pub fn for_each_tile<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    mut visit: impl FnMut(&Tile, &[T]) -> Result<()>,
) -> Result<()> {
    for_each_tile_within(context, spec, pairing, x, y, None, &mut visit)
}

/// As [`for_each_tile`], with infinity for distances above a cutoff ([`dtw_core::Plan::distances_within`]). Compiled
/// once for all visitors.
pub(crate) fn for_each_tile_within<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    cutoff: Option<f64>,
    visit: &mut dyn FnMut(&Tile, &[T]) -> Result<()>,
) -> Result<()> {
    let y = if pairing == Pairing::SelfSymmetric { x } else { y };
    if pairing == Pairing::SelfSymmetric && spec.anchor == Anchor::Subsequence {
        bail_invalid!("subsequence distances are not symmetric: ask for the cross matrix of x with x");
    }
    // Checked here as a whole, so that errors name the series of the batch and not of a tile.
    Problem::of(spec.clone(), pairing, &x, &y)?.check_input(&x, &y)?;
    let is_elsewhere = context.backend().computes_elsewhere();
    let (at_once, most) = if is_elsewhere { (2, MAX_SIDE_ELSEWHERE) } else { (1, MAX_SIDE) };
    let value_bytes = T::DTYPE.bytes();
    let budget_bytes = context.memory_limit_bytes() / 4 / at_once;
    let tiles = TilePlan::new(pairing, x.len(), y.len(), value_bytes, budget_bytes)?.with_max_side(most);
    let tile_bytes = (tiles.side() * tiles.side() * value_bytes) as u64 * at_once;
    let mut plans = HashMap::new();
    let mut compute = |tile: &Tile, values: &mut Vec<T>| {
        context.check_cancelled()?;
        let (rows, columns) = (x.slice(tile.rows.clone()), y.slice(tile.columns.clone()));
        let plan = match plans.entry((tile.rows.len(), tile.columns.len(), tile.pairing)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let (n_x, n_y) = (tile.rows.len(), tile.columns.len());
                let shape = Shape { n_x, n_y, ..Shape::of(&x, &y) };
                free.insert(context.plan(Problem::new(spec.clone(), tile.pairing, shape)?, tile_bytes)?)
            }
        };
        if values.len() < tile.len() {
            // Pages that come when they are written, by whoever does.
            *values = vec![T::ZERO; tile.len()];
        }
        values.truncate(tile.len());
        match cutoff {
            None => plan.distances(rows, columns, values),
            Some(cutoff) => plan.distances_within(rows, columns, cutoff, values),
        }
    };
    if is_elsewhere && tiles.len() > 1 {
        return ahead(tiles.tiles(), compute, |tile, values| visit(tile, values));
    }
    let mut values = Vec::new();
    for tile in tiles.tiles() {
        compute(&tile, &mut values)?;
        visit(&tile, &values)?;
    }
    Ok(())
}

/// As [`for_each_tile`], but a distance that is not finite ends it, since such distances cannot be ranked or summed:
/// `pair(i, j)` says in the error which two series they are.
pub(crate) fn for_each_finite_tile<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    pair: &dyn Fn(usize, usize) -> String,
    visit: &mut dyn FnMut(&Tile, &[T]) -> Result<()>,
) -> Result<()> {
    for_each_tile_within(context, spec, pairing, x, y, None, &mut |tile, values| {
        // Without a way out of the loop, it looks at several values at a time.
        if !values.iter().fold(true, |all, value| all & value.finite())
            && let Some(at) = values.iter().position(|value| !value.finite())
        {
            let width = tile.columns.len();
            let (i, j) = (tile.rows.start + at / width, tile.columns.start + at % width);
            bail_invalid!("the distance of {} is {}: scale or normalise the data", pair(i, j), values[at]);
        }
        visit(tile, values)
    })
}

/// The whole distance matrix, `[n_x, n_y]` row-major (`[n_x, n_x]` for [`Pairing::SelfSymmetric`]).
///
/// Time: one sweep per pair. Memory: the matrix and one tile.
///
/// # Errors
/// As [`for_each_tile`]; [`Error::OutOfMemory`] when the matrix does not fit the context's memory limit.
pub fn pairwise<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
) -> Result<Vec<T>> {
    let columns = if pairing == Pairing::SelfSymmetric { x.len() } else { y.len() };
    let bytes = (x.len() as u64).saturating_mul(columns as u64).saturating_mul(T::DTYPE.bytes() as u64);
    if bytes > context.memory_limit_bytes() {
        return Err(Error::OutOfMemory {
            what: format!("the {} x {columns} distance matrix", x.len()),
            requested_bytes: bytes,
            available_bytes: context.memory_limit_bytes(),
        });
    }
    let mut matrix = vec![T::ZERO; x.len() * columns];
    for_each_tile(context, spec, pairing, x, y, |tile, values| {
        for (i, row) in tile.rows.clone().zip(values.chunks_exact(tile.columns.len())) {
            for (j, value) in tile.columns.clone().zip(row) {
                matrix[i * columns + j] = *value;
                if tile.is_mirrored(pairing) {
                    matrix[j * columns + i] = *value;
                }
            }
        }
        Ok(())
    })?;
    Ok(matrix)
}
