//! LCSS and EDR of one channel without a band: a row of cells as bits, 64 cells in a word.
//!
//! Neighbouring cells differ by at most 1. So a bit for each cell says where a row of LCSS grows, and two bits say
//! where a row of EDR rises and falls. One addition carries the matches of a row along 64 cells. What is left of the
//! work is to compare the points: a register-full at a time, of one pair. Both measures count in whole numbers, so the
//! results are those of the other sweeps.
//!
//! A word waits for the one left of it and for the one above it. So pairs of equal lengths are swept together, each of
//! which has its own words to wait for.
//!
//! LCSS: Crochemore, Iliopoulos, Pinzon & Reid 2001, 10.1016/S0020-0190(01)00182-X. EDR, an edit distance of unit
//! costs: Myers 1999, 10.1145/316542.316550.

use dtw_core::recurrence::{One, Recurrence, Visitor, dispatch};
use dtw_core::{Anchor, Band, Error, Measure, Observer, Result, Scalar, Series, Spec};

use crate::lanes::Register;

/// Cells in a word.
const BITS: usize = u64::BITS as usize;
/// Pairs of equal lengths that are swept together.
const TOGETHER: usize = 4;
/// Rows between two looks at the observer.
const OBSERVE_EVERY: usize = 64;

/// Whether pairs of this spec are swept here. (A band of LCSS restricts matches alone, and could be kept. But in a band
/// that a word or two cover, pairs in lanes are faster.)
pub(crate) fn takes(spec: &Spec, channels: usize) -> bool {
    let counts = matches!(spec.measure, Measure::Lcss { .. } | Measure::Edr { .. });
    counts && channels == 1 && spec.anchor == Anchor::Global && spec.band == Band::Full
}

/// Memory of a sweep.
#[derive(Debug, Default)]
pub(crate) struct Words<T> {
    /// The second series of pairs that are swept together: a word of each, then the next, with zeros to its end.
    y: Vec<T>,
    /// LCSS: whether the cell is as large as the one left of it. EDR: whether it is larger by 1. Laid out alike.
    flat_or_rising: Vec<u64>,
    /// EDR: whether the cell is smaller by 1 than the one left of it.
    falling: Vec<u64>,
}

