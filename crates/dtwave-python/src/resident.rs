//! Series and results in a GPU's memory, which is the caller's: addresses in, nothing out. The call returns when its
//! work is on the stream.

mod side;
mod work;

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use dtwave::cuda::{
    CallerMemory, CudaBackend, CudaMachine, DeviceBatch, DeviceCostGradients, DeviceCosts, DeviceGradients,
    Machine, NativePlan, Number, Scratch, costs_keep_digits, normalize_on_device,
};
use dtwave::{Anchor, Float, Pairing, Plan, Problem, Shape, Unobserved};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::align::{Found, Hits, Proposals, found, search_options};
use crate::calls;
use crate::errors::Failure;
use crate::inputs::with_number;
use crate::measures::Spec;
use side::Side;
use work::{Lending, Work, shape_of};

/// Most plans that wait for their next call.
const MOST: usize = 32;

/// Most plans of one problem, with tables of their own: the passes of a loss, and batches of other lengths.
const MOST_ALIKE: usize = 8;

/// Queues that are kept: calls of so many threads make none.
const MOST_QUEUES: usize = 4;

/// The part of the GPU's memory that waiting queues may keep together: one of so many.
const KEPT_PART: u64 = 32;

/// A GPU for arrays that are in its memory, and the plans that wait.
#[pyclass(frozen, module = "dtwave._native")]
pub(crate) struct Gpu {
    backend: CudaBackend,
    memory_limit: u64,
    /// Most bytes that waiting queues keep.
    kept_limit: u64,
    /// Boxed [`Lending`] plans of both number types, the latest used last.
    plans: Mutex<Vec<Box<dyn Any + Send>>>,
    /// Queues that wait, the latest used last.
    queues: Mutex<Vec<Waiting>>,
}

/// A queue that waits for its next call. What it has is slow to make: page-locked memory, by way of which results come
/// to the host, and the memory of the last call.
struct Waiting {
    queue: CudaMachine,
    last: Option<Last>,
}

/// The plan of a queue's last call, whose work has ended.
struct Last {
    problem: Problem,
    /// A [`NativePlan`] of either number type.
    plan: Box<dyn Any + Send>,
    bytes: u64,
}

#[pymethods]
impl Gpu {
    /// The GPU of this number, with at most this many bytes of scratch for a call.
    #[new]
    fn new(py: Python<'_>, ordinal: usize, memory_limit: u64) -> PyResult<Self> {
        let backend = py.detach(|| CudaBackend::with_device(ordinal)).map_err(Failure::from)?;
        let kept_limit = backend.machine().properties().total_bytes / KEPT_PART;
        Ok(Self { backend, memory_limit, kept_limit, plans: Mutex::default(), queues: Mutex::default() })
    }

