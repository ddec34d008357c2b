//! Plans that wait for their next call, by problem and number type.

use std::any::Any;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use dtw_core::{Plan, Problem};

use crate::Float;

/// Most plans that wait.
const MOST: usize = 8;

/// Most bytes of scratch that waiting plans hold, together.
const MOST_BYTES: u64 = 16 << 20;

/// Scratch of waiting plans as a share of the memory limit: one part in so many.
const SHARE: u64 = 64;

/// A plan for values of type `T`, boxed once more to be kept among those of other types.
pub(crate) type Boxed<T> = Box<Box<dyn Plan<T>>>;

/// Plans that wait, the latest used last. A call takes its plan out and puts it back, so no two calls use one at once
/// and the lock is held only to look.
#[derive(Default)]
pub(crate) struct Plans(Mutex<Vec<Waiting>>);

struct Waiting {
    bytes: u64,
    plan: Box<dyn Any + Send>,
}

static OF_PROCESS: LazyLock<Arc<Plans>> = LazyLock::new(Arc::default);

impl Plans {
    /// Plans of calls without a session, in the whole process.
    pub(crate) fn of_process() -> Arc<Self> {
        Arc::clone(&OF_PROCESS)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A plan of exactly this problem, if one waits and its device was not lost.
    pub(crate) fn take<T: Float>(&self, problem: &Problem) -> Option<Boxed<T>> {
        let mut waiting = self.waiting();
        let at = waiting.iter().rposition(|w| {
            let plan = w.plan.downcast_ref::<Box<dyn Plan<T>>>();
            plan.is_some_and(|plan| plan.problem() == problem)
        })?;
        let found: Option<Boxed<T>> = waiting.remove(at).plan.downcast().ok();
        drop(waiting);
        found.filter(|plan| plan.is_usable())
    }

    /// Lets a plan wait. One that holds too much is dropped; so are those that have waited longest, where all hold too
    /// much.
    pub(crate) fn keep<T: Float>(&self, plan: Boxed<T>) {
        let bytes = plan.scratch_bytes();
        let most = MOST_BYTES.min(plan.problem().memory_limit_bytes() / SHARE);
        if bytes > most {
            return;
        }
        let mut waiting = self.waiting();
        waiting.push(Waiting { bytes, plan });
        let mut held: u64 = waiting.iter().map(|w| w.bytes).sum();
        let mut gone = 0;
        while waiting.len() - gone > MOST || held > most {
            held -= waiting[gone].bytes;
            gone += 1;
        }
        // Dropped when the lock is not held any more.
        let gone: Vec<_> = if gone > 0 { waiting.drain(..gone).collect() } else { Vec::new() };
        drop(waiting);
        drop(gone);
    }

    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.waiting());
        drop(all);
    }
}

#[cfg(all(test, feature = "cpu"))]
mod tests {
    use std::sync::Arc;

    use dtw_core::{
        CheckedBatches, CheckedBlocks, Compute, Gradients, Match, Observer, Pairing, Path, Result,
        SearchOptions, SeriesBatch, Shape, Spec,
    };

    use super::*;
    use crate::Device;

    fn problem(length: usize) -> Problem {
        let shape = Shape { n_x: 1, n_y: 1, max_length_x: length, max_length_y: length, channels: 1 };
        Problem::new(Spec::dtw(), Pairing::Zipped, shape).unwrap()
    }

    fn plan(problem: &Problem) -> Boxed<f64> {
        let plan = Device::cpu_with_threads(1).unwrap().backend::<f64>().plan(problem);
        Box::new(plan.unwrap())
    }

