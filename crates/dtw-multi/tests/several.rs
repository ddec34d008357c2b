//! Several devices give what one gives, bit for bit; one that fails is survived and named.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use dtw_conformance::batch::Element;
use dtw_conformance::digest::{Digest, Digesting};
use dtw_conformance::seed;
use dtw_conformance::suite::{Judged, SECTIONS, run_checks_from};
use dtw_core::{
    Backend, CheckedBatches, CheckedBlocks, Compute, Error, Gradients, Match, Observer, Pairing, Path, Plan,
    Problem, Result, SearchOptions, Series, SeriesBatch, Spec, Task, WindowJoin,
};
use dtw_cpu::CpuBackend;
use dtw_multi::{Member, Several};

fn member<T: Element>(name: &str, backend: impl Backend<T> + 'static) -> Member<T> {
    Member { name: name.to_owned(), backend: Arc::new(backend) }
}

/// Devices of one kind, each with a thread of its own.
fn devices<T: Element + dtw_cpu::Element>(count: usize) -> Vec<Member<T>> {
    (0..count).map(|d| member(&format!("cpu:{d}"), CpuBackend::with_threads(1))).collect()
}

/// What the suite says of a backend, and a digest of all its results.
fn judged<T: Judged>(section: &str, backend: &dyn Backend<T>) -> (usize, String) {
    let digest = Digest::default();
    let digesting = Digesting { backend, digest: digest.clone() };
    let report = run_checks_from(seed::of_environment(), section, &|_| true, &digesting);
    assert!(report.failed.is_empty(), "{section}: {:?}", report.failed.first());
    (report.passed, digest.to_string())
}

/// All tasks, all measures, ragged batches, bad input, random draws.
#[test]
fn the_suite_gets_the_bits_of_one_device() {
    let one = CpuBackend::with_threads(1);
    let several = Several::new(devices::<f32>(3)).unwrap().with_least_cells(0);
    let mut checks = 0;
    for section in SECTIONS {
        // The random cases of all measures and tasks, and what no random case has.
        const OTHERS: [&str; 5] =
            ["golden", "matches", "alignment", "bad_input", "progress_and_cancellation"];
        if !section.starts_with("random") && !OTHERS.contains(section) {
            continue;
        }
        let (passed, of_several) = judged::<f32>(section, &several);
        // The last digits of a sum over paths may depend on the pairs beside it, on one device as well.
        if !["soft", "gak", "gradient"].iter().any(|sum| section.contains(sum)) {
            assert_eq!((passed, of_several), judged::<f32>(section, &one), "{section}");
        }
        checks += passed;
    }
    assert!(checks > 1000, "{checks}");
}

/// A device that is not as others are.
#[derive(Debug)]
struct Odd {
    inner: CpuBackend,
    /// Two threads work with a device whose name is not that of the CPU.
    name: &'static str,
    /// Calls until it fails.
    left: Arc<AtomicUsize>,
    /// A memory limit below which it refuses.
    least_bytes: u64,
}

impl Odd {
    fn new(name: &'static str) -> Self {
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        Self { inner: CpuBackend::with_threads(1), name, left, least_bytes: 0 }
    }
}

struct FailingPlan {
    inner: Box<dyn Plan<f64>>,
    left: Arc<AtomicUsize>,
}

impl FailingPlan {
    fn lives(&self) -> Result<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map(drop).map_err(|_| Error::failed("cpu", "the device was pulled out"))
    }
}

impl Backend<f64> for Odd {
    fn name(&self) -> &'static str {
        self.name
    }
    fn supports(&self, problem: &Problem, task: Task) -> Result<()> {
        Backend::<f64>::supports(&self.inner, problem, task)
    }
    fn plan(&self, problem: &Problem) -> Result<Box<dyn Plan<f64>>> {
        let available_bytes = problem.memory_limit_bytes();
        if available_bytes < self.least_bytes {
            let (what, requested_bytes) = ("a series".to_owned(), self.least_bytes);
            return Err(Error::OutOfMemory { what, requested_bytes, available_bytes });
        }
        let inner = Backend::<f64>::plan(&self.inner, problem)?;
        Ok(Box::new(FailingPlan { inner, left: Arc::clone(&self.left) }))
    }
}

