//! When the lanes of a register are inside the band.
//!
//! A register of the diagonal sweep holds consecutive rows; at step `t = i + j` (1-based) its lanes are on as many
//! columns. Both ends of a normalised band move on with the row, so lanes enter one after the other and leave one after
//! the other.

use dtw_core::recurrence::State;
use dtw_core::{ColumnRanges, Error, Result, Scalar};

use crate::lanes::Register;
use crate::name::NAME;

/// Most columns by which a band may move within one register.
const FAR: usize = 1 << 22;

/// Refuses bands that move on by more than [`FAR`] columns within the rows of one register.
pub(crate) fn check_band<V: Register>(ranges: &ColumnRanges) -> Result<()> {
    if ranges.is_full() {
        return Ok(());
    }
    for i in 0..ranges.n() {
        let (here, there) = (ranges.row(i), ranges.row((i + V::LANES).min(ranges.n() - 1)));
        if there.start - here.start >= FAR || there.end - here.end >= FAR {
            return Err(Error::Unsupported {
                backend: NAME,
                what: format!(
                    "a band that moves by more than {FAR} columns in {} rows; use the full grid",
                    V::LANES
                ),
                remedies: &[],
            });
        }
    }
    Ok(())
}

/// When the lanes of one register are inside the band, in steps `t = i + j` (1-based).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<V> {
    /// First row of the register, 1-based.
    pub(crate) row: usize,
    /// Steps at which any lane is inside, with one more on either side for the border and for leaving.
    pub(crate) active: (usize, usize),
    /// Steps at which every lane is inside.
    pub(crate) inside: (usize, usize),
    /// Step from which each lane is inside, counted from the first one's.
    from: V,
    /// Step from which each lane is outside again, counted from the first one's.
    to: V,
    /// What the counts are from.
    origins: (usize, usize),
}

impl<V: Register> Span<V> {
    /// Lanes are told apart within this many steps: exact even in f32. [`check_band`] sees to it that no band needs
    /// more.
    const FAR: i64 = FAR as i64;

    /// The spans of the `N` registers of a strip of `rows` (0-based). Compiled once, not per recurrence.
    #[inline(never)]
    pub(crate) fn of_strip<const N: usize>(
        token: V::Token,
        ranges: &ColumnRanges,
        rows: std::ops::Range<usize>,
    ) -> [Self; N] {
        std::array::from_fn(|r| Self::new(token, ranges, rows.start + 1 + r * V::LANES, rows.end))
    }

    /// The span of the register whose first row is `row`, in a strip that ends with `end_row`.
    fn new(token: V::Token, ranges: &ColumnRanges, row: usize, end_row: usize) -> Self {
        let zero = V::splat(token, V::Scalar::ZERO);
        let lanes = V::LANES.min((end_row + 1).saturating_sub(row));
        if lanes == 0 {
            return Self { row, active: (0, 0), inside: (0, 0), from: zero, to: zero, origins: (0, 0) };
        }
        // Cells (i, j) of row i have start < j ≤ end: steps from i + start + 1 to i + end. Lanes below the last row are
        // on rows like it: nothing reads what they hold.
        let bounds = |lane: usize| {
            let columns = ranges.row(row - 1 + lane.min(lanes - 1));
            (row + lane + columns.start + 1, row + lane + columns.end + 1)
        };
        let origins = bounds(0);
        let (last, lowest) = (bounds(lanes - 1), bounds(V::LANES - 1));
        let (mut from, mut to) = (zero, zero);
        for lane in 0..V::LANES {
            let count = |step: usize, origin: usize| {
                V::Scalar::from_f64((step as i64 - origin as i64).min(Self::FAR) as f64)
            };
            let (start, end) = bounds(lane);
            from.lanes_mut()[lane] = count(start, origins.0);
            to.lanes_mut()[lane] = count(end, origins.1);
        }
        Self { row, active: (origins.0 - 1, last.1 + 1), inside: (lowest.0, origins.1), from, to, origins }
    }
}

/// Steps from `origin` to `t`, in every lane.
#[inline(always)]
fn steps_since<V: Register>(token: V::Token, t: usize, origin: usize) -> V {
    let far = FAR as i64;
    V::splat(token, V::Scalar::from_f64((t as i64 - origin as i64).clamp(-far, far) as f64))
}

/// `state` in the lanes inside at step `t`, `border` in a lane at column 0, `outside` in the others. One function for
/// all recurrences: it is rarely called on a full grid, and compiled once for each kind of state.
#[inline(never)]
pub(crate) fn mask<V: Register, S: State<V>>(
    token: V::Token,
    span: &Span<V>,
    t: usize,
    [state, border, outside]: &[S; 3],
) -> S {
    V::compiled(
        token,
        #[inline(always)]
        || {
            let zero = V::splat(token, V::Scalar::ZERO);
            let entered = span.from.less_equal(steps_since(token, t, span.origins.0));
            let left = span.to.less_equal(steps_since(token, t, span.origins.1));
            // Lane l is at column t − row − l.
            let mut at_border = zero;
            if let Some(lane) = at_border.lanes_mut().get_mut(t.wrapping_sub(span.row)) {
                *lane = V::Scalar::from_f64(1.0);
            }
            let at_border = zero.less(at_border);
            S::from_parts(
                #[inline(always)]
                |k| {
                    let nothing = outside.part(k);
                    let inside = V::select(entered, V::select(left, nothing, state.part(k)), nothing);
                    V::select(at_border, border.part(k), inside)
                },
            )
        },
    )
}
