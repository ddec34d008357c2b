//! A plan of several devices: how each call is divided.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dtw_core::{
    CheckedBatches, CheckedBlocks, Compute, Error, Gradients, Match, NearestWindow, Observer, Pairing, Path,
    Plan, Problem, Ranked, Result, Scalar, SearchOptions, SeriesBatch, Shape, WindowJoin,
};

use crate::crew::{self, Worker as _};
use crate::hand::{Hand, shared_limit};
use crate::triangle::Square;
use crate::work::{Numbers, PairPart, Part, Rows, Slopes};

/// Rows of a matrix that each device should have, or its columns are divided.
const ROWS: usize = 8;

/// Pieces of a call for each hand.
const PIECES: usize = 6;

pub(crate) struct Call<T: Scalar> {
    problem: Problem,
    hands: Vec<Hand<T>>,
    least_cells: u64,
    /// Devices, if they are of one kind.
    equal: Option<usize>,
    /// How many more cells the observer hears of.
    cells: Arc<AtomicU64>,
}

impl<T: Scalar> Call<T> {
    pub(crate) fn new(problem: Problem, hands: Vec<Hand<T>>, least_cells: u64, equal: Option<usize>) -> Self {
        Self { problem, hands, least_cells, equal, cells: Arc::new(AtomicU64::new(u64::MAX)) }
    }

    /// How many pieces devices of one kind take: a few each, so that one that is late costs little.
    fn even(&self) -> Option<usize> {
        self.equal.map(|_| PIECES * self.hands.len())
    }

    /// Whether it is worth more than one device: by the cells of a full grid, quickly.
    fn is_worth_it(&self, pairing: Pairing, pairs: &CheckedBatches<'_, T>) -> bool {
        let count = match pairing {
            Pairing::Zipped => pairs.x.len() as u64,
            Pairing::Cross => (pairs.x.len() as u64).saturating_mul(pairs.y.len() as u64),
            Pairing::SelfSymmetric => (pairs.x.len() as u64).saturating_pow(2) / 2,
        };
        let cells = (pairs.x.max_length() as u64).saturating_mul(pairs.y.max_length() as u64);
        count > 1 && self.hands.len() > 1 && count.saturating_mul(cells) >= self.least_cells
    }

    /// Distances, or those up to a cutoff.
    fn compute(&mut self, pairs: CheckedBatches<'_, T>, cutoff: Option<f64>, out: &mut [T]) -> Result<()> {
        if self.is_worth_it(self.problem.pairing(), &pairs) {
            if self.problem.passes().count() > 1 {
                self.cells.store(self.problem.cells(&pairs.x, &pairs.y)?, Ordering::Relaxed);
            }
            let done = self.divided(pairs, cutoff, out);
            self.cells.store(u64::MAX, Ordering::Relaxed);
            if let Some(done) = settled(done) {
                return done;
            }
        }
        let problem = &self.problem;
        crew::alone(&mut self.hands, |hand| {
            one(hand.plan_whole(problem, false)?, pairs.x, pairs.y, cutoff, out)
        })
    }

    fn divided(&mut self, pairs: CheckedBatches<'_, T>, cutoff: Option<f64>, out: &mut [T]) -> Result<()> {
        match self.problem.pairing() {
            Pairing::SelfSymmetric => self.triangle(pairs.x, cutoff, out),
            Pairing::Cross if pairs.x.len() < (ROWS * self.hands.len()).min(pairs.y.len()) => {
                self.columns(pairs, cutoff, out)
            }
            Pairing::Cross | Pairing::Zipped => self.rows(pairs, cutoff, out),
        }
    }

    fn rows(&mut self, pairs: CheckedBatches<'_, T>, cutoff: Option<f64>, out: &mut [T]) -> Result<()> {
        let (problem, even) = (&self.problem, self.even());
        let work = Rows { pairing: problem.pairing(), x: pairs.x, y: pairs.y, out };
        crew::run(&mut self.hands, even, work, |hand, piece| {
            let problem = part(problem, piece.pairing, &piece.x, &piece.y)?;
            one(hand.plan(&problem)?, piece.x, piece.y, cutoff, piece.out)
        })
        .map(drop)
    }

    fn columns(&mut self, pairs: CheckedBatches<'_, T>, cutoff: Option<f64>, out: &mut [T]) -> Result<()> {
        let (problem, even) = (&self.problem, self.even());
        let (x, width) = (pairs.x, pairs.y.len());
        let out = Mutex::new(out);
        crew::run(&mut self.hands, even, Part::all(pairs.y), |hand, piece| {
            let columns = piece.start..piece.start + piece.series.len();
            let mut values = room::<T>(x.len() * columns.len())?;
            let problem = part(problem, Pairing::Cross, &x, &piece.series)?;
            one(hand.plan(&problem)?, x, piece.series, cutoff, &mut values)?;
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            for (row, values) in out.chunks_exact_mut(width).zip(values.chunks_exact(columns.len())) {
                row[columns.clone()].copy_from_slice(values);
            }
            Ok(())
        })
        .map(drop)
    }

