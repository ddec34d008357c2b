//! All pairs that are near enough: the edges of a graph whose matrix is never held.
//!
//! ```text
//! edges  =  { (i, j, d(x_i, y_j)) : d(x_i, y_j) <= threshold }        of similarities >=; equality is inside
//! ```
//!
//! The matrix is swept in tiles up to a cutoff, so a sweep that can tell early that a distance is larger
//! ([`dtw_core::Plan::distances_within`]) ends there. Kept are the pairs inside, and nothing else.
//!
//! ```
//! use dtw_core::{Pairing, SeriesBatch, Spec};
//! use dtw_learn::{Context, Threshold, edges};
//!
//! let backend = dtw_cpu::CpuBackend::with_threads(1);
//! let x = SeriesBatch::equal(&[0.0_f64, 0.0, 1.0, 1.0, 5.0, 5.0], 3, 2, 1)?;
//! let found = edges(&Context::new(&backend), &Spec::dtw(), Pairing::SelfSymmetric, x, x, Threshold::at(2.0))?;
//! let all: Vec<_> = found.iter().collect();
//! assert_eq!(all, [(0, 1, 2.0), (1, 0, 2.0)]);
//! # Ok::<(), dtw_core::Error>(())
//! ```

use std::cmp::Ordering;
use std::ops::Range;

use dtw_core::{Error, Pairing, Result, Scalar, SeriesBatch, Spec, Tile, bail_invalid, reserved};

use crate::Context;
use crate::tiled::for_each_tile_within;

/// Where the edges end: the largest distance, or the smallest similarity, that is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    value: f64,
    is_of_roots: bool,
}

impl Threshold {
    /// At this value, which is inside. It is rounded to the number type of the series, as distances are.
    pub fn at(value: f64) -> Self {
        Self { value, is_of_roots: false }
    }

    /// The same for the square roots of distances: they are compared, and reported. The root of a negative distance is
    /// 0.
    #[must_use]
    pub fn of_roots(self) -> Self {
        Self { is_of_roots: true, ..self }
    }

    /// Up to where distances are to be swept; before a root a little more. `None` if all of them matter.
    fn cutoff<T: Scalar>(self, is_similarity: bool) -> Option<f64> {
        let most = T::from_f64(self.value).to_f64();
        // A root may be rounded down.
        let most = if self.is_of_roots { most.max(0.0).powi(2) * (1.0 + 1e-6) } else { most };
        (!is_similarity && most != f64::INFINITY).then_some(most)
    }

    /// A distance as it is compared and reported.
    fn reported<T: Scalar>(self, value: T) -> T {
        if self.is_of_roots { T::from_f64(value.to_f64().max(0.0).sqrt()) } else { value }
    }
}

/// Pairs of series that are near enough, row by row, as a sparse matrix in compressed rows (CSR).
///
/// Row `i` has the edges of series `i` of x, nearest first, of equally near ones the smaller index first. A distance of
/// 0 is an edge like any other.
#[derive(Debug, Clone, PartialEq)]
pub struct Edges<T> {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
    distances: Vec<T>,
}

impl<T: Copy> Edges<T> {
    /// Edges of all rows.
    pub fn len(&self) -> usize {
        self.indices.len()
    }
    /// No pair is near enough.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
    /// Series of x and of y.
    pub fn shape(&self) -> [usize; 2] {
        [self.starts.len() - 1, self.columns]
    }
    /// Where each row starts among all edges, and the end of the last: `[n_x + 1]`.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
    /// The series of y of each edge.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }
    /// The distance (or similarity) of each edge; with [`Threshold::of_roots`] its root.
    pub fn distances(&self) -> &[T] {
        &self.distances
    }
    /// The edges `(i, j, distance)`, row by row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, T)> + '_ {
        let rows = self.starts.windows(2).enumerate();
        rows.flat_map(|(i, row)| {
            let row = row[0]..row[1];
            self.indices[row.clone()].iter().zip(&self.distances[row]).map(move |(j, d)| (i, *j, *d))
        })
    }
    /// Without the pairs `(i, i)`: for series with themselves, under a distance that is not symmetric.
    #[must_use]
    pub fn without_own(mut self) -> Self {
        let mut kept = 0;
        let mut end = 0;
        for i in 0..self.starts.len() - 1 {
            let row = end..self.starts[i + 1];
            end = row.end;
            for edge in row {
                if self.indices[edge] != i {
                    (self.indices[kept], self.distances[kept]) = (self.indices[edge], self.distances[edge]);
                    kept += 1;
                }
            }
            self.starts[i + 1] = kept;
        }
        self.indices.truncate(kept);
        self.distances.truncate(kept);
        self
    }
    /// `(starts, indices, distances)`, without a copy.
    pub fn into_parts(self) -> (Vec<usize>, Vec<usize>, Vec<T>) {
        (self.starts, self.indices, self.distances)
    }
}