    /// Puts distances on `stream`: of zipped pairs, else of all pairs, without `y` of `x` with itself (`symmetric`:
    /// half of them). `lend` is called with a number of bytes; it returns an address and what keeps the memory there.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn distances(
        &self,
        py: Python<'_>,
        x: Side,
        y: Option<Side>,
        spec: &Spec,
        pairing: &str,
        is_double: bool,
        stream: usize,
        out: u64,
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let pairing = match pairing {
            "cross" => Pairing::Cross,
            "zipped" => Pairing::Zipped,
            "symmetric" => Pairing::SelfSymmetric,
            other => return Err(PyValueError::new_err(format!("no pairing {other:?}"))),
        };
        let y = y.as_ref().unwrap_or(&x);
        self.call_as(py, is_double, Work::Distances([&x, y], pairing, out), spec, stream, lend)
    }

    /// Puts values and gradients of zipped pairs on `stream`. `out` is where values go, and gradients to x and to y,
    /// packed as the series are.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn gradients(
        &self,
        py: Python<'_>,
        x: Side,
        y: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
        out: (u64, u64, u64),
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (distances, grad_x, grad_y) = out;
        let out = DeviceGradients { upstream: 0, distances, grad_x, grad_y };
        self.call_as(py, is_double, Work::Gradients([&x, &y], out), spec, stream, lend)
    }

    /// Puts Soft-DTW of matrices of costs on `stream`: `(address, (matrices, rows, columns), strides)`, of which the
    /// first `lengths_x` rows and `lengths_y` columns count. `out` is where values go, and the gradient to the costs,
    /// without gaps, or 0.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn cost_gradients(
        &self,
        py: Python<'_>,
        costs: (u64, [usize; 3], [i64; 3]),
        lengths_x: Option<Vec<usize>>,
        lengths_y: Option<Vec<usize>>,
        spec: &Spec,
        is_double: bool,
        stream: usize,
        out: (u64, u64),
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (values, shape, strides) = costs;
        let lengths = [lengths_x.as_deref(), lengths_y.as_deref()];
        let costs = DeviceCosts { values, shape, strides, lengths };
        let out = DeviceCostGradients { upstream: 0, values: out.0, gradient: out.1 };
        self.call_as(py, is_double, Work::Costs(costs, out), spec, stream, lend)
    }

    /// Whether values of matrices with these numbers of rows and columns keep their digits in `float32`.
    #[staticmethod]
    fn costs_keep_digits(spec: &Spec, lengths: Vec<(usize, usize)>) -> PyResult<bool> {
        Ok(costs_keep_digits(&spec.0, &lengths).map_err(Failure::from)?)
    }

    /// The best warping paths of zipped pairs, as `align` returns them: waits for them.
    fn align<'py>(
        &self,
        py: Python<'py>,
        x: Side,
        y: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
    ) -> PyResult<Vec<Found<'py>>> {
        with_number!(!is_double, T => {
            let sides = [&x, &y];
            let paths = self.fetched::<T, _>(py, sides, Pairing::Zipped, &spec.0, stream, None, |plan, x, y| {
                // SAFETY: the Python half takes addresses and sizes from arrays, which live until this call ends.
                unsafe { plan.paths_on_device(x, y) }
            })?;
            paths.into_iter().map(|path| found(py, path)).collect()
        })
    }

    /// The best matches of each query in the first reference, as `search` returns them: waits for them.
    #[expect(clippy::too_many_arguments, reason = "a search has as many options")]
    fn search(
        &self,
        py: Python<'_>,
        queries: Side,
        references: Side,
        spec: &Spec,
        is_double: bool,
        stream: usize,
        top_k: Option<usize>,
        exclusion: usize,
        threshold: Option<f64>,
        normalized_window: Option<usize>,
        half: bool,
    ) -> PyResult<Vec<Hits>> {
        let options = search_options(top_k, exclusion, threshold, normalized_window, half);
        let mut spec = spec.0.clone();
        if normalized_window.is_none() {
            spec.anchor = Anchor::Subsequence;
        }
        with_number!(!is_double, T => {
            let sides = [&queries, &references];
            let proposals = Arc::new(Proposals::of_queries(queries.shape.0));
            let told = Some(proposals.clone());
            let matches = self.fetched::<T, _>(py, sides, Pairing::Cross, &spec, stream, told, |plan, x, y| {
                // SAFETY: as in `align`.
                unsafe { plan.matches_on_device(x, y, &options) }
            })?;
            Ok(proposals.with(matches))
        })
    }

    /// Puts z-normalisation of `count` packed series on `stream`.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn z_normalize(
        &self,
        py: Python<'_>,
        input: u64,
        output: u64,
        count: usize,
        length: usize,
        is_double: bool,
        stream: usize,
    ) -> PyResult<()> {
        let done = py.detach(|| {
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let machine = unsafe { self.machine()?.for_a_call_on(stream_of(stream)) }?;
            // SAFETY: the Python half takes addresses and sizes from arrays.
            unsafe {
                with_number!(!is_double, T => normalize_on_device::<T, _>(&machine, input, output, count, length))
            }
        });
        Ok(done.map_err(Failure::from)?)
    }
}