    fn triangle(&mut self, x: SeriesBatch<'_, T>, cutoff: Option<f64>, out: &mut [T]) -> Result<()> {
        // A device keeps plans of two shapes.
        let problem =
            &self.problem.clone().with_memory_limit(shared_limit(self.problem.memory_limit_bytes()));
        let (square, even) = (Square::new(x.len(), out), self.even());
        crew::run(&mut self.hands, even, square.run(), |hand, piece| {
            let rows = square.series(piece.row..piece.row + 1);
            let own = x.slice(rows.clone());
            let mut tiles = piece.columns.clone();
            if piece.begins_on_diagonal() {
                let mut values = room::<T>(rows.len() * rows.len())?;
                let problem = part(problem, Pairing::SelfSymmetric, &own, &own)?;
                one(hand.plan(&problem)?, own, own, cutoff, &mut values)?;
                square.put(rows.clone(), rows.clone(), &values);
                tiles.start += 1;
            }
            if tiles.is_empty() {
                return Ok(());
            }
            let columns = square.series(tiles);
            let others = x.slice(columns.clone());
            let mut values = room::<T>(rows.len() * columns.len())?;
            let problem = part(problem, Pairing::Cross, &own, &others)?;
            one(hand.plan(&problem)?, own, others, cutoff, &mut values)?;
            square.put(rows, columns, &values);
            Ok(())
        })
        .map(drop)
    }
}

/// The outcome of a divided call; none if a share of the memory limit was too little, so that one device, which may use
/// all of it, has to try.
fn settled<R>(outcome: Result<R>) -> Option<Result<R>> {
    match outcome {
        Err(Error::OutOfMemory { .. }) => None,
        other => Some(other),
    }
}

/// Memory for values of a piece.
fn room<T: Scalar>(count: usize) -> Result<Vec<T>> {
    let mut values = dtw_core::reserved(count, || "a piece of the distances".to_owned())?;
    values.resize(count, T::ZERO);
    Ok(values)
}

/// The problem of some series of a call. Its longest lengths are the call's, so that pieces share plans.
fn part<T>(
    problem: &Problem,
    pairing: Pairing,
    x: &SeriesBatch<'_, T>,
    y: &SeriesBatch<'_, T>,
) -> Result<Problem> {
    let shape = Shape { n_x: x.len(), n_y: y.len(), ..problem.shape() };
    let limit = problem.memory_limit_bytes();
    Ok(Problem::new(problem.spec().clone(), pairing, shape)?.with_memory_limit(limit))
}

/// Has one plan compute distances.
fn one<T: Scalar>(
    plan: &mut dyn Plan<T>,
    x: SeriesBatch<'_, T>,
    y: SeriesBatch<'_, T>,
    cutoff: Option<f64>,
    out: &mut [T],
) -> Result<()> {
    match cutoff {
        None => plan.distances(x, y, out),
        Some(cutoff) => plan.distances_within(x, y, cutoff, out),
    }
}

/// Has one plan compute values and gradients.
fn slopes<T: Scalar>(plan: &mut dyn Plan<T>, piece: &mut Slopes<'_, T>) -> Result<()> {
    let Gradients { upstream, distances, grad_x, grad_y } = &mut piece.out;
    let out = Gradients { upstream: *upstream, distances, grad_x, grad_y };
    plan.gradients(piece.x, piece.y, out)
}

/// What pieces gave, in the order of their series.
fn in_order<R>(mut pieces: Vec<(usize, Vec<R>)>) -> Vec<R> {
    pieces.sort_by_key(|(start, _)| *start);
    pieces.into_iter().flat_map(|(_, found)| found).collect()
}

impl<T: Scalar> Compute<T> for Call<T> {
    fn problem(&self) -> &Problem {
        &self.problem
    }