/// All pairs `(i, j)` with `d(x_i, y_j)` at most the threshold; of a similarity, at least.
///
/// They are those entries of the matrix that [`crate::pairwise`] returns, bit for bit. `pairing` is
/// [`Pairing::Cross`], or [`Pairing::SelfSymmetric`] (`y` is then ignored): half of the pairs is then swept, and each
/// edge stands in both of its rows; a series is then no neighbour of itself, so the pairs `(i, i)` are left out. Of a
/// distance that is not symmetric, [`Edges::without_own`] leaves them out.
///
/// Time: one sweep per pair at most, and O(log r) for each edge of a row that has r. Memory: half of the context's
/// limit is for the edges, which take 48 bytes a pair of f64 while they are put in order (symmetric; else 32), the
/// other half for tiles and the backend's scratch.
///
/// # Errors
/// [`Error::Invalid`] for a threshold that is no number, for bad series or parameters, and for an edge whose distance
/// is not finite; [`Error::OutOfMemory`] for more edges than the limit has room for, with how many were found so far;
/// otherwise as [`crate::for_each_tile`].
pub fn edges<T: Scalar>(
    context: &Context<'_, T>,
    spec: &Spec,
    pairing: Pairing,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    threshold: Threshold,
) -> Result<Edges<T>> {
    if threshold.value.is_nan() {
        bail_invalid!("a threshold is a number, got {}", threshold.value);
    }
    let y = if pairing == Pairing::SelfSymmetric { x } else { y };
    let half = context.memory_limit_bytes() / 2;
    let nearness = Nearness::new(threshold, spec.measure.is_similarity());
    let mut found = Found { parts: Vec::new(), edges: 0, swept: 0, room_bytes: half };
    let sweeping = context.clone().with_memory_limit(half);
    for_each_tile_within(&sweeping, spec, pairing, x, y, nearness.cutoff, &mut |tile, values| {
        let part = Part::of(tile, values, &nearness, pairing)?;
        found.add(part, tile.len(), pairing)
    })?;
    found.ordered([x.len(), y.len()], pairing, nearness.is_similarity)
}

/// Which values are edges.
struct Nearness<T> {
    threshold: Threshold,
    is_similarity: bool,
    cutoff: Option<f64>,
    /// The threshold in the number type.
    bound: T,
}

impl<T: Scalar> Nearness<T> {
    fn new(threshold: Threshold, is_similarity: bool) -> Self {
        let bound = T::from_f64(threshold.value);
        Self { threshold, is_similarity, cutoff: threshold.cutoff::<T>(is_similarity), bound }
    }

    /// Whether a value is beyond the threshold, before any root. NaN is not.
    fn is_beyond(&self, value: T) -> bool {
        if self.is_similarity {
            value < self.bound
        } else {
            self.cutoff.is_some_and(|cutoff| value.to_f64() > cutoff)
        }
    }

    /// What is reported of a value, if it is an edge.
    fn edge(&self, value: T) -> Option<T> {
        let reported = self.threshold.reported(value);
        let is_outside = if self.is_similarity { reported < self.bound } else { reported > self.bound };
        (!is_outside).then_some(reported)
    }
}

/// Values that are looked at together: that all of them are too far is one question.
const TOGETHER: usize = 16;

/// The edges of a tile: row and column in the tile, which is far smaller than 2³² on a side, and distance.
struct Part<T> {
    rows: Range<usize>,
    columns: Range<usize>,
    edges: Vec<(u32, u32, T)>,
}

