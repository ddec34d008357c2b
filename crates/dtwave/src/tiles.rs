//! Matrices of a session tile by tile, on one device or several.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use dtw_core::{Error, Pairing, Problem, Result, SeriesBatch, Shape, Tile, TilePlan};
use dtw_multi::{Work, Worker, is_own};

use ndarray::Array2;

use crate::device::Float;
use crate::input::AsBatch;
use crate::plans::Boxed;
use crate::session::Session;

impl Session {
    /// How [`tiled`](Self::tiled) had better cut a matrix. A tile takes a tenth of the memory limit at most: four may
    /// be on their way elsewhere, and the sweep has the rest. And a tile stays a matter of seconds, on a GPU of tenths
    /// of a second.
    ///
    /// # Errors
    /// As [`TilePlan::new`].
    pub fn tile_plan<T: Float>(
        &self,
        pairing: Pairing,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
    ) -> Result<TilePlan> {
        let (cells, most) = if self.is_elsewhere::<T>()? { (1 << 38, 4096) } else { (1 << 33, 2048) };
        let budget_bytes = self.memory_limit_bytes() / 10;
        let plan = TilePlan::new(pairing, x.len(), y.len(), T::DTYPE.bytes(), budget_bytes)?;
        let pair = (x.max_length().max(1) as u64).saturating_mul(y.max_length().max(1) as u64);
        let pairs: u64 = cells / pair;
        Ok(plan.with_max_side(pairs.isqrt().clamp(32, most) as usize))
    }

    /// Whether the device computes elsewhere than on the host's cores.
    fn is_elsewhere<T: Float>(&self) -> Result<bool> {
        Ok(self.device()?.backend::<T>().computes_elsewhere())
    }

    /// One tile of a matrix, here or in another process: tiles that several processes compute make the matrix of one,
    /// value for value, where their devices are of one kind. The result has the shape of the tile, row-major. `x` and
    /// `y` are the series of the whole matrix (give the same ones twice where it is symmetric); only those of the tile
    /// are looked at closely. With the feature `serde`, the plan and [`Spec`](crate::Spec) travel as data.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the plan has no tile `index`, where the series are not as many as it is made for, and
    /// for bad series or parameters.
    pub fn run_tile<T: Float>(
        &self,
        tiles: &TilePlan,
        index: usize,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
    ) -> Result<Array2<T>> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        let matrix = Matrix { x: x.batch(), y: y.batch(), whole: Shape::of(&x.batch(), &y.batch()) };
        let tile = matrix.tile(tiles, index)?;
        let mut out = Vec::new();
        Desk { session: self, current: None }.compute(&matrix, &tile, &mut out)?;
        let shape = (tile.rows.len(), tile.columns.len());
        Array2::from_shape_vec(shape, out).map_err(|error| Error::invalid(error.to_string()))
    }

    /// The cells that [`run_tile`](Self::run_tile) sweeps: about in proportion to its seconds on one device.
    ///
    /// # Errors
    /// As [`run_tile`](Self::run_tile).
    pub fn tile_cells<T: Float>(
        &self,
        tiles: &TilePlan,
        index: usize,
        x: &(impl AsBatch<T> + ?Sized),
        y: &(impl AsBatch<T> + ?Sized),
    ) -> Result<u64> {
        let (x, y) = (x.as_batch()?, y.as_batch()?);
        let matrix = Matrix { x: x.batch(), y: y.batch(), whole: Shape::of(&x.batch(), &y.batch()) };
        let tile = matrix.tile(tiles, index)?;
        let (rows, columns) = matrix.series_of(&tile);
        self.problem(tile.pairing, matrix.shape_of(&tile))?.cells(&rows, &columns)
    }

    /// A distance matrix tile by tile, for results larger than memory. `tiles` comes from [`TilePlan::new`]; `skip`
    /// says which tiles are not wanted (already done); `sink` gets each finished tile, row-major. Tiles off the
    /// diagonal of a symmetric matrix stand for their transpose too ([`Tile::is_mirrored`]).
    ///
    /// Tiles come in the order of the plan. Several devices ([`crate::Device::several`]) compute a tile each at the
    /// same time; their tiles come as they are done. There is memory for one tile more than there are devices. Devices
    /// that are not the CPU go on with the next tile while `sink` has one.
    ///
    /// # Errors
    /// [`Error::Invalid`] for bad series or parameters, and whatever `sink` returns.
    pub fn tiled<T: Float, E: From<Error>>(
        &self,
        tiles: &TilePlan,
        x: &SeriesBatch<'_, T>,
        y: &SeriesBatch<'_, T>,
        skip: impl Fn(&Tile) -> bool,
        mut sink: impl FnMut(&Tile, &[T]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let wanted = tiles.tiles().filter(|tile| !skip(tile));
        let matrix = Matrix { x: *x, y: *y, whole: Shape::of(x, y) };
        let device = self.device()?;
        let members = device.members();
        if members.len() > 1 {
            let named = members.into_iter().map(|(name, device)| (name, self.clone().on(device)));
            return matrix.on_several(named.collect(), Tiles { rest: wanted.collect() }, sink);
        }
        if self.is_elsewhere::<T>()? {
            let named = vec![(device.name().to_owned(), self.clone())];
            return matrix.on_several(named, Tiles { rest: wanted.collect() }, sink);
        }
        let mut desk = Desk { session: self, current: None };
        let mut out = Vec::new();
        for tile in wanted {
            desk.compute(&matrix, &tile, &mut out)?;
            sink(&tile, &out)?;
        }
        Ok(())
    }
}

/// The series of a matrix.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    x: SeriesBatch<'a, T>,
    y: SeriesBatch<'a, T>,
    whole: Shape,
}

