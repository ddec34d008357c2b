//! Streams that are followed: a search on a thread of its own is given points and tells which matches are settled.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dtwave::{Blocks, Float, Match, OwnedBatch, SearchOptions, Session};
use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::align::{Hit, plain, search_options};
use crate::engine::Engine;
use crate::errors::Failure;
use crate::inputs::{Batch, with_number};
use crate::measures::Spec;

/// How often signals are looked at.
const PAUSE: Duration = Duration::from_millis(50);

/// What a search says.
enum Told {
    /// It has searched all points, and waits for more.
    Waiting,
    /// These matches are settled.
    Settled(Vec<Hit>),
    /// It has ended: the matches that were left.
    Ended(Result<Vec<Hit>, Failure>),
}

/// The search's half: points come, and what is settled goes.
struct Stream {
    channels: usize,
    points: Receiver<Vec<f64>>,
    left: VecDeque<f64>,
    tell: Sender<Told>,
}

impl<T: Float> Blocks<T> for Stream {
    fn channels(&self) -> usize {
        self.channels
    }

    fn read(&mut self, points: usize, block: &mut Vec<T>) -> dtwave::Result<()> {
        while self.left.is_empty() {
            // Whoever follows may be gone; then nobody sends points either.
            let _ = self.tell.send(Told::Waiting);
            match self.points.recv() {
                Ok(points) => self.left.extend(points),
                Err(_) => return Ok(()),
            }
        }
        let count = self.left.len().min(points.saturating_mul(self.channels));
        block.extend(self.left.drain(..count).map(T::from_f64));
        Ok(())
    }

    fn is_followed(&self) -> bool {
        true
    }

    fn settled(&mut self, _: usize, hits: &[Match<T>]) -> dtwave::Result<()> {
        let _ = self.tell.send(Told::Settled(hits.iter().copied().map(plain).collect()));
        Ok(())
    }
}

fn searched<T: Float>(
    session: &Session,
    query: &OwnedBatch<T>,
    stream: &mut Stream,
    options: &SearchOptions,
) -> Result<Vec<Hit>, Failure> {
    let mut left = session.search_blocks(query, stream, options)?.pop().unwrap_or_default();
    left.sort_unstable_by_key(|hit| hit.end);
    Ok(left.into_iter().map(plain).collect())
}

/// A search that goes on.
struct Running {
    points: Option<Sender<Vec<f64>>>,
    told: Receiver<Told>,
    /// Whether it has said that it waits for points.
    is_waiting: bool,
}

/// A query that is looked for in a stream.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Follower(Mutex<Running>);

#[pymethods]
impl Follower {
    #[new]
    fn new(
        query: Batch<'_>,
        spec: &Spec,
        engine: &Engine,
        exclusion: usize,
        threshold: f64,
        normalized_window: Option<usize>,
    ) -> PyResult<Self> {
        let options = search_options(None, exclusion, Some(threshold), normalized_window, false);
        let session = engine.session(&spec.0, None);
        let (points, coming) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        with_number!(query.is_f32(), T => {
            let batch = query.batch::<T>()?;
            let mut own = OwnedBatch::<T>::new(batch.channels()).map_err(Failure::from)?;
            own.push(batch.get(0).values).map_err(Failure::from)?;
            thread::Builder::new().name("dtwave-follow".to_owned()).spawn(move || {
                let mut stream =
                    Stream { channels: own.channels(), points: coming, left: VecDeque::new(), tell: tell.clone() };
                let found = searched::<T>(&session, &own, &mut stream, &options);
                let _ = tell.send(Told::Ended(found));
            })?;
        });
        Ok(Self(Mutex::new(Running { points: Some(points), told, is_waiting: false })))
    }

    /// Matches that are settled once these points, `[points, channels]`, are searched.
    fn push(&self, py: Python<'_>, points: PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Hit>> {
        let points = points.as_slice()?.to_vec();
        py.detach(|| self.running().give(points))
    }

    /// Matches that are left where the stream ends.
    fn end(&self, py: Python<'_>) -> PyResult<Vec<Hit>> {
        py.detach(|| {
            let mut running = self.running();
            running.points = None;
            running.until_it_waits()
        })
    }
}

impl Follower {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Running {
    fn give(&mut self, points: Vec<f64>) -> PyResult<Vec<Hit>> {
        let mut hits = if self.is_waiting { Vec::new() } else { self.until_it_waits()? };
        let sent = self.points.as_ref().is_some_and(|to| to.send(points).is_ok());
        if !sent {
            return Err(PyRuntimeError::new_err("the stream has ended"));
        }
        hits.extend(self.until_it_waits()?);
        Ok(hits)
    }

    /// What is told until the search waits for points, or has ended. Python handles signals meanwhile.
    fn until_it_waits(&mut self) -> PyResult<Vec<Hit>> {
        self.is_waiting = false;
        let mut hits = Vec::new();
        loop {
            match self.told.recv_timeout(PAUSE) {
                Ok(Told::Settled(some)) => hits.extend(some),
                Ok(Told::Waiting) if self.points.is_none() => {}
                Ok(Told::Waiting) => {
                    self.is_waiting = true;
                    return Ok(hits);
                }
                Ok(Told::Ended(left)) => {
                    self.points = None;
                    hits.extend(left?);
                    return Ok(hits);
                }
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the stream has ended"));
                }
            }
        }
    }
}