impl<T: Scalar> Words<T> {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.y.capacity() * size_of::<T>()
            + (self.flat_or_rising.capacity() + self.falling.capacity()) * size_of::<u64>()
    }

    /// The values of pairs of a spec that is taken here, into `out`.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when the observer said so.
    pub(crate) fn sweep<V: Register<Scalar = T>>(
        &mut self,
        token: V::Token,
        spec: &Spec,
        (x, y): (&[Series<'_, T>], &[Series<'_, T>]),
        out: &mut [T],
        observer: &dyn Observer,
    ) -> Result<()> {
        let lengths = |pair: usize| (x[pair].len(), y[pair].len());
        let mut first = 0;
        while first < x.len() {
            let together = first..first + TOGETHER;
            if together.end <= x.len() && together.clone().all(|pair| lengths(pair) == lengths(first)) {
                let pairs = (&x[together.clone()], &y[together.clone()]);
                self.together::<V, TOGETHER>(token, spec, pairs, &mut out[together], observer)?;
                first += TOGETHER;
            } else {
                let pair = (&x[first..=first], &y[first..=first]);
                self.together::<V, 1>(token, spec, pair, &mut out[first..=first], observer)?;
                first += 1;
            }
        }
        Ok(())
    }

    /// [`Words::sweep`] of `PAIRS` pairs of equal lengths.
    fn together<V: Register<Scalar = T>, const PAIRS: usize>(
        &mut self,
        token: V::Token,
        spec: &Spec,
        (x, y): (&[Series<'_, T>], &[Series<'_, T>]),
        out: &mut [T],
        observer: &dyn Observer,
    ) -> Result<()> {
        let (n, m) = (x[0].len(), y[0].len());
        let words = m.div_ceil(BITS);
        self.y.clear();
        self.y.resize(words * PAIRS * BITS, T::ZERO);
        for (pair, y) in y.iter().enumerate() {
            for (w, values) in y.values.chunks(BITS).enumerate() {
                self.y[(w * PAIRS + pair) * BITS..][..values.len()].copy_from_slice(values);
            }
        }
        for (bits, border) in [(&mut self.flat_or_rising, !0), (&mut self.falling, 0)] {
            bits.clear();
            bits.resize(words * PAIRS, border);
        }
        let mut points = [&x[0].values[..0]; PAIRS];
        for first in (0..n).step_by(OBSERVE_EVERY) {
            if observer.cancelled() {
                return Err(Error::Cancelled);
            }
            let rows = first..(first + OBSERVE_EVERY).min(n);
            for (points, x) in points.iter_mut().zip(x) {
                *points = &x.values[rows.clone()];
            }
            V::compiled(
                token,
                #[inline(always)]
                || match spec.measure {
                    Measure::Lcss { epsilon, .. } => {
                        self.rows_of_lcss(Matches::<V>::new(token, epsilon), &points);
                    }
                    Measure::Edr { epsilon, .. } => {
                        self.rows_of_edr(Matches::<V>::new(token, epsilon), &points);
                    }
                    _ => unreachable!("these two measures are taken"),
                },
            );
            observer.advance((rows.len() * m * PAIRS) as u64);
        }
        for (pair, out) in out.iter_mut().enumerate() {
            let (grown, shrunk) =
                (ones(&self.flat_or_rising[pair..], PAIRS, m), ones(&self.falling[pair..], PAIRS, m));
            let last = match spec.measure {
                // As the recurrence keeps it: less than 0.
                Measure::Lcss { .. } => grown - m as f64,
                _ => n as f64 + grown - shrunk,
            };
            *out = dispatch::<T, One<T>, _>(spec, T::ZERO, Finish { last: T::from_f64(last), shape: [n, m] });
        }
        Ok(())
    }

    /// Sweeps the rows of these points of each pair.
    #[inline(always)]
    fn rows_of_lcss<V: Register<Scalar = T>, const PAIRS: usize>(
        &mut self,
        matches: Matches<V>,
        x: &[&[T]; PAIRS],
    ) {
        for i in 0..x[0].len() {
            let x = matches.points(x, i);
            let mut carries = [false; PAIRS];
            let words = self.flat_or_rising.chunks_exact_mut(PAIRS);
            for (flat, y) in words.zip(self.y.chunks_exact(PAIRS * BITS)) {
                for pair in 0..PAIRS {
                    let matched = matches.of(x[pair], &y[pair * BITS..]);
                    let flat = &mut flat[pair];
                    let (sum, over) = flat.overflowing_add(*flat & matched);
                    let (sum, over_again) = sum.overflowing_add(u64::from(carries[pair]));
                    carries[pair] = over | over_again;
                    *flat = sum | (*flat & !matched);
                }
            }
        }
    }

    /// The same of EDR. Myers' `Pv` is `rising`, his `Mv` `falling`.
    #[inline(always)]
    fn rows_of_edr<V: Register<Scalar = T>, const PAIRS: usize>(
        &mut self,
        matches: Matches<V>,
        x: &[&[T]; PAIRS],
    ) {
        for i in 0..x[0].len() {
            let x = matches.points(x, i);
            // Whether the cell left of a word is larger or smaller by 1 than the one above it. The border grows.
            let (mut grows, mut shrinks) = ([1; PAIRS], [0; PAIRS]);
            let words = self.flat_or_rising.chunks_exact_mut(PAIRS).zip(self.falling.chunks_exact_mut(PAIRS));
            for ((rising, falling), y) in words.zip(self.y.chunks_exact(PAIRS * BITS)) {
                for pair in 0..PAIRS {
                    let matched = matches.of(x[pair], &y[pair * BITS..]);
                    let (rising, falling) = (&mut rising[pair], &mut falling[pair]);
                    let vertical = matched | *falling;
                    let matched = matched | shrinks[pair];
                    let zero = ((matched & *rising).wrapping_add(*rising) ^ *rising) | matched;
                    let (grown, shrunk) = (*falling | !(zero | *rising), *rising & zero);
                    let from_left = (grown << 1 | grows[pair], shrunk << 1 | shrinks[pair]);
                    (grows[pair], shrinks[pair]) = (grown >> (BITS - 1), shrunk >> (BITS - 1));
                    *rising = from_left.1 | !(vertical | from_left.0);
                    *falling = from_left.0 & vertical;
                }
            }
        }
    }
}

/// The ones among the first `count` bits of every `stride`-th word.
fn ones(words: &[u64], stride: usize, count: usize) -> f64 {
    let ones = |(w, word): (usize, &u64)| {
        let beyond = ((w + 1) * BITS).saturating_sub(count);
        f64::from((word << beyond).count_ones())
    };
    words.iter().step_by(stride).enumerate().map(ones).sum()
}

/// Which points match.
struct Matches<V: Register> {
    token: V::Token,
    epsilon: V,
}

impl<V: Register> Matches<V> {
    #[inline(always)]
    fn new(token: V::Token, epsilon: f64) -> Self {
        Self { token, epsilon: V::splat(token, V::Scalar::from_f64(epsilon)) }
    }

    /// Point `i` of each series, in all lanes of a register.
    #[inline(always)]
    fn points<const PAIRS: usize>(&self, x: &[&[V::Scalar]; PAIRS], i: usize) -> [V; PAIRS] {
        let mut points = [self.epsilon; PAIRS];
        for (point, x) in points.iter_mut().zip(x) {
            *point = V::splat(self.token, x[i]);
        }
        points
    }

    /// Which of the first points of `y` match `x`: a bit each, of as many as a word has.
    #[inline(always)]
    fn of(&self, x: V, y: &[V::Scalar]) -> u64 {
        let y = &y[..BITS];
        let mut word = 0;
        // From the last: where each is shifted to its place instead, the compiler collects them in vectors, at twice
        // the time.
        for at in (0..BITS).step_by(V::LANES).rev() {
            let apart = (x - V::load(self.token, &y[at..])).abs();
            word = word << V::LANES | V::bits(apart.less_equal(self.epsilon));
        }
        word
    }
}

/// Makes the result of the last cell's state.
struct Finish<T> {
    last: T,
    shape: [usize; 2],
}

impl<T: Scalar> Visitor<T, One<T>> for Finish<T> {
    type Output = T;

    fn visit<R: Recurrence<T, One<T>>>(self, recurrence: R) -> T {
        recurrence.finish(&[self.last], self.shape[0], self.shape[1])
    }
}