/// Where tiles are computed one after the other. Tiles of one shape share a plan whatever it holds: one at a time,
/// within the memory limit.
struct Desk<'s, T: Float> {
    session: &'s Session,
    current: Option<Boxed<T>>,
}

impl<T: Float> Desk<'_, T> {
    fn compute(&mut self, matrix: &Matrix<'_, T>, tile: &Tile, out: &mut Vec<T>) -> Result<()> {
        let (rows, columns) = matrix.series_of(tile);
        if out.len() < tile.len() {
            // Pages that come when they are written, by whoever does.
            *out = vec![T::ZERO; tile.len()];
        }
        out.truncate(tile.len());
        let problem: Problem = self.session.problem(tile.pairing, matrix.shape_of(tile))?;
        let mut plan = match self.current.take() {
            Some(plan) if *plan.problem() == problem => plan,
            other => {
                other.into_iter().for_each(|plan| self.session.keep(plan));
                self.session.plan(&problem)?
            }
        };
        self.session.compute(&mut **plan, rows, columns, out)?;
        self.session.computed(&**plan);
        self.current = Some(plan);
        Ok(())
    }
}

impl<T: Float> Drop for Desk<'_, T> {
    fn drop(&mut self) {
        self.current.take().into_iter().for_each(|plan| self.session.keep(plan));
    }
}

/// Tiles that are left, to be computed one by one.
struct Tiles {
    rest: VecDeque<Tile>,
}

impl Work for Tiles {
    fn units(&self) -> usize {
        self.rest.len()
    }
    fn split(&mut self, _: usize) -> Self {
        Self { rest: self.rest.pop_front().into_iter().collect() }
    }
}

/// A device of several, with a session of its own.
struct Member<'s, T: Float> {
    name: String,
    desk: Desk<'s, T>,
    is_lost: bool,
    done: SyncSender<(Tile, Vec<T>)>,
}

impl<T: Float> Worker for Member<'_, T> {
    fn is_usable(&self) -> bool {
        !self.is_lost
    }
    fn is_lost_by(&mut self, error: &Error) -> bool {
        self.is_lost |= is_own(error);
        self.is_lost
    }
    fn tell(&self, error: &Error) {
        self.desk.session.lost(&self.name, error);
    }
}

impl<'a, T: Float> Matrix<'a, T> {
    /// The tile of this place, of a plan that is made for this matrix.
    fn tile(&self, tiles: &TilePlan, index: usize) -> Result<Tile> {
        let (expected, got) = (tiles.shape(), (self.x.len(), self.y.len()));
        if expected != got {
            return Err(Error::invalid(format!(
                "the tiles are those of {} x {} series, got {} x {}",
                expected.0, expected.1, got.0, got.1
            )));
        }
        let Some(tile) = tiles.tile(index) else {
            let count = tiles.len();
            return Err(Error::invalid(format!(
                "there are {count} tiles, counted from 0: there is no tile {index}"
            )));
        };
        if tiles.pairing() == Pairing::SelfSymmetric && !self.y.is(&self.x) {
            let mut both = tile.columns.clone().map(|s| (s, self.x.get(s), self.y.get(s)));
            if let Some((s, ..)) = both.find(|(_, x, y)| x != y) {
                return Err(Error::invalid(format!(
                    "the tiles are those of a symmetric matrix, where x and y are the same series: series {s} differs"
                )));
            }
        }
        Ok(tile)
    }

    /// The series that a tile compares.
    fn series_of(&self, tile: &Tile) -> (SeriesBatch<'a, T>, SeriesBatch<'a, T>) {
        (self.x.slice(tile.rows.clone()), self.y.slice(tile.columns.clone()))
    }

    /// The shape of a tile's problem: as long as the longest series of the matrix, so that all tiles are swept alike.
    fn shape_of(&self, tile: &Tile) -> Shape {
        Shape { n_x: tile.rows.len(), n_y: tile.columns.len(), ..self.whole }
    }

    /// Has several devices compute, and hands their tiles to `sink` in this thread.
    fn on_several<E: From<Error>>(
        &self,
        sessions: Vec<(String, Session)>,
        tiles: Tiles,
        mut sink: impl FnMut(&Tile, &[T]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let name = |session: &Session| session.device().map_or("", |device| device.name());
        let even = sessions
            .iter()
            .all(|(_, session)| name(session) == name(&sessions[0].1))
            .then_some(tiles.rest.len());
        // A device waits with a finished tile until the last one is taken.
        let (done, finished) = sync_channel(0);
        // Memory of tiles that were taken.
        let used: Mutex<Vec<Vec<T>>> = Mutex::default();
        let lock_used = || used.lock().unwrap_or_else(PoisonError::into_inner);
        std::thread::scope(|scope| {
            let mut members: Vec<_> = sessions
                .iter()
                .map(|(name, session)| Member {
                    name: name.clone(),
                    desk: Desk { session, current: None },
                    is_lost: false,
                    done: done.clone(),
                })
                .collect();
            drop(done);
            let lock_used = &lock_used;
            let labour = scope.spawn(move || {
                let compute = |member: &mut Member<'_, T>, piece: &mut Tiles| {
                    let tile = &piece.rest[0];
                    let mut out = lock_used().pop().unwrap_or_default();
                    member.desk.compute(self, tile, &mut out)?;
                    // Nobody waits for it any more where the sink has failed.
                    member.done.send((tile.clone(), out)).map_err(|_| Error::Cancelled)
                };
                dtw_multi::run(&mut members, even, tiles, compute)
            });
            let sunk = finished.iter().try_for_each(|(tile, values)| {
                let sunk = sink(&tile, &values);
                lock_used().push(values);
                sunk
            });
            drop(finished);
            let computed = labour.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sunk?;
            computed?;
            Ok(())
        })
    }
}
