//! The band in which series predict each other best: each is classified by its nearest neighbours among the others,
//! once for every band.
//!
//! ```text
//! accuracy(b)  =  share of the series whose label is that of the majority of their k nearest others in band b
//! ```
//!
//! A narrower band only removes paths. So where a distance is the cost of one path, a distance in a wide band is a
//! lower bound in all narrower ones. Bands are tried from the widest on. In each, the neighbours of the band before are
//! computed anew, and then only the pairs whose lower bound does not exceed the distance of the last of them. What
//! comes out is what all pairs in all bands would give. The choice is that of the UCR archive, Dau et al. 2019,
//! 10.1109/JAS.2019.1911747; the bounds are the idea of Tan et al. 2018, 10.1137/1.9781611975321.26.

use dtw_core::{
    Error, OwnedBatch, Pairing, Problem, Radius, Result, Scalar, SeriesBatch, Spec, bail_invalid,
};

use crate::Context;
use crate::barycenter::gather;
use crate::classify::{accuracy, vote};
use crate::nearest::Neighbors;
use crate::tiled::for_each_finite_tile;

/// Most pairs of a call.
const MOST_PAIRS: usize = 4096;

/// How well series predict each other in Sakoe–Chiba bands of these radii, `[radii]`: the share of labels that the
/// majority of the `k` nearest other series has.
///
/// `labels` holds one label per series. The best radius is that of the greatest share; of equal ones the UCR archive
/// takes the narrowest. Time: a symmetric matrix for the widest band, then the pairs that may be nearest. Memory: two
/// matrices of all pairs, within the context's limit.
///
/// # Errors
/// [`Error::Invalid`] for no radii, a wrong number of labels, `k` of 0 or as many series as there are or fewer, a
/// measure that sums over paths or whose larger values are more alike, and a distance that is not finite;
/// [`Error::OutOfMemory`] when the matrices do not fit; otherwise as [`crate::for_each_tile`].
pub fn leave_one_out<T: Scalar, L: AsRef<str>>(
    context: &Context<'_, T>,
    spec: &Spec,
    x: SeriesBatch<'_, T>,
    labels: &[L],
    k: usize,
    radii: &[Radius],
) -> Result<Vec<f64>> {
    if labels.len() != x.len() {
        bail_invalid!("expected one label per series ({}), got {}", x.len(), labels.len());
    }
    if radii.is_empty() {
        bail_invalid!("leaving one out chooses among bands: give at least one radius");
    }
    if k == 0 || k >= x.len() {
        bail_invalid!("leaving one out needs 1 to {} neighbours, got {k}", x.len().saturating_sub(1));
    }
    if !spec.measure.has_path(1) || spec.measure.is_similarity() {
        bail_invalid!(
            "leaving one out needs a measure whose distance is the cost of one path, got {}",
            spec.measure.key()
        );
    }
    let mut shares = vec![0.0; radii.len()];
    for is_fraction in [true, false] {
        // A radius of 7 points and one of 7% are not in an order that all pairs of series share.
        let own = |b: &usize| matches!(radii[*b], Radius::Fraction(_)) == is_fraction;
        let mut order: Vec<usize> = (0..radii.len()).filter(own).collect();
        order.sort_by(|a, b| width(radii[*b]).total_cmp(&width(radii[*a])));
        let mut known: Option<Bounds<T>> = None;
        for b in order {
            let spec = spec.clone().with_band(dtw_core::Band::SakoeChiba { radius: radii[b] });
            let bounds = match &mut known {
                Some(bounds) => {
                    bounds.narrow(context, &spec, x)?;
                    bounds
                }
                None => known.insert(Bounds::new(context, &spec, x, k)?),
            };
            shares[b] = accuracy(labels, &vote(&bounds.neighbors(), labels)?)?;
        }
    }
    Ok(shares)
}

fn width(radius: Radius) -> f64 {
    match radius {
        Radius::Points(points) => points as f64,
        Radius::Fraction(fraction) => fraction,
    }
}

/// Distances of all pairs, each in the narrowest band where it was computed: a lower bound in the band of now.
struct Bounds<T> {
    n: usize,
    k: usize,
    /// `[n, n]`, symmetric; the diagonal is not looked at.
    values: Vec<T>,
    /// Whether an entry above the diagonal is of the band of now.
    is_current: Vec<bool>,
}