fn stream_of(stream: usize) -> *mut std::ffi::c_void {
    std::ptr::with_exposed_provenance_mut(stream)
}

impl Gpu {
    /// The GPU, whose context is not lost: it is the caller's too, and taking it away would end what is made in it.
    fn machine(&self) -> dtwave::Result<&CudaMachine> {
        let machine = self.backend.machine();
        if machine.is_lost() {
            let text = "the GPU's context was lost in an earlier call, with all arrays in its memory: start the process again";
            return Err(dtwave::Error::failed("cuda", text));
        }
        Ok(machine)
    }

    /// What `work` brings to the host, behind what is on `stream`: with a plan that has memory of its own for the call.
    #[expect(clippy::too_many_arguments, reason = "a call has as many options")]
    fn fetched<T: Float + Number, R: Send>(
        &self,
        py: Python<'_>,
        [x, y]: [&Side; 2],
        pairing: Pairing,
        spec: &dtwave::Spec,
        stream: usize,
        proposals: Option<Arc<Proposals>>,
        work: impl FnOnce(&mut NativePlan<T, CudaMachine>, DeviceBatch<'_>, DeviceBatch<'_>) -> dtwave::Result<R>
        + Send,
    ) -> PyResult<R> {
        let problem = self.problem(spec, pairing, shape_of([x, y]).map_err(Failure::from)?)?;
        let shape = problem.shape();
        let cells = [shape.n_x, shape.n_y, shape.max_length_x, shape.max_length_y];
        let cells = cells.iter().fold(1_u64, |cells, size| cells.saturating_mul(*size as u64));
        // In this thread: a handle of the caller's stream may stand for another one elsewhere.
        let Waiting { queue, last } = py.detach(|| -> Result<Waiting, Failure> {
            let own = self.queue(&problem)?;
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let callers = unsafe { own.queue.for_a_call_on(stream_of(stream)) }?;
            if callers.is_recording()? {
                let text =
                    "paths and matches are brought to the host, so they cannot be recorded into a graph";
                return Err(dtwave::Error::invalid(text).into());
            }
            callers.hand_over()?;
            own.queue.take_over()?;
            Ok(own)
        })?;
        calls::run(py, cells, &None, |observer| {
            let alike = last.filter(|last| last.problem == problem);
            let alike = alike.and_then(|last| last.plan.downcast::<NativePlan<T, CudaMachine>>().ok());
            let mut plan = match alike {
                Some(plan) => plan,
                None => Box::new(NativePlan::new(queue.clone(), &problem)?),
            };
            plan.observe(Proposals::heard(proposals, observer).unwrap_or_else(|| Arc::new(Unobserved)));
            let found = work(&mut plan, x.batch::<T>(), y.batch::<T>())?;
            plan.observe(Arc::new(Unobserved));
            queue.synchronize()?;
            let bytes = plan.scratch_bytes();
            self.wait(Waiting { queue, last: Some(Last { problem, plan, bytes }) });
            Ok(found)
        })
    }

    /// A queue that waits: one whose last call was alike, or the latest used; or a new one.
    fn queue(&self, problem: &Problem) -> dtwave::Result<Waiting> {
        let machine = self.machine()?;
        let mut waiting = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let is_alike = |own: &Waiting| own.last.as_ref().is_some_and(|last| last.problem == *problem);
        let found = match waiting.iter().rposition(is_alike) {
            Some(at) => Some(waiting.remove(at)),
            None => waiting.pop(),
        };
        drop(waiting);
        found.map_or_else(|| Ok(Waiting { queue: machine.own_queue()?, last: None }), Ok)
    }

