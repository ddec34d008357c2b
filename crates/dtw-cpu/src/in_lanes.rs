//! Series of one length in lanes, a series in each, and what lies in reach of their points.

use dtw_core::{Scalar, Series, SeriesBatch};

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
    /// As [`LaneReach::fill_all`], but only the place itself for the first and the last: their cells with the other
    /// series' are on every path.
    #[inline(always)]
    pub(crate) fn fill(&mut self, token: V::Token, values: &[V], reach: (usize, usize)) {
        self.fill_all(token, values, reach);
        if values.len() > 1 {
            for out in [&mut self.lower, &mut self.upper] {
                (out[0], out[values.len() - 1]) = (values[0], values[values.len() - 1]);
            }
        }
    }

    /// Of the places `k − before ..= k + after` of `values`, for each place `k`.
    #[inline(always)]
    pub(crate) fn fill_all(&mut self, token: V::Token, values: &[V], (before, after): (usize, usize)) {
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
        }
    }
}

/// Series of one length in lanes: point `j` of the series `l` of a register-full at `j · LANES + l`, one register-full
/// after the other; and what lies in reach of the points.
#[derive(Debug)]
pub(crate) struct InLanes<T> {
    points: Vec<T>,
    lower: Vec<T>,
    upper: Vec<T>,
    /// Values of a register-full.
    full: usize,
}

impl<T: Scalar> InLanes<T> {
    /// The series of `x`, and what `fill` finds in reach of a register-full.
    pub(crate) fn new<V: Register<Scalar = T>>(
        token: V::Token,
        x: &SeriesBatch<'_, T>,
        fill: impl Fn(&mut LaneReach<V>, &[V]),
    ) -> Self {
        let length = x.length(0);
        let full = length * V::LANES;
        let all = x.len().div_ceil(V::LANES) * full;
        let mut points = vec![T::ZERO; all];
        let (mut lower, mut upper) = (points.clone(), points.clone());
        V::compiled(
            token,
            #[inline(always)]
            || {
                let mut columns = Vec::new();
                let mut extremes = LaneReach::default();
                for (r, register) in points.chunks_exact_mut(full).enumerate() {
                    columns.clear();
                    for l in 0..V::LANES {
                        let values = x.get((r * V::LANES + l).min(x.len() - 1)).values;
                        for (point, value) in register.chunks_exact_mut(V::LANES).zip(values) {
                            point[l] = *value;
                        }
                    }
                    columns.extend(register.chunks_exact(V::LANES).map(
                        #[inline(always)]
                        |point| V::load(token, point),
                    ));
                    fill(&mut extremes, &columns);
                    for (j, (least, most)) in
                        extremes.lower.iter().zip(&extremes.upper).take(length).enumerate()
                    {
                        least.store(&mut lower[r * full + j * V::LANES..]);
                        most.store(&mut upper[r * full + j * V::LANES..]);
                    }
                }
            },
        );
        Self { points, lower, upper, full }
    }

    /// Points and envelopes of a register-full.
    pub(crate) fn register(&self, r: usize) -> [&[T]; 3] {
        let all = r * self.full..(r + 1) * self.full;
        [&self.points[all.clone()], &self.lower[all.clone()], &self.upper[all]]
    }
}