    #[test]
    fn a_plan_waits_for_its_problem_and_number_type_and_for_one_call() {
        let plans = Plans::default();
        plans.keep(plan(&problem(5)));
        assert!(plans.take::<f64>(&problem(6)).is_none());
        assert!(plans.take::<f64>(&problem(5).with_memory_limit(1 << 20)).is_none());
        assert!(plans.take::<f32>(&problem(5)).is_none());
        let plan = plans.take::<f64>(&problem(5)).unwrap();
        assert!(plans.take::<f64>(&problem(5)).is_none());
        plans.keep(plan);
        plans.clear();
        assert!(plans.take::<f64>(&problem(5)).is_none());
    }

    /// A plan whose device was lost.
    struct Lost(Boxed<f64>);

    type Found = Result<Vec<Vec<Match<f64>>>>;

    impl Compute<f64> for Lost {
        fn problem(&self) -> &Problem {
            self.0.problem()
        }
        fn scratch_bytes(&self) -> u64 {
            self.0.scratch_bytes()
        }
        fn observe(&mut self, observer: Arc<dyn Observer>) {
            self.0.observe(observer);
        }
        fn is_usable(&self) -> bool {
            false
        }
        fn distances(&mut self, _: CheckedBatches<'_, f64>, _: &mut [f64]) -> Result<()> {
            unreachable!()
        }
        fn gradients(&mut self, _: CheckedBatches<'_, f64>, _: Gradients<'_, f64>) -> Result<()> {
            unreachable!()
        }
        fn alignment(&mut self, _: CheckedBatches<'_, f64>) -> Result<Vec<f64>> {
            unreachable!()
        }
        fn paths(&mut self, _: CheckedBatches<'_, f64>) -> Result<Vec<Path<f64>>> {
            unreachable!()
        }
        fn matches(&mut self, _: CheckedBatches<'_, f64>, _: &SearchOptions) -> Found {
            unreachable!()
        }
        fn matches_in_blocks(
            &mut self,
            _: &SeriesBatch<'_, f64>,
            _: &mut CheckedBlocks<'_, f64>,
            _: &SearchOptions,
        ) -> Found {
            unreachable!()
        }
    }

    #[test]
    fn a_plan_of_a_lost_device_is_not_handed_out() {
        let plans = Plans::default();
        plans.keep::<f64>(Box::new(Box::new(Lost(plan(&problem(5))))));
        assert!(plans.take::<f64>(&problem(5)).is_none());
        assert!(plans.waiting().is_empty());
    }

    #[test]
    fn few_wait_the_latest_used() {
        let plans = Plans::default();
        (1..=MOST + 2).for_each(|length| plans.keep(plan(&problem(length))));
        assert_eq!(plans.waiting().len(), MOST);
        assert!(plans.take::<f64>(&problem(2)).is_none() && plans.take::<f64>(&problem(3)).is_some());
    }

    #[test]
    fn what_waits_holds_little() {
        let length = 40_000;
        let values = vec![0.0; length];
        let batch = dtw_core::SeriesBatch::equal(&values, 1, length, 1).unwrap();
        let used = |problem: &Problem| {
            let mut plan = plan(problem);
            plan.distances(batch, batch, &mut [1.0]).unwrap();
            plan
        };
        let narrow = Spec::dtw().with_band(dtw_core::Band::sakoe_chiba(1));
        let shape = Shape { n_x: 1, n_y: 1, max_length_x: length, max_length_y: length, channels: 1 };
        let wide = Problem::new(narrow, Pairing::Zipped, shape).unwrap();
        let bytes = used(&wide).scratch_bytes();
        assert!(bytes > 100_000, "{bytes}");
        let plans = Plans::default();
        plans.keep(used(&wide));
        assert!(plans.take::<f64>(&wide).is_some());
        // A limit that leaves waiting plans less than this one holds.
        let tight = wide.with_memory_limit(bytes * SHARE - 1);
        plans.keep(used(&tight));
        assert!(plans.take::<f64>(&tight).is_none());
        // Together they hold as little.
        let enough = tight.with_memory_limit(bytes * SHARE);
        plans.keep(used(&enough));
        plans.keep(used(&enough));
        assert_eq!(plans.waiting().len(), 1);
    }
}