impl Compute<f64> for FailingPlan {
    fn problem(&self) -> &Problem {
        self.inner.problem()
    }
    fn scratch_bytes(&self) -> u64 {
        self.inner.scratch_bytes()
    }
    fn observe(&mut self, observer: Arc<dyn Observer>) {
        self.inner.observe(observer);
    }
    fn distances(&mut self, pairs: CheckedBatches<'_, f64>, out: &mut [f64]) -> Result<()> {
        self.lives()?;
        self.inner.distances(pairs.x, pairs.y, out)
    }
    fn gradients(&mut self, pairs: CheckedBatches<'_, f64>, out: Gradients<'_, f64>) -> Result<()> {
        self.lives()?;
        self.inner.gradients(pairs.x, pairs.y, out)
    }
    fn alignment(&mut self, pair: CheckedBatches<'_, f64>) -> Result<Vec<f64>> {
        self.lives()?;
        self.inner.alignment(pair.x.get(0), pair.y.get(0))
    }
    fn paths(&mut self, pairs: CheckedBatches<'_, f64>) -> Result<Vec<Path<f64>>> {
        self.lives()?;
        self.inner.paths(pairs.x, pairs.y)
    }
    fn matches(
        &mut self,
        searched: CheckedBatches<'_, f64>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f64>>>> {
        self.lives()?;
        self.inner.matches(searched.x, searched.y, options)
    }
    fn matches_in_blocks(
        &mut self,
        queries: &SeriesBatch<'_, f64>,
        reference: &mut CheckedBlocks<'_, f64>,
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Match<f64>>>> {
        self.lives()?;
        self.inner.matches_in_blocks(*queries, reference, options)
    }
}

/// Devices of which those named fail after so many calls.
fn with_failing(count: usize, failing: &[(usize, usize)]) -> Several<f64> {
    let mut members = devices(count);
    for (device, calls) in failing {
        let failing = Odd { left: Arc::new(AtomicUsize::new(*calls)), ..Odd::new("cpu") };
        members[*device] = member(&format!("cpu:{device}"), failing);
    }
    Several::new(members).unwrap().with_least_cells(0)
}

/// What was told of lost devices.
#[derive(Default)]
struct Ear(Mutex<Vec<(String, String)>>);

impl Observer for Ear {
    fn lost(&self, device: &str, why: &Error) {
        self.0.lock().unwrap().push((device.to_owned(), why.to_string()));
    }
}

const COUNT: usize = 150;
const LENGTH: usize = 30;

fn values() -> Vec<f64> {
    (0..COUNT * LENGTH).map(|k| (k as f64 * 0.37).sin() + (k / LENGTH) as f64 * 0.01).collect()
}

/// The bits of every kind of call, and the devices that were lost.
fn results(backend: &dyn Backend<f64>, pairing: Pairing, spec: Spec) -> (Vec<u64>, Vec<String>) {
    let values = values();
    let batch = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let problem = Problem::of(spec, pairing, &batch, &batch).unwrap();
    let ear = Arc::new(Ear::default());
    let mut plan = backend.plan(&problem).unwrap();
    plan.observe(ear.clone());
    let mut out = vec![0.0; problem.output_len()];
    plan.distances(batch, batch, &mut out).unwrap();
    let mut bits: Vec<u64> = out.iter().map(|value| value.to_bits()).collect();
    for path in plan.paths(batch, batch).unwrap() {
        bits.push(path.distance.to_bits());
        bits.extend(path.points.iter().map(|(i, j)| (i * LENGTH + j) as u64));
    }
    let heard = ear.0.lock().unwrap();
    assert!(heard.iter().all(|(_, why)| why.contains("pulled out")), "{heard:?}");
    (bits, heard.iter().map(|(device, _)| device.clone()).collect())
}

/// A small limit is not divided among the threads of a device.
#[test]
fn a_device_of_two_threads_gets_the_bits_of_one_in_little_memory() {
    let values = values();
    let batch = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let one = CpuBackend::with_threads(1);
    let members = (0..2).map(|d| member(&format!("odd:{d}"), Odd::new("odd")));
    let several = Several::<f64>::new(members.collect()).unwrap().with_least_cells(0);
    for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
        for limit in [1 << 17, 1 << 30] {
            let problem = Problem::of(Spec::dtw(), pairing, &batch, &batch).unwrap().with_memory_limit(limit);
            let computed = |backend: &dyn Backend<f64>| {
                let mut plan = backend.plan(&problem).unwrap();
                let mut out = vec![0.0; problem.output_len()];
                plan.distances(batch, batch, &mut out).unwrap();
                let paths = plan.paths(batch, batch).unwrap();
                ((out, paths), plan.scratch_bytes())
            };
            let (of_one, bytes_of_one) = computed(&one);
            let (of_several, bytes) = computed(&several);
            assert_eq!(of_one, of_several, "{pairing:?} in {limit} bytes");
            assert!(bytes <= limit.max(bytes_of_one), "{pairing:?}: {bytes} of {limit}");
        }
    }
}

/// What needs more than a thread's share of the memory limit is computed by one device with all of it.
#[test]
fn what_needs_the_whole_limit_gets_it() {
    let limit = Problem::DEFAULT_MEMORY_LIMIT_BYTES;
    let members = (0..2).map(|d| member(&format!("odd:{d}"), Odd { least_bytes: limit, ..Odd::new("odd") }));
    let several = Several::new(members.collect()).unwrap().with_least_cells(0);
    for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
        let (expected, _) = results(&CpuBackend::with_threads(1), pairing, Spec::dtw());
        let (found, lost) = results(&several, pairing, Spec::dtw());
        assert_eq!(found, expected, "{pairing:?}");
        assert!(lost.is_empty(), "{lost:?}");
    }
    let values = values();
    let batch = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let problem = Problem::of(Spec::soft_dtw(1.0), Pairing::Zipped, &batch, &batch).unwrap();
    let slopes = |backend: &dyn Backend<f64>| {
        let (mut distances, mut grad_x) = (vec![0.0; COUNT], vec![0.0; values.len()]);
        let mut grad_y = grad_x.clone();
        let out =
            Gradients { upstream: None, distances: &mut distances, grad_x: &mut grad_x, grad_y: &mut grad_y };
        backend.plan(&problem).unwrap().gradients(batch, batch, out).unwrap();
        (distances, grad_x, grad_y)
    };
    assert_eq!(slopes(&several), slopes(&CpuBackend::with_threads(1)));
    // An error tells the limit that the caller gave.
    let tight = problem.with_memory_limit(limit - 1);
    let error = several.plan(&tight).err().expect("a refusal").to_string();
    assert!(error.contains(&(limit - 1).to_string()), "{error}");
}

