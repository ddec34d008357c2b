//! Warping paths: which arrival each cell chose, two bits a cell, and the walk back.
//!
//! Rows are swept in strips. A strip small enough keeps its choices; for more rows the edges between strips are kept
//! instead and each strip is swept again when the walk reaches it. Where even the edges do not fit the memory limit,
//! only every q-th is kept and the stretch between two is treated the same way, down to linear memory. Every sweep
//! computes the same bits, so the path does not depend on the memory it was found in.

use std::ops::Range;

use dtw_core::recurrence::MOST_PARTS;
use dtw_core::{ColumnRanges, Error, Observer, Path, Result, Scalar};

use crate::choices::Choices;
use crate::prepare::StripSweep;

/// Rows whose choices are kept at once; a multiple of every lane count.
const ROWS: usize = 512;

/// How many edges to keep per level so that `strips` strips fit: `(edges per level, levels)`.
fn plan_levels(strips: usize, edge_bytes: u64, choice_bytes: u64, limit: u64) -> Result<(usize, usize)> {
    let mut needed = u64::MAX;
    for levels in 1..=usize::BITS as usize {
        let mut fan = 1;
        while fan_covers(fan, levels) < strips {
            fan += 1;
        }
        let bytes = choice_bytes + edge_bytes * (fan * levels + 3) as u64;
        if bytes <= limit {
            return Ok((fan, levels));
        }
        needed = needed.min(bytes);
        if fan <= 2 {
            break;
        }
    }
    Err(Error::OutOfMemory {
        what: "the warping path".to_owned(),
        requested_bytes: needed,
        available_bytes: limit,
    })
}

fn fan_covers(fan: usize, levels: usize) -> usize {
    fan.saturating_pow(levels as u32)
}

/// Finds the best path of the pair that `strips` sweeps, within `memory_limit_bytes`. `top` is the border row as an
/// edge.
pub(crate) fn trace<T: Scalar>(
    strips: &dyn StripSweep<T>,
    ranges: &ColumnRanges,
    top: Vec<T>,
    memory_limit_bytes: u64,
    observer: &dyn Observer,
) -> Result<Path<T>> {
    let (n, m, parts) = (ranges.n(), ranges.m(), strips.parts());
    let edge_bytes = ((m + 1) * parts * size_of::<T>()) as u64;
    let pieces = n.div_ceil(ROWS);
    // One strip of choices, plus the border column and the path itself.
    let fixed = Choices::bytes(ROWS.min(n), m) + (n as u64 + 64) * 8 * parts as u64 + (n + m) as u64 * 16;
    let (fan, levels) = plan_levels(pieces, edge_bytes, fixed, memory_limit_bytes)?;

    let mut points = Vec::with_capacity(n + m);
    // 1-based cell under the walk; `distance` is known once the last row has been swept.
    let (mut i, mut j) = (n, m);
    let mut distance = None;
    // Work still to do, last strips last: a stretch of strips, the edge above it, and the level it is on.
    let mut stack: Vec<(Range<usize>, Vec<T>, usize)> = vec![(0..pieces, top, levels)];
    while let Some((stretch, edge, level)) = stack.pop() {
        let rows_of = |s: usize| s * ROWS..((s + 1) * ROWS).min(n);
        if i <= stretch.start * ROWS {
            continue;
        }
        let clipped;
        let ranges = if j < m {
            clipped = ranges.clipped(i, j);
            &clipped
        } else {
            ranges
        };
        let width = j + 1;
        let edge = narrow(edge, parts, width);
        let sweep = |rows: Range<usize>, above: &[T], mut record: Option<&mut Choices>| {
            let mut edge = above.to_vec();
            let mut below = vec![T::ZERO; width * parts];
            let height = strips.strip_rows();
            for first in rows.clone().step_by(height) {
                let part = first..(first + height).min(rows.end);
                if let Some(choices) = &mut record {
                    choices.above = first - rows.start;
                }
                if !strips.strip(ranges, part, [&mut edge, &mut below, &mut []], record.as_deref_mut()) {
                    return Err(Error::Cancelled);
                }
                std::mem::swap(&mut edge, &mut below);
            }
            Ok(edge)
        };
        if stretch.len() > 1 {
            // Sweep the stretch but for its last piece, keeping the edge above every piece.
            let piece = fan_covers(fan, level - 1);
            let mut above = edge;
            for start in stretch.clone().step_by(piece) {
                let end = (start + piece).min(stretch.end);
                let mut edge = above.clone();
                if end < stretch.end {
                    for s in start..end {
                        let rows = rows_of(s);
                        let cells = rows.clone().map(|r| ranges.row(r).len() as u64).sum();
                        edge = sweep(rows, &edge, None)?;
                        if distance.is_none() {
                            observer.advance(cells);
                        }
                    }
                }
                stack.push((start..end, std::mem::replace(&mut above, edge), level - 1));
            }
            continue;
        }
        let rows = rows_of(stretch.start);
        let rows = rows.start..rows.end.min(i);
        let first = ranges.row(rows.start).start + rows.start + 1;
        let mut choices = Choices::new(rows.len(), j, first);
        let below = sweep(rows.clone(), &edge, Some(&mut choices))?;
        if distance.is_none() {
            observer.advance(rows.clone().map(|r| ranges.row(r).len() as u64).sum());
            let mut last = [T::ZERO; MOST_PARTS];
            for (k, part) in last.iter_mut().enumerate().take(parts) {
                *part = below[k * width + width - 1];
            }
            distance = Some(strips.finish(&last[..parts], n, m));
        }
        while i > rows.start && j > 0 {
            points.push((i - 1, j - 1));
            let columns = ranges.row(i - 1);
            let (diagonal, up) = if strips.leaves_band() && !columns.contains(&(j - 1)) {
                // Straight back to the band: left from its right, up from its left.
                (false, j <= columns.start)
            } else {
                choices.at(i - 1 - rows.start, i + j)
            };
            i -= usize::from(diagonal || up);
            j -= usize::from(diagonal || !up);
        }
        if j == 0 {
            break;
        }
    }
    points.reverse();
    Ok(Path { distance: distance.unwrap_or_default(), points })
}

/// The first `width` values of each part of an edge.
fn narrow<T: Scalar>(edge: Vec<T>, parts: usize, width: usize) -> Vec<T> {
    let stride = edge.len() / parts;
    if stride == width {
        return edge;
    }
    (0..parts).flat_map(|k| edge[k * stride..k * stride + width].iter().copied()).collect()
}