impl<T: Scalar> Part<T> {
    fn of(tile: &Tile, values: &[T], nearness: &Nearness<T>, pairing: Pairing) -> Result<Self> {
        let width = tile.columns.len();
        let mut edges = Vec::new();
        for (r, row) in values.chunks_exact(width).enumerate() {
            let i = tile.rows.start + r;
            for (chunk, together) in row.chunks(TOGETHER).enumerate() {
                if together.iter().fold(true, |all, value| all & nearness.is_beyond(*value)) {
                    continue;
                }
                for (at, value) in together.iter().enumerate() {
                    let c = chunk * TOGETHER + at;
                    let j = tile.columns.start + c;
                    // A symmetric pair is taken once.
                    let is_wanted = pairing != Pairing::SelfSymmetric || j > i;
                    let Some(distance) = nearness.edge(*value).filter(|_| is_wanted) else { continue };
                    if !distance.finite() {
                        bail_invalid!(
                            "the distance of series {i} of x and series {j} of y is {distance}: scale or normalise the \
                             data"
                        );
                    }
                    edges.push((r as u32, c as u32, distance));
                }
            }
        }
        edges.shrink_to_fit();
        Ok(Self { rows: tile.rows.clone(), columns: tile.columns.clone(), edges })
    }
}

/// The edges of all tiles so far.
struct Found<T> {
    parts: Vec<Part<T>>,
    edges: u64,
    swept: u64,
    room_bytes: u64,
}

impl<T: Scalar> Found<T> {
    /// How often an edge stands in the result.
    fn times(pairing: Pairing) -> u64 {
        if pairing == Pairing::SelfSymmetric { 2 } else { 1 }
    }

    fn add(&mut self, part: Part<T>, swept: usize, pairing: Pairing) -> Result<()> {
        self.edges += part.edges.len() as u64;
        self.swept += swept as u64;
        // While the result is made of them, both are there.
        let entry = (size_of::<usize>() + size_of::<T>()) as u64 * Self::times(pairing);
        let needed = self.edges.saturating_mul(size_of::<(u32, u32, T)>() as u64 + entry);
        if needed > self.room_bytes {
            return Err(Error::OutOfMemory {
                what: format!(
                    "the list of the {} edges found so far, among the first {} pairs (a threshold with fewer edges \
                     needs less),",
                    self.edges, self.swept
                ),
                requested_bytes: needed,
                available_bytes: self.room_bytes,
            });
        }
        if !part.edges.is_empty() {
            self.parts.push(part);
        }
        Ok(())
    }

    /// Row by row, nearest first.
    fn ordered(self, [rows, columns]: [usize; 2], pairing: Pairing, is_similarity: bool) -> Result<Edges<T>> {
        let is_mirrored = pairing == Pairing::SelfSymmetric;
        let mut starts = vec![0; rows + 1];
        for part in &self.parts {
            for (r, c, _) in &part.edges {
                starts[part.rows.start + *r as usize + 1] += 1;
                if is_mirrored {
                    starts[part.columns.start + *c as usize + 1] += 1;
                }
            }
        }
        (0..rows).for_each(|i| starts[i + 1] += starts[i]);
        let count = starts[rows];
        let what = || format!("the list of {count} edges");
        let (mut indices, mut distances) = (reserved(count, what)?, reserved(count, what)?);
        indices.resize(count, 0);
        distances.resize(count, T::ZERO);
        let mut next = starts.clone();
        let mut put = |i: usize, j: usize, distance: T| {
            (indices[next[i]], distances[next[i]]) = (j, distance);
            next[i] += 1;
        };
        for part in self.parts {
            for (r, c, distance) in part.edges {
                let (i, j) = (part.rows.start + r as usize, part.columns.start + c as usize);
                put(i, j, distance);
                if is_mirrored {
                    put(j, i, distance);
                }
            }
        }
        let mut row = Vec::new();
        for ends in starts.windows(2) {
            let (indices, distances) = (&mut indices[ends[0]..ends[1]], &mut distances[ends[0]..ends[1]]);
            row.clear();
            row.extend(distances.iter().copied().zip(indices.iter().copied()));
            row.sort_unstable_by(|(a, i): &(T, usize), (b, j)| {
                let near = if is_similarity { b.partial_cmp(a) } else { a.partial_cmp(b) };
                near.unwrap_or(Ordering::Equal).then(i.cmp(j))
            });
            for (at, (distance, index)) in row.iter().enumerate() {
                (distances[at], indices[at]) = (*distance, *index);
            }
        }
        Ok(Edges { columns, starts, indices, distances })
    }
}
