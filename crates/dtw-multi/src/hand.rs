//! One of several devices, as a plan uses it: its backend, and the plans that it made of pieces.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use dtw_core::{Error, Launch, Observer, Plan, Problem, Result, Scalar};

use crate::crew::{Worker, is_own};
use crate::member::Member;

/// A memory limit that is large enough to be shared: by hands of one device, and by plans of two shapes, which the
/// pieces of a triangle have in turn.
const AMPLE_BYTES: u64 = 256 << 20;

/// The memory limit of a plan beside which another one is kept.
pub(crate) fn shared_limit(bytes: u64) -> u64 {
    if bytes >= AMPLE_BYTES { bytes / 2 } else { bytes }
}

pub(crate) struct Hand<T: Scalar> {
    member: Member<T>,
    /// Hands of the same device, which share its memory.
    siblings: u64,
    is_lost: Arc<AtomicBool>,
    /// Whether the device was lost by this hand.
    has_lost_it: bool,
    /// The latest used last.
    plans: Vec<Box<dyn Plan<T>>>,
    observer: Option<Arc<Numbered>>,
}

/// The caller's observer, which hears the numbers that queries and references have in the whole call, and of no more
/// cells than the whole call has: pieces of a divergence sweep the same series against themselves again.
struct Numbered {
    inner: Arc<dyn Observer>,
    cells: Arc<AtomicU64>,
    query: AtomicUsize,
    reference: AtomicUsize,
}

impl Observer for Numbered {
    fn advance(&self, cells: u64) {
        let left = |left: u64| Some(left.saturating_sub(cells));
        let before = self.cells.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left).unwrap_or(0);
        self.inner.advance(cells.min(before));
    }
    fn cancelled(&self) -> bool {
        self.inner.cancelled()
    }
    fn explains(&self) -> bool {
        self.inner.explains()
    }
    fn launched(&self, launch: &Launch<'_>) {
        self.inner.launched(launch);
    }
    fn proposed(&self, query: usize, reference: usize, is_confirmed: bool) {
        let first = |number: &AtomicUsize| number.load(Ordering::Relaxed);
        self.inner.proposed(first(&self.query) + query, first(&self.reference) + reference, is_confirmed);
    }
    fn lost(&self, device: &str, why: &Error) {
        self.inner.lost(device, why);
    }
}

impl<T: Scalar> Hand<T> {
    /// So many hands of one device.
    pub(crate) fn of(member: &Member<T>, count: usize) -> Vec<Self> {
        let is_lost = Arc::new(AtomicBool::new(false));
        let hand = || Self {
            member: member.clone(),
            siblings: count as u64,
            is_lost: Arc::clone(&is_lost),
            has_lost_it: false,
            plans: Vec::new(),
            observer: None,
        };
        (0..count).map(|_| hand()).collect()
    }

    /// A plan of a piece, with this hand's share of the memory.
    pub(crate) fn plan(&mut self, problem: &Problem) -> Result<&mut dyn Plan<T>> {
        let limit = problem.memory_limit_bytes();
        self.plan_whole(&problem.clone().with_memory_limit(limit / self.siblings), limit >= AMPLE_BYTES)
    }

    /// A plan of exactly this problem. Others are kept beside it only where there is room.
    pub(crate) fn plan_whole(&mut self, problem: &Problem, has_room: bool) -> Result<&mut dyn Plan<T>> {
        let known = self.plans.iter().position(|plan| plan.problem() == problem && plan.is_usable());
        let plan = match known {
            Some(at) => self.plans.remove(at),
            None => {
                // What goes makes room for what comes.
                self.plans.drain(..self.plans.len().saturating_sub(usize::from(has_room)));
                let mut plan = self.member.backend.plan(problem)?;
                self.observer.iter().for_each(|observer| plan.observe(Arc::clone(observer) as _));
                plan
            }
        };
        self.plans.push(plan);
        Ok(&mut **self.plans.last_mut().expect("one was pushed"))
    }

    /// `cells`: how many more the observer hears of, with those of the other hands.
    pub(crate) fn observe(&mut self, observer: &Arc<dyn Observer>, cells: &Arc<AtomicU64>) {
        let numbered = Arc::new(Numbered {
            inner: Arc::clone(observer),
            cells: Arc::clone(cells),
            query: AtomicUsize::new(0),
            reference: AtomicUsize::new(0),
        });
        self.plans.iter_mut().for_each(|plan| plan.observe(Arc::clone(&numbered) as _));
        self.observer = Some(numbered);
    }

    /// The next search is of queries and references from these on.
    pub(crate) fn searches_from(&self, query: usize, reference: usize) {
        if let Some(observer) = &self.observer {
            observer.query.store(query, Ordering::Relaxed);
            observer.reference.store(reference, Ordering::Relaxed);
        }
    }

    pub(crate) fn scratch_bytes(&self) -> u64 {
        self.plans.iter().map(|plan| plan.scratch_bytes()).sum()
    }
}

impl<T: Scalar> Worker for Hand<T> {
    fn is_usable(&self) -> bool {
        !self.is_lost.load(Ordering::Relaxed)
    }

    fn is_lost_by(&mut self, error: &Error) -> bool {
        let own = is_own(error);
        if own {
            self.has_lost_it = !self.is_lost.swap(true, Ordering::Relaxed);
            self.plans.clear();
        }
        own
    }

    fn tell(&self, error: &Error) {
        // Once for a device.
        let observer = self.observer.iter().filter(|_| self.has_lost_it);
        observer.for_each(|observer| observer.lost(&self.member.name, error));
    }
}