    /// On the device that holds most.
    fn scratch_bytes(&self) -> u64 {
        self.hands.iter().map(Hand::scratch_bytes).max().unwrap_or(0)
    }

    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.hands.iter_mut().for_each(|hand| hand.observe(&observer, &self.cells));
    }

    fn is_usable(&self) -> bool {
        self.hands.iter().all(Hand::is_usable)
    }

    fn distances(&mut self, pairs: CheckedBatches<'_, T>, out: &mut [T]) -> Result<()> {
        self.compute(pairs, None, out)
    }

    fn distances_within(&mut self, pairs: CheckedBatches<'_, T>, cutoff: f64, out: &mut [T]) -> Result<()> {
        self.compute(pairs, Some(cutoff), out)
    }

    fn gradients(&mut self, pairs: CheckedBatches<'_, T>, out: Gradients<'_, T>) -> Result<()> {
        let (is_worth_it, even) = (self.is_worth_it(Pairing::Zipped, &pairs), self.even());
        let problem = &self.problem;
        let mut all = Slopes { x: pairs.x, y: pairs.y, out };
        if is_worth_it {
            let done = crew::run(&mut self.hands, even, all.again(), |hand, piece| {
                let problem = part(problem, problem.pairing(), &piece.x, &piece.y)?;
                slopes(hand.plan(&problem)?, piece)
            });
            if let Some(done) = settled(done.map(drop)) {
                return done;
            }
        }
        crew::alone(&mut self.hands, |hand| slopes(hand.plan_whole(problem, false)?, &mut all))
    }

    fn alignment(&mut self, pair: CheckedBatches<'_, T>) -> Result<Vec<T>> {
        let problem = &self.problem;
        crew::alone(&mut self.hands, |hand| {
            hand.plan_whole(problem, false)?.alignment(pair.x.get(0), pair.y.get(0))
        })
    }

    fn paths(&mut self, pairs: CheckedBatches<'_, T>) -> Result<Vec<Path<T>>> {
        let (is_worth_it, even) = (self.is_worth_it(Pairing::Zipped, &pairs), self.even());
        let problem = &self.problem;
        if is_worth_it {
            let found = crew::run(&mut self.hands, even, PairPart::all(pairs), |hand, piece| {
                let (x, y) = (piece.x.series, piece.y.series);
                let problem = part(problem, problem.pairing(), &x, &y)?;
                Ok((piece.x.start, hand.plan(&problem)?.paths(x, y)?))
            });
            if let Some(found) = settled(found.map(in_order)) {
                return found;
            }
        }
        crew::alone(&mut self.hands, |hand| hand.plan_whole(problem, false)?.paths(pairs.x, pairs.y))
    }

    fn nearest(&mut self, pairs: CheckedBatches<'_, T>, k: usize) -> Result<Option<Ranked<T>>> {
        let is_worth_it = pairs.y.len() > 1 && self.is_worth_it(Pairing::Cross, &pairs);
        let (problem, even, x) = (&self.problem, self.even(), pairs.x);
        if is_worth_it {
            let found = crew::run(&mut self.hands, even, Part::all(pairs.y), |hand, piece| {
                let problem = part(problem, Pairing::Cross, &x, &piece.series)?;
                let ranked = hand.plan(&problem)?.nearest(x, piece.series, k)?;
                Ok(ranked.map(|ranked| (piece.start, ranked)))
            });
            // If one says that all distances have to be computed, they are.
            let pruned = found.map(|found| found.into_iter().collect::<Option<Vec<_>>>().map(in_order));
            if let Some(found) = settled(pruned) {
                return found;
            }
        }
        crew::alone(&mut self.hands, |hand| hand.plan_whole(problem, false)?.nearest(x, pairs.y, k))
    }

    /// Each device takes some of the windows of y.
    fn nearest_windows(
        &mut self,
        pair: CheckedBatches<'_, T>,
        join: &WindowJoin,
        some: Range<usize>,
    ) -> Result<Option<Vec<NearestWindow<T>>>> {
        let (problem, even) = (&self.problem, self.even());
        let (x, y) = (pair.x.get(0), pair.y.get(0));
        if some.len() > 1 {
            let found = crew::run(&mut self.hands, even, Numbers(some.clone()), |hand, piece| {
                let nearest = hand.plan(problem)?.nearest_windows(x, y, join, piece.0.clone())?;
                Ok(nearest.map(|nearest| (piece.0.start, nearest)))
            });
            let pruned = found.map(|found| found.into_iter().collect::<Option<Vec<_>>>().map(in_order));
            if let Some(found) = settled(pruned) {
                return found;
            }
        }
        crew::alone(&mut self.hands, |hand| {
            hand.plan_whole(problem, false)?.nearest_windows(x, y, join, some.clone())
        })
    }

    /// Each device's own plan says so.
    fn proposes(&self) -> bool {
        true
    }

    fn matches(
        &mut self,
        searched: CheckedBatches<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let is_worth_it = self.is_worth_it(Pairing::Cross, &searched);
        let problem = &self.problem;
        let CheckedBatches { x, y, .. } = searched;
        if is_worth_it {
            // Queries are divided; of one query the references. One piece each: a device searches for many queries in
            // little more time than for a few.
            let is_of_many = x.len() > 1;
            let work = Part::all(if is_of_many { x } else { y });
            let found = crew::run(&mut self.hands, self.equal, work, |hand, piece| {
                let (x, y) = if is_of_many { (piece.series, y) } else { (x, piece.series) };
                let (query, reference) = if is_of_many { (piece.start, 0) } else { (0, piece.start) };
                hand.searches_from(query, reference);
                let problem = part(problem, Pairing::Cross, &x, &y)?;
                Ok((piece.start, hand.plan(&problem)?.matches(x, y, options)?))
            });
            if let Some(found) = settled(found.map(in_order)) {
                return found;
            }
        }
        crew::alone(&mut self.hands, |hand| {
            hand.searches_from(0, 0);
            hand.plan_whole(problem, false)?.matches(x, y, options)
        })
    }

    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, T>,
        reference: &mut CheckedBlocks<'_, T>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<T>>>> {
        let problem = &self.problem;
        let hand = self.hands.iter_mut().find(|hand| hand.is_usable());
        let hand = hand.ok_or_else(|| Error::failed("several devices", "all devices have failed"))?;
        // What was read is gone: no other device could go on.
        hand.plan_whole(problem, false)?.matches_in_blocks(*queries, reference, options)
    }
}