impl<T: Scalar> Bounds<T> {
    /// All distances in the band of `spec`.
    fn new(context: &Context<'_, T>, spec: &Spec, x: SeriesBatch<'_, T>, k: usize) -> Result<Self> {
        let n = x.len();
        let bytes = (n as u64).saturating_mul(n as u64).saturating_mul((T::DTYPE.bytes() + 1) as u64);
        if bytes > context.memory_limit_bytes() / 2 {
            return Err(Error::OutOfMemory {
                what: format!("the {n} x {n} distances of leaving one out"),
                requested_bytes: bytes,
                available_bytes: context.memory_limit_bytes() / 2,
            });
        }
        let mut values = vec![T::ZERO; n * n];
        let pair = |i: usize, j: usize| format!("series {i} and {j}");
        for_each_finite_tile(context, spec, Pairing::SelfSymmetric, x, x, &pair, &mut |tile, own| {
            for (i, row) in tile.rows.clone().zip(own.chunks_exact(tile.columns.len())) {
                for (j, value) in tile.columns.clone().zip(row) {
                    values[i * n + j] = *value;
                    if tile.is_mirrored(Pairing::SelfSymmetric) {
                        values[j * n + i] = *value;
                    }
                }
            }
            Ok(())
        })?;
        Ok(Self { n, k, values, is_current: vec![true; n * n] })
    }

    /// Goes on to a narrower band: computes what may be among the nearest in it.
    fn narrow(&mut self, context: &Context<'_, T>, spec: &Spec, x: SeriesBatch<'_, T>) -> Result<()> {
        self.is_current.fill(false);
        let nearest = self.neighbors();
        let near = (0..self.n).flat_map(|i| nearest.indices(i).iter().map(move |j| (i, *j))).collect();
        self.compute(context, spec, x, near)?;
        // The k-th nearest is at most as far as the farthest of any k series.
        let mut wanted = Vec::new();
        for i in 0..self.n {
            let row = &self.values[i * self.n..(i + 1) * self.n];
            let reach = nearest.indices(i).iter().map(|j| row[*j].to_f64()).fold(f64::NEG_INFINITY, f64::max);
            wanted.extend((0..self.n).filter(|j| *j != i && row[*j].to_f64() <= reach).map(|j| (i, j)));
        }
        self.compute(context, spec, x, wanted)
    }

    /// The distances of these pairs that are not of the band of now.
    fn compute(
        &mut self,
        context: &Context<'_, T>,
        spec: &Spec,
        x: SeriesBatch<'_, T>,
        pairs: Vec<(usize, usize)>,
    ) -> Result<()> {
        let n = self.n;
        let mut wanted: Vec<(usize, usize)> = Vec::new();
        for (i, j) in pairs {
            let (i, j) = (i.min(j), i.max(j));
            if !std::mem::replace(&mut self.is_current[i * n + j], true) {
                wanted.push((i, j));
            }
        }
        let pair_bytes = 2 * (x.max_length() * x.channels() * T::DTYPE.bytes()) as u64;
        let chunk =
            (context.memory_limit_bytes() / 8 / pair_bytes.max(1)).clamp(1, MOST_PAIRS as u64) as usize;
        for chunk in wanted.chunks(chunk) {
            context.check_cancelled()?;
            let side = |of: fn(&(usize, usize)) -> usize| -> Result<OwnedBatch<T>> {
                gather(&x, &chunk.iter().map(of).collect::<Vec<_>>())
            };
            let (a, b) = (side(|pair| pair.0)?, side(|pair| pair.1)?);
            let (a, b) = (a.batch(), b.batch());
            let problem = Problem::of(spec.clone(), Pairing::Zipped, &a, &b)?;
            let mut found = vec![T::ZERO; chunk.len()];
            context.plan(problem, chunk.len() as u64 * pair_bytes)?.distances(a, b, &mut found)?;
            for (&(i, j), value) in chunk.iter().zip(found) {
                if !value.finite() {
                    bail_invalid!(
                        "the distance of series {i} and {j} is {value}: scale or normalise the data"
                    );
                }
                self.values[i * n + j] = value;
                self.values[j * n + i] = value;
            }
        }
        Ok(())
    }

    /// The k nearest others of each series by what is known, of equal ones the smaller index first. What was not
    /// computed is farther.
    fn neighbors(&self) -> Neighbors<T> {
        let mut indices = Vec::with_capacity(self.n * self.k);
        let mut distances = Vec::with_capacity(self.n * self.k);
        for i in 0..self.n {
            let row = &self.values[i * self.n..(i + 1) * self.n];
            let rank = |j: &usize| row[*j].to_f64() + 0.0;
            let mut others: Vec<usize> = (0..self.n).filter(|j| *j != i).collect();
            let by_rank = |a: &usize, b: &usize| rank(a).total_cmp(&rank(b)).then(a.cmp(b));
            others.select_nth_unstable_by(self.k - 1, by_rank);
            others.truncate(self.k);
            others.sort_unstable_by(by_rank);
            distances.extend(others.iter().map(|j| row[*j]));
            indices.extend(others);
        }
        Neighbors::of(self.k, indices, distances)
    }
}
