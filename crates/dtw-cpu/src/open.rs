//! The costs of the best matches of as many pairs as a register has lanes: the least of each pair's last row, without
//! where the match starts.

use dtw_core::recurrence::State;
use dtw_core::{Anchor, Band, Scalar, Spec};

use crate::cells::CellRecorder;
use crate::lanes::Register;

/// Most points of a series that is swept side by side with others: a reference takes two registers for each, some MB
/// for each thread. `f32` tells such numbers apart.
const MOST_POINTS: usize = 1 << 15;

/// Whether pairs of such a spec, of at most `n` and `m` points, may have their matches' costs side by side.
pub(crate) fn takes(spec: &Spec, (n, m): (usize, usize)) -> bool {
    spec.anchor == Anchor::Subsequence && spec.band == Band::Full && n.max(m) <= MOST_POINTS
}

/// The least cost in the last row of each lane's pair.
pub(crate) struct Least<V> {
    /// Of each lane, its last row and its last column, 0-based.
    last: [V; 2],
    /// Rows of a strip in which no lane ends are passed over: the strip asked about, and the rows in which some do.
    first: usize,
    ending: u32,
    pub(crate) cost: V,
}

impl<V: Register> Least<V> {
    #[inline(always)]
    pub(crate) fn new(token: V::Token, ends: &[(usize, usize)]) -> Self {
        let mut last = [V::splat(token, V::Scalar::ZERO); 2];
        for l in 0..V::LANES {
            let (n, m) = ends[l.min(ends.len() - 1)];
            last[0].lanes_mut()[l] = V::Scalar::from_f64((n - 1) as f64);
            last[1].lanes_mut()[l] = V::Scalar::from_f64((m - 1) as f64);
        }
        Self { last, first: usize::MAX, ending: 0, cost: V::splat(token, V::Scalar::INFINITY) }
    }

    /// The rows `first .. first + rows` in which a lane ends, a bit each.
    fn ending(&self, first: usize, rows: usize) -> u32 {
        let row = |l: usize| self.last[0].lanes()[l].to_f64() as usize;
        (0..V::LANES)
            .filter(|l| (first..first + rows).contains(&row(*l)))
            .fold(0, |bits, l| bits | 1 << (row(l) - first))
    }
}

impl<V: Register> CellRecorder<V> for Least<V> {
    const ON: bool = false;
    const SEES_COSTS: bool = true;
    #[inline(always)]
    fn chosen(&mut self, _: usize, _: usize, _: u64, _: u64) {}
    #[inline(always)]
    fn passed<S: State<V>, const ROWS: usize>(&mut self, first: usize, j: usize, states: &[S; ROWS]) {
        if self.first != first {
            (self.first, self.ending) = (first, self.ending(first, ROWS));
        }
        if self.ending == 0 {
            return;
        }
        let ([row, column], nothing) = (self.last, self.cost.like(V::Scalar::INFINITY));
        let is_inside = self.cost.constant(j as f64).less_equal(column);
        for (r, state) in states.iter().enumerate() {
            if self.ending >> r & 1 == 1 {
                let here = self.cost.constant((first + r) as f64);
                let cost = V::select(is_inside, state.part(0), nothing);
                let cost = V::select(here.less(row), nothing, V::select(row.less(here), nothing, cost));
                self.cost = self.cost.min(cost);
            }
        }
    }
}