    /// Lets a queue wait. Memory that is too much is given back, of those first that wait longest.
    fn wait(&self, own: Waiting) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.push(own);
        let mut ended = Vec::new();
        if queues.len() > MOST_QUEUES {
            ended.push(queues.remove(0));
        }
        let mut kept = 0_u64;
        let mut given_back = Vec::new();
        for own in queues.iter_mut().rev() {
            kept = kept.saturating_add(own.last.as_ref().map_or(0, |last| last.bytes));
            if kept > self.kept_limit {
                given_back.extend(own.last.take());
            }
        }
        drop(queues);
        drop((ended, given_back));
    }

    fn problem(&self, spec: &dtwave::Spec, pairing: Pairing, shape: Shape) -> Result<Problem, Failure> {
        Ok(Problem::new(spec.clone(), pairing, shape)?.with_memory_limit(self.memory_limit))
    }

    fn call_as(
        &self,
        py: Python<'_>,
        is_double: bool,
        work: Work<'_>,
        spec: &Spec,
        stream: usize,
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        with_number!(!is_double, T => self.call::<T>(py, work, spec, stream, lend))
    }

    fn call<T: Float + Number>(
        &self,
        py: Python<'_>,
        work: Work<'_>,
        spec: &Spec,
        stream: usize,
        lend: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (pairing, shape) = work.shape().map_err(Failure::from)?;
        let problem = self.problem(&spec.0, pairing, shape)?;
        let mut plan = py.detach(|| self.plan::<T>(&problem, work, stream))?;
        let prepared = py.detach(|| {
            // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
            let machine = unsafe { plan.machine().machine().for_a_call_on(stream_of(stream)) }?;
            let bytes = work.scratch_bytes(&mut plan, &machine)?;
            Ok::<_, dtwave::Error>((machine, bytes))
        });
        let (machine, bytes) = prepared.map_err(Failure::from)?;
        let (address, _owner): (u64, Option<Py<PyAny>>) =
            if bytes > 0 { lend.call1((bytes,))?.extract()? } else { (0, None) };
        let done = py.detach(|| {
            // SAFETY: the Python half takes addresses and sizes from arrays, which live until this call ends. Their
            // memory is given to others in the order of the stream.
            unsafe { work.launch(&mut plan, &machine, Scratch { address, bytes }) }
        });
        done.map_err(Failure::from)?;
        py.detach(|| self.keep(plan));
        Ok(())
    }

    /// A plan that waits, or a new one: best one whose tables are those of this call, which has nothing to copy then.
    fn plan<T: Float + Number>(
        &self,
        problem: &Problem,
        work: Work<'_>,
        stream: usize,
    ) -> Result<Box<Lending<T>>, Failure> {
        let machine = self.machine()?;
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut alike, mut oldest, mut ready) = (0, None, None);
        for (at, plan) in plans.iter().enumerate() {
            let Some(plan) = plan.downcast_ref::<Lending<T>>().filter(|plan| plan.problem() == problem)
            else {
                continue;
            };
            alike += 1;
            oldest = oldest.or(Some(at));
            if work.is_ready(plan) {
                ready = Some(at);
            }
        }
        let at = ready.or(oldest.filter(|_| alike >= MOST_ALIKE));
        let found = at.and_then(|at| plans.remove(at).downcast::<Lending<T>>().ok());
        drop(plans);
        if let Some(plan) = found.filter(|plan| plan.is_usable()) {
            return Ok(plan);
        }
        // SAFETY: the Python half takes the stream from the library that the arrays are of, where it is current.
        if unsafe { machine.for_a_call_on(stream_of(stream)) }?.is_recording()? {
            // Making a plan would spoil the graph.
            return Err(dtwave::Error::invalid(CallerMemory::<CudaMachine>::NOT_RECORDED).into());
        }
        Ok(Box::new(Lending::<T>::new(CallerMemory::new(machine.own_queue()?), problem)?))
    }

    fn keep<T: Float + Number>(&self, plan: Box<Lending<T>>) {
        let mut plans = self.plans.lock().unwrap_or_else(PoisonError::into_inner);
        plans.push(plan);
        let oldest = (plans.len() > MOST).then(|| plans.remove(0));
        drop(plans);
        drop(oldest);
    }
}