#[test]
fn a_device_that_fails_is_survived_and_named() {
    for pairing in [Pairing::Cross, Pairing::SelfSymmetric, Pairing::Zipped] {
        let (expected, _) = results(&CpuBackend::with_threads(1), pairing, Spec::dtw());
        // Whether the first of the devices is lost. One that was idle when the work ended has not failed: on a busy
        // machine the others may have done all before its thread begins, but not every time.
        let loses = |failing: &[(usize, usize)], tries: usize| {
            (0..tries).any(|_| {
                let (found, lost) = results(&with_failing(3, failing), pairing, Spec::dtw());
                assert_eq!(found, expected, "{pairing:?}, {failing:?}");
                let may_be_lost =
                    |name: &String| failing.iter().any(|(device, _)| *name == format!("cpu:{device}"));
                assert!(lost.iter().all(may_be_lost), "{lost:?}");
                lost.contains(&format!("cpu:{}", failing[0].0))
            })
        };
        for device in [0, 2] {
            assert!(loses(&[(device, 0)], 50), "{pairing:?}, device {device} can do nothing");
            for calls in [1, 2, 5] {
                loses(&[(device, calls)], 1);
            }
        }
        assert!(loses(&[(0, 0), (1, 1)], 50), "{pairing:?}");
    }
}

#[test]
fn when_all_have_failed_the_call_fails() {
    let values = values();
    let batch = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::SelfSymmetric, &batch, &batch).unwrap();
    for calls in [0, 3] {
        let mut plan = with_failing(2, &[(0, calls), (1, calls)]).plan(&problem).unwrap();
        let error = plan.distances(batch, batch, &mut vec![0.0; COUNT * COUNT]).unwrap_err();
        assert!(error.to_string().contains("pulled out"), "{error}");
        assert!(!plan.is_usable());
    }
}

/// Says to stop at once.
struct Stop;

impl Observer for Stop {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn an_observer_stops_all() {
    let values = values();
    let batch = SeriesBatch::equal(&values, COUNT, LENGTH, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &batch, &batch).unwrap();
    let mut plan = with_failing(3, &[]).plan(&problem).unwrap();
    plan.observe(Arc::new(Stop));
    let error = plan.distances(batch, batch, &mut vec![0.0; COUNT * COUNT]).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert!(plan.is_usable());
}

#[test]
fn no_devices_are_refused() {
    let error = Several::<f64>::new(Vec::new()).unwrap_err().to_string();
    assert!(error.contains("one device or more"), "{error}");
}

#[test]
fn windows_of_a_series_are_shared() {
    let values: Vec<f64> = (0..500_u32).map(|k| f64::from(k * k % 97) + f64::from(k) / 100.0).collect();
    let series = Series::univariate(&values);
    let join = WindowJoin::new(12).with_exclusion(Some(6));
    let windows = SeriesBatch::equal(&values[..12], 1, 12, 1).unwrap();
    let problem = Problem::of(Spec::dtw(), Pairing::Cross, &windows, &windows).unwrap();
    let found = |backend: &dyn Backend<f64>, some: std::ops::Range<usize>| {
        let mut plan = backend.plan(&problem).unwrap();
        plan.nearest_windows(series, series, &join, some).unwrap()
    };
    let one = CpuBackend::with_threads(1);
    let several = Several::new(devices::<f64>(3)).unwrap().with_least_cells(0);
    let all = found(&one, 0..489).unwrap();
    assert_eq!(found(&several, 0..489).unwrap(), all);
    assert_eq!(found(&several, 17..23).unwrap(), all[17..23]);
    assert_eq!(found(&several, 5..5).unwrap(), []);
    // One of them does not prune: all distances are to be computed.
    let mixed = vec![member("cpu:0", CpuBackend::with_threads(1)), member("odd", Odd::new("odd"))];
    assert_eq!(found(&Several::new(mixed).unwrap().with_least_cells(0), 0..489), None);
    let mut plan = Backend::<f64>::plan(&several, &problem).unwrap();
    for some in [0..490, 490..491] {
        let error = plan.nearest_windows(series, series, &join, some).unwrap_err().to_string();
        assert!(error.contains("expected some of the 489 windows of y"), "{error}");
    }
}
