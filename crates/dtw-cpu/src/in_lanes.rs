//! Series of one length in lanes, a series in each, and what lies in reach of their points.

use dtw_core::{Scalar, Series};

use crate::lanes::Register;

/// The series of all lanes, point by point; lanes beyond repeat the last one.
#[inline(always)]
pub(crate) fn interleave<V: Register>(series: &[Series<'_, V::Scalar>], flat: &mut Vec<V::Scalar>) {
    flat.resize(series[0].values.len() * V::LANES, V::Scalar::ZERO);
    for l in 0..V::LANES {
        let values = series[l.min(series.len() - 1)].values;
        for (point, value) in flat.chunks_exact_mut(V::LANES).zip(values) {
            point[l] = *value;
        }
    }
}

/// Interleaved series as registers.
#[inline(always)]
pub(crate) fn load<V: Register>(token: V::Token, flat: &[V::Scalar], points: &mut Vec<V>) {
    points.clear();
    points.extend(flat.chunks_exact(V::LANES).map(
        #[inline(always)]
        |point| V::load(token, point),
    ));
}

/// The least and the largest of the points in reach of each place, of the series of all lanes.
#[derive(Debug)]
pub(crate) struct LaneReach<V> {
    /// The least; longer than the series.
    pub(crate) lower: Vec<V>,
    /// The largest; longer than the series.
    pub(crate) upper: Vec<V>,
}

impl<V> Default for LaneReach<V> {
    fn default() -> Self {
        Self { lower: Vec::new(), upper: Vec::new() }
    }
}

impl<V: Register> LaneReach<V> {
    /// Of the places `k − before ..= k + after` of `values`, for each place `k`, but only the place itself for the
    /// first and the last: their cells with the other series' are on every path.
    #[inline(always)]
    pub(crate) fn fill(&mut self, token: V::Token, values: &[V], (before, after): (usize, usize)) {
        let m = values.len();
        let (before, after) = (before.min(m - 1), after.min(m - 1));
        let width = before + after + 1;
        for (out, nothing, is_lower) in
            [(&mut self.lower, V::Scalar::INFINITY, true), (&mut self.upper, -V::Scalar::INFINITY, false)]
        {
            let nothing = V::splat(token, nothing);
            out.clear();
            out.resize(before, nothing);
            out.extend_from_slice(values);
            out.resize(m + width, nothing);
            let mut seen = 1;
            while seen < width {
                let step = seen.min(width - seen);
                for k in 0..m + width - step {
                    let (here, there) = (out[k], out[k + step]);
                    out[k] = if is_lower { here.min(there) } else { here.max(there) };
                }
                seen += step;
            }
            if m > 1 {
                (out[0], out[m - 1]) = (values[0], values[m - 1]);
            }
        }
    }
}
